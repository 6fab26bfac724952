//! Recording runs that are over, and giving back those that say nothing.

use harp_core::{Host, Metrics, Outcome, Run, Usage};

use super::open::Placed;
use super::verdict::{Facts, Standing, Verdict, verdict};
use super::{SlurmSweepError, State};
use crate::slurm::batch::{Batch, BatchId, BatchRun};
use crate::slurm::inside::InsideResult;
use crate::sweep::{Output, RunDirectory, SweepError, judge, metrics, prepared};

impl State<'_, '_> {
    /// Settles what needs no word of Slurm.
    pub(super) fn settle_early(&mut self) -> Result<(), SlurmSweepError> {
        self.settle(true).map(drop)
    }

    /// Settles every run whose fate is known; whether there were some. With `early`, only those whose
    /// jobs may still be in the queue.
    pub(super) fn settle(&mut self, early: bool) -> Result<bool, SlurmSweepError> {
        let mut news = false;
        for index in 0..self.open.len() {
            let Some(batch) = self.open.get(index) else { continue };
            for placed in batch.unsettled().collect::<Vec<_>>() {
                news |= self.settle_one(index, &placed, early)?;
            }
        }
        Ok(news)
    }

    fn settle_one(&mut self, index: usize, placed: &Placed, early: bool) -> Result<bool, SlurmSweepError> {
        let Some(batch) = self.open.get(index) else { return Ok(false) };
        let standing = batch.standing(placed.task, self.accounting, self.sweep.patience);
        let alone = batch.is_alone(placed.task);
        if early && (alone || !matches!(standing, Standing::Open)) {
            return Ok(false);
        }
        let result = batch.result(placed);
        let verdict = verdict(&Facts {
            alone,
            result: result.as_ref(),
            started: batch.started(placed.task, placed.place),
            last: !batch.started_after(placed.task, placed.place),
            task_started: batch.task_started(placed.task),
            standing,
            returned: placed.run.returned,
        });
        let id = batch.batch.id.clone();
        match verdict {
            Verdict::Wait => return Ok(false),
            Verdict::Return => {
                // should its job ever come back, it must not run it beside the next
                let file = batch.folder.withdrawn(placed.task);
                std::fs::write(&file, b"").map_err(|source| SweepError::File {
                    action: "write",
                    path: file,
                    source,
                })?;
                self.ledger.give_back(&id, placed.position).map_err(SweepError::Record)?;
                let returned = placed.run.returned + 1;
                self.pending.push(BatchRun { returned, ..placed.run.clone() });
            }
            Verdict::Ended(mut outcome, usage) => {
                if let (Outcome::NotStarted { reason }, None) = (&mut outcome, &result) {
                    let said = batch.folder.last_words(placed.task);
                    reason.extend(said.map(|said| format!(": {said}")));
                }
                let (run, host, warnings) = self.judged(&placed.run, outcome, *usage, result)?;
                self.record(&id, placed.position, &run, &host, &warnings)?;
            }
        }
        if let Some(batch) = self.open.get_mut(index) {
            batch.settle(placed.position);
        }
        Ok(true)
    }

    fn record(
        &mut self,
        id: &BatchId,
        position: usize,
        run: &Run,
        host: &Host,
        warnings: &[String],
    ) -> Result<(), SlurmSweepError> {
        self.ledger.record(id, position, run, host).map_err(SweepError::Record)?;
        match run.outcome.is_completed() {
            true => self.summary.completed += 1,
            false => self.summary.failed += 1,
        }
        self.observer.finished(run, warnings);
        Ok(())
    }

    /// A run that ended, judged by what the experiment asks of it.
    fn judged(
        &self,
        run: &BatchRun,
        outcome: Outcome,
        usage: Usage,
        result: Option<InsideResult>,
    ) -> Result<(Run, Host, Vec<String>), SlurmSweepError> {
        let mut found = Run {
            application: self.sweep.experiment.application(),
            configuration: run.configuration.clone(),
            repetition: run.repetition,
            host: String::new(),
            started: result.as_ref().map_or_else(crate::now, |result| result.started),
            outcome,
            usage,
            metrics: Metrics::new(),
        };
        let Some(result) = result else { return Ok((found, Host::default(), Vec::new())) };
        found.host.clone_from(&result.host.name);
        let directory = RunDirectory::existing(self.sweep.state_directory, &run.planned());
        let (stdout, stderr) = (directory.log("stdout"), directory.log("stderr"));
        let output = Output { stdout: &stdout, stderr: &stderr };
        let rendered =
            prepared(self.sweep.experiment, self.sweep.experiment_directory, &run.planned(), &directory);
        let Ok(rendered) = rendered else { return Ok((found, result.host, Vec::new())) };
        if matches!(found.outcome, Outcome::NotStarted { .. }) {
            return Ok((found, result.host, Vec::new()));
        }
        found.outcome = judge(found.outcome, &rendered.success, output).map_err(|source| {
            SweepError::File { action: "read the output in", path: stdout.clone(), source }
        })?;
        if let (Outcome::Completed, Some(reason)) = (&found.outcome, result.objection) {
            found.outcome = Outcome::Rejected { reason };
        }
        let (figures, mut warnings) = metrics(&rendered, output);
        found.metrics = figures;
        if !found.outcome.is_completed() {
            warnings.clear();
        }
        Ok((found, result.host, warnings))
    }

    /// A run that cannot be started at all needs no job; it is recorded as if it had had one.
    pub(super) fn record_unstartable(
        &mut self,
        run: BatchRun,
        reason: String,
    ) -> Result<(), SlurmSweepError> {
        let id = BatchId::new().map_err(|source| SweepError::File {
            action: "read",
            path: "/dev/urandom".into(),
            source,
        })?;
        let (found, host, _) = self.judged(&run, Outcome::NotStarted { reason }, Usage::default(), None)?;
        let batch = Batch {
            id: id.clone(),
            experiment: self.sweep.experiment.name.clone(),
            created: crate::now(),
            request: harp_slurm::JobRequest::default(),
            tasks: vec![vec![run]],
        };
        self.ledger.intend(&batch).map_err(SweepError::Record)?;
        self.record(&id, 0, &found, &host, &[])
    }
}
