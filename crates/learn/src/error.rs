//! What can go wrong between a table of runs and a prediction. Every message says what to do next.

use harp_core::{Target, counted};
use thiserror::Error;

/// Why there is no model or no prediction.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LearnError {
    /// Too few different configurations finished to learn anything from.
    #[error(
        "{target}: {} finished ({}, {censored} killed at a limit), at least {needed} are needed; {advice}",
        counted(*configurations, "different configuration"),
        counted(*runs, "run")
    )]
    NotEnoughEvidence {
        /// What was to be learned.
        target: Target,
        /// Distinct configurations with a usable measurement.
        configurations: usize,
        /// How many there must be.
        needed: usize,
        /// Runs with a usable measurement, repetitions included.
        runs: usize,
        /// Runs killed at a limit: lower bounds, which teach nothing here.
        censored: usize,
        /// What to run next.
        advice: String,
    },
    /// A row has more or fewer cells than the table has columns.
    #[error("row {row} has {cells} cells, but there are {columns} columns")]
    Ragged {
        /// Index from 0.
        row: usize,
        /// Cells found.
        cells: usize,
        /// Cells expected.
        columns: usize,
    },
    /// The case lacks a feature the model uses.
    #[error("the case has no `{feature}`, which the model uses; give it as {feature}=VALUE")]
    MissingFeature {
        /// The feature.
        feature: String,
    },
    /// The case gives a text where the model learned from numbers.
    #[error("`{feature}` was measured as a number, but the case says `{value}`")]
    NotANumber {
        /// The feature.
        feature: String,
        /// What the case says.
        value: String,
    },
    /// The case gives a number that is not finite.
    #[error("`{feature}` is not a finite number")]
    NotFinite {
        /// The feature.
        feature: String,
    },
    /// No candidate could be fitted and judged.
    #[error("{target}: no candidate could be fitted; {reason}")]
    NoCandidate {
        /// What was to be learned.
        target: Target,
        /// Why the last one failed.
        reason: String,
    },
    /// There is no row to be judged on with a measured value.
    #[error("{target}: there is no finished run to judge on")]
    NothingToJudge {
        /// What was to be judged.
        target: Target,
    },
    /// A distribution could not be made from the model's residuals.
    #[error("the model's residuals do not make a distribution: {reason}")]
    BadDistribution {
        /// What is wrong with them.
        reason: String,
    },
}

/// Why a text is not a model file that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelFileError {
    /// Larger than any model harp writes.
    #[error("the file has {bytes} bytes; a model file has at most {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest accepted.
        limit: usize,
    },
    /// Not JSON, or not the JSON a model file holds.
    #[error("not a model file: {reason}")]
    Malformed {
        /// What the parser says, with line and column.
        reason: String,
    },
    /// JSON of some other kind.
    #[error("not a model file: its format is `{format}`, not `harp-model`")]
    WrongFormat {
        /// What it says it is.
        format: String,
    },
    /// Written by a later harp.
    #[error("the model file has version {version}, this harp reads up to {newest}; use a newer harp")]
    NewerVersion {
        /// Its version.
        version: u64,
        /// The newest this harp reads.
        newest: u64,
    },
    /// Changed after it was written.
    #[error("the checksum does not match: the file was changed or damaged; build the model again")]
    Checksum,
    /// The parts do not fit together.
    #[error("the model file contradicts itself: {reason}")]
    Inconsistent {
        /// Where.
        reason: String,
    },
}
