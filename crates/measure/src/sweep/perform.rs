//! Does one planned run from its directory to its figures.

use std::path::Path;
use std::time::Instant;

use harp_core::{Metrics, Outcome, Run, Seconds, Timestamp, Usage};
use harp_experiment::{Execute, PlannedRun, Rendered, Setup};
use rustix::system::uname;

use super::directory::{RunDirectory, make_directory};
use super::judge::{Output, judge, metrics};
use super::prepare::prepare;
use super::resources::Share;
use super::{Observer, Sweep, SweepError};
use crate::{ExecuteError, MemoryMethod, Program, Stop, Task, execute, now};

/// What became of a run.
pub(super) enum Performed {
    /// It is over; with what could not be taken from it.
    Run(Box<Run>, Vec<String>),
    /// It was ended because the sweep was asked to stop.
    Stopped,
    /// It was ended because the total time was over.
    OutOfTime,
}

/// What every run of a sweep has in common.
pub(super) struct Performer<'a> {
    experiment: &'a harp_experiment::Experiment,
    experiment_directory: &'a Path,
    state_directory: &'a Path,
    memory_method: MemoryMethod,
    deadline: Option<Instant>,
    host: String,
}

impl<'a> Performer<'a> {
    pub(super) fn new(sweep: &Sweep<'a>, deadline: Option<Instant>) -> Self {
        Self {
            experiment: sweep.experiment,
            experiment_directory: sweep.experiment_directory,
            state_directory: sweep.state_directory,
            memory_method: sweep.memory_method,
            deadline,
            host: uname().nodename().to_string_lossy().into_owned(),
        }
    }

    /// Whether the total time is over.
    pub(super) fn time_is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Runs the lines of the setup; `false` if that was stopped.
    pub(super) fn set_up(&self, observer: &mut dyn Observer, halt: &Stop) -> Result<bool, SweepError> {
        let Setup { lines, directory } = self.experiment.setup(self.experiment_directory);
        let log = self.state_directory.join("setup");
        for (number, line) in lines.iter().enumerate() {
            make_directory(&log)?;
            observer.setting_up(line);
            let task = Task {
                directory: directory.clone(),
                stdout: Some(log.join(format!("{number}.stdout"))),
                stderr: Some(log.join(format!("{number}.stderr"))),
                memory_method: MemoryMethod::Sampling,
                ..Task::new(Program::Shell(line.clone()))
            };
            match execute(&task, halt) {
                Ok(measured) if measured.outcome.is_completed() => {}
                Ok(measured) => {
                    return Err(SweepError::Setup { line: line.clone(), outcome: measured.outcome, log });
                }
                Err(ExecuteError::Stopped) => return Ok(false),
                Err(error) => return Err(SweepError::Execute(error)),
            }
        }
        Ok(true)
    }

    /// Does one run.
    pub(super) fn perform(
        &self,
        planned: &PlannedRun,
        share: &Share,
        halt: &Stop,
    ) -> Result<Performed, SweepError> {
        let started = now();
        if let Some(reason) = share.refusal() {
            return Ok(self.not_started(planned, started, reason.to_owned()));
        }
        let directory = RunDirectory::create(self.state_directory, planned)?;
        let rendered = match prepare(self.experiment, self.experiment_directory, planned, &directory)? {
            Ok(rendered) => rendered,
            Err(reason) => return Ok(self.not_started(planned, started, reason)),
        };
        let (stdout, stderr) = (directory.log("stdout"), directory.log("stderr"));
        let (time_limit, ends_sweep) = self.time_limit(rendered.timeout);
        let task = Task {
            program: self.program(planned, &rendered),
            environment: rendered.environment.iter().cloned().chain(visible_gpus(planned, share)).collect(),
            directory: rendered.directory.clone(),
            stdout: Some(stdout.clone()),
            stderr: Some(stderr.clone()),
            cores: share.cores().to_vec(),
            memory_limit: planned.configuration.allocation.memory,
            time_limit,
            memory_method: self.memory_method,
        };
        let started = now();
        let measured = match execute(&task, halt) {
            Ok(measured) => measured,
            Err(ExecuteError::Stopped) => return Ok(Performed::Stopped),
            Err(error) => return Err(SweepError::Execute(error)),
        };
        if ends_sweep && matches!(measured.outcome, Outcome::TimedOut { .. }) {
            return Ok(Performed::OutOfTime);
        }
        if matches!(measured.outcome, Outcome::NotStarted { .. }) {
            let run = self.record(planned, started, measured.outcome, measured.usage, Metrics::new());
            return Ok(Performed::Run(Box::new(run), Vec::new()));
        }
        let Some(objection) = after(&rendered, &task, &directory, halt)? else {
            return Ok(Performed::Stopped);
        };
        let output = Output { stdout: &stdout, stderr: &stderr };
        let outcome = judge(measured.outcome, &rendered.success, output).map_err(|source| {
            SweepError::File { action: "read the output in", path: stdout.clone(), source }
        })?;
        let outcome = match (outcome, objection) {
            (Outcome::Completed, Some(reason)) => Outcome::Rejected { reason },
            (outcome, _) => outcome,
        };
        let (metrics, mut warnings) = metrics(&rendered, output);
        if !outcome.is_completed() {
            // A run that failed need not have written its figures.
            warnings.clear();
        }
        let run = self.record(planned, started, outcome, measured.usage, metrics);
        Ok(Performed::Run(Box::new(run), warnings))
    }

