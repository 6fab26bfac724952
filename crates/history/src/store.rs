//! The SQLite file that holds every run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harp_core::{Configuration, ConfigurationKey, Host, Outcome, Run, Seconds, Timestamp, Usage};
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior, params};

use crate::{HistoryError, filesystem, schema};

/// An open history. One process writes at a time; others may read meanwhile.
pub struct Store {
    path: PathBuf,
    connection: Connection,
    /// Fingerprint of the program whose runs are recorded.
    program: Option<String>,
}

/// A run with the machine it ran on.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The run.
    pub run: Run,
    /// The machine, as it was when it ran.
    pub host: Host,
    /// Fingerprint of the program, if one was taken.
    pub program: Option<String>,
}

/// Attempts at a run before the one that counts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Superseded {
    /// How many.
    pub attempts: usize,
    /// What they took together, as far as it is known.
    pub walltime: Seconds,
}

const COLUMNS: &str = "runs.id, application, repetition, scale, parameters, allocation, hosts.description, \
                       started_ms, outcome, usage, metrics, \
                       (SELECT program FROM run_programs WHERE run_id = runs.id)";

impl Store {
    /// Opens a history, making the file if there is none.
    pub fn open(path: &Path) -> Result<Store, HistoryError> {
        let failed = |source| HistoryError::Database { path: path.to_owned(), action: "opened", source };
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(Duration::from_secs(20)).map_err(failed)?;
        let found = known_format(&connection, path)?;
        // Kill -9 loses nothing with either journal; `FULL` also survives a power failure.
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let journal = if filesystem::shared_between_machines(directory) { "PERSIST" } else { "WAL" };
        connection.pragma_update(None, "journal_mode", journal).map_err(failed)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        if found < schema::FORMAT {
            schema::migrate(&mut connection, found).map_err(failed)?;
        }
        Ok(Store { path: path.to_owned(), connection, program: None })
    }

    /// Opens a history for reading only; the file must exist.
    pub fn open_for_reading(path: &Path) -> Result<Store, HistoryError> {
        let failed = |source| HistoryError::Database { path: path.to_owned(), action: "opened", source };
        let connection =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
        connection.busy_timeout(Duration::from_secs(20)).map_err(failed)?;
        if known_format(&connection, path)? < schema::FORMAT {
            return Store::open(path);
        }
        connection.pragma_update(None, "query_only", true).map_err(failed)?;
        Ok(Store { path: path.to_owned(), connection, program: None })
    }

    /// Says which program the runs recorded from now on are of.
    pub fn set_program(&mut self, fingerprint: Option<String>) {
        self.program = fingerprint;
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with the database; a refusal says which file it was and what was tried.
    pub(crate) fn attempt<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        work(&self.connection).map_err(|source| HistoryError::Database {
            path: self.path.clone(),
            action,
            source,
        })
    }

    /// Records a finished run; when this returns it is on disk.
    ///
    /// An earlier outcome of the same configuration and repetition that did not complete is kept
    /// but superseded; a completed one is never replaced.
    pub fn record(&mut self, run: &Run, host: &Host) -> Result<(), HistoryError> {
        self.record_with(run, host, |_| Ok(()))
    }

