//! From runs to the table a learner takes.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Column, Dataset, Observed, Outcome, Row, Run, Target, Value};

/// How many runs did not make it into a table, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Runs that failed, were rejected or never started.
    pub failed: usize,
    /// Completed runs for which the target was not measured.
    pub unmeasured: usize,
}

/// The table of one target. Features are every parameter and resource of any run; a run that lacks
/// one has a missing cell. Runs killed at a limit enter as lower bounds, failed runs not at all.
pub fn dataset<'a>(runs: impl IntoIterator<Item = &'a Run>, target: &Target) -> (Dataset, Skipped) {
    dataset_with(runs, target, &|_| BTreeMap::new())
}

/// The same with further features of each run, such as of the machine it ran on. Runs of a configuration
/// that differ in these are no repetitions of each other.
pub fn dataset_with<'a>(
    runs: impl IntoIterator<Item = &'a Run>,
    target: &Target,
    further: &dyn Fn(&Run) -> BTreeMap<String, Value>,
) -> (Dataset, Skipped) {
    let mut skipped = Skipped::default();
    let mut kept = Vec::new();
    for run in runs {
        match observe(run, target) {
            Seen::Value(observed) => {
                let more = further(run);
                let group = (run.configuration.key(), format!("{more:?}"));
                let mut features = run.configuration.features();
                features.extend(more);
                kept.push((run, observed, features, group));
            }
            Seen::Unmeasured => skipped.unmeasured += 1,
            Seen::Failed => skipped.failed += 1,
        }
    }
    let names: BTreeSet<&String> = kept.iter().flat_map(|(_, _, features, _)| features.keys()).collect();
    let mut groups = BTreeMap::new();
    let rows = kept
        .iter()
        .map(|(run, observed, features, group)| {
            let next = groups.len() as u64;
            Row {
                cells: names.iter().map(|name| features.get(*name).cloned()).collect(),
                observed: *observed,
                scale: run.configuration.scale,
                group: *groups.entry(group).or_insert(next),
            }
        })
        .collect();
    let columns = names.into_iter().map(|name| Column { name: name.clone() }).collect();
    (Dataset { target: target.clone(), columns, rows }, skipped)
}

enum Seen {
    Value(Observed),
    Unmeasured,
    Failed,
}

/// What a run says about a target, if anything.
fn observe(run: &Run, target: &Target) -> Seen {
    let usage = &run.usage;
    let value = match target {
        Target::Walltime => usage.walltime.map(|time| time.0),
        Target::PeakMemory => usage.peak_memory.map(|memory| memory.as_f64()),
        Target::CpuTime => usage.cpu_time().map(|time| time.0),
        Target::Metric(name) => run.metrics.get(name).copied(),
    };
    let bound = match (target, &run.outcome) {
        (Target::Walltime | Target::CpuTime, Outcome::TimedOut { .. }) => true,
        // What a program held when it was stopped for time is no more than a lower bound either.
        (Target::PeakMemory, Outcome::OutOfMemory { .. } | Outcome::TimedOut { .. }) => true,
        (_, Outcome::Completed) => false,
        _ => return Seen::Failed,
    };
    match value {
        Some(value) if value.is_finite() && bound => Seen::Value(Observed::AtLeast(value)),
        Some(value) if value.is_finite() => Seen::Value(Observed::Exact(value)),
        _ => Seen::Unmeasured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Allocation, Bytes, Configuration, Metrics, Scale, Seconds, Timestamp, Usage};

    fn run(n: i64, outcome: Outcome, seconds: f64) -> Run {
        Run {
            application: "a".into(),
            configuration: Configuration {
                scale: Scale::Sd,
                parameters: [("n", n)].into_iter().collect(),
                allocation: Allocation::default(),
            },
            repetition: 0,
            host: "h".into(),
            started: Timestamp(0),
            outcome,
            usage: Usage {
                walltime: Some(Seconds(seconds)),
                peak_memory: Some(Bytes(100)),
                ..Usage::default()
            },
            metrics: Metrics::default(),
        }
    }

    #[test]
    fn time_outs_are_bounds_and_failures_stay_out() {
        let runs = [
            run(1, Outcome::Completed, 1.0),
            run(1, Outcome::Completed, 1.1),
            run(2, Outcome::TimedOut { limit: Seconds(2.0) }, 2.0),
            run(3, Outcome::Failed { exit_code: 1 }, 0.1),
            run(4, Outcome::OutOfMemory { limit: None }, 0.5),
        ];
        let (time, skipped) = dataset(&runs, &Target::Walltime);
        let observed: Vec<Observed> = time.rows.iter().map(|row| row.observed).collect();
        assert_eq!(observed, [Observed::Exact(1.0), Observed::Exact(1.1), Observed::AtLeast(2.0)]);
        assert_eq!(time.rows[0].group, time.rows[1].group);
        assert_ne!(time.rows[0].group, time.rows[2].group);
        assert_eq!(skipped, Skipped { failed: 2, unmeasured: 0 });

        let (memory, _) = dataset(&runs, &Target::PeakMemory);
        assert_eq!(memory.rows.last().unwrap().observed, Observed::AtLeast(100.0));
        let (metric, skipped) = dataset(&runs, &Target::Metric("epochs".into()));
        assert!(metric.rows.is_empty());
        assert_eq!(skipped.unmeasured, 2);
    }

    #[test]
    fn the_same_case_on_two_machines_is_no_repetition() {
        let mut elsewhere = run(1, Outcome::Completed, 2.0);
        elsewhere.host = "other".into();
        let runs = [run(1, Outcome::Completed, 1.0), run(1, Outcome::Completed, 1.1), elsewhere];
        let rate = |run: &Run| {
            [("machine_rate".to_owned(), Value::Real(run.host.len() as f64))].into_iter().collect()
        };
        let (table, _) = dataset_with(&runs, &Target::Walltime, &rate);
        assert_eq!(table.rows.iter().map(|row| row.group).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(table.rows[2].cells, [Some(Value::Real(5.0)), Some(Value::Integer(1))]);
    }

    #[test]
    fn a_feature_only_some_runs_have_is_missing_in_the_others() {
        let mut with_cores = run(1, Outcome::Completed, 1.0);
        with_cores.configuration.allocation.cores = Some(4);
        let runs = [run(1, Outcome::Completed, 1.0), with_cores];
        let (table, _) = dataset(&runs, &Target::Walltime);
        assert_eq!(table.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["cores", "n"]);
        assert_eq!(table.rows[0].cells, [None, Some(Value::Integer(1))]);
        assert_eq!(table.rows[1].cells, [Some(Value::Integer(4)), Some(Value::Integer(1))]);
    }
}
