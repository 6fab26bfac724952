//! The tables of the store, and how older files are brought up to date.

use rusqlite::Connection;

/// Format written by this harp; kept in `user_version`.
pub(crate) const FORMAT: u32 = 4;

/// "harp" in ASCII, kept in `application_id`, so that a foreign database is not written to.
pub(crate) const APPLICATION_ID: u32 = 0x6861_7270;

/// One statement batch a format: running those above a file's format brings it up to date.
const STEPS: [&str; FORMAT as usize] = [
    "
    CREATE TABLE hosts (
        id INTEGER PRIMARY KEY,
        description TEXT NOT NULL UNIQUE
    );
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        application TEXT NOT NULL,
        configuration_key TEXT NOT NULL,
        repetition INTEGER NOT NULL,
        scale TEXT NOT NULL,
        parameters TEXT NOT NULL,
        allocation TEXT NOT NULL,
        host_id INTEGER NOT NULL REFERENCES hosts (id),
        started_ms INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        usage TEXT NOT NULL,
        metrics TEXT NOT NULL,
        superseded INTEGER NOT NULL DEFAULT 0
    );
    -- A configuration's repetition has one outcome that counts; a retry supersedes the one before.
    CREATE UNIQUE INDEX one_outcome ON runs (application, configuration_key, repetition) WHERE superseded = 0;
",
    "
    -- Where a run that harp did not make came from: the same job is never imported twice.
    ALTER TABLE runs ADD COLUMN origin TEXT;
    CREATE UNIQUE INDEX one_origin ON runs (origin) WHERE origin IS NOT NULL;
",
    "
    -- What the program was, by what its files hold: a program that was edited is another one.
    CREATE TABLE IF NOT EXISTS run_programs (
        run_id INTEGER PRIMARY KEY REFERENCES runs (id),
        program TEXT NOT NULL
    );
    -- What was measured of a machine, by its name.
    CREATE TABLE IF NOT EXISTS machines (
        host TEXT PRIMARY KEY,
        descriptors TEXT NOT NULL,
        measured_ms INTEGER NOT NULL
    );
",
    "
    -- What was handed to a scheduler, written before it is.
    CREATE TABLE submissions (
        id TEXT PRIMARY KEY,
        application TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        job INTEGER,
        batch TEXT NOT NULL
    );
    CREATE TABLE submitted_runs (
        submission TEXT NOT NULL REFERENCES submissions (id),
        position INTEGER NOT NULL,
        application TEXT NOT NULL,
        configuration_key TEXT NOT NULL,
        repetition INTEGER NOT NULL,
        settled INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (submission, position)
    );
    -- A run that waits or runs somewhere is not submitted a second time.
    CREATE UNIQUE INDEX one_submission ON submitted_runs (application, configuration_key, repetition)
        WHERE settled = 0;
",
];

/// Brings an opened file to the current format. The caller has checked that it is not newer.
pub(crate) fn migrate(connection: &mut Connection, found: u32) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have been faster between the check and the lock.
    let now: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for step in STEPS.iter().skip(now.max(found) as usize) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()
}