    /// Does something that is kept whole or not at all.
    pub(crate) fn transact(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), HistoryError> {
        let path = self.path.clone();
        let failed = |source| HistoryError::Database { path: path.clone(), action: "written", source };
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        work(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// Records a finished run together with something else, both or neither.
    pub(crate) fn record_with(
        &mut self,
        run: &Run,
        host: &Host,
        also: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), HistoryError> {
        let path = self.path.clone();
        let failed = |source| HistoryError::Database { path: path.clone(), action: "written", source };
        let encode = |reason: serde_json::Error| HistoryError::Damaged {
            path: path.clone(),
            row: 0,
            reason: reason.to_string(),
        };
        let key = run.configuration.key();
        let host_text = serde_json::to_string(host).map_err(encode)?;
        let outcome = serde_json::to_string(&run.outcome).map_err(encode)?;
        let usage = serde_json::to_string(&run.usage).map_err(encode)?;
        let metrics = serde_json::to_string(&run.metrics).map_err(encode)?;
        let parameters = serde_json::to_string(&run.configuration.parameters).map_err(encode)?;
        let allocation = serde_json::to_string(&run.configuration.allocation).map_err(encode)?;

        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        also(&transaction).map_err(failed)?;
        transaction
            .prepare_cached("INSERT OR IGNORE INTO hosts (description) VALUES (?1)")
            .and_then(|mut statement| statement.execute([&host_text]))
            .map_err(failed)?;
        transaction
            .prepare_cached(
                "UPDATE runs SET superseded = 1 WHERE application = ?1 AND configuration_key = ?2 \
                 AND repetition = ?3 AND superseded = 0 AND outcome NOT LIKE '{\"outcome\":\"completed\"%'",
            )
            .and_then(|mut statement| statement.execute(params![run.application, key.0, run.repetition]))
            .map_err(failed)?;
        let inserted = transaction
            .prepare_cached(
                "INSERT INTO runs (application, configuration_key, repetition, scale, parameters, allocation, \
                 host_id, started_ms, outcome, usage, metrics) VALUES (?1, ?2, ?3, ?4, ?5, ?6, \
                 (SELECT id FROM hosts WHERE description = ?7), ?8, ?9, ?10, ?11)",
            )
            .and_then(|mut statement| {
                statement.execute(params![
                    run.application,
                    key.0,
                    run.repetition,
                    run.configuration.scale.name(),
                    parameters,
                    allocation,
                    host_text,
                    run.started.0,
                    outcome,
                    usage,
                    metrics,
                ])
            });
        match inserted {
            Ok(_) => {
                if let Some(program) = &self.program {
                    transaction
                        .prepare_cached("INSERT INTO run_programs (run_id, program) VALUES (?1, ?2)")
                        .and_then(|mut statement| {
                            statement.execute(params![transaction.last_insert_rowid(), program])
                        })
                        .map_err(failed)?;
                }
                transaction.commit().map_err(failed)
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(HistoryError::AlreadyRecorded {
                    configuration: run.configuration.to_string(),
                    repetition: run.repetition,
                })
            }
            Err(source) => Err(failed(source)),
        }
    }

    /// Every run of an application that counts, oldest first; of all applications with `None`.
    pub fn runs(&self, application: Option<&str>) -> Result<Vec<Recorded>, HistoryError> {
        let query = format!(
            "SELECT {COLUMNS} FROM runs JOIN hosts ON hosts.id = runs.host_id \
             WHERE superseded = 0 AND (?1 IS NULL OR application = ?1) ORDER BY started_ms, runs.id"
        );
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let mut statement = self.connection.prepare(&query).map_err(failed)?;
        let mut rows = statement.query([application]).map_err(failed)?;
        let mut recorded = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            recorded.push(self.decode(row)?);
        }
        Ok(recorded)
    }

    /// The runs of an application that a model has not learned from: those that began after a moment,
    /// and those of scale test, oldest first.
    pub fn unseen(&self, application: &str, moment: Timestamp) -> Result<Vec<Recorded>, HistoryError> {
        let query = format!(
            "SELECT {COLUMNS} FROM runs JOIN hosts ON hosts.id = runs.host_id WHERE superseded = 0 \
             AND application = ?1 AND (scale = 'test' OR started_ms > ?2) ORDER BY started_ms, runs.id"
        );
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let mut statement = self.connection.prepare(&query).map_err(failed)?;
        let mut rows = statement.query(params![application, moment.0]).map_err(failed)?;
        let mut recorded = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            recorded.push(self.decode(row)?);
        }
        Ok(recorded)
    }

