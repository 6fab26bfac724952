//! Runs as jobs of a Slurm cluster: what they ask for, what they cost, and taking them through.

mod cluster;
mod estimate;
mod ledger;
mod runner;

use std::collections::BTreeSet;
use std::time::Duration;

use harp_core::Seconds;
use harp_experiment::PlannedRun;
use harp_history::Store;
use harp_measure::slurm::{BatchId, BatchRun, OpenBatch, Packing, SlurmSummary, SlurmSweep, SlurmSweepError};
use harp_measure::{Observer, Stop, Summary, SweepEnd};
use harp_report::text::plural;

pub use cluster::{Asked, Cluster, check_names};
pub use estimate::{Estimate, ask, confirm};
pub use ledger::{Books, open_batches};
pub use runner::runner;

use crate::arguments::{Generate, SweepJobs, Where, WithinJob};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sweep::{self, Knowledge};
use crate::terminal::Terminal;

/// After so long accounting will not say any more about a job that is gone.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A sweep's jobs.
pub struct OnSlurm<'a> {
    pub cluster: Cluster,
    arguments: &'a SweepJobs,
    terminal: &'a Terminal,
}

impl<'a> OnSlurm<'a> {
    /// The cluster at hand, if runs are to be made there; asks it what it is.
    pub fn if_asked(
        arguments: &'a SweepJobs,
        project: &Project,
        terminal: &'a Terminal,
    ) -> Result<Option<OnSlurm<'a>>, Failure> {
        if arguments.on == Where::Here {
            return Ok(None);
        }
        let preferred = project.experiment.learn.site.as_deref();
        let cluster = Cluster::connect(&arguments.jobs, preferred)?;
        Ok(Some(OnSlurm { cluster, arguments, terminal }))
    }

    fn packing(&self) -> Packing {
        Packing {
            target: self.arguments.pack,
            time: self.arguments.time,
            most_tasks: self.cluster.most_tasks,
        }
    }

    /// Refuses what the cluster would: nothing is submitted of a sweep a part of which cannot run.
    pub fn check(&self, project: &Project, runs: &[PlannedRun]) -> Result<(), Failure> {
        let mut elsewhere = BTreeSet::new();
        for run in runs {
            check_names(&run.configuration.allocation)?;
            let limit = limit_of(project, run);
            let asked = self.cluster.ask(&run.configuration.allocation, self.arguments.time.or(limit))?;
            elsewhere.extend(self.arguments.time.and_then(|time| self.cluster.elsewhere_for(&asked, time)));
        }
        for words in elsewhere {
            self.terminal.say(&format!("warning: {words}"));
        }
        Ok(())
    }

    /// Does something with the sweep as Slurm is given it.
    fn with_sweep<T>(
        &self,
        project: &Project,
        knowledge: &Knowledge,
        runner: Vec<String>,
        work: impl FnOnce(&SlurmSweep<'_>) -> T,
    ) -> T {
        let describe = |run: BatchRun| {
            let limit = limit_of(project, &run.planned());
            self.cluster.candidate(run, limit, self.arguments.time, knowledge)
        };
        let state = project.state();
        work(&SlurmSweep {
            experiment: &project.experiment,
            experiment_directory: &project.directory,
            state_directory: &state,
            runner,
            describe: &describe,
            packing: self.packing(),
            most_jobs: self.arguments.max_jobs as usize,
            patience: PATIENCE,
            time_outs: true,
        })
    }

    /// Prints the scripts of what is missing and what they cost; nothing is submitted.
    pub fn show(&self, project: &Project, arguments: &Generate) -> Result<(), Failure> {
        let terminal = self.terminal;
        let knowledge = &Knowledge::of(project)?;
        let plan = sweep::planned(project, &arguments.scale, knowledge)?;
        let runs = sweep::remaining(plan.runs, &sweep::outcomes(project)?, arguments.retry_failed);
        let runs = &match project.read_history()? {
            Some(store) => self.not_in_queue(project, &runs, &store)?,
            None => runs,
        };
        self.check(project, runs)?;
        let runner = vec!["harp".to_owned(), WithinJob::NAME.to_owned()];
        self.with_sweep(project, knowledge, runner, |sweep| {
            let arrays = sweep.arrays(&batch_runs(runs));
            let estimate = Estimate::of(&self.cluster, &arrays, knowledge);
            let named = |index: usize| BatchId(format!("{index:016x}"));
            let scripts: Vec<String> = arrays
                .iter()
                .enumerate()
                .map(|(index, array)| sweep.script(&named(index), &array.request, array.tasks.len()))
                .collect();
            if terminal.json {
                return terminal.print_json(&estimate.with_scripts(scripts));
            }
            if runs.is_empty() {
                terminal.say("nothing is left to submit");
                return Ok(());
            }
            terminal.say(&estimate.in_words());
            terminal.print(&scripts.join("\n"))
        })
    }

    /// Shows what the runs cost that are in no job yet, and asks.
    pub fn agree(
        &self,
        project: &Project,
        runs: &[PlannedRun],
        knowledge: &Knowledge,
        store: &Store,
    ) -> Result<(), Failure> {
        let fresh = self.not_in_queue(project, runs, store)?;
        if fresh.is_empty() {
            return Ok(());
        }
        self.check(project, &fresh)?;
        let estimate = self.with_sweep(project, knowledge, Vec::new(), |sweep| {
            Estimate::of(&self.cluster, &sweep.arrays(&batch_runs(&fresh)), knowledge)
        });
        confirm(&estimate, self.arguments.jobs.yes, self.terminal)
    }

    /// The runs that are in no job yet; those that are, are told.
    fn not_in_queue(
        &self,
        project: &Project,
        runs: &[PlannedRun],
        store: &Store,
    ) -> Result<Vec<PlannedRun>, Failure> {
        let opened = open_batches(store, &project.experiment.application())?;
        if !opened.is_empty() {
            let runs = opened.iter().map(|open| open.batch.len() - open.settled.len()).sum();
            let runs = plural(runs, "run");
            self.terminal.say(&format!("going on with {runs} in the queue"));
        }
        Ok(runs.iter().filter(|run| !is_open(&opened, run)).cloned().collect())
    }

    /// Asks whether runs may be submitted that nobody can count yet.
    pub fn agree_to(&self, words: &str) -> Result<(), Failure> {
        ask(words, self.arguments.jobs.yes, self.terminal)
    }

    /// Takes up what is in the queue, submits the rest, and waits for all.
    pub fn sweep(
        &self,
        project: &Project,
        runs: Vec<PlannedRun>,
        knowledge: &Knowledge,
        store: &mut Store,
        observer: &mut dyn Observer,
        stop: &Stop,
    ) -> Result<Summary, Failure> {
        let application = project.experiment.application();
        let opened = open_batches(store, &application)?;
        let done = self.with_sweep(project, knowledge, runner(project)?, |sweep| {
            let mut books = Books { store, application: application.clone() };
            sweep.run(runs, opened, &mut books, observer, stop).map(summary).map_err(failure)
        })?;
        let open = open_batches(store, &application)?;
        if done.end == SweepEnd::Stopped && !open.is_empty() {
            let jobs: Vec<u64> = open.iter().filter_map(|open| open.job).collect();
            self.terminal.say(&format!(
                "what is in the queue{} goes on; scancel ends it, the same command waits for it",
                in_words(&jobs)
            ));
        }
        Ok(done)
    }
}

