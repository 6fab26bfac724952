//! The sweep: the planned runs of an experiment, on this machine, one after another or packed by
//! cores.
//!
//! Every finished run is handed to a [`Recorder`] and is durable before another takes its place;
//! what was interrupted is not recorded at all, so a killed sweep goes on where it was. The thread
//! that calls [`Sweep::run`] does all recording and reporting; the others only execute.

mod budget;
mod directory;
mod judge;
mod perform;
mod prepare;
mod resources;
mod text;

use std::collections::VecDeque;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use harp_core::{Allocation, Money, Outcome, Run, Seconds};
use harp_experiment::{Experiment, Parallel, PlannedRun};
use thiserror::Error;

use crate::{ExecuteError, MemoryMethod, Stop};

use budget::Budgets;
pub use budget::Spent;
pub(crate) use directory::{RunDirectory, make_directory};
pub(crate) use judge::{Output, judge, metrics};
use perform::{Performed, Performer};
pub(crate) use prepare::{prepare, prepared};
use resources::{Resources, Share};

/// Keeps finished runs.
pub trait Recorder {
    /// Keeps a run; when this returns, it must survive a crash.
    fn record(&mut self, run: &Run) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// Is told what happens, for progress.
pub trait Observer {
    /// A line of the setup is about to be run.
    fn setting_up(&mut self, _line: &str) {}
    /// Slurm has taken an array of so many tasks with so many runs, as the job of this number.
    fn submitted(&mut self, _job: u64, _tasks: usize, _runs: usize) {}
    /// A run was started on these processors; none means all.
    fn started(&mut self, _run: &PlannedRun, _cores: &[usize]) {}
    /// A run has ended and was recorded. The warnings say what could not be taken from it.
    fn finished(&mut self, _run: &Run, _warnings: &[String]) {}
}

/// Tells nobody.
impl Observer for () {}

/// The price of holding an allocation for some time.
pub type Price<'a> = &'a dyn Fn(&Allocation, Seconds) -> Option<Money>;

/// What is to be run, and where its files go.
#[derive(Clone)]
pub struct Sweep<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Full path of the directory its file is in.
    pub experiment_directory: &'a Path,
    /// Full path of the directory for logs and files of runs; made if absent.
    pub state_directory: &'a Path,
    /// The runs still to be done, in order.
    pub runs: Vec<PlannedRun>,
    /// What runs done earlier have used of the budgets.
    pub spent: Spent,
    /// What runs cost, if anybody knows; a budget of money counts only with it.
    pub price: Option<Price<'a>>,
    /// How the peak of memory is found.
    pub memory_method: MemoryMethod,
    /// Whether the experiment's setup was run already, with [`Sweep::set_up`].
    pub is_set_up: bool,
}

/// Why a sweep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepEnd {
    /// Everything that was planned and within the budgets was run.
    Done,
    /// The stop flag was set.
    Stopped,
    /// The total time was over.
    TotalTimeout,
}

/// What came of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Runs that completed.
    pub completed: usize,
    /// Runs that were recorded but did not complete.
    pub failed: usize,
    /// Runs left out because a budget was used up.
    pub over_budget: usize,
    /// Runs not done because the sweep ended early.
    pub left: usize,
    /// Why it ended.
    pub end: SweepEnd,
}

/// What ends a sweep as an error. Everything recorded before stays recorded.
#[derive(Debug, Error)]
pub enum SweepError {
    /// A run could not be kept.
    #[error("cannot record a finished run: {0}")]
    Record(Box<dyn Error + Send + Sync>),
    /// The setup failed.
    #[error("the setup line `{line}` {outcome}; its output is in {}", log.display())]
    Setup {
        /// The line.
        line: String,
        /// How it ended.
        outcome: Outcome,
        /// The directory with its output.
        log: PathBuf,
    },
    /// A file or directory of a run could not be made.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program could not be measured.
    #[error(transparent)]
    Execute(ExecuteError),
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// A run that is over, with what it held.
struct Finished {
    share: Share,
    result: Result<Performed, SweepError>,
}

impl Sweep<'_> {
    /// Runs everything, recording each run as it ends.
    pub fn run(
        &self,
        recorder: &mut dyn Recorder,
        observer: &mut dyn Observer,
        stop: &Stop,
    ) -> Result<Summary, SweepError> {
        // Runs are ended through a flag of the sweep's own, so that an error can end them too.
        let halt = stop.child();
        let deadline = self.deadline();
        let performer = Performer::new(self, deadline);
        let mut progress = Progress {
            sweep: self,
            recorder,
            observer,
            budgets: Budgets::new(self),
            pending: self.runs.iter().collect(),
            summary: Summary {
                completed: 0,
                failed: 0,
                over_budget: 0,
                left: self.runs.len(),
                end: SweepEnd::Done,
            },
        };
        if self.runs.is_empty() {
            return Ok(progress.summary);
        }
        if !self.is_set_up && !performer.set_up(progress.observer, &halt)? {
            progress.summary.end = SweepEnd::Stopped;
            return Ok(progress.summary);
        }
        let mut resources = Resources::of_this_machine(self.side_by_side());
        let result = if resources.runs_alone() {
            progress.one_by_one(&performer, &mut resources, &halt)
        } else {
            thread::scope(|scope| progress.packed(scope, &performer, &mut resources, &halt))
        };
        result.map(|()| progress.summary)
    }

