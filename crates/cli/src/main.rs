//! The harp command: reads arguments, calls the rooms in order, prints, exits.
//!
//! Results go to stdout, talk to stderr. There is no arithmetic here that another room should do.

mod arguments;
mod cases;
mod cells;
mod commands;
mod failure;
mod programs;
mod progress;
mod project;
mod scaling;
mod sweep;
mod terminal;
mod views;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use terminal::Terminal;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.json, arguments.quiet, arguments.color);
    match commands::run(arguments.command, &terminal) {
        Ok(code) => code,
        Err(failure) => {
            terminal.say_even_if_quiet(&failure.to_string());
            ExitCode::from(failure.exit as u8)
        }
    }
}
