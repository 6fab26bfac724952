//! Measured peaks, from an experiment's runs or a CSV file, beside what the formula says of each.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use harp_core::Value;
use harp_dnn::Training;
use harp_dnn::memory::{Calibration, Measured, Overhead, calibrate, estimate};

use super::model;
use crate::arguments::DnnMemory;
use crate::commands::recorded_runs;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::terminal::Terminal;

/// Columns that hold a peak, the first that is filled counts.
const PEAKS: [&str; 3] = ["peak_gpu_memory_bytes", "peak_memory_bytes", "peak_memory"];

/// Fits the overhead to the peaks of a file.
pub fn calibration(
    file: &Path,
    arguments: &DnnMemory,
    training: &Training,
    terminal: &Terminal,
) -> Result<Calibration, Failure> {
    let rows = rows(file, terminal)?;
    let mut measured = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let Some((name, written)) = PEAKS.iter().find_map(|name| Some((name, row.get(*name)?))) else {
            continue;
        };
        let no_size = || {
            Failure::bad_input(format!(
                "{}: row {}: `{name}` is no number of bytes, but {written}",
                file.display(),
                index + 1
            ))
        };
        let peak = written.as_number().ok_or_else(no_size)?;
        let mut values = model::settings(&arguments.model);
        values.extend(row.iter().map(|(name, value)| (name.clone(), value.to_string())));
        let (network, _) = model::network(&arguments.model, &values)?;
        let training = with_values(training, row, index)?;
        let memory = estimate(&network, &training, &Overhead::default())?;
        measured.push(Measured { formula: memory.formula(), peak });
    }
    calibrate(&measured).map_err(|error| {
        Failure::bad_input(format!("{}: {error}", file.display()))
            .hint(format!("a peak is a column named {}", PEAKS.join(" or ")))
            .exit(Exit::NotEnoughEvidence)
    })
}

/// The training with what a row says of it.
fn with_values(
    training: &Training,
    row: &BTreeMap<String, Value>,
    index: usize,
) -> Result<Training, Failure> {
    let mut training = training.clone();
    let count = |name: &str| -> Result<Option<u64>, Failure> {
        let Some(value) = row.get(name) else { return Ok(None) };
        match value {
            Value::Integer(number) if *number > 0 => Ok(Some(*number as u64)),
            other => Err(Failure::bad_input(format!(
                "peak {}: `{name}` must be a whole number above 0, not {other}",
                index + 1
            ))),
        }
    };
    training.batch = count("batch")?.unwrap_or(training.batch);
    training.sequence = count("sequence")?.or(training.sequence);
    training.parallel.gpus = count("gpus")?.unwrap_or(training.parallel.gpus);
    training.accumulate = count("accumulate")?.unwrap_or(training.accumulate);
    Ok(training)
}

fn rows(file: &Path, terminal: &Terminal) -> Result<Vec<BTreeMap<String, Value>>, Failure> {
    if file.extension().is_some_and(|extension| extension == "csv") {
        let opened = File::open(file).map_err(|error| Failure::file("read", file, &error))?;
        return Ok(harp_history::read_cases(&file.display().to_string(), opened)?);
    }
    let project = Project::load(file, terminal)?;
    let recorded = recorded_runs(&project)?;
    let completed = recorded.iter().filter(|recorded| recorded.run.outcome.is_completed());
    Ok(completed
        .map(|recorded| {
            let mut row = recorded.run.configuration.values();
            let usage = &recorded.run.usage;
            let peaks = [(PEAKS[0], usage.peak_gpu_memory), (PEAKS[1], usage.peak_memory)];
            for (name, bytes) in peaks {
                if let Some(bytes) = bytes {
                    row.insert(name.to_owned(), Value::Integer(i64::try_from(bytes.0).unwrap_or(i64::MAX)));
                }
            }
            row
        })
        .collect())
}
