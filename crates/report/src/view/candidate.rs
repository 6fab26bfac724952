//! The candidate models of one target, their scores, and which one won.

use harp_core::{Scores, Target};
use serde::Serialize;

/// One trained model and its validation scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CandidateView {
    /// The learner: `linear`, `tree`, `network`.
    pub regressor: String,
    /// What it learned from: `sd`, `sd+25%fs`.
    pub mix: String,
    /// How the features were prepared, in a word or two; empty when there is nothing to say.
    pub preparation: String,
    /// The factor predictions are multiplied with for a request.
    pub adjustment: Option<f64>,
    /// Rows it learned from.
    pub training_rows: usize,
    /// Scores on validation rows; `None` when it could not be trained or judged.
    pub scores: Option<Scores>,
    /// Mean cost of a job when killed jobs are run again, in units of the target.
    pub reexecution_cost: Option<f64>,
    /// Whether it is the one used.
    pub chosen: bool,
    /// Why it could not be trained or was left out.
    pub note: Option<String>,
}

impl CandidateView {
    /// `tree, sd+25%fs, pca`.
    pub fn label(&self) -> String {
        [&self.regressor, &self.mix, &self.preparation]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The whole table of candidates, as `harp models` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CandidatesView {
    /// What they predict.
    pub target: Target,
    /// The policy that picked the winner: `mae`, `wtm`, `reexecution`.
    pub policy: String,
    /// Why the winner won, in words.
    pub reason: String,
    /// All of them, in the order of the policy or of training.
    pub candidates: Vec<CandidateView>,
}

impl CandidatesView {
    /// The one used.
    pub fn winner(&self) -> Option<&CandidateView> {
        self.candidates.iter().find(|candidate| candidate.chosen)
    }
}
