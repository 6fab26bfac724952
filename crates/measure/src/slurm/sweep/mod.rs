//! The sweep on a cluster: the planned runs of an experiment as job arrays.
//!
//! What is about to be submitted is in the [`Ledger`] before `sbatch` is called, under a name that the
//! job carries, too. So a harp that was killed finds its jobs again, submits none twice and loses none:
//! a submission of which Slurm knows nothing is withdrawn first, so that a job that comes late does
//! nothing, and its runs are submitted anew.

mod find;
mod open;
mod settle;
mod submit;
mod verdict;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use harp_core::{Host, Run};
use harp_experiment::{Experiment, PlannedRun};
use thiserror::Error;

use super::batch::{Batch, BatchId, BatchRun, OpenBatch};
use super::pace::Pace;
use super::pack::{Candidate, Packing};
use super::{SlurmError, client};
use crate::sweep::SweepError;
use crate::{Observer, Stop};

use open::Open;

/// How long the files of runs are left alone, at least …
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// … and, while nothing happens, at most: they may be on a file system that many share.
const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_secs(4);

/// Where every run has left its result and Slurm's word alone is awaited, the time between looks at the clock.
const AWAITING: Duration = Duration::from_millis(50);

/// While the queue's word changes nothing yet, it is asked this seldom, at least.
const LEISURE: Duration = Duration::from_secs(5);

/// What must survive: kept by whoever has a database.
pub trait Ledger {
    /// Keeps a batch that is about to be submitted. Refused if one of its runs is in another open batch.
    fn intend(&mut self, batch: &Batch) -> Result<(), Box<dyn Error + Send + Sync>>;
    /// Keeps the number of a batch's job.
    fn submitted(&mut self, batch: &BatchId, job: u64) -> Result<(), Box<dyn Error + Send + Sync>>;
    /// Keeps a run, and at once that the run at this position is settled.
    fn record(
        &mut self,
        batch: &BatchId,
        position: usize,
        run: &Run,
        host: &Host,
    ) -> Result<(), Box<dyn Error + Send + Sync>>;
    /// Keeps that a run is settled without an outcome: it may be submitted again.
    fn give_back(&mut self, batch: &BatchId, position: usize) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// What a run asks for and what is known about it.
pub type Describe<'a> = &'a dyn Fn(BatchRun) -> Candidate;

/// What is to be run, and how.
pub struct SlurmSweep<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Full path of the directory its file is in.
    pub experiment_directory: &'a Path,
    /// Full path of the directory for files of runs and jobs; every node must see it.
    pub state_directory: &'a Path,
    /// The program that is started in a job, with the batch's folder and the task behind it.
    pub runner: Vec<String>,
    /// What runs ask for.
    pub describe: Describe<'a>,
    /// How they become jobs.
    pub packing: Packing,
    /// Tasks in the queue at most.
    pub most_jobs: usize,
    /// After so long, a job that is gone and of which accounting says nothing is lost.
    pub patience: Duration,
    /// Whether harp ends runs at the experiment's time-outs; else only Slurm does, at what jobs ask for.
    pub time_outs: bool,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlurmSummary {
    /// Runs that completed.
    pub completed: usize,
    /// Runs that were recorded but did not complete.
    pub failed: usize,
    /// Runs that are not done.
    pub left: usize,
    /// Whether it was asked to stop.
    pub stopped: bool,
}

/// What ends a sweep as an error. Jobs go on, and the same call finds them again.
#[derive(Debug, Error)]
pub enum SlurmSweepError {
    /// Slurm did not answer, or not to us.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// Slurm does not take the jobs.
    #[error("Slurm does not take the job: {said}")]
    Refused {
        /// What it said.
        said: String,
        /// The script.
        script: PathBuf,
    },
    /// A file, a record or a program.
    #[error(transparent)]
    Sweep(#[from] SweepError),
}

impl SlurmSweep<'_> {
    /// Takes up what is in the queue already, submits the others, and records each run as it ends.
    pub fn run(
        &self,
        runs: Vec<PlannedRun>,
        opened: Vec<OpenBatch>,
        ledger: &mut dyn Ledger,
        observer: &mut dyn Observer,
        stop: &Stop,
    ) -> Result<SlurmSummary, SlurmSweepError> {
        let open: Vec<Open> =
            opened.into_iter().map(|opened| Open::of(opened, self.state_directory)).collect();
        let is_open = |run: &PlannedRun| open.iter().any(|batch| batch.has(run));
        let pending: Vec<BatchRun> =
            runs.into_iter().filter(|run| !is_open(run)).map(|run| fresh(run, 0)).collect();
        let mut state = State {
            sweep: self,
            ledger,
            observer,
            pending,
            open,
            pace: Pace::of_queue(),
            accounts: Pace::of_accounting(),
            accounting: true,
            held: false,
            summary: SlurmSummary::default(),
        };
        state.work(stop)?;
        let open: usize = state.open.iter().map(|batch| batch.unsettled().count()).sum();
        Ok(SlurmSummary { left: state.pending.len() + open, ..state.summary })
    }

