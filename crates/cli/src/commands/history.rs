//! `harp history`: the runs of an experiment, for other programs and for the eye.

use std::collections::BTreeMap;
use std::fs::File;

use harp_core::Run;
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use crate::arguments::History;
use crate::commands::build::recorded_runs;
use crate::failure::Failure;
use crate::project::Project;
use crate::terminal::Terminal;

/// A run and how often it was tried; documented in docs/json.md.
#[derive(Serialize)]
struct Tried<'a> {
    #[serde(flatten)]
    run: &'a Run,
    attempts: usize,
    attempts_walltime: Option<f64>,
}

/// Shows or writes the runs.
pub fn history(arguments: &History, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    let recorded = recorded_runs(&project)?;
    let runs: Vec<&Run> = recorded.iter().map(|recorded| &recorded.run).collect();
    let Some(file) = &arguments.csv else {
        let tried = tried(&project, &runs)?;
        return if terminal.json {
            terminal.print_json(&tried)
        } else {
            terminal.print_table(&table(&tried))
        };
    };
    let failed = |error: csv::Error| Failure::bad_input(format!("cannot write {}: {error}", file.display()));
    if file.as_os_str() == "-" {
        let mut text = Vec::new();
        harp_history::write_runs(runs, &mut text).map_err(failed)?;
        return terminal.print(&String::from_utf8_lossy(&text));
    }
    let created = File::create(file).map_err(|error| Failure::file("write", file, &error))?;
    harp_history::write_runs(runs, created).map_err(failed)
}

/// The runs, each with the attempts before the one that counts.
fn tried<'a>(project: &Project, runs: &[&'a Run]) -> Result<Vec<Tried<'a>>, Failure> {
    let before = match project.read_history()? {
        Some(history) => history.superseded(&project.experiment.application())?,
        None => BTreeMap::new(),
    };
    let tried = runs.iter().map(|&run| {
        let before = before.get(&(run.configuration.key(), run.repetition)).copied().unwrap_or_default();
        let own = run.usage.walltime.map(|time| time.0);
        let walltime = before.walltime.0 + own.unwrap_or_default();
        Tried {
            run,
            attempts: before.attempts + 1,
            // nothing is known of what never ran
            attempts_walltime: (own.is_some() || walltime > 0.0).then_some(walltime),
        }
    });
    Ok(tried.collect())
}

fn table(runs: &[Tried<'_>]) -> Table {
    let mut columns = vec![
        Column::left("scale"),
        Column::left("configuration"),
        Column::right("repetition"),
        Column::left("outcome"),
        Column::right("walltime").key("walltime_s"),
        Column::right("cpu time").key("cpu_time_s"),
        Column::right("peak memory").key("peak_memory_bytes"),
    ];
    if runs.iter().any(|tried| tried.attempts > 1) {
        columns.push(Column::right("attempts"));
        columns.push(Column::right("all of them").key("attempts_walltime_s"));
    }
    let mut table = Table::new(columns);
    let cell = |quantity: Quantity, value: Option<f64>| match value {
        Some(value) => Cell::number(quantity.format(value), value),
        None => Cell::missing(),
    };
    for Tried { run, attempts, attempts_walltime } in runs {
        // the last two only where they have columns
        table.push([
            Cell::text(run.configuration.scale.name()),
            Cell::text(run.configuration.to_string()),
            Cell::from(run.repetition as usize),
            Cell::text(run.outcome.to_string()),
            cell(Quantity::Seconds, run.usage.walltime.map(|time| time.0)),
            cell(Quantity::Seconds, run.usage.cpu_time().map(|time| time.0)),
            cell(Quantity::Bytes, run.usage.peak_memory.map(|memory| memory.as_f64())),
            Cell::from(*attempts),
            cell(Quantity::Seconds, *attempts_walltime),
        ]);
    }
    table
}
