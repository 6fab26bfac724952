//! A model of one target, and how it predicts a case. It holds everything needed to predict and to
//! explain; it never looks at a measured value of the case.

use std::collections::BTreeMap;

use harp_core::{Column, Evidence, Prediction, Reexecution, Row, Target, Value};
use serde::{Deserialize, Serialize};

use crate::{Candidate, Feature, LearnError, Policy};

/// How the candidates were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// On full-scale runs, each by models that saw neither it nor a repetition of it.
    FullScale,
    /// On full-scale runs, and, as there are few, on the largest scaled-down ones too, each by
    /// models that saw only smaller ones.
    FullScaleAndLargest,
    /// On the largest scaled-down runs, by models that saw only smaller ones: there are no
    /// full-scale runs.
    Largest,
    /// On each configuration in turn, by models that saw all the others: nothing better is possible
    /// with so few.
    LeaveOneOut,
}

/// A model of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetModel {
    /// What it predicts.
    pub target: Target,
    /// How the winner was chosen and what the request is.
    pub policy: Policy,
    /// What happens to a job killed at its limit.
    pub reexecution: Reexecution,
    /// The seed it was built with.
    pub seed: u64,
    /// Every feature of the table, in its order.
    pub features: Vec<Feature>,
    /// What stands behind it.
    pub evidence: Evidence,
    /// How the candidates were judged.
    pub validation: Validation,
    /// The whole table.
    pub candidates: Vec<Candidate>,
    /// Index of the winner in the table.
    pub winner: usize,
    /// Why it won, and what it was then fitted on, in words.
    pub explanation: String,
    /// The winner's formula, if it has one.
    pub formula: Option<String>,
    /// Runs killed at a limit: lower bounds, not learned from.
    pub censored_runs: usize,
    /// What a person should know: runs left out, contradicted bounds.
    pub warnings: Vec<String>,
}

impl TargetModel {
    /// The winner's row of the table.
    pub fn winner(&self) -> Option<&Candidate> {
        self.candidates.get(self.winner)
    }

    /// Predicts a case from its features; no measured value of it is needed.
    pub fn predict(&self, case: &BTreeMap<String, Value>) -> Result<Prediction, LearnError> {
        match self.features.iter().find(|feature| !case.contains_key(&feature.name)) {
            Some(feature) => Err(LearnError::MissingFeature { feature: feature.name.clone() }),
            None => Err(LearnError::NoCandidate {
                target: self.target.clone(),
                reason: "the table has no winner".to_owned(),
            }),
        }
    }
}

/// A row's cells by name; missing cells are left out.
pub(crate) fn case_of(columns: &[Column], row: &Row) -> BTreeMap<String, Value> {
    let cells = columns.iter().zip(&row.cells);
    cells.filter_map(|(column, cell)| cell.clone().map(|value| (column.name.clone(), value))).collect()
}
