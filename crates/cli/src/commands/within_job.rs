//! What harp does inside a job of its own.

use std::process::ExitCode;

use harp_measure::Stop;
use harp_measure::slurm::{InsideEnd, exit_code, run_task};

use crate::arguments::WithinJob;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Carries out a task of a submission.
pub fn within_job(arguments: &WithinJob, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let end = run_task(&arguments.folder, arguments.task, &Stop::on_signals())
        .map_err(|error| Failure::bad_input(error.to_string()))?;
    match &end {
        InsideEnd::Withdrawn => terminal.say("this submission was withdrawn; nothing is run"),
        InsideEnd::Stopped => terminal.say("stopped by a signal"),
        InsideEnd::Done(_) => {}
    }
    Ok(ExitCode::from(exit_code(&end)))
}
