//! The history as the ledger of submissions.

use std::error::Error;

use harp_core::{ConfigurationKey, Host, Run};
use harp_history::{Store, Submission};
use harp_measure::slurm::{Batch, BatchId, Ledger, OpenBatch};

use crate::failure::Failure;

/// Keeps submissions and runs in a store.
pub struct Books<'a> {
    pub store: &'a mut Store,
    pub application: String,
}

type Kept = Result<(), Box<dyn Error + Send + Sync>>;

impl Ledger for Books<'_> {
    fn intend(&mut self, batch: &Batch) -> Kept {
        let runs: Vec<(ConfigurationKey, u32)> =
            batch.positions().map(|(_, _, run)| (run.configuration.key(), run.repetition)).collect();
        let text = serde_json::to_string(batch)?;
        Ok(self.store.intend(&Submission {
            id: &batch.id.0,
            application: &self.application,
            created: batch.created,
            batch: &text,
            runs: &runs,
        })?)
    }

    fn submitted(&mut self, batch: &BatchId, job: u64) -> Kept {
        Ok(self.store.submitted(&batch.0, job)?)
    }

    fn record(&mut self, batch: &BatchId, position: usize, run: &Run, host: &Host) -> Kept {
        Ok(self.store.record_submitted(&batch.0, position, run, host)?)
    }

    fn give_back(&mut self, batch: &BatchId, position: usize) -> Kept {
        Ok(self.store.give_back(&batch.0, position)?)
    }
}

/// The submissions of an application that are not settled.
pub fn open_batches(store: &Store, application: &str) -> Result<Vec<OpenBatch>, Failure> {
    let open = store.open_submissions(application)?;
    open.into_iter()
        .map(|open| {
            let batch: Batch = serde_json::from_str(&open.batch).map_err(|error| {
                Failure::bad_input(format!("the submission {} in the history is damaged: {error}", open.id))
            })?;
            Ok(OpenBatch { batch, job: open.job, settled: open.settled })
        })
        .collect()
}
