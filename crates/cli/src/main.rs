//! The harp command: reads arguments, calls the rooms in order, prints, exits.
//!
//! Results go to stdout, talk to stderr. There is no arithmetic here that another room should do.

mod allocations;
mod arguments;
mod cases;
mod cells;
mod commands;
mod components;
mod drift;
mod failure;
mod failures;
mod fingerprint;
mod freshness;
mod machines;
mod new_machine;
mod on_slurm;
mod plan_view;
mod programs;
mod progress;
mod project;
mod scaling;
mod score;
mod sweep;
mod terminal;
mod values;
mod views;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Arguments, WithinJob};
use failure::Failure;
use terminal::Terminal;

fn main() -> ExitCode {
    exit_with_1_on_a_bug();
    if let Some(arguments) = WithinJob::of_this_process() {
        let terminal = Terminal::new(false, false, terminal::Colour::Never);
        return finish(commands::within_job(&arguments, &terminal), &terminal);
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let terminal = Terminal::new(arguments.json, arguments.quiet, arguments.color);
    let Some(command) = arguments.command.or_else(commands::usual) else {
        return without_command(&terminal);
    };
    finish(commands::run(command, &terminal), &terminal)
}

/// A panic is a bug; its exit code is documented.
fn exit_with_1_on_a_bug() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        show(panic);
        Terminal::new(false, false, terminal::Colour::Never).say_even_if_quiet(
            "error: this is a bug in harp; please report it with the command and the lines above",
        );
        std::process::exit(1);
    }));
}

/// Says what went wrong, if something did.
fn finish(result: Result<ExitCode, Failure>, terminal: &Terminal) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(failure) => {
            terminal.say_even_if_quiet(&failure.to_string());
            terminal.print_json_error(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// A first call shows what there is.
fn without_command(terminal: &Terminal) -> ExitCode {
    if terminal.json {
        return finish(
            Err(Failure::bad_input("no command was given").hint("`harp --help` lists them")),
            terminal,
        );
    }
    // A reader that goes away has seen enough.
    let _ = Arguments::command().print_help();
    ExitCode::SUCCESS
}

/// Wrong usage, a call for help, or the version. A program that asked for JSON gets it.
fn refuse(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default();
        let terminal = Terminal::new(true, false, terminal::Colour::Never);
        let _ = terminal.print_json(&Failure::bad_input(message).to_json());
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}