    /// Every outcome a configuration's repetition ever had, superseded ones too, oldest first.
    pub fn attempts(
        &self,
        application: &str,
        key: &ConfigurationKey,
        repetition: u32,
    ) -> Result<Vec<Recorded>, HistoryError> {
        let query = format!(
            "SELECT {COLUMNS} FROM runs JOIN hosts ON hosts.id = runs.host_id \
             WHERE application = ?1 AND configuration_key = ?2 AND repetition = ?3 ORDER BY runs.id"
        );
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let mut statement = self.connection.prepare(&query).map_err(failed)?;
        let mut rows = statement.query(params![application, key.0, repetition]).map_err(failed)?;
        let mut recorded = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            recorded.push(self.decode(row)?);
        }
        Ok(recorded)
    }

    /// What there was of each configuration's repetition before the outcome that counts; nothing of those
    /// that had but one.
    pub fn superseded(
        &self,
        application: &str,
    ) -> Result<BTreeMap<(ConfigurationKey, u32), Superseded>, HistoryError> {
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let query = "SELECT id, configuration_key, repetition, usage FROM runs \
                     WHERE superseded = 1 AND application = ?1";
        let mut statement = self.connection.prepare(query).map_err(failed)?;
        let mut rows = statement.query([application]).map_err(failed)?;
        let mut found: BTreeMap<_, Superseded> = BTreeMap::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let key = ConfigurationKey(row.get(1).map_err(failed)?);
            let text: String = row.get(3).map_err(failed)?;
            let usage: Usage = serde_json::from_str(&text).map_err(|error| self.damaged(row, &error))?;
            let of = found.entry((key, row.get(2).map_err(failed)?)).or_default();
            of.attempts += 1;
            of.walltime.0 += usage.walltime.unwrap_or_default().0;
        }
        Ok(found)
    }

    /// How many runs that can be learned from (not of scale test) began after a moment.
    pub fn learnable_since(&self, application: &str, moment: Timestamp) -> Result<usize, HistoryError> {
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let query = "SELECT count(*) FROM runs \
                     WHERE superseded = 0 AND application = ?1 AND scale <> 'test' AND started_ms > ?2";
        let count: i64 = self
            .connection
            .query_row(query, rusqlite::params![application, moment.0], |row| row.get(0))
            .map_err(failed)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The outcome of every configuration and repetition of an application that has one.
    pub fn outcomes(
        &self,
        application: &str,
    ) -> Result<BTreeMap<(ConfigurationKey, u32), Outcome>, HistoryError> {
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let mut statement = self
            .connection
            .prepare(
                "SELECT id, configuration_key, repetition, outcome FROM runs \
                 WHERE superseded = 0 AND application = ?1",
            )
            .map_err(failed)?;
        let mut rows = statement.query([application]).map_err(failed)?;
        let mut outcomes = BTreeMap::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let key = ConfigurationKey(row.get(1).map_err(failed)?);
            let repetition = row.get(2).map_err(failed)?;
            let text: String = row.get(3).map_err(failed)?;
            let outcome = serde_json::from_str(&text).map_err(|error| self.damaged(row, &error))?;
            outcomes.insert((key, repetition), outcome);
        }
        Ok(outcomes)
    }

    /// Names of the applications in this history.
    pub fn applications(&self) -> Result<Vec<String>, HistoryError> {
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let mut statement =
            self.connection.prepare("SELECT DISTINCT application FROM runs ORDER BY 1").map_err(failed)?;
        let names = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        names.collect::<rusqlite::Result<_>>().map_err(failed)
    }

    fn damaged(&self, row: &Row<'_>, reason: &dyn std::error::Error) -> HistoryError {
        HistoryError::Damaged {
            path: self.path.clone(),
            row: row.get(0).unwrap_or_default(),
            reason: reason.to_string(),
        }
    }

    fn decode(&self, row: &Row<'_>) -> Result<Recorded, HistoryError> {
        let failed = |source| HistoryError::Database { path: self.path.clone(), action: "read", source };
        let text = |index: usize| {
            row.get_ref(index).map_err(failed)?.as_str().map_err(|error| self.damaged(row, &error))
        };
        let bad = |error: serde_json::Error| self.damaged(row, &error);
        let host: Host = serde_json::from_str(text(6)?).map_err(bad)?;
        let run = Run {
            application: text(1)?.to_owned(),
            configuration: Configuration {
                scale: text(3)?
                    .parse()
                    .map_err(|error: String| self.damaged(row, &std::io::Error::other(error)))?,
                parameters: serde_json::from_str(text(4)?).map_err(bad)?,
                allocation: serde_json::from_str(text(5)?).map_err(bad)?,
            },
            repetition: row.get(2).map_err(failed)?,
            host: host.name.clone(),
            started: Timestamp(row.get(7).map_err(failed)?),
            outcome: serde_json::from_str(text(8)?).map_err(bad)?,
            usage: serde_json::from_str(text(9)?).map_err(bad)?,
            metrics: serde_json::from_str(text(10)?).map_err(bad)?,
        };
        let program = row.get(11).map_err(failed)?;
        Ok(Recorded { run, host, program })
    }
}

