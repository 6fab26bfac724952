//! A prediction never travels alone: it carries its interval, its evidence and its warnings.

use serde::{Deserialize, Serialize};

use crate::{Distribution, Target, Value, counted};

/// How many times beyond the measured range is far.
const FAR: f64 = 10.0;

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

impl Evidence {
    /// The runs it learned from, `24 scaled-down and 8 full-scale runs`; a kind of which there are none is
    /// not spoken of.
    pub fn runs_in_words(&self) -> String {
        match (self.scaled_down_runs, self.full_scale_runs) {
            (small, 0) => counted(small, "scaled-down run"),
            (0, full) => counted(full, "full-scale run"),
            (small, full) => format!("{small} scaled-down and {}", counted(full, "full-scale run")),
        }
    }
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

impl OutOfRange {
    /// Whether it is a category never seen, or a number more than ten times beyond the measured range.
    pub fn is_far(&self) -> bool {
        let number = self.value.as_ref().and_then(Value::as_number);
        match (number, self.measured) {
            (Some(value), Some((low, high))) => {
                let span = (high - low).abs().max(f64::MIN_POSITIVE);
                let beyond_high = if high > 0.0 { value > FAR * high } else { value > high + FAR * span };
                let below_low = if low > 0.0 { value < low / FAR } else { value < low - FAR * span };
                beyond_high || below_low
            }
            _ => true,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_there_are_none_of_are_not_spoken_of() {
        let told = |scaled_down_runs, full_scale_runs| {
            Evidence { scaled_down_runs, full_scale_runs, validation_runs: 0 }.runs_in_words()
        };
        assert_eq!(told(24, 8), "24 scaled-down and 8 full-scale runs");
        assert_eq!(told(24, 1), "24 scaled-down and 1 full-scale run");
        assert_eq!((told(0, 8).as_str(), told(1, 0).as_str()), ("8 full-scale runs", "1 scaled-down run"));
        assert_eq!(told(0, 0), "0 scaled-down runs");
    }
}
