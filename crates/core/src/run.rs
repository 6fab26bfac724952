//! A run: what was run, where, when, how it ended and what it used.

use serde::{Deserialize, Serialize};

use crate::{Configuration, Metrics, Outcome, Usage};

/// Milliseconds since 1970-01-01 UTC. The rooms that have a clock fill it in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// One execution of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The application's name, as in the experiment file.
    pub application: String,
    /// What was run.
    pub configuration: Configuration,
    /// Which repetition of it, from 0.
    pub repetition: u32,
    /// Name of the host, described in the store.
    pub host: String,
    /// When it started.
    pub started: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// What it used.
    pub usage: Usage,
    /// What it said about itself.
    #[serde(default)]
    pub metrics: Metrics,
}
