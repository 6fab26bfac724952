//! What was handed to a scheduler and is not settled: kept beside the runs, so that a run and the end of
//! its submission are one transaction.
//!
//! The batch itself is a text of whoever submits; here only its runs matter. The database refuses a run
//! that is in another open submission.

use harp_core::{ConfigurationKey, Host, Run, Timestamp};
use rusqlite::{OptionalExtension, params};

use crate::{HistoryError, Store};

/// A submission to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission<'a> {
    /// Its name, which no other has.
    pub id: &'a str,
    /// The application of its runs.
    pub application: &'a str,
    /// When it was made.
    pub created: Timestamp,
    /// Its description, in the submitter's own form.
    pub batch: &'a str,
    /// Its runs, by position.
    pub runs: &'a [(ConfigurationKey, u32)],
}

/// A submission of which some run is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSubmission {
    /// Its name.
    pub id: String,
    /// The job's number, once it was told.
    pub job: Option<u64>,
    /// Its description.
    pub batch: String,
    /// Positions that are settled.
    pub settled: Vec<usize>,
}

impl Store {
    /// Keeps a submission before it is made.
    pub fn intend(&mut self, submission: &Submission<'_>) -> Result<(), HistoryError> {
        self.transact(|transaction| {
            transaction.execute(
                "INSERT INTO submissions (id, application, created_ms, batch) VALUES (?1, ?2, ?3, ?4)",
                params![submission.id, submission.application, submission.created.0, submission.batch],
            )?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO submitted_runs (submission, position, application, configuration_key, \
                 repetition) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for (position, (key, repetition)) in submission.runs.iter().enumerate() {
                insert.execute(params![
                    submission.id,
                    position as i64,
                    submission.application,
                    key.0,
                    repetition
                ])?;
            }
            Ok(())
        })
    }

    /// Keeps the number of a submission's job.
    pub fn submitted(&mut self, id: &str, job: u64) -> Result<(), HistoryError> {
        self.transact(|transaction| {
            let job = i64::try_from(job).unwrap_or(i64::MAX);
            transaction.execute("UPDATE submissions SET job = ?2 WHERE id = ?1", params![id, job]).map(drop)
        })
    }

    /// Records a run and settles its place in a submission, both or neither.
    pub fn record_submitted(
        &mut self,
        id: &str,
        position: usize,
        run: &Run,
        host: &Host,
    ) -> Result<(), HistoryError> {
        self.record_with(run, host, |transaction| settle(transaction, id, position))
    }

    /// Settles a run without an outcome: it may be submitted again.
    pub fn give_back(&mut self, id: &str, position: usize) -> Result<(), HistoryError> {
        self.transact(|transaction| settle(transaction, id, position))
    }

    /// The submissions of an application that are not settled, oldest first.
    pub fn open_submissions(&self, application: &str) -> Result<Vec<OpenSubmission>, HistoryError> {
        self.attempt("read", |connection| {
            let mut statement = connection.prepare(
                "SELECT id, job, batch FROM submissions WHERE application = ?1 AND EXISTS (SELECT 1 FROM \
                 submitted_runs WHERE submission = submissions.id AND settled = 0) ORDER BY created_ms, id",
            )?;
            let found = statement.query_map([application], |row| {
                let job: Option<i64> = row.get(1)?;
                Ok(OpenSubmission {
                    id: row.get(0)?,
                    job: job.and_then(|job| u64::try_from(job).ok()),
                    batch: row.get(2)?,
                    settled: Vec::new(),
                })
            })?;
            let mut found = found.collect::<rusqlite::Result<Vec<_>>>()?;
            let mut positions = connection
                .prepare("SELECT position FROM submitted_runs WHERE submission = ?1 AND settled = 1")?;
            for submission in &mut found {
                let settled = positions.query_map([&submission.id], |row| row.get::<_, i64>(0))?;
                for position in settled {
                    submission.settled.extend(usize::try_from(position?));
                }
            }
            Ok(found)
        })
    }

    /// Whether a submission of this name was ever made from here.
    pub fn knows_submission(&self, id: &str) -> Result<bool, HistoryError> {
        self.attempt("read", |connection| {
            connection
                .prepare_cached("SELECT 1 FROM submissions WHERE id = ?1")?
                .query_row([id], |_| Ok(()))
                .optional()
                .map(|found| found.is_some())
        })
    }
}

fn settle(transaction: &rusqlite::Transaction<'_>, id: &str, position: usize) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE submitted_runs SET settled = 1 WHERE submission = ?1 AND position = ?2")?
        .execute(params![id, position as i64])
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Allocation, Configuration, Metrics, Outcome, Scale, Usage};

    fn run(n: i64) -> Run {
        Run {
            application: "a".into(),
            configuration: Configuration {
                scale: Scale::Sd,
                parameters: [("n", n)].into_iter().collect(),
                allocation: Allocation::default(),
            },
            repetition: 0,
            host: "h".into(),
            started: Timestamp(1),
            outcome: Outcome::Completed,
            usage: Usage::default(),
            metrics: Metrics::default(),
        }
    }

    #[test]
    fn a_run_is_in_one_open_submission_at_most() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("h.sqlite");
        let mut store = Store::open(&path).unwrap();
        let keys: Vec<(ConfigurationKey, u32)> = (0..3).map(|n| (run(n).configuration.key(), 0)).collect();
        let submission =
            |id, runs| Submission { id, application: "a", created: Timestamp(1), batch: "{}", runs };
        store.intend(&submission("one", &keys)).unwrap();
        assert!(store.intend(&submission("two", &keys[2..])).is_err(), "it is in the queue already");
        assert!(!store.knows_submission("two").unwrap(), "refused as a whole");
        store.submitted("one", 42).unwrap();
        store.record_submitted("one", 0, &run(0), &Host::default()).unwrap();
        store.give_back("one", 2).unwrap();
        drop(store);

        let mut store = Store::open(&path).unwrap();
        let open = store.open_submissions("a").unwrap();
        assert_eq!((open.len(), open[0].job, &open[0].settled), (1, Some(42), &vec![0, 2]));
        assert_eq!(store.runs(None).unwrap().len(), 1);
        store.intend(&submission("two", &keys[2..])).unwrap();
        store.record_submitted("one", 1, &run(1), &Host::default()).unwrap();
        let open = store.open_submissions("a").unwrap();
        assert_eq!(open.iter().map(|open| open.id.as_str()).collect::<Vec<_>>(), ["two"]);
        // what was recorded already is settled with nothing recorded: both or neither
        assert!(store.record_submitted("two", 0, &run(0), &Host::default()).is_err());
        assert_eq!(store.open_submissions("a").unwrap().len(), 1);
        assert!(store.open_submissions("b").unwrap().is_empty());
    }
}
