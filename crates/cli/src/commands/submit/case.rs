//! The one run of a case, from its repetition to its outcome.

use std::collections::BTreeMap;

use harp_advise::{Attempt, Plan};
use harp_core::{Bytes, Configuration, Money, Outcome, Scale, Seconds, Value};
use harp_experiment::PlannedRun;
use harp_history::Store;
use harp_measure::Stop;
use harp_measure::slurm::{BatchId, BatchRun, Candidate, OpenBatch, Packing, SlurmSweep};
use harp_slurm::JobRequest;

use super::interrupted;
use crate::allocations;
use crate::arguments::WithinJob;
use crate::failure::Failure;
use crate::on_slurm::{
    Announcing, Asked, Books, Cluster, PATIENCE, check_names, failure, open_batches, runner,
};
use crate::project::Project;
use crate::terminal::Terminal;

/// Memory that counts for the job and not for its program.
const BESIDE: Bytes = Bytes(64 << 20);

/// A case that is about to be run.
pub struct Case<'a> {
    project: &'a Project,
    cluster: &'a Cluster,
    run: PlannedRun,
    plan: &'a Plan,
    asked: Asked,
    opened: Vec<OpenBatch>,
}

impl<'a> Case<'a> {
    /// The case with what a plan gives it.
    pub fn of(
        project: &'a Project,
        cluster: &'a Cluster,
        values: &BTreeMap<String, Value>,
        plan: &'a Plan,
    ) -> Result<Case<'a>, Failure> {
        // What is run on purpose is learned from, as a run at full scale.
        let configuration = Configuration {
            scale: Scale::Fs,
            ..allocations::configuration(project, values, &plan.candidate)?
        };
        check_names(&plan.allocation)?;
        let asked = cluster.ask_at(&plan.allocation, &plan.placement);
        let run = PlannedRun { configuration, repetition: 0 };
        Ok(Case { project, cluster, run, plan, asked, opened: Vec::new() })
    }

    pub fn configuration(&self) -> &Configuration {
        &self.run.configuration
    }

    pub fn repetition(&self) -> u32 {
        self.run.repetition
    }

    pub fn partition(&self) -> Option<String> {
        self.asked.request.partition.clone()
    }

    /// The longest time the partition gives.
    pub fn longest(&self) -> Option<Seconds> {
        self.asked.longest
    }

    /// The most memory a node gives.
    pub fn most_memory(&self) -> Option<Bytes> {
        let node_type = self.cluster.site.node_type(&self.asked.placement.node_type)?;
        let partition = self.asked.placement.partition.as_deref();
        let limit = partition.and_then(|name| self.cluster.site.partition(name)?.max_memory);
        super::smaller(node_type.memory, limit)
    }

    /// The repetition to run: that of a job that is in the queue, else the first that has no outcome.
    pub fn settle_repetition(&mut self, store: &Store) -> Result<(), Failure> {
        let application = self.project.experiment.application();
        let opened = open_batches(store, &application)?;
        let key = self.run.configuration.key();
        let is_this = |open: &OpenBatch| {
            let mut runs = open.batch.positions().enumerate();
            runs.any(|(position, (_, _, run))| {
                run.configuration.key() == key && !open.settled.contains(&position)
            })
        };
        self.opened = opened.into_iter().filter(is_this).collect();
        let in_queue = self.opened.first().and_then(|open| {
            open.batch
                .positions()
                .find(|(_, _, run)| run.configuration.key() == key)
                .map(|(_, _, run)| run.repetition)
        });
        let outcomes = store.outcomes(&application)?;
        let free = (0..).find(|repetition| !outcomes.contains_key(&(key.clone(), *repetition)));
        self.run.repetition = in_queue.or(free).unwrap_or_default();
        Ok(())
    }

    /// Whether an earlier call has submitted it.
    pub fn is_in_queue(&self) -> bool {
        !self.opened.is_empty()
    }

    /// What the job that is in the queue asks for.
    pub fn in_queue_asks(&self) -> Option<Attempt> {
        let request = &self.opened.first()?.batch.request;
        Some(Attempt { time: request.time?, memory: request.memory })
    }

    fn request(&self, attempt: &Attempt) -> JobRequest {
        JobRequest { memory: attempt.memory, ..self.asked.request.clone() }
    }

    pub fn asked_in_words(&self, attempt: &Attempt) -> String {
        harp_core::Allocation { memory: attempt.memory, ..self.plan.allocation.clone() }.to_string()
    }

    /// What an attempt costs if it takes all its time.
    pub fn price(&self, attempt: &Attempt) -> Option<Money> {
        self.price_of(attempt.memory, attempt.time)
    }

    /// What the allocation costs with some memory for some time.
    pub fn price_of(&self, memory: Option<Bytes>, time: Seconds) -> Option<Money> {
        let allocation = harp_core::Allocation { memory, ..self.plan.allocation.clone() };
        self.cluster.site.price(&allocation, &self.asked.placement, time).ok()
    }

    /// The memory of a first attempt: the plan's, and what the job's shell and harp take beside the program.
    pub fn planned_memory(&self) -> Option<Bytes> {
        let request = self.plan.memory.and_then(|memory| memory.request)?;
        let memory = Bytes(request.0.saturating_add(BESIDE.0));
        Some(self.most_memory().map_or(memory, |most| memory.min(most)))
    }

    pub fn project(&self) -> &Project {
        self.project
    }

    /// The script of an attempt.
    pub fn script(&self, attempt: &Attempt) -> String {
        let command = vec!["harp".to_owned(), WithinJob::NAME.to_owned()];
        self.with_sweep(attempt, command, |sweep| {
            let request = JobRequest { time: Some(attempt.time), ..self.request(attempt) };
            sweep.script(&BatchId(format!("{:016x}", 0)), &request, 1)
        })
    }

    /// Submits an attempt, or waits for the one in the queue, and gives how it ended.
    pub fn run(
        &mut self,
        attempt: &Attempt,
        store: &mut Store,
        stop: &Stop,
        terminal: &Terminal,
    ) -> Result<Outcome, Failure> {
        let opened = std::mem::take(&mut self.opened);
        if !opened.is_empty() {
            terminal.say("it is in the queue already: waiting for it");
        }
        let command = runner(self.project)?;
        let application = self.project.experiment.application();
        let summary = self.with_sweep(attempt, command, |sweep| {
            let mut books = Books { store, application: application.clone() };
            sweep
                .run(vec![self.run.clone()], opened, &mut books, &mut Announcing(terminal), stop)
                .map_err(failure)
        })?;
        if summary.stopped {
            return Err(interrupted());
        }
        let outcomes = store.outcomes(&application)?;
        let outcome = outcomes.get(&(self.run.configuration.key(), self.run.repetition));
        outcome.cloned().ok_or_else(|| Failure::bad_input("the run left no outcome"))
    }

    fn with_sweep<T>(
        &self,
        attempt: &Attempt,
        command: Vec<String>,
        work: impl FnOnce(&SlurmSweep<'_>) -> T,
    ) -> T {
        let describe = |run: BatchRun| Candidate {
            run,
            request: self.request(attempt),
            limit: None,
            expected: None,
            longest: None,
        };
        let state = self.project.state();
        work(&SlurmSweep {
            experiment: &self.project.experiment,
            experiment_directory: &self.project.directory,
            state_directory: &state,
            runner: command,
            describe: &describe,
            packing: Packing { target: Seconds(0.0), time: Some(attempt.time), most_tasks: 1 },
            most_jobs: 1,
            patience: PATIENCE,
            time_outs: false,
        })
    }
}
