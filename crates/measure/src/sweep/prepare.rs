//! Renders a run and puts its files in place.

use std::path::Path;

use harp_experiment::{Experiment, Place, PlannedRun, RenderError, Rendered};

use super::SweepError;
use super::directory::{InputError, RunDirectory, make_directory, place_input, write_file};

/// Renders a run; nothing is written.
pub(crate) fn prepared(
    experiment: &Experiment,
    experiment_directory: &Path,
    planned: &PlannedRun,
    directory: &RunDirectory,
) -> Result<Rendered, RenderError> {
    let work = directory.work();
    let place = Place { experiment_directory, run_directory: &work };
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    experiment.render(&planned.configuration, &place, &read)
}

/// Renders a run and puts its files in place; the inner error says why it cannot be started.
pub(crate) fn prepare(
    experiment: &Experiment,
    experiment_directory: &Path,
    planned: &PlannedRun,
    directory: &RunDirectory,
) -> Result<Result<Rendered, String>, SweepError> {
    let rendered = match prepared(experiment, experiment_directory, planned, directory) {
        Ok(rendered) => rendered,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if rendered.own_directory {
        make_directory(&rendered.directory)?;
    }
    for input in &rendered.inputs {
        match place_input(input) {
            Ok(()) => {}
            Err(InputError::Missing(reason)) => return Ok(Err(reason)),
            Err(InputError::Refused(error)) => return Err(error),
        }
    }
    rendered.files.iter().try_for_each(write_file)?;
    Ok(Ok(rendered))
}