    /// What to start; many processes through the usual launcher.
    fn program(&self, planned: &PlannedRun, rendered: &Rendered) -> Program {
        let tasks = planned.configuration.allocation.tasks.filter(|&tasks| tasks > 1);
        let launcher = tasks.filter(|_| self.experiment.program.mpi);
        let launcher = launcher.map(|tasks| vec!["mpirun".to_owned(), "-n".to_owned(), tasks.to_string()]);
        match (&rendered.execute, launcher) {
            (Execute::Words(words), launcher) => {
                Program::Direct(launcher.into_iter().flatten().chain(words.iter().cloned()).collect())
            }
            (Execute::Shell(line), None) => Program::Shell(line.clone()),
            (Execute::Shell(line), Some(launcher)) => {
                let shell = ["/bin/sh".to_owned(), "-c".to_owned(), line.clone()];
                Program::Direct(launcher.into_iter().chain(shell).collect())
            }
        }
    }

    /// How long a run may take, and whether that is because the sweep's time is then over.
    fn time_limit(&self, own: Option<Seconds>) -> (Option<Seconds>, bool) {
        let Some(deadline) = self.deadline else { return (own, false) };
        let left = Seconds(deadline.saturating_duration_since(Instant::now()).as_secs_f64());
        match own {
            Some(own) if own <= left => (Some(own), false),
            _ => (Some(left), true),
        }
    }

    fn not_started(&self, planned: &PlannedRun, started: Timestamp, reason: String) -> Performed {
        let outcome = Outcome::NotStarted { reason };
        let run = self.record(planned, started, outcome, Usage::default(), Metrics::new());
        Performed::Run(Box::new(run), Vec::new())
    }

    fn record(
        &self,
        planned: &PlannedRun,
        started: Timestamp,
        outcome: Outcome,
        usage: Usage,
        metrics: Metrics,
    ) -> Run {
        Run {
            application: self.experiment.application(),
            configuration: planned.configuration.clone(),
            repetition: planned.repetition,
            host: self.host.clone(),
            started,
            outcome,
            usage,
            metrics,
        }
    }
}

/// Runs the lines that follow a run: `None` if that was stopped, else what is wrong, if anything.
fn after(
    rendered: &Rendered,
    task: &Task,
    directory: &RunDirectory,
    halt: &Stop,
) -> Result<Option<Option<String>>, SweepError> {
    for (number, line) in rendered.after.iter().enumerate() {
        let task = Task {
            program: Program::Shell(line.clone()),
            stdout: Some(directory.log(&format!("after-{number}.stdout"))),
            stderr: Some(directory.log(&format!("after-{number}.stderr"))),
            memory_limit: None,
            memory_method: MemoryMethod::Sampling,
            ..task.clone()
        };
        match execute(&task, halt) {
            Ok(measured) if measured.outcome.is_completed() => {}
            Ok(measured) => return Ok(Some(Some(format!("`{line}` after it {}", measured.outcome)))),
            Err(ExecuteError::Stopped) => return Ok(None),
            Err(error) => return Err(SweepError::Execute(error)),
        }
    }
    Ok(Some(None))
}

/// The variable that shows a program only its own GPUs, if it asked for a number.
fn visible_gpus(planned: &PlannedRun, share: &Share) -> Option<(String, String)> {
    planned.configuration.allocation.gpus?;
    let numbers: Vec<String> = share.gpus().iter().map(usize::to_string).collect();
    Some(("CUDA_VISIBLE_DEVICES".to_owned(), numbers.join(",")))
}
