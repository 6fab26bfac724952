//! Many runs into the store in few transactions, each under the name of where it came from.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use harp_core::{Bytes, Host, MemorySource, Run, Seconds, Usage};
use rusqlite::{OptionalExtension, params};

use crate::{HistoryError, Store};

/// Runs written between two commits: a crash loses no more than these, and importing again brings them.
/// Every commit writes the indexes' pages again, so there are few.
const BATCH: u32 = 250_000;

/// What became of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    New,
    Changed,
    Unchanged,
    /// Rules of an earlier import knew more of it.
    Kept,
}

/// A usage without what is not known, which for a job is most; it is read back as the whole.
#[derive(serde::Serialize)]
struct Known {
    #[serde(skip_serializing_if = "Option::is_none")]
    walltime: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_time: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_time: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_source: Option<MemorySource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    voluntary_switches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    involuntary_switches: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_gpu_memory: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_utilisation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    energy_joules: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filled: Vec<String>,
}

impl Known {
    fn new(usage: &Usage) -> Known {
        // all fields by name: one that is added must not be forgotten here
        let Usage {
            walltime,
            user_time,
            system_time,
            peak_memory,
            peak_memory_source,
            read,
            written,
            voluntary_switches,
            involuntary_switches,
            peak_gpu_memory,
            gpu_utilisation,
            energy_joules,
            filled,
        } = usage.clone();
        Known {
            walltime,
            user_time,
            system_time,
            peak_memory,
            peak_memory_source,
            read,
            written,
            voluntary_switches,
            involuntary_switches,
            peak_gpu_memory,
            gpu_utilisation,
            energy_joules,
            filled,
        }
    }
}

/// What is written of a run, as text.
struct Texts<'t> {
    origin: &'t str,
    key: &'t str,
    host: i64,
    parameters: String,
    allocation: String,
    outcome: String,
    usage: String,
    metrics: String,
}

/// What is in the store about the same job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Same,
    Other,
    OtherApplication,
}

/// An open import.
pub(super) struct Batch<'a> {
    store: &'a mut Store,
    pending: u32,
    /// Nothing is written: it is only looked what would be.
    dry: bool,
    /// There was nothing in the store when the import began.
    was_empty: bool,
    /// The next repetition of each application and configuration.
    /// By a digest of both: two that shared one would only skip a number.
    next: HashMap<u64, u32>,
    host: Option<(Host, i64)>,
}

