//! How past predictions did, beside advice that rests on the next ones.

use serde::Serialize;

/// On which runs predictions were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedOn {
    /// Runs the model had not seen at all: test cases, and what was run after it was built.
    Unseen,
    /// Runs held back in turn while the model was chosen, which it then learned from.
    HeldBack,
}

/// Scores of past predictions of run time. Percentages are 0 to 100.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreView {
    /// On which runs.
    pub judged_on: JudgedOn,
    /// How many there are.
    pub cases: usize,
    /// Mean absolute percentage error of the estimates.
    pub mape: f64,
    /// The middle 90 % of that over resamples of the runs; `None` for runs held back.
    pub mape_interval: Option<(f64, f64)>,
    /// Percentage of the runs inside their 90 % interval; `None` for runs held back.
    pub coverage_90: Option<f64>,
    /// Requests that would have been too small; `None` for runs held back.
    pub too_small: Option<usize>,
}
