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
    /// What it says of itself, trained on all runs: a formula, length scales or importances.
    pub formula: Option<String>,
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
        let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for candidate in self.candidates.iter().filter(|candidate| candidate.scores.is_none()) {
            let Some(note) = &candidate.note else { continue };
            let same = reasons
                .iter_mut()
                .find(|(regressor, why, _)| *regressor == candidate.regressor && why == note);
            match same {
                Some((_, _, mixes)) => mixes.push(&candidate.mix),
                None => reasons.push((&candidate.regressor, note, vec![&candidate.mix])),
            }
        }
        // Which runs it learned from matters only where it competed on others, or did not for another reason.
        let is_same_everywhere = |regressor: &str| {
            let reasons = reasons.iter().filter(|(other, _, _)| *other == regressor).count();
            let same = |other: &&CandidateView| other.regressor == regressor;
            reasons == 1 && self.candidates.iter().filter(same).all(|other| other.scores.is_none())
        };
        let line = |(regressor, note, mixes): &(&str, &str, Vec<&str>)| match is_same_everywhere(regressor) {
            true => format!("{regressor} did not compete: {note}"),
            false => format!("{regressor} on {} did not compete: {note}", mixes.join(", ")),
        };
        reasons.iter().map(line).collect()
    }

    /// What every kind of model says of itself, one line a kind.
    pub fn explanations(&self) -> Vec<String> {
        let mut told: Vec<(&str, &str)> = Vec::new();
        for candidate in &self.candidates {
            let kind = candidate.regressor.as_str();
            if let Some(formula) = candidate.formula.as_deref()
                && !told.contains(&(kind, formula))
            {
                told.push((kind, formula));
            }
        }
        told.into_iter().map(|(kind, formula)| format!("{kind}: {formula}")).collect()
    }

    /// The one used.
    pub fn winner(&self) -> Option<&CandidateView> {
        self.candidates.iter().find(|candidate| candidate.chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_compete_on_some_runs_only_is_said_with_them() {
        let scores = Scores::of(&[(1.0, 1.0)]);
        let candidate = |regressor: &str, mix: &str, note: Option<&str>| CandidateView {
            regressor: regressor.into(),
            mix: mix.into(),
            adjusted_by: String::new(),
            adjustment: None,
            scores: scores.clone().filter(|_| note.is_none()),
            reserved_ratio: None,
            cost: None,
            reward: None,
            chosen: false,
            formula: note.is_none().then(|| "T ≈ n".to_owned()),
            note: note.map(Into::into),
        };
        let view = CandidatesView {
            target: Target::Walltime,
            policy: String::new(),
            reason: String::new(),
            candidates: vec![
                candidate("tree", "SD", None),
                candidate("tree", "SD + 25 % FS", Some("too few")),
                candidate("tree", "SD + 50 % FS", Some("too few")),
                candidate("network", "SD", Some("too few")),
                candidate("curve", "SD", Some("too few")),
                candidate("curve", "SD + 25 % FS", Some("too many")),
            ],
        };
        assert_eq!(view.explanations(), ["tree: T ≈ n"]);
        assert_eq!(
            view.left_out(),
            [
                "tree on SD + 25 % FS, SD + 50 % FS did not compete: too few",
                "network did not compete: too few",
                "curve on SD did not compete: too few",
                "curve on SD + 25 % FS did not compete: too many",
            ]
        );
    }
}
