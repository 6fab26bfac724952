//! What a person sees while a sweep runs, and what `harp status` is told.

use std::path::PathBuf;

use harp_core::Configuration;
use serde::{Deserialize, Serialize};

/// A run that is going on, as written to `running.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// What runs.
    pub configuration: Configuration,
    /// Which repetition.
    pub repetition: u32,
    /// When it started, in milliseconds since 1970.
    pub started_ms: i64,
}
