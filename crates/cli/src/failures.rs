//! What is said of runs that did not complete: which, how they ended, what they said last, and where
//! their output is.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use harp_core::{Configuration, Outcome, Run};
use serde::Serialize;

use crate::project::Project;

/// Groups of failures that are told; the rest is counted.
const MOST_GROUPS: usize = 5;
/// Runs of a group that are named.
const MOST_NAMES: usize = 3;
/// As much of the end of a file is looked at for its last line.
const TAIL: u64 = 4096;

/// A run that did not complete; documented in docs/json.md.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedRun {
    #[serde(flatten)]
    configuration: Configuration,
    repetition: u32,
    /// How it ended, in words.
    reason: String,
    /// The same for all that ended alike.
    #[serde(skip)]
    alike: String,
    /// Whether it was ended at a limit: then it is a lower bound and not lost.
    pub at_limit: bool,
    /// The last line it wrote to standard error.
    last_line: Option<String>,
    /// Where its output is; none for one that was never started.
    log: Option<PathBuf>,
}

impl FailedRun {
    /// What is known of a run that did not complete.
    pub fn of(project: &Project, run: &Run) -> FailedRun {
        FailedRun::ended(project, run, run.outcome.to_string())
    }

    /// The same where more is known of how it ended than the outcome says.
    pub fn ended(project: &Project, run: &Run, reason: String) -> FailedRun {
        let name = format!("{}-{}", run.configuration.key(), run.repetition);
        let log = project.state().join("runs").join(name).join("stderr");
        let log = Some(log).filter(|log| log.exists());
        FailedRun {
            configuration: run.configuration.clone(),
            repetition: run.repetition,
            alike: alike(&run.outcome, &reason),
            reason,
            at_limit: is_at_limit(&run.outcome),
            last_line: log.as_deref().and_then(last_line),
            log: log.map(|log| beside_here(&log)),
        }
    }

    fn name(&self) -> String {
        format!("{} {}, repetition {}", self.configuration.scale, self.configuration, self.repetition)
    }
}

/// What failures that are told together have in common. Jobs that fail before their run begins are told with
/// their numbers, which are no other way to fail.
fn alike(outcome: &Outcome, reason: &str) -> String {
    match outcome {
        Outcome::NotStarted { .. } => reason.chars().filter(|letter| !letter.is_ascii_digit()).collect(),
        _ => reason.to_owned(),
    }
}

/// Whether a run was ended at a limit of time or memory.
pub fn is_at_limit(outcome: &Outcome) -> bool {
    outcome.walltime_is_lower_bound() || outcome.memory_is_lower_bound()
}

/// The failures in words: those that ended alike together, the first of them with its log.
pub fn in_words(failed: &[FailedRun]) -> String {
    let mut groups: Vec<Vec<&FailedRun>> = Vec::new();
    for run in failed {
        let alike = |group: &&mut Vec<&FailedRun>| {
            group.first().is_some_and(|first| first.alike == run.alike && first.last_line == run.last_line)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    let mut lines = Vec::new();
    for group in groups.iter().take(MOST_GROUPS) {
        let Some(first) = group.first() else { continue };
        let runs = if group.len() == 1 { "1 run".to_owned() } else { format!("{} runs", group.len()) };
        lines.push(format!("{runs} {}", first.reason));
        lines.extend(first.last_line.as_ref().map(|line| format!("  last line of stderr: {line}")));
        lines.extend(group.iter().take(MOST_NAMES).map(|run| format!("  - {}", run.name())));
        if group.len() > MOST_NAMES {
            lines.push(format!("  - and {} more", group.len() - MOST_NAMES));
        }
        lines.extend(first.log.as_ref().map(|log| format!("  log: {}", log.display())));
    }
    if groups.len() > MOST_GROUPS {
        lines.push(format!("{} other ways to fail: `harp history`", groups.len() - MOST_GROUPS));
    }
    lines.join("\n")
}

/// The last line of a file that is not empty.
pub fn last_line(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut end = Vec::new();
    file.take(TAIL).read_to_end(&mut end).ok()?;
    let text = String::from_utf8_lossy(&end);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(harp_report::text::shorten(&harp_report::text::printable(line), 200))
}

/// A path as seen from here, where that is shorter.
fn beside_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    here.ok().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Allocation, Scale};

    fn failed(n: i64, outcome: &Outcome, last_line: Option<&str>) -> FailedRun {
        let reason = outcome.to_string();
        FailedRun {
            configuration: Configuration {
                scale: Scale::Sd,
                parameters: [("n", n)].into_iter().collect(),
                allocation: Allocation::default(),
            },
            repetition: 0,
            alike: alike(outcome, &reason),
            reason,
            at_limit: false,
            last_line: last_line.map(str::to_owned),
            log: Some(PathBuf::from(format!(".harp/runs/{n}/stderr"))),
        }
    }

    #[test]
    fn alike_failures_are_told_once() {
        let code = Outcome::Failed { exit_code: 3 };
        let same = (1..=5).map(|n| failed(n, &code, Some("no such file")));
        let all: Vec<FailedRun> = same.chain([failed(9, &Outcome::Signalled { signal: 11 }, None)]).collect();
        let expected = "5 runs failed with exit code 3\n  last line of stderr: no such file\n  \
            - sd n=1, repetition 0\n  - sd n=2, repetition 0\n  - sd n=3, repetition 0\n  - and 2 more\n  \
            log: .harp/runs/1/stderr\n1 run ended by signal 11 (SIGSEGV)\n  - sd n=9, repetition 0\n  \
            log: .harp/runs/9/stderr";
        assert_eq!(in_words(&all), expected);
    }

    #[test]
    fn jobs_that_fail_before_their_runs_begin_are_told_once() {
        let before = |job: u32| Outcome::NotStarted {
            reason: format!(
                "job {job}_0 failed with exit code 1 before it began: line 19: module: not found"
            ),
        };
        let all: Vec<FailedRun> = (1..=4).map(|n| failed(n, &before(37 + n as u32), None)).collect();
        let told = in_words(&all);
        assert!(told.starts_with("4 runs not started: job 38_0 failed"), "{told}");
        let codes = [3, 4].map(|exit_code| failed(1, &Outcome::Failed { exit_code }, None));
        assert!(in_words(&codes).contains("1 run failed with exit code 4"), "another code is another way");
    }

    #[test]
    fn the_last_line_is_the_last_that_says_something() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stderr");
        assert_eq!(last_line(&file), None);
        std::fs::write(&file, "first\n  last \n\n").unwrap();
        assert_eq!(last_line(&file).as_deref(), Some("last"));
        std::fs::write(&file, "x".repeat(10_000) + "\nend").unwrap();
        assert_eq!(last_line(&file).as_deref(), Some("end"));
    }
}
