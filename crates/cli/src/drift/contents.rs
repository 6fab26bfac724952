//! Where runs began to be of another program, by the fingerprints the history keeps.

use std::collections::BTreeMap;

use harp_core::{Run, Timestamp};
use harp_history::Recorded;

/// A moment since when every machine ran one and the same program, after it had run another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// When the first run since then began.
    pub since: Timestamp,
    /// Runs since then.
    pub runs: usize,
}

/// The last such moment in runs that say something, if there is one. What a command names may be other
/// files on another machine, so only runs of the same machine are compared.
pub fn switch(recorded: &[Recorded]) -> Option<Switch> {
    let mut runs: Vec<&Recorded> = recorded.iter().filter(|one| says_something(&one.run)).collect();
    runs.sort_by_key(|one| one.run.started);
    let mut latest: BTreeMap<&str, &str> = BTreeMap::new();
    let mut since = None;
    for one in &runs {
        let Some(program) = one.program.as_deref() else { continue };
        let before = latest.insert(&one.host.name, program);
        if before.is_some_and(|before| before != program) {
            since = Some(one.run.started);
        }
    }
    let since = since?;
    let newer = runs.iter().filter(|one| one.run.started >= since).count();
    Some(Switch { since, runs: newer })
}

/// Whether a run can be learned from: it completed, or says that more is needed than it had.
fn says_something(run: &Run) -> bool {
    let outcome = &run.outcome;
    outcome.is_completed() || outcome.walltime_is_lower_bound() || outcome.memory_is_lower_bound()
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Allocation, Configuration, Host, Metrics, Outcome, Scale, Usage};

    fn run(started: i64, host: &str, program: &str) -> Recorded {
        let run = Run {
            application: "a".into(),
            configuration: Configuration {
                scale: Scale::Sd,
                parameters: [("n", started)].into_iter().collect(),
                allocation: Allocation::default(),
            },
            repetition: 0,
            host: host.to_owned(),
            started: Timestamp(started),
            outcome: Outcome::Completed,
            usage: Usage::default(),
            metrics: Metrics::default(),
        };
        let program = (!program.is_empty()).then(|| program.to_owned());
        Recorded { run, host: Host { name: host.to_owned(), ..Host::default() }, program }
    }

    fn found(runs: &[(&str, &str)]) -> Option<(i64, usize)> {
        let runs = runs.iter().zip(1..).map(|((host, program), at)| run(at, host, program));
        switch(&runs.collect::<Vec<_>>()).map(|found| (found.since.0, found.runs))
    }

    #[test]
    fn a_program_that_was_edited_is_told_from_another_machine() {
        assert_eq!(found(&[("x", "a"), ("x", "a"), ("x", "b"), ("x", "b")]), Some((3, 2)));
        assert_eq!(found(&[("x", "a"), ("x", "b"), ("x", "a")]), Some((3, 1)), "and back");
        assert_eq!(found(&[("x", "a"), ("y", "b"), ("x", "a"), ("y", "b")]), None, "two machines");
        assert_eq!(found(&[("x", "a"), ("y", "b"), ("x", "c"), ("y", "d"), ("x", "c")]), Some((4, 2)));
        assert_eq!(found(&[("x", "a"), ("x", ""), ("x", "a")]), None, "nobody looked at one");
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn what_failed_is_not_learned_from() {
        let mut runs = [run(1, "x", "a"), run(2, "x", "b")];
        runs[0].run.outcome = Outcome::Failed { exit_code: 1 };
        assert_eq!(switch(&runs), None);
    }
}
