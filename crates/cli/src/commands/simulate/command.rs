//! From the arguments to the answer, its tables and its files.

use std::path::{Path, PathBuf};

use harp_report::Tone;
use harp_report::text::{join_words, plural, printable};
use harp_sim::{
    Backfill, Changes, Order, Oversized, Policy, Schedule, SimulateOptions, SimulateResult, Workload,
    WorkloadBuilder,
};
use harp_trace::Skipped;
use serde::Serialize;

use super::charts::Charts;
use super::{estimates, tables};
use crate::arguments::Simulate;
use crate::commands::trace::reading;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;

/// The answer of `harp simulate --json`.
#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    skipped: &'a Skipped,
    #[serde(flatten)]
    result: &'a SimulateResult,
}

/// Simulates a trace under every policy asked for.
pub fn simulate(arguments: &Simulate, terminal: &Terminal) -> Result<(), Failure> {
    let mut builder = WorkloadBuilder::default();
    let options = reading::options(&arguments.reading);
    let read = harp_trace::visit_path(&arguments.file, &options, &mut |job| builder.add(job))?;
    reading::tell_skipped(&read, terminal);
    let oversized = if arguments.drop_oversized { Oversized::Drop } else { Oversized::Refuse };
    let workload = builder.finish(&read, arguments.procs, oversized)?;
    tell_changes(&workload.changes, terminal);
    let options = SimulateOptions {
        policies: policies(arguments),
        estimates: estimates::source(&arguments.estimates, arguments.cases.as_deref(), &workload, terminal)?,
        seed: arguments.seed,
        ..SimulateOptions::default()
    };
    let (result, schedules) = harp_sim::compare(&workload, &options);
    if let Some(file) = &arguments.schedule {
        write_schedules(file, &workload, &options.policies, &schedules, terminal)?;
    }
    if let Some(folder) = &arguments.charts {
        let charts =
            Charts { workload: &workload, result: &result, schedules: &schedules, window: arguments.window };
        charts.write(folder, terminal)?;
    }
    if terminal.json {
        terminal.print_json(&Answer { name: &read.name, skipped: &read.skipped, result: &result })?;
    } else {
        tell(&read.name, &result, terminal)?;
    }
    reading::require_all(&arguments.reading, &read)
}

/// Those of `--policy` and `--compare`, each once; EASY where neither is given.
fn policies(arguments: &Simulate) -> Vec<Policy> {
    let mut policies: Vec<Policy> = Vec::new();
    for &policy in arguments.policy.iter().chain(&arguments.compare) {
        if !policies.contains(&policy) {
            policies.push(policy);
        }
    }
    if policies.is_empty() {
        policies.push(Policy { order: Order::Fcfs, backfill: Backfill::Easy });
    }
    policies
}

/// Says what had to be changed to make a workload of the trace.
fn tell_changes(changes: &Changes, terminal: &Terminal) {
    let counted = [
        (changes.without_run_time, "without run time left out"),
        (changes.without_processors, "without size left out"),
        (changes.oversized, "larger than the machine left out"),
        (changes.without_request, "without requested time given their run time"),
        (changes.overruns, "that ran longer than requested given their run time"),
    ];
    let mut parts: Vec<String> = counted
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", plural(count as usize, "job")))
        .collect();
    if changes.sorted {
        parts.push("jobs sorted by submission".to_owned());
    }
    if !parts.is_empty() {
        terminal.say(&format!("note: {}", join_words(&parts)));
    }
}

fn write_schedules(
    file: &Path,
    workload: &Workload,
    policies: &[Policy],
    schedules: &[Schedule],
    terminal: &Terminal,
) -> Result<(), Failure> {
    for (policy, schedule) in policies.iter().zip(schedules) {
        let file = if policies.len() == 1 { file.to_owned() } else { file_for(file, &policy.to_string()) };
        project::write_whole(&file, &schedule.to_csv(workload))?;
        terminal.say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

/// `out.csv` becomes `out-easy.csv`.
pub fn file_for(file: &Path, policy: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let policy = policy.replace([':', '+'], "-");
    match file.extension() {
        Some(extension) => file.with_file_name(format!("{stem}-{policy}.{}", extension.to_string_lossy())),
        None => file.with_file_name(format!("{stem}-{policy}")),
    }
}

fn tell(name: &str, result: &SimulateResult, terminal: &Terminal) -> Result<(), Failure> {
    let style = &terminal.style;
    let estimates = result.policies.first().map_or("", |policy| policy.metrics.estimates.as_str());
    let mut text = style.paint(
        Tone::Strong,
        &format!(
            "{}: {} on {}, estimates: {estimates}",
            printable(name),
            plural(result.jobs, "job"),
            plural(result.processors as usize, "processor")
        ),
    );
    text.push('\n');
    let mut section = |title: &str, table: harp_report::Table| {
        text.push_str(&format!("\n{}\n", style.paint(Tone::Strong, title)));
        text.push_str(&table.to_terminal(terminal.width, style));
    };
    section("Waiting and slowdown", tables::waiting(result));
    section("The machine and its promises", tables::machine(result));
    section("Mean wait by class", tables::classes(result));
    if result.policies.len() > 1 {
        section("Against the first", tables::differences(result));
    }
    if result.policies.iter().any(|policy| policy.intervals.average_wait_s.is_some()) {
        text.push_str(&format!(
            "\nIn brackets: 95 % intervals from weeks drawn again ({} weeks).\n",
            result.weeks
        ));
    }
    terminal.print_text(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_policies() {
        let named = |file: &str, policy: &str| file_for(Path::new(file), policy).display().to_string();
        assert_eq!(named("a/out.csv", "easy"), "a/out-easy.csv");
        assert_eq!(named("out", "sjf+relaxed:0.2"), "out-sjf-relaxed-0.2");
    }
}
