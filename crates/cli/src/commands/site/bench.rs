//! `harp site bench`: measures this machine in a few seconds and keeps what it found.

use std::fs;
use std::path::PathBuf;

use harp_core::{Descriptors, Timestamp};
use harp_report::text::number;
use harp_report::{Cell, Column, Table};
use serde::Serialize;

use crate::arguments::SiteBench;
use crate::failure::Failure;
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer {
    host: String,
    cores: Option<u32>,
    memory: Option<u64>,
    descriptors: Descriptors,
    /// The history it was kept in.
    recorded: Option<PathBuf>,
    /// The line for a node type of a site profile.
    profile: String,
}

/// Measures, keeps and shows.
pub fn bench(arguments: &SiteBench, terminal: &Terminal) -> Result<(), Failure> {
    let file = project::experiment_file(&arguments.experiment);
    let project = match file.exists() {
        true => Some(Project::load(&file, &Terminal::silent())?),
        false => None,
    };
    let folder = match &project {
        Some(project) => project.make_state()?,
        None => std::env::temp_dir(),
    };
    let host = harp_measure::host();
    let mut number_of_step = 0;
    let descriptors = harp_measure::bench(&host, &folder, &mut |step| {
        number_of_step += 1;
        terminal.say(&format!("{number_of_step}/5 {step}"));
    });
    let (mut recorded, mut best) = (None, descriptors);
    if let Some(project) = &project {
        let now = Timestamp(jiff::Timestamp::now().as_millisecond());
        let mut history = project.open_history()?;
        let earlier = history.machines()?.remove(&host.name);
        best = earlier.map_or(descriptors, |earlier| descriptors.best_of(earlier));
        history.describe_machine(&host.name, &best, now)?;
        recorded = Some(project.history_file());
    }
    let answer = Answer {
        cores: host.cores,
        memory: host.memory.map(|memory| memory.0),
        profile: profile(&best),
        host: host.name,
        descriptors: best,
        recorded,
    };
    if let Some(output) = &arguments.output {
        fs::write(output, format!("{}\n", answer.profile))
            .map_err(|error| Failure::file("write", output, &error))?;
    }
    if terminal.json {
        return terminal.print_json(&answer);
    }
    terminal.print_table(&table(&answer))?;
    let kept = match &answer.recorded {
        Some(file) => {
            format!("kept in {} for {}: the best of this and earlier times", file.display(), answer.host)
        }
        None => "not kept: there is no experiment here; --experiment names one".to_owned(),
    };
    terminal.print(&format!("\n{kept}\nfor a node type of a site profile:\n{}\n", answer.profile))
}

fn profile(descriptors: &Descriptors) -> String {
    let entries: Vec<String> =
        descriptors.entries().into_iter().map(|(name, value)| format!("{name} = {value:.3}")).collect();
    format!("descriptors = {{ {} }}", entries.join(", "))
}

fn table(answer: &Answer) -> Table {
    let words = |name: &str| match name {
        "cores" => ("processors harp may use", ""),
        "integer_gops" => ("integer operations, one thread", "10⁹/s"),
        "floating_gflops" => ("floating-point operations, one thread", "10⁹/s"),
        "bandwidth_one_gbs" => ("memory bandwidth, one thread", "GB/s"),
        "bandwidth_gbs" => ("memory bandwidth, all threads", "GB/s"),
        "cache_mib" => ("largest cache", "MiB"),
        "disk_write_gbs" => ("written to disk", "GB/s"),
        _ => ("GPU peak", "10¹²/s"),
    };
    let mut table = Table::new([Column::left("measured"), Column::right("value"), Column::left("unit")]);
    for (name, value) in answer.descriptors.entries() {
        let (what, unit) = words(name);
        table.push([Cell::text(what), Cell::number(number(value), value), Cell::text(unit)]);
    }
    table
}
