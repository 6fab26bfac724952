//! What can go wrong with a store or a table.

use std::path::PathBuf;

use thiserror::Error;

/// A store or a table that could not be read or written.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The database refused.
    #[error("the history {path} could not be {action}: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// `opened`, `read` or `written`.
        action: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file was written by a later harp.
    #[error("the history {path} has format {found}, this harp knows formats up to {known}; use a newer harp")]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The file is a database, but not one of harp's.
    #[error("{path} is not a harp history; choose another file")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A finished run was about to be recorded a second time.
    #[error("{configuration} repetition {repetition} is recorded already")]
    AlreadyRecorded {
        /// The configuration, as text.
        configuration: String,
        /// Which repetition.
        repetition: u32,
    },
    /// A row holds something that does not parse.
    #[error("the history {path} holds a damaged row {row}: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The row's number.
        row: i64,
        /// What is wrong with it.
        reason: String,
    },
    /// A table of cases that cannot be used.
    #[error("{file}:{line}: {reason}")]
    Table {
        /// The file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong and how to mend it.
        reason: String,
    },
}
