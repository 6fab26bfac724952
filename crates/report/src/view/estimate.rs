//! A number with the interval it may lie in.

use harp_core::Prediction;
use serde::{Deserialize, Serialize};

/// A predicted figure and its central interval; the probability the interval is meant to hold
/// (`coverage`) is written once, where the estimates are gathered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure to compare with the truth.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// An estimate with its interval.
    pub fn new(value: f64, low: f64, high: f64) -> Self {
        Estimate { value, low, high }
    }

    /// The figure of a prediction and its central interval of the given probability.
    pub fn of(prediction: &Prediction, coverage: f64) -> Self {
        let (low, high) = prediction.distribution.interval(coverage);
        Estimate { value: prediction.estimate, low, high }
    }

    /// Whether a value lies in the interval, ends included.
    pub fn holds(&self, actual: f64) -> bool {
        self.low <= actual && actual <= self.high
    }

    /// Whether all three numbers are finite.
    pub fn is_finite(&self) -> bool {
        self.value.is_finite() && self.low.is_finite() && self.high.is_finite()
    }
}
