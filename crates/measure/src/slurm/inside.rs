//! What happens inside a job: the runs of one task, one after another, each measured by harp itself.
//!
//! A run that has left its result is never run again, so a task that is put back into the queue goes on
//! where it was. Slurm holds the limits of the job; harp only holds each run to its own time-out, which
//! may be finer than Slurm's minutes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use harp_core::{Bytes, Host, Outcome, Seconds, Timestamp, Usage};
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::batch::{BatchFolder, write_soon};
use crate::processes;
use crate::system;
use crate::{ExecuteError, Measured, MemoryMethod, Program, Stop, Task, execute, host};

/// The processes of a job are told of its end within this time.
const SIGNALS_LAG: Duration = Duration::from_secs(1);

/// What a task has to do for one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InsideRun {
    /// What to start.
    pub program: Program,
    /// Variables on top of those of the job.
    pub environment: BTreeMap<String, String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Where its output goes: `stdout`, `stderr`, and those of what comes after.
    pub logs: PathBuf,
    /// When it is ended.
    pub time_limit: Option<Seconds>,
    /// Shell lines to run after it.
    pub after: Vec<String>,
    /// Whether Slurm starts its processes, here or on other nodes: harp then sees how long it takes and
    /// how it ends, and nothing of what it uses.
    pub by_slurm: bool,
}

/// What a run leaves when it has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InsideResult {
    /// When it started.
    pub started: Timestamp,
    /// How it ended, as far as it can be told from inside.
    pub outcome: Outcome,
    /// What it used, as harp saw it.
    pub usage: Usage,
    /// What was wrong with a line that came after it.
    pub objection: Option<String>,
    /// Where it ran.
    pub host: Host,
}

/// A task that could not be carried out.
#[derive(Debug, Error)]
pub enum InsideError {
    /// A file of the batch.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The description of the tasks is not one.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// There is no such task.
    #[error("{} has no task {task}", path.display())]
    NoTask {
        /// The file.
        path: PathBuf,
        /// The number asked for.
        task: usize,
    },
    /// A program could not be measured.
    #[error(transparent)]
    Execute(ExecuteError),
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq)]
pub enum InsideEnd {
    /// Every run has left a result; that of the only one, if it is alone.
    Done(Option<Outcome>),
    /// The batch or the task was given up before this began: nothing was run.
    Withdrawn,
    /// A signal asked for an end.
    Stopped,
}

/// Carries out a task of the batch in a folder.
pub fn run_task(folder: &Path, task: usize, stop: &Stop) -> Result<InsideEnd, InsideError> {
    let folder = BatchFolder(folder.to_owned());
    let path = folder.tasks();
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(InsideEnd::Withdrawn),
        Err(source) => return Err(InsideError::File { action: "read", path, source }),
    };
    if folder.withdrawn(task).exists() {
        return Ok(InsideEnd::Withdrawn);
    }
    let runs = element::<Vec<InsideRun>>(&text, task)
        .map_err(|source| InsideError::Damaged { path: path.clone(), source })?
        .ok_or(InsideError::NoTask { path, task })?;
    processes::take_charge_in_job();
    let host = host();
    let mut last = None;
    for (place, run) in runs.iter().enumerate() {
        let file = folder.result(task, place);
        if file.exists() {
            continue;
        }
        let failed = |action, path: PathBuf| move |source| InsideError::File { action, path, source };
        let started = folder.started(task, place);
        fs::write(&started, b"").map_err(failed("write", started))?;
        let Some(result) = run_one(run, runs.len() == 1, &host, stop)? else { return Ok(InsideEnd::Stopped) };
        let text = serde_json::to_vec(&result)
            .map_err(|source| InsideError::Damaged { path: file.clone(), source })?;
        // A result that a crash of the node swallows is missed, and its run is made again.
        write_soon(&file, &text).map_err(failed("write", file))?;
        last = Some(result.outcome);
    }
    Ok(InsideEnd::Done(last.filter(|_| runs.len() == 1)))
}