    /// Runs the experiment's setup alone, for callers that need what it makes before they can plan;
    /// `false` if it was stopped.
    pub fn set_up(&self, observer: &mut dyn Observer, stop: &Stop) -> Result<bool, SweepError> {
        Performer::new(self, None).set_up(observer, stop)
    }

    fn deadline(&self) -> Option<Instant> {
        let limit = self.experiment.schedule.total_timeout?;
        Instant::now().checked_add(Duration::try_from_secs_f64(limit.0).ok()?)
    }

    /// How many runs may be side by side; `None` is as many as fit.
    fn side_by_side(&self) -> Option<usize> {
        let program = &self.experiment.program;
        // Files filled for one run must not be overwritten by the next while it runs.
        if !program.own_directory && !program.templates.is_empty() {
            return Some(1);
        }
        match self.experiment.schedule.parallel {
            Parallel::Runs(count) => Some((count as usize).max(1)),
            Parallel::Auto => None,
        }
    }
}

/// The state of a sweep under way; only the calling thread has it.
struct Progress<'sweep, 'call> {
    sweep: &'sweep Sweep<'sweep>,
    recorder: &'call mut dyn Recorder,
    observer: &'call mut dyn Observer,
    budgets: Budgets<'sweep>,
    pending: VecDeque<&'sweep PlannedRun>,
    summary: Summary,
}

impl<'sweep> Progress<'sweep, '_> {
    fn one_by_one(
        &mut self,
        performer: &Performer<'sweep>,
        resources: &mut Resources,
        halt: &Stop,
    ) -> Result<(), SweepError> {
        while let Some(planned) = self.next(performer, halt) {
            let share = resources.take(&planned.configuration.allocation).unwrap_or_default();
            self.pending.pop_front();
            self.observer.started(planned, share.cores());
            let result = performer.perform(planned, &share, halt);
            resources.give_back(share);
            self.settle(result)?;
        }
        Ok(())
    }

    fn packed<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        performer: &'scope Performer<'sweep>,
        resources: &mut Resources,
        halt: &'scope Stop,
    ) -> Result<(), SweepError>
    where
        'sweep: 'scope,
    {
        let (report, reports): (Sender<Finished>, Receiver<Finished>) = mpsc::channel();
        let mut running = 0;
        let mut result = Ok(());
        loop {
            // In order: a large run waits for room, and those behind it wait with it.
            while result.is_ok()
                && let Some(planned) = self.next(performer, halt)
                && let Some(share) = resources.take(&planned.configuration.allocation)
            {
                self.pending.pop_front();
                self.observer.started(planned, share.cores());
                let report = report.clone();
                let perform = move || {
                    let result = performer.perform(planned, &share, halt);
                    // The receiver outlives every thread of the scope.
                    let _ = report.send(Finished { share, result });
                };
                match thread::Builder::new().name("harp-run".into()).spawn_scoped(scope, perform) {
                    Ok(_) => running += 1,
                    Err(error) => result = Err(SweepError::Thread(error)),
                }
            }
            if result.is_err() {
                halt.request();
            }
            if running == 0 {
                return result;
            }
            let Ok(finished) = reports.recv() else { return result };
            running -= 1;
            resources.give_back(finished.share);
            if result.is_ok() {
                result = self.settle(finished.result);
            }
        }
    }

    /// The next run to be started, if any may be.
    fn next(&mut self, performer: &Performer<'_>, halt: &Stop) -> Option<&'sweep PlannedRun> {
        if performer.time_is_over() {
            self.summary.end = SweepEnd::TotalTimeout;
        }
        if halt.is_requested() {
            self.summary.end = SweepEnd::Stopped;
        }
        if self.summary.end != SweepEnd::Done {
            return None;
        }
        while let Some(planned) = self.pending.front() {
            if self.budgets.allow(planned.configuration.scale) {
                return Some(planned);
            }
            self.pending.pop_front();
            self.summary.over_budget += 1;
            self.summary.left -= 1;
        }
        None
    }

    /// Records a run that is over.
    fn settle(&mut self, result: Result<Performed, SweepError>) -> Result<(), SweepError> {
        match result? {
            Performed::Run(run, warnings) => {
                self.recorder.record(&run).map_err(SweepError::Record)?;
                self.budgets.add(&run, self.sweep.price);
                self.summary.left -= 1;
                match run.outcome.is_completed() {
                    true => self.summary.completed += 1,
                    false => self.summary.failed += 1,
                }
                self.observer.finished(&run, &warnings);
            }
            Performed::Stopped => self.summary.end = SweepEnd::Stopped,
            Performed::OutOfTime => self.summary.end = SweepEnd::TotalTimeout,
        }
        Ok(())
    }
}