impl<'a> Batch<'a> {
    pub(super) fn begin(store: &'a mut Store) -> Result<Batch<'a>, HistoryError> {
        let known = "SELECT EXISTS (SELECT 1 FROM runs)";
        let known = store
            .attempt("read", |connection| connection.query_row(known, [], |row| row.get::<_, bool>(0)))?;
        store.attempt("written", |connection| {
            // the indexes of a million runs are larger than the usual cache
            connection.pragma_update(None, "cache_size", -262_144)?;
            connection.execute_batch("BEGIN IMMEDIATE")
        })?;
        Ok(Batch { was_empty: !known, dry: false, ..Batch::look(store) })
    }

    /// One that writes nothing.
    pub(super) fn look(store: &'a mut Store) -> Batch<'a> {
        Batch { store, pending: 0, dry: true, was_empty: false, next: HashMap::new(), host: None }
    }

    /// Adds a run; one that no rule recognised stays what it is, where it is in the store already.
    pub(super) fn add(
        &mut self,
        origin: &str,
        run: &Run,
        host: &Host,
        recognised: bool,
    ) -> Result<Added, HistoryError> {
        let outcome = self.encode(&run.outcome)?;
        let usage = self.encode(&Known::new(&run.usage))?;
        let metrics = self.encode(&run.metrics)?;
        let parameters = self.encode(&run.configuration.parameters)?;
        let allocation = self.encode(&run.configuration.allocation)?;
        let key = run.configuration.key().0;
        let host = if self.dry { 0 } else { self.host_id(host)? };
        let texts = Texts { origin, key: &key, host, parameters, allocation, outcome, usage, metrics };
        // Into an empty store all is new, unless files that overlap were put together.
        if self.was_empty && self.insert(run, &texts)? {
            return Ok(Added::New);
        }
        let added = match self.before(run, &texts)? {
            Some((_, Before::Same)) => return Ok(Added::Unchanged),
            Some((_, Before::OtherApplication)) if !recognised => return Ok(Added::Kept),
            Some(_) if self.dry => return Ok(Added::Changed),
            None if self.dry => return Ok(Added::New),
            Some((id, _)) => {
                self.store.attempt("written", |connection| {
                    connection.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([id])
                })?;
                Added::Changed
            }
            None => Added::New,
        };
        self.insert(run, &texts)?;
        Ok(added)
    }

    /// The row of the same origin, and how it compares.
    fn before(&self, run: &Run, texts: &Texts<'_>) -> Result<Option<(i64, Before)>, HistoryError> {
        self.store.attempt("read", |connection| {
            let columns = "SELECT id, application, configuration_key, outcome, usage, metrics FROM runs \
                           WHERE origin = ?1";
            connection
                .prepare_cached(columns)?
                .query_row([texts.origin], |row| {
                    let is_its = row.get_ref(1)?.as_str()? == run.application;
                    let same = is_its
                        && row.get_ref(2)?.as_str()? == texts.key
                        && row.get_ref(3)?.as_str()? == texts.outcome
                        && row.get_ref(4)?.as_str()? == texts.usage
                        && row.get_ref(5)?.as_str()? == texts.metrics;
                    let before = match (is_its, same) {
                        (false, _) => Before::OtherApplication,
                        (true, true) => Before::Same,
                        (true, false) => Before::Other,
                    };
                    Ok((row.get::<_, i64>(0)?, before))
                })
                .optional()
        })
    }

    /// Writes a row unless there is one of its origin; `true` when it did.
    fn insert(&mut self, run: &Run, texts: &Texts<'_>) -> Result<bool, HistoryError> {
        let repetition = self.repetition(&run.application, texts.key)?;
        let written = self.store.attempt("written", |connection| {
            let insert = "INSERT INTO runs (application, configuration_key, repetition, scale, parameters, \
                          allocation, host_id, started_ms, outcome, usage, metrics, origin) \
                          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
                          ON CONFLICT (origin) WHERE origin IS NOT NULL DO NOTHING";
            connection.prepare_cached(insert)?.execute(params![
                run.application,
                texts.key,
                repetition,
                run.configuration.scale.name(),
                texts.parameters,
                texts.allocation,
                texts.host,
                run.started.0,
                texts.outcome,
                texts.usage,
                texts.metrics,
                texts.origin,
            ])
        })?;
        if written == 0 {
            return Ok(false);
        }
        self.next.insert(digest(&run.application, texts.key), repetition + 1);
        self.pending += 1;
        if self.pending >= BATCH {
            self.store
                .attempt("written", |connection| connection.execute_batch("COMMIT; BEGIN IMMEDIATE"))?;
            self.pending = 0;
        }
        Ok(true)
    }

    /// Whether a job of this name is a submission of this history.
    pub(super) fn knows_submission(&self, job_name: &str) -> Result<bool, HistoryError> {
        match harp_slurm::batch_of_job_name(job_name) {
            Some(id) => self.store.knows_submission(id),
            None => Ok(false),
        }
    }

    /// Takes out what turned out to be something else; an import into an empty store has put in nothing
    /// of the kind.
    pub(super) fn forget(&mut self, origin: &str) -> Result<(), HistoryError> {
        if self.was_empty || self.dry {
            return Ok(());
        }
        self.store.attempt("written", |connection| {
            connection.prepare_cached("DELETE FROM runs WHERE origin = ?1")?.execute([origin]).map(drop)
        })
    }

    pub(super) fn commit(self) -> Result<(), HistoryError> {
        if self.dry {
            return Ok(());
        }
        self.store.attempt("written", |connection| connection.execute_batch("COMMIT"))
    }

    fn encode<T: serde::Serialize>(&self, value: &T) -> Result<String, HistoryError> {
        serde_json::to_string(value).map_err(|error| HistoryError::Damaged {
            path: self.store.path().to_owned(),
            row: 0,
            reason: error.to_string(),
        })
    }

    fn host_id(&mut self, host: &Host) -> Result<i64, HistoryError> {
        if let Some((known, id)) = &self.host
            && known == host
        {
            return Ok(*id);
        }
        let text = self.encode(host)?;
        let id = self.store.attempt("written", |connection| {
            connection.execute("INSERT OR IGNORE INTO hosts (description) VALUES (?1)", [&text])?;
            connection.query_row("SELECT id FROM hosts WHERE description = ?1", [&text], |row| row.get(0))
        })?;
        self.host = Some((host.clone(), id));
        Ok(id)
    }

    /// Every job is a repetition of its configuration of its own.
    fn repetition(&mut self, application: &str, key: &str) -> Result<u32, HistoryError> {
        if let Some(&next) = self.next.get(&digest(application, key)) {
            return Ok(next);
        }
        if self.was_empty {
            return Ok(0);
        }
        let most = "SELECT max(repetition) FROM runs WHERE superseded = 0 AND application = ?1 \
                    AND configuration_key = ?2";
        let most: Option<u32> = self.store.attempt("read", |connection| {
            connection.prepare_cached(most)?.query_row([application, key], |row| row.get(0))
        })?;
        Ok(most.map_or(0, |most| most + 1))
    }
}

fn digest(application: &str, key: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    (application, key).hash(&mut hasher);
    hasher.finish()
}
