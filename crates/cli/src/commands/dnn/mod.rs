//! `harp dnn`: one file a command, and what they share.

mod fitting;
mod memory;
mod model;
mod peaks;
mod time;

use std::process::ExitCode;

use crate::arguments::Dnn;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Answers a question about the training of a network.
pub fn dnn(command: &Dnn, terminal: &Terminal) -> Result<ExitCode, Failure> {
    match command {
        Dnn::Memory(arguments) => memory::memory(arguments, terminal),
        Dnn::Time(arguments) => time::time(arguments, terminal).map(|()| ExitCode::SUCCESS),
    }
}
