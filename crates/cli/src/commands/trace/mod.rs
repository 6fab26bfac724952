//! `harp trace`: one file a command, and what they share.

mod compare;
mod page;
mod predict;
pub mod reading;
mod summary;
mod tables;
mod write;

use crate::arguments::Trace;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Carries out a command on a trace.
pub fn trace(command: &Trace, terminal: &Terminal) -> Result<(), Failure> {
    match command {
        Trace::Summary(arguments) => summary::summary(arguments, terminal),
        Trace::Compare(arguments) => compare::compare(arguments, terminal),
        Trace::Convert(arguments) => write::convert(arguments, false, terminal),
        Trace::Anonymise(arguments) => write::convert(arguments, true, terminal),
        Trace::Generate(arguments) => write::generate(arguments, terminal),
        Trace::Predict(arguments) => predict::predict(arguments, terminal),
    }
}