/// The format of an opened file: 0 when it is new. Refuses what harp did not write.
fn known_format(connection: &Connection, path: &Path) -> Result<u32, HistoryError> {
    let failed = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => HistoryError::Foreign { path: path.to_owned() },
        _ => HistoryError::Database { path: path.to_owned(), action: "opened", source },
    };
    let format: u32 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let application: u32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    let tables: u32 =
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).map_err(failed)?;
    if tables > 0 && application != schema::APPLICATION_ID {
        return Err(HistoryError::Foreign { path: path.to_owned() });
    }
    if format > schema::FORMAT {
        return Err(HistoryError::TooNew { path: path.to_owned(), found: format, known: schema::FORMAT });
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Allocation, Bytes, Scale, Seconds, Usage, Value};

    fn run(n: i64, repetition: u32, outcome: Outcome) -> Run {
        Run {
            application: "euler".into(),
            configuration: Configuration {
                scale: Scale::Sd,
                parameters: [("n", Value::Integer(n)), ("method", Value::from("pow"))].into_iter().collect(),
                allocation: Allocation { cores: Some(2), ..Allocation::default() },
            },
            repetition,
            host: "node1".into(),
            started: Timestamp(1000 + n),
            outcome,
            usage: Usage {
                walltime: Some(Seconds(0.1 + n as f64 / 3.0)),
                peak_memory: Some(Bytes(1 << 20)),
                ..Usage::default()
            },
            metrics: [("epoch".to_owned(), 0.1 + 0.2)].into(),
        }
    }

    fn host() -> Host {
        Host { name: "node1".into(), cores: Some(2), ..Host::default() }
    }

    #[test]
    fn what_is_recorded_comes_back_to_the_last_bit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.sqlite");
        let mut store = Store::open(&path).unwrap();
        let runs = [run(1, 0, Outcome::Completed), run(2, 0, Outcome::TimedOut { limit: Seconds(1.5) })];
        for run in &runs {
            store.record(run, &host()).unwrap();
        }
        drop(store);
        let store = Store::open_for_reading(&path).unwrap();
        let back = store.runs(Some("euler")).unwrap();
        assert_eq!(back.iter().map(|r| r.run.clone()).collect::<Vec<_>>(), runs);
        assert_eq!(back[0].host, host());
        assert!(store.runs(Some("other")).unwrap().is_empty());
        assert_eq!(store.applications().unwrap(), ["euler"]);
    }

    #[test]
    fn a_completed_run_is_never_replaced_and_a_failed_one_is_superseded() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("h.sqlite")).unwrap();
        store.record(&run(1, 0, Outcome::Failed { exit_code: 3 }), &host()).unwrap();
        store.record(&run(1, 0, Outcome::Completed), &host()).unwrap();
        let again = store.record(&run(1, 0, Outcome::Completed), &host());
        assert!(matches!(again, Err(HistoryError::AlreadyRecorded { .. })));
        assert_eq!(store.runs(None).unwrap().len(), 1);
        let outcomes = store.outcomes("euler").unwrap();
        assert_eq!(outcomes.values().collect::<Vec<_>>(), [&Outcome::Completed]);
    }

    #[test]
    fn attempts_before_the_one_that_counts_are_added_up() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("h.sqlite")).unwrap();
        store.record(&run(2, 0, Outcome::Completed), &host()).unwrap();
        assert!(store.superseded("euler").unwrap().is_empty());
        let failed = run(1, 0, Outcome::Failed { exit_code: 3 });
        for walltime in [Some(Seconds(1.5)), Some(Seconds(2.0)), None] {
            let usage = Usage { walltime, ..Usage::default() };
            store.record(&Run { usage, ..failed.clone() }, &host()).unwrap();
        }
        store.record(&run(1, 0, Outcome::Completed), &host()).unwrap();
        let before = store.superseded("euler").unwrap();
        let expected = Superseded { attempts: 3, walltime: Seconds(3.5) };
        assert_eq!(before.into_iter().collect::<Vec<_>>(), [((failed.configuration.key(), 0), expected)]);
        assert!(store.superseded("other").unwrap().is_empty());
    }

    #[test]
    fn the_program_of_a_run_is_kept_and_what_came_later_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("h.sqlite")).unwrap();
        store.record(&run(1, 0, Outcome::Completed), &host()).unwrap();
        store.set_program(Some("abc".into()));
        store.record(&run(5, 0, Outcome::Completed), &host()).unwrap();
        let mut test = run(2, 0, Outcome::Completed);
        test.configuration.scale = Scale::Test;
        store.record(&test, &host()).unwrap();
        let program = |recorded: &Recorded| recorded.program.clone();
        let all = store.runs(None).unwrap();
        assert_eq!(
            all.iter().map(program).collect::<Vec<_>>(),
            [None, Some("abc".into()), Some("abc".into())]
        );
        let unseen = store.unseen("euler", Timestamp(1003)).unwrap();
        assert_eq!(unseen.iter().map(|r| r.run.started.0).collect::<Vec<_>>(), [1002, 1005]);
    }

    #[test]
    fn foreign_and_newer_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("notes.txt");
        std::fs::write(
            &text,
            "not a database, but long enough to be looked at as one by SQLite's reader".repeat(20),
        )
        .unwrap();
        assert!(matches!(Store::open(&text), Err(HistoryError::Foreign { .. })));

        let foreign = directory.path().join("foreign.sqlite");
        Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        assert!(matches!(Store::open(&foreign), Err(HistoryError::Foreign { .. })));

        let newer = directory.path().join("newer.sqlite");
        drop(Store::open(&newer).unwrap());
        Connection::open(&newer).unwrap().pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Store::open(&newer), Err(HistoryError::TooNew { found: 99, .. })));
        assert!(matches!(Store::open_for_reading(&newer), Err(HistoryError::TooNew { found: 99, .. })));
    }
}
