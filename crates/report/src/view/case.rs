//! One predicted case and, where it is known, what really happened.

use std::collections::BTreeMap;

use harp_core::{Configuration, Observed, OutOfRange, Prediction, Value};
use serde::Serialize;

use super::Estimate;

/// How a prediction compares with the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The truth lies in the interval.
    Hit,
    /// The truth lies above the interval: under-predicted, the dangerous side.
    Above,
    /// The truth lies below the interval: over-predicted, the wasteful side.
    Below,
    /// The truth is not known, or only bounded from below by less than the interval's end.
    Unknown,
}

impl Verdict {
    /// One word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Hit => "hit",
            Verdict::Above => "miss, above",
            Verdict::Below => "miss, below",
            Verdict::Unknown => "unknown",
        }
    }

    /// The same word as in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Verdict::Hit => "hit",
            Verdict::Above => "above",
            Verdict::Below => "below",
            Verdict::Unknown => "unknown",
        }
    }

    /// Whether the truth is known to lie outside the interval.
    pub fn is_miss(self) -> bool {
        matches!(self, Verdict::Above | Verdict::Below)
    }
}

/// A case, its prediction and its truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseView {
    /// Parameters and resources by name.
    pub features: BTreeMap<String, Value>,
    /// What was predicted, in the target's unit.
    pub estimate: Estimate,
    /// What a scheduler would be asked for.
    pub request: f64,
    /// What happened, where it is known.
    pub actual: Option<Observed>,
    /// Inside or outside the interval.
    pub verdict: Verdict,
    /// `100 * (predicted - actual) / actual`, where the truth is exact and positive.
    pub error_percent: Option<f64>,
    /// Whether a job given the request would have been killed, where that is known.
    pub killed: Option<bool>,
    /// Features outside the measured range; empty is interpolation.
    pub out_of_range: Vec<OutOfRange>,
}

impl CaseView {
    /// Puts a prediction next to its truth.
    pub fn new(
        configuration: &Configuration,
        prediction: &Prediction,
        coverage: f64,
        actual: Option<Observed>,
    ) -> Self {
        let mut features = configuration.features();
        // Nothing was learned from it, but it tells cases apart: one may have run out of memory.
        features.extend(configuration.values().remove_entry("memory"));
        let mut case =
            CaseView::from_parts(features, Estimate::of(prediction, coverage), prediction.request, actual);
        case.out_of_range = prediction.out_of_range.clone();
        case
    }

    /// The same from bare numbers, inside the measured range.
    pub fn from_parts(
        features: BTreeMap<String, Value>,
        estimate: Estimate,
        request: f64,
        actual: Option<Observed>,
    ) -> Self {
        let exact = actual.and_then(Observed::exact).filter(|value| value.is_finite());
        let verdict = match (actual, exact) {
            (_, Some(value)) if estimate.holds(value) => Verdict::Hit,
            (_, Some(value)) if value > estimate.high => Verdict::Above,
            (_, Some(_)) => Verdict::Below,
            (Some(bound), None) if bound.value() > estimate.high => Verdict::Above,
            _ => Verdict::Unknown,
        };
        let error_percent = exact
            .filter(|&value| value > 0.0 && estimate.value.is_finite())
            .map(|value| 100.0 * (estimate.value - value) / value);
        let killed = match (actual, exact) {
            (_, Some(value)) => Some(value > request),
            (Some(bound), None) if bound.value() > request => Some(true),
            _ => None,
        };
        CaseView {
            features,
            estimate,
            request,
            actual,
            verdict,
            error_percent,
            killed,
            out_of_range: Vec::new(),
        }
    }

    /// Whether the case lies outside what was measured.
    pub fn extrapolates(&self) -> bool {
        !self.out_of_range.is_empty()
    }

    /// `name=value name=value`.
    pub fn label(&self) -> String {
        features_label(&self.features)
    }
}

/// `name=value name=value`, as typed on the command line.
pub(crate) fn features_label(features: &BTreeMap<String, Value>) -> String {
    features.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(actual: Option<Observed>) -> CaseView {
        CaseView::from_parts(BTreeMap::new(), Estimate::new(10.0, 8.0, 12.0), 11.0, actual)
    }

    #[test]
    fn the_truth_is_judged_against_the_interval_and_the_request() {
        let hit = case(Some(Observed::Exact(11.5)));
        assert_eq!((hit.verdict, hit.killed), (Verdict::Hit, Some(true)));
        assert_eq!(case(Some(Observed::Exact(13.0))).verdict, Verdict::Above);
        assert_eq!(case(Some(Observed::Exact(5.0))).verdict, Verdict::Below);
        assert_eq!(case(Some(Observed::Exact(5.0))).error_percent, Some(100.0));
        assert_eq!(case(None).verdict, Verdict::Unknown);
    }

    #[test]
    fn a_lower_bound_is_never_taken_for_a_measurement() {
        let inside = case(Some(Observed::AtLeast(9.0)));
        assert_eq!((inside.verdict, inside.error_percent, inside.killed), (Verdict::Unknown, None, None));
        assert_eq!(case(Some(Observed::AtLeast(13.0))).verdict, Verdict::Above);
    }

    #[test]
    fn not_a_number_is_no_truth() {
        assert_eq!(case(Some(Observed::Exact(f64::NAN))).verdict, Verdict::Unknown);
        assert_eq!(case(Some(Observed::Exact(f64::NAN))).killed, None);
    }
}