/// Says of a single job that it was submitted.
pub struct Announcing<'a>(pub &'a Terminal);

impl Observer for Announcing<'_> {
    fn submitted(&mut self, job: u64, tasks: usize, runs: usize) {
        self.0.say(&submitted(job, tasks, runs));
    }
}

/// `submitted job 12: 40 runs in 8 tasks`.
pub fn submitted(job: u64, tasks: usize, runs: usize) -> String {
    let what = match (tasks, runs) {
        (_, 1) => String::new(),
        (1, _) => format!(": {}", plural(runs, "run")),
        _ => format!(": {} in {}", plural(runs, "run"), plural(tasks, "task")),
    };
    format!("submitted job {job}{what}")
}

/// ` (jobs 12 and 13)`; nothing where no number is known.
pub fn in_words(jobs: &[u64]) -> String {
    let numbers: Vec<String> = jobs.iter().map(u64::to_string).collect();
    match numbers.as_slice() {
        [] => String::new(),
        [one] => format!(" (job {one})"),
        [others @ .., last] => format!(" (jobs {} and {last})", others.join(", ")),
    }
}

/// In the words of a sweep on this machine. What is left when nobody asked for a stop is left because
/// the total time was over.
fn summary(done: SlurmSummary) -> Summary {
    let end = match done {
        SlurmSummary { stopped: true, .. } => SweepEnd::Stopped,
        SlurmSummary { left: 0, .. } => SweepEnd::Done,
        _ => SweepEnd::TotalTimeout,
    };
    Summary { completed: done.completed, failed: done.failed, over_budget: 0, left: done.left, end }
}

fn batch_runs(runs: &[PlannedRun]) -> Vec<BatchRun> {
    let batch_run = |run: &PlannedRun| BatchRun {
        configuration: run.configuration.clone(),
        repetition: run.repetition,
        returned: 0,
    };
    runs.iter().map(batch_run).collect()
}

/// Whether a run is in a submission already.
pub fn is_open(opened: &[OpenBatch], run: &PlannedRun) -> bool {
    opened.iter().any(|open| {
        open.batch.positions().enumerate().any(|(position, (_, _, known))| {
            !open.settled.contains(&position)
                && known.repetition == run.repetition
                && known.configuration == run.configuration
        })
    })
}

/// When the experiment ends a run.
fn limit_of(project: &Project, run: &PlannedRun) -> Option<Seconds> {
    project.experiment.designs.get(&run.configuration.scale)?.timeout
}

/// A sweep that ended as an error, and what to do.
pub fn failure(error: SlurmSweepError) -> Failure {
    let message = error.to_string();
    match error {
        SlurmSweepError::Slurm(error) => error.into(),
        SlurmSweepError::Refused { script, .. } => {
            Failure::bad_input(message).exit(Exit::NoPlanFits).hint(format!(
                "`sbatch --test-only {}` says more; --partition, --account, --time and [allocation] change \
                 what is asked for",
                script.display()
            ))
        }
        SlurmSweepError::Sweep(error) => Failure::bad_input(error.to_string())
            .hint("make room or give access; the same command goes on where it was"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submission_is_told_by_its_number_and_size() {
        assert_eq!(submitted(12, 1, 1), "submitted job 12");
        assert_eq!(submitted(12, 1, 9), "submitted job 12: 9 runs");
        assert_eq!(submitted(12, 8, 40), "submitted job 12: 40 runs in 8 tasks");
    }

    #[test]
    fn jobs_that_go_on_are_named() {
        assert_eq!(in_words(&[]), "");
        assert_eq!(in_words(&[12]), " (job 12)");
        assert_eq!(in_words(&[12, 13]), " (jobs 12 and 13)");
        assert_eq!(in_words(&[12, 13, 14]), " (jobs 12, 13 and 14)");
    }
}