    fn deadline(&self) -> Option<Instant> {
        let limit = self.experiment.schedule.total_timeout?;
        Instant::now().checked_add(Duration::try_from_secs_f64(limit.0).ok()?)
    }
}

fn fresh(run: PlannedRun, returned: u32) -> BatchRun {
    BatchRun { configuration: run.configuration, repetition: run.repetition, returned }
}

/// A sweep under way.
struct State<'sweep, 'call> {
    sweep: &'sweep SlurmSweep<'sweep>,
    ledger: &'call mut dyn Ledger,
    observer: &'call mut dyn Observer,
    /// Runs that are in no job.
    pending: Vec<BatchRun>,
    open: Vec<Open>,
    /// How often the queue is asked …
    pace: Pace,
    /// … and accounting, while there are jobs in the queue.
    accounts: Pace,
    /// Whether this cluster keeps accounts.
    accounting: bool,
    /// Whether Slurm takes no more jobs until one ends.
    held: bool,
    summary: SlurmSummary,
}

impl State<'_, '_> {
    fn work(&mut self, stop: &Stop) -> Result<(), SlurmSweepError> {
        let deadline = self.sweep.deadline();
        let (mut looked, mut between) = (Instant::now(), Duration::ZERO);
        loop {
            if stop.is_requested() {
                self.summary.stopped = true;
                return Ok(());
            }
            let may_submit = deadline.is_none_or(|deadline| Instant::now() < deadline);
            if may_submit && !self.held {
                self.submit()?;
            }
            if self.open.is_empty() && (self.pending.is_empty() || !may_submit) {
                return Ok(());
            }
            if looked.elapsed() >= between {
                let news = self.look();
                between = if news {
                    BETWEEN_LOOKS
                } else {
                    (2 * between).clamp(BETWEEN_LOOKS, LONGEST_BETWEEN_LOOKS)
                };
                looked = Instant::now();
                if news {
                    self.pace.hurry();
                    self.settle_early()?;
                }
            }
            if self.is_queue_due() {
                self.ask()?;
            }
            self.open.retain(|batch| !batch.is_settled());
            if !self.open.is_empty() {
                thread::sleep(if self.is_awaiting() { AWAITING } else { BETWEEN_LOOKS });
            }
        }
    }

    /// Looks at the files of the runs; whether there is news.
    fn look(&mut self) -> bool {
        let mut news = false;
        for batch in &mut self.open {
            for run in batch.look() {
                news = true;
                self.observer.started(&run, &[]);
            }
            news |= batch.has_new_results();
        }
        news
    }

    /// Whether to ask the queue: soon where another may go in, at once where everybody has left a result and
    /// its word alone is awaited.
    fn is_queue_due(&self) -> bool {
        let now = Instant::now();
        if self.is_awaiting() {
            return self.pace.is_awaited(now);
        }
        self.pace.is_due(now, if self.pending.is_empty() { LEISURE } else { Duration::ZERO })
    }

    /// Whether every run in a job has left its result, and only Slurm's word about it is missing.
    fn is_awaiting(&self) -> bool {
        self.open.iter().all(Open::has_all_results)
    }

    /// Asks Slurm: the queue once, and accounting once if something has left it. While Slurm is down,
    /// there is nothing to do but wait: the jobs go on.
    fn ask(&mut self) -> Result<(), SlurmSweepError> {
        let begin = Instant::now();
        let queue = self.ask_queue();
        let took = begin.elapsed();
        let answer = queue.and_then(|news| Ok(self.ask_accounting()? || news));
        let news = match answer {
            Ok(news) => news,
            Err(SlurmSweepError::Slurm(SlurmError::Unreachable { .. } | SlurmError::TooSlow { .. })) => {
                // what is not known to have left the queue has not been gone for any time
                self.open.iter_mut().for_each(Open::forget_gone);
                false
            }
            Err(error) => return Err(error),
        };
        self.pace.asked(Instant::now(), took, news);
        self.held &= !news;
        Ok(())
    }

    /// Asks the queue; whether a task has left it.
    fn ask_queue(&mut self) -> Result<bool, SlurmSweepError> {
        self.find_jobs()?;
        let names: Vec<String> = self
            .open
            .iter()
            .filter(|batch| batch.job.is_some())
            .map(|batch| batch.batch.job_name())
            .collect();
        if names.is_empty() {
            return Ok(false);
        }
        let queue = client::queue(&names, false)?;
        // Accounting catches up within seconds: what has just left the queue is news.
        let mut news = false;
        for batch in &mut self.open {
            news |= batch.note_queue(&queue);
        }
        Ok(news)
    }

    /// Asks accounting about what has left the queue, if it is time, and settles what is known; whether
    /// there was news.
    fn ask_accounting(&mut self) -> Result<bool, SlurmSweepError> {
        let gone: Vec<String> = self.open.iter().flat_map(Open::gone).collect();
        if gone.is_empty() {
            return Ok(false);
        }
        let begin = Instant::now();
        let is_time = match self.open.iter().any(Open::is_in_queue) {
            true => self.accounts.is_due(begin, Duration::ZERO),
            false => self.accounts.is_awaited(begin),
        };
        if !is_time {
            return Ok(false);
        }
        if self.accounting {
            let answer = client::accounted(&gone);
            self.accounts.asked(Instant::now(), begin.elapsed(), false);
            match answer {
                Ok(jobs) => self.open.iter_mut().for_each(|batch| batch.note_accounting(&jobs)),
                Err(SlurmError::NoAccounting { .. }) => self.accounting = false,
                Err(error) => return Err(error.into()),
            }
        }
        // What a job left it left before it ended, but perhaps after the last look.
        let news = self.look();
        let news = self.settle(false)? || news;
        if news {
            self.accounts.hurry();
        }
        Ok(news)
    }
}
