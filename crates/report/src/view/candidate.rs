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
    /// How its predictions are raised before they are asked for: `study`; empty for not at all.
    pub adjusted_by: String,
    /// The factor predictions are multiplied with for a request.
    pub adjustment: Option<f64>,
    /// Scores on validation rows; `None` when it could not be trained or judged.
    pub scores: Option<Scores>,
    /// Everything reserved until a job fits when killed jobs are run again, as a multiple of the truth.
    pub reserved_ratio: Option<f64>,
    /// Everything used until the runs are done when its requests are killed and run again, as a multiple
    /// of what the runs need.
    pub cost: Option<f64>,
    /// Percentage of everything then reserved that did work which was kept.
    pub reward: Option<f64>,
    /// Whether it is the one used.
    pub chosen: bool,
    /// Why it could not be trained or was left out.
    pub note: Option<String>,
}

impl CandidateView {
    /// `tree, sd+25%fs, pca`.
    pub fn label(&self) -> String {
        [&self.regressor, &self.mix, &self.adjusted_by]
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
    /// The policy that picked the winner: `upp=0.05`, `cost`, `wtm`, `mae`.
    pub policy: String,
    /// Why the winner won, in words.
    pub reason: String,
    /// All of them, in the order of the policy or of training.
    pub candidates: Vec<CandidateView>,
}

impl CandidatesView {
    /// What did not compete and why, one line a reason.
    pub fn left_out(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for candidate in self.candidates.iter().filter(|candidate| candidate.scores.is_none()) {
            if let Some(note) = &candidate.note {
                let line = format!("{} did not compete: {note}", candidate.regressor);
                let is_new = !lines.contains(&line);
                lines.extend(is_new.then_some(line));
            }
        }
        lines
    }

    /// The one used.
    pub fn winner(&self) -> Option<&CandidateView> {
        self.candidates.iter().find(|candidate| candidate.chosen)
    }
}
