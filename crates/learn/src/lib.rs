//! Learns time and memory from runs and predicts with an interval.
//!
//! [`build`] takes a [`harp_core::Dataset`] and gives a [`TargetModel`]: every candidate of the table
//! is fitted on scaled-down runs (and some full-scale ones), judged on runs it has not seen, and the
//! policy's winner is fitted again on everything. [`TargetModel::predict`] gives a
//! [`harp_core::Prediction`]: an estimate with its distribution, request, evidence and warnings.
//! [`ModelFile`] is its portable form.
//!
//! Nothing here reads a file, a clock or the environment; everything random comes from the seed, and
//! the same data and seed give the same model on any number of threads. Rows of scale `test` are
//! never looked at, and runs killed at a limit train as lower bounds, never as if they had finished.

mod ablate;
mod backtest;
mod build;
mod candidate;
mod choose;
mod custom;
mod describe;
mod drift;
mod ensemble;
mod error;
mod evaluate;
mod explanations;
mod feature;
mod file;
mod growth;
mod importance;
mod killed;
mod model;
mod next;
mod options;
mod pipeline;
mod prepare;
mod regress;
mod search;
mod start_up;
mod statistics;
mod table;
mod transfer;
mod validate;

pub use ablate::{Ablation, Axis, AxisWorth, ablate};
pub use backtest::{
    Backtest, BacktestIntervals, BacktestModel, BacktestRequest, BacktestRows, JudgedCase, NotUsed, backtest,
};
pub use build::{FEWEST_CONFIGURATIONS, build};
pub use candidate::{Adjustment, AdjustmentKind, Candidate, Mix, ModelKind, Reexecuted};
pub use custom::{BothWays, Comparison, Custom, Formula, FormulaError, Kept, Rest, build_both_ways};
pub use drift::{Cause, Change, Shift, change, ratio_since, shift};
pub use error::{LearnError, ModelFileError};
pub use evaluate::{EvaluatedCase, Evaluation};
pub use explanations::explain_candidates;
pub use feature::{Dropped, Feature, Measured};
pub use file::{Learned, MODEL_FILE_VERSION, Mixed, ModelFile};
pub use growth::{Growth, growth_in_words};
pub use model::{TargetModel, Validation};
pub use next::{Doubt, Gain, Place, Why};
pub use options::BuildOptions;
pub use search::{Outlook, outlooks};
pub use transfer::{Correction, Reuse, Reused, SourceUse, build_from, few_runs};
