//! Finding the job of a batch of which it is not known whether it was submitted: harp was killed, or
//! Slurm did not answer, between the intention and the number.

use std::time::Duration;

use super::{SlurmSweepError, State, open::Open};
use crate::slurm::batch::BatchId;
use crate::slurm::client;
use crate::sweep::SweepError;

/// A call of `sbatch` that was under way may still arrive within this time.
const ARRIVAL: Duration = Duration::from_secs(5);

impl State<'_, '_> {
    /// Looks for the jobs of all batches without a number, with one call; then gives up those that are
    /// nowhere.
    pub(super) fn find_jobs(&mut self) -> Result<(), SlurmSweepError> {
        if self.unnumbered().is_empty() {
            return Ok(());
        }
        self.look_up()?;
        for id in self.unnumbered() {
            self.give_up(&id)?;
        }
        Ok(())
    }

    fn unnumbered(&self) -> Vec<BatchId> {
        let without = self.open.iter().filter(|batch| batch.job.is_none());
        without.map(|batch| batch.batch.id.clone()).collect()
    }

    fn unnumbered_names(&self) -> Vec<String> {
        let without = self.open.iter().filter(|batch| batch.job.is_none());
        without.map(|batch| batch.batch.job_name()).collect()
    }

    /// Asks the queue, and accounting for those that have left it.
    fn look_up(&mut self) -> Result<(), SlurmSweepError> {
        let names = self.unnumbered_names();
        let queue = client::queue(&names, true)?;
        self.number(|name| queue.job_named(name))?;
        let names = self.unnumbered_names();
        if names.is_empty() || !self.accounting {
            return Ok(());
        }
        let since = self.open.iter().map(|batch| batch.batch.created.0 / 1000).min().unwrap_or_default();
        match client::accounted_by_name(&names, since) {
            Ok(jobs) => self.number(|name| {
                jobs.iter().find(|job| job.name.as_deref() == Some(name)).map(|job| job.id.job)
            }),
            Err(super::SlurmError::NoAccounting { .. }) => {
                self.accounting = false;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps the numbers that were found.
    fn number(&mut self, find: impl Fn(&str) -> Option<u64>) -> Result<(), SlurmSweepError> {
        for batch in self.open.iter_mut().filter(|batch| batch.job.is_none()) {
            if let Some(job) = find(&batch.batch.job_name()) {
                self.ledger.submitted(&batch.batch.id, job).map_err(SweepError::Record)?;
                batch.job = Some(job);
            }
        }
        Ok(())
    }

    /// Gives up a batch Slurm does not know: from then on a job of it that arrives finds nothing to do.
    /// Only then is it looked for once more, so that none can slip through in between.
    fn give_up(&mut self, id: &BatchId) -> Result<(), SlurmSweepError> {
        let Some(index) = self.open.iter().position(|batch| batch.batch.id == *id) else { return Ok(()) };
        let Some(batch) = self.open.get_mut(index) else { return Ok(()) };
        batch.look();
        let age = crate::now().0 - batch.batch.created.0;
        if batch.has_traces() || age < ARRIVAL.as_millis() as i64 {
            return Ok(()); // it is there, or may still come: ask again later
        }
        let failed = |batch: &Open| {
            let path = batch.folder.0.clone();
            move |source| SweepError::File { action: "withdraw the submission", path, source }
        };
        let withdrawn = batch.folder.withdraw().map_err(failed(batch))?;
        let found = self.look_up();
        let Some(batch) = self.open.get_mut(index) else { return Ok(()) };
        if withdrawn && (found.is_err() || batch.job.is_some()) {
            batch.folder.reinstate().map_err(failed(batch))?;
        }
        found?;
        if self.open.get(index).is_some_and(|batch| batch.job.is_none()) {
            self.give_back_all(index)?;
        }
        Ok(())
    }

    /// Every run of a batch goes back to those that are in no job.
    pub(super) fn give_back_all(&mut self, index: usize) -> Result<(), SlurmSweepError> {
        let Some(batch) = self.open.get_mut(index) else { return Ok(()) };
        let id = batch.batch.id.clone();
        for placed in batch.unsettled().collect::<Vec<_>>() {
            self.ledger.give_back(&id, placed.position).map_err(SweepError::Record)?;
            batch.settle(placed.position);
            self.pending.push(placed.run);
        }
        Ok(())
    }
}
