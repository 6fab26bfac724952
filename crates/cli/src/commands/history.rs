//! `harp history`: the runs of an experiment, for other programs and for the eye.

use std::fs::File;

use harp_core::Run;
use harp_report::{Cell, Column, Quantity, Table};

use crate::arguments::History;
use crate::commands::build::recorded_runs;
use crate::failure::Failure;
use crate::project::Project;
use crate::terminal::Terminal;

/// Shows or writes the runs.
pub fn history(arguments: &History, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    let recorded = recorded_runs(&project)?;
    let runs: Vec<&Run> = recorded.iter().map(|recorded| &recorded.run).collect();
    let Some(file) = &arguments.csv else {
        return if terminal.json { terminal.print_json(&runs) } else { terminal.print_table(&table(&runs)) };
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

fn table(runs: &[&Run]) -> Table {
    let mut table = Table::new([
        Column::left("scale"),
        Column::left("configuration"),
        Column::right("repetition"),
        Column::left("outcome"),
        Column::right("walltime").key("walltime_s"),
        Column::right("cpu time").key("cpu_time_s"),
        Column::right("peak memory").key("peak_memory_bytes"),
    ]);
    let cell = |quantity: Quantity, value: Option<f64>| match value {
        Some(value) => Cell::number(quantity.format(value), value),
        None => Cell::missing(),
    };
    for run in runs {
        table.push([
            Cell::text(run.configuration.scale.name()),
            Cell::text(run.configuration.to_string()),
            Cell::from(run.repetition as usize),
            Cell::text(run.outcome.to_string()),
            cell(Quantity::Seconds, run.usage.walltime.map(|time| time.0)),
            cell(Quantity::Seconds, run.usage.cpu_time().map(|time| time.0)),
            cell(Quantity::Bytes, run.usage.peak_memory.map(|memory| memory.as_f64())),
        ]);
    }
    table
}