/// One element of a JSON array. The others are not built: an array of jobs reads its file once in each.
fn element<T: DeserializeOwned>(text: &[u8], number: usize) -> Result<Option<T>, serde_json::Error> {
    struct Element<T>(usize, PhantomData<T>);
    impl<'text, T: Deserialize<'text>> Visitor<'text> for Element<T> {
        type Value = Option<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
            formatter.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'text>>(self, mut elements: A) -> Result<Option<T>, A::Error> {
            for _ in 0..self.0 {
                if elements.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
            }
            let found = elements.next_element()?;
            while elements.next_element::<IgnoredAny>()?.is_some() {}
            Ok(found)
        }
    }
    serde_json::Deserializer::from_slice(text).deserialize_seq(Element(number, PhantomData))
}

/// Does one run; `None` if it was stopped.
fn run_one(
    run: &InsideRun,
    alone: bool,
    host: &Host,
    stop: &Stop,
) -> Result<Option<InsideResult>, InsideError> {
    let task = Task {
        environment: run.environment.clone(),
        directory: run.directory.clone(),
        stdout: Some(run.logs.join("stdout")),
        stderr: Some(run.logs.join("stderr")),
        time_limit: run.time_limit,
        // Control groups in a job are Slurm's, and of a run that is alone in it accounting knows most.
        memory_method: if alone { MemoryMethod::GentleSampling } else { MemoryMethod::Sampling },
        ..Task::new(run.program.clone())
    };
    let started = crate::now();
    let measured = match execute(&task, stop) {
        Ok(measured) => measured,
        Err(ExecuteError::Stopped) => return Ok(None),
        Err(error) => return Err(InsideError::Execute(error)),
    };
    if is_ended_with_its_job(&measured.outcome, stop) {
        return Ok(None);
    }
    let mut objection = None;
    let lines =
        if matches!(measured.outcome, Outcome::NotStarted { .. }) { &[] } else { run.after.as_slice() };
    for (number, line) in lines.iter().enumerate() {
        let after = Task {
            program: Program::Shell(line.clone()),
            stdout: Some(run.logs.join(format!("after-{number}.stdout"))),
            stderr: Some(run.logs.join(format!("after-{number}.stderr"))),
            ..task.clone()
        };
        match execute(&after, stop) {
            Ok(measured) if measured.outcome.is_completed() => {}
            Ok(measured) => {
                objection = Some(format!("`{line}` after it {}", measured.outcome));
                break;
            }
            Err(ExecuteError::Stopped) => return Ok(None),
            Err(error) => return Err(InsideError::Execute(error)),
        }
    }
    let Measured { outcome, usage } = measured;
    let usage = match run.by_slurm {
        true => Usage { walltime: usage.walltime, ..Usage::default() },
        // The job needs room for harp, too, and accounting counts it.
        false => Usage {
            peak_memory: usage.peak_memory.map(|peak| Bytes(peak.0 + system::own_largest_resident().0)),
            ..usage
        },
    };
    Ok(Some(InsideResult { started, outcome, usage, objection, host: host.clone() }))
}

/// Whether a program ended because its job is being ended. Slurm signals the processes of a job one after
/// another, and the program may be gone before harp is told: a run that failed waits for that word, or a
/// job that goes back into the queue would take the failure along.
fn is_ended_with_its_job(outcome: &Outcome, stop: &Stop) -> bool {
    if matches!(outcome, Outcome::Failed { .. } | Outcome::Signalled { .. }) {
        let begin = Instant::now();
        while !stop.is_requested() && begin.elapsed() < SIGNALS_LAG {
            thread::sleep(Duration::from_millis(10));
        }
    }
    stop.is_requested() && !outcome.is_completed()
}

