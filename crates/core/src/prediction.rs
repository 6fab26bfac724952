//! A prediction never travels alone: it carries its interval, its evidence and its warnings.

use serde::{Deserialize, Serialize};

use crate::{Distribution, Target, Value};

/// What stands behind a prediction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Scaled-down runs the model learned from.
    pub scaled_down_runs: usize,
    /// Full-scale runs it learned from.
    pub full_scale_runs: usize,
    /// Runs it was judged on that it had not seen; the interval comes from these.
    pub validation_runs: usize,
}

/// A feature of a case outside what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfRange {
    /// The feature.
    pub feature: String,
    /// The value asked for; `None` when the case lacks it.
    pub value: Option<Value>,
    /// Smallest and largest measured, for numbers.
    pub measured: Option<(f64, f64)>,
    /// Categories measured, for texts.
    pub known: Vec<String>,
}

/// A predicted quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// What is predicted.
    pub target: Target,
    /// The figure to compare with the truth: the median of the distribution.
    pub estimate: f64,
    /// All that is known about where the truth may lie.
    pub distribution: Distribution,
    /// What to ask a scheduler for under the model's policy; never below the estimate.
    pub request: f64,
    /// What stands behind it.
    pub evidence: Evidence,
    /// Features outside the measured range; empty is interpolation.
    pub out_of_range: Vec<OutOfRange>,
}

impl Prediction {
    /// Whether the case lies outside what was measured.
    pub fn extrapolates(&self) -> bool {
        !self.out_of_range.is_empty()
    }

    /// The probability that a job given the request would be killed.
    pub fn risk_at_request(&self) -> f64 {
        self.distribution.probability_above(self.request)
    }
}
