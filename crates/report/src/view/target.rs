//! Everything known about one predicted target: the model behind it, and how it did on the tests.

use harp_core::{Evidence, Observed, Scores, Target};
use serde::Serialize;

use super::{CandidatesView, CaseView, ScalingView, Verdict};

/// One target's predictions, truths, candidates and curves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetView {
    /// What is predicted.
    pub target: Target,
    /// Probability, 0 to 1, the intervals are meant to hold.
    pub coverage: f64,
    /// What stands behind the predictions.
    pub evidence: Evidence,
    /// The predicted cases.
    pub cases: Vec<CaseView>,
    /// Scores of the cases whose truth is known exactly.
    pub scores: Option<Scores>,
    /// The same of what a scheduler would have been asked for: its UPP is the share of jobs killed.
    pub request_scores: Option<Scores>,
    /// The candidate models; `None` when only predicting.
    pub candidates: Option<CandidatesView>,
    /// Scaling curves, the most telling first.
    pub scaling: Vec<ScalingView>,
}

impl TargetView {
    /// Gathers cases and scores them; candidates and curves can be set afterwards.
    pub fn new(target: Target, coverage: f64, evidence: Evidence, cases: Vec<CaseView>) -> Self {
        let score = |figure: fn(&CaseView) -> f64| {
            let pairs =
                cases.iter().filter_map(|case| Some((figure(case), case.actual.and_then(Observed::exact)?)));
            let finite = pairs.filter(|(predicted, actual)| predicted.is_finite() && actual.is_finite());
            Scores::of(&finite.collect::<Vec<_>>())
        };
        let scores = score(|case| case.estimate.value);
        let request_scores = score(|case| case.request);
        TargetView {
            target,
            coverage,
            evidence,
            cases,
            scores,
            request_scores,
            candidates: None,
            scaling: Vec::new(),
        }
    }

    /// Cases whose truth lies in the interval, and cases that could be judged.
    pub fn hits(&self) -> (usize, usize) {
        let judged = self.cases.iter().filter(|case| case.verdict != Verdict::Unknown).count();
        (self.cases.iter().filter(|case| case.verdict == Verdict::Hit).count(), judged)
    }

    /// Cases that would have been killed at their request, and cases where that is known.
    pub fn killed(&self) -> (usize, usize) {
        let known: Vec<bool> = self.cases.iter().filter_map(|case| case.killed).collect();
        (known.iter().filter(|&&killed| killed).count(), known.len())
    }
}
