//! Many runs into the store in few transactions, each under the name of where it came from.

use std::collections::HashMap;

use harp_core::{Host, Run};
use rusqlite::{OptionalExtension, params};

use crate::{HistoryError, Store};

/// Runs written between two commits: a crash loses no more than these, and importing again brings them.
const BATCH: u32 = 20_000;

/// What became of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    New,
    Changed,
    Unchanged,
}

/// An open import.
pub(super) struct Batch<'a> {
    store: &'a mut Store,
    pending: u32,
    /// Nothing was imported before, so there is nothing to look for.
    first: bool,
    /// The next repetition of each application and configuration.
    next: HashMap<(String, String), u32>,
    /// Keys by the texts they are made of: making one takes longer than all else.
    keys: HashMap<String, String>,
    host: Option<(Host, i64)>,
}

impl<'a> Batch<'a> {
    pub(super) fn begin(store: &'a mut Store) -> Result<Batch<'a>, HistoryError> {
        let known = "SELECT EXISTS (SELECT 1 FROM runs)";
        let known = store
            .attempt("read", |connection| connection.query_row(known, [], |row| row.get::<_, bool>(0)))?;
        store.attempt("written", |connection| {
            // the indexes of a million runs are larger than the usual cache
            connection.pragma_update(None, "cache_size", -131_072)?;
            connection.execute_batch("BEGIN IMMEDIATE")
        })?;
        Ok(Batch { store, pending: 0, first: !known, next: HashMap::new(), keys: HashMap::new(), host: None })
    }

    pub(super) fn add(&mut self, origin: &str, run: &Run, host: &Host) -> Result<Added, HistoryError> {
        let outcome = self.encode(&run.outcome)?;
        let usage = self.encode(&run.usage)?;
        let metrics = self.encode(&run.metrics)?;
        let parameters = self.encode(&run.configuration.parameters)?;
        let allocation = self.encode(&run.configuration.allocation)?;
        let texts = format!("{} {parameters} {allocation}", run.configuration.scale.name());
        let key = self.keys.entry(texts).or_insert_with(|| run.configuration.key().0).clone();
        let host = self.host_id(host)?;
        // Within one import a job may come twice, too: when files that overlap are put together.
        let before = self.store.attempt("read", |connection| {
            let columns = "SELECT id, application, configuration_key, outcome, usage, metrics FROM runs WHERE origin = ?1";
            connection
                .prepare_cached(columns)?
                .query_row([origin], |row| {
                    let same = row.get_ref(1)?.as_str()? == run.application
                        && row.get_ref(2)?.as_str()? == key
                        && row.get_ref(3)?.as_str()? == outcome
                        && row.get_ref(4)?.as_str()? == usage
                        && row.get_ref(5)?.as_str()? == metrics;
                    Ok((row.get::<_, i64>(0)?, same))
                })
                .optional()
        })?;
        let added = match before {
            Some((_, true)) => return Ok(Added::Unchanged),
            Some((id, false)) => {
                self.store.attempt("written", |connection| {
                    connection.prepare_cached("DELETE FROM runs WHERE id = ?1")?.execute([id])
                })?;
                Added::Changed
            }
            None => Added::New,
        };
        let repetition = self.repetition(&run.application, &key)?;
        self.store.attempt("written", |connection| {
            let insert = "INSERT INTO runs (application, configuration_key, repetition, scale, parameters, \
                          allocation, host_id, started_ms, outcome, usage, metrics, origin) \
                          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
            connection.prepare_cached(insert)?.execute(params![
                run.application,
                key,
                repetition,
                run.configuration.scale.name(),
                parameters,
                allocation,
                host,
                run.started.0,
                outcome,
                usage,
                metrics,
                origin,
            ])
        })?;
        self.pending += 1;
        if self.pending >= BATCH {
            self.store
                .attempt("written", |connection| connection.execute_batch("COMMIT; BEGIN IMMEDIATE"))?;
            self.pending = 0;
        }
        Ok(added)
    }

    pub(super) fn commit(self) -> Result<(), HistoryError> {
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
        let name = (application.to_owned(), key.to_owned());
        let next = match self.next.get(&name) {
            Some(&next) => next,
            None if self.first => 0,
            None => {
                let most = "SELECT max(repetition) FROM runs WHERE superseded = 0 AND application = ?1 \
                            AND configuration_key = ?2";
                let most: Option<u32> = self.store.attempt("read", |connection| {
                    connection.prepare_cached(most)?.query_row([application, key], |row| row.get(0))
                })?;
                most.map_or(0, |most| most + 1)
            }
        };
        self.next.insert(name, next + 1);
        Ok(next)
    }
}