/// The exit code a task shows to Slurm: that of its run where it is alone, so that accounting tells the
/// same story.
pub fn exit_code(end: &InsideEnd) -> u8 {
    let code = match end {
        InsideEnd::Done(Some(outcome)) => match outcome {
            Outcome::Failed { exit_code } => *exit_code,
            Outcome::Signalled { signal } => 128 + signal,
            Outcome::TimedOut { .. } => 124,
            Outcome::NotStarted { .. } => 127,
            _ => 0,
        },
        InsideEnd::Done(None) | InsideEnd::Withdrawn => 0,
        InsideEnd::Stopped => 143,
    };
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path, line: &str) -> InsideRun {
        InsideRun {
            program: Program::Shell(line.to_owned()),
            environment: BTreeMap::new(),
            directory: folder.to_owned(),
            logs: folder.to_owned(),
            time_limit: Some(Seconds(20.0)),
            after: Vec::new(),
            by_slurm: false,
        }
    }

    #[test]
    fn of_what_slurm_starts_harp_knows_the_time_alone() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let run = InsideRun { by_slurm: true, ..run(here, "sleep 0.1") };
        let result = run_one(&run, true, &Host::default(), &Stop::new()).unwrap().unwrap();
        assert!(result.usage.walltime.is_some_and(|time| time.0 >= 0.1));
        assert_eq!(Usage { walltime: None, ..result.usage }, Usage::default());
    }

    #[test]
    fn the_memory_of_a_run_counts_harp_beside_it_as_accounting_does() {
        let directory = tempfile::tempdir().unwrap();
        // so much that no shell comes near it
        let held = vec![1_u8; 64 << 20];
        let own = system::own_largest_resident();
        assert!(own.0 as usize >= held.len(), "{own}");
        for alone in [true, false] {
            let run = run(directory.path(), "sleep 0.2");
            let result = run_one(&run, alone, &Host::default(), &Stop::new()).unwrap().unwrap();
            let peak = result.usage.peak_memory;
            assert!(peak.is_some_and(|peak| peak > own), "{peak:?} beside {own}, alone: {alone}");
        }
    }

    #[test]
    fn a_task_goes_on_where_it_was_and_a_withdrawn_one_does_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        let runs = vec![vec![run(here, "echo one >> log"), run(here, "echo two >> log; exit 3")]];
        assert_eq!(run_task(here, 0, &Stop::new()).unwrap(), InsideEnd::Withdrawn);
        fs::write(here.join("tasks.json"), serde_json::to_vec(&runs).unwrap()).unwrap();
        assert_eq!(run_task(here, 0, &Stop::new()).unwrap(), InsideEnd::Done(None));
        let text = fs::read(here.join("0-1.result")).unwrap();
        let result: InsideResult = serde_json::from_slice(&text).unwrap();
        assert_eq!(result.outcome, Outcome::Failed { exit_code: 3 });
        assert!(result.usage.walltime.is_some() && result.usage.user_time.is_some());
        // put back into the queue after the first: only the second is run again
        fs::remove_file(here.join("0-1.result")).unwrap();
        run_task(here, 0, &Stop::new()).unwrap();
        assert_eq!(fs::read_to_string(here.join("log")).unwrap(), "one\ntwo\ntwo\n");
        assert!(matches!(run_task(here, 1, &Stop::new()), Err(InsideError::NoTask { task: 1, .. })));
        fs::write(here.join("0.withdrawn"), "").unwrap();
        assert_eq!(run_task(here, 0, &Stop::new()).unwrap(), InsideEnd::Withdrawn);
    }

    #[test]
    fn a_program_that_is_told_of_the_end_of_its_job_before_harp_has_not_failed() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        for line in ["kill -TERM $$", "exit 1"] {
            let stop = Stop::new();
            let later = stop.clone();
            let told = thread::spawn(move || {
                thread::sleep(Duration::from_millis(300));
                later.request();
            });
            assert_eq!(run_one(&run(here, line), true, &Host::default(), &stop).unwrap(), None, "{line}");
            told.join().unwrap();
        }
        let failed = run_one(&run(here, "exit 1"), true, &Host::default(), &Stop::new()).unwrap().unwrap();
        assert_eq!(failed.outcome, Outcome::Failed { exit_code: 1 });
    }

    #[test]
    fn accounting_is_shown_how_a_lone_run_ended() {
        let code = |outcome| exit_code(&InsideEnd::Done(Some(outcome)));
        assert_eq!(code(Outcome::Failed { exit_code: 7 }), 7);
        assert_eq!(code(Outcome::Signalled { signal: 11 }), 139);
        assert_eq!(code(Outcome::TimedOut { limit: Seconds(1.0) }), 124);
        assert_eq!(code(Outcome::Completed), 0);
        assert_eq!(exit_code(&InsideEnd::Done(None)), 0);
    }
}
