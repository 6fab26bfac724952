//! How a built model does on runs whose truth is known and which it has not seen.

use harp_core::{Dataset, Prediction, Reexecution, Row, Scores};
use rayon::prelude::*;

use crate::model::case_of;
use crate::table::TARGETS;
use crate::{LearnError, TargetModel};

/// Sums and logarithms are off by no more than this.
const ROUNDING: f64 = 1e-9;

/// One case, predicted and true.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedCase {
    /// Index of the row in the table given.
    pub row: usize,
    /// The measured value.
    pub actual: f64,
    /// What the model said.
    pub prediction: Prediction,
}

impl EvaluatedCase {
    /// Whether the truth lies in the interval of the given probability; one without width holds what is
    /// equal but for rounding.
    pub(crate) fn is_inside(&self, probability: f64) -> bool {
        let (low, high) = self.prediction.distribution.interval(probability);
        (low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(&self.actual)
    }
}

/// A model judged on given runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The cases.
    pub cases: Vec<EvaluatedCase>,
    /// Runs killed at a limit: their truth is not known, so they are not scored.
    pub censored_runs: usize,
    /// Rows that could not be asked about, in their order, and why: a cell the model needs is missing or is not what
    /// it was in the runs learned from.
    pub refused: Vec<(usize, LearnError)>,
    /// Scores of the estimates.
    pub estimate: Option<Scores>,
    /// Scores of the requests.
    pub request: Option<Scores>,
    /// Percentage of the cases inside their 90 % interval.
    pub coverage_90: Option<f64>,
    /// Mean of everything reserved until the run fits, divided by the truth.
    pub reserved_ratio: Option<f64>,
    /// Mean of everything used until the run finished, divided by the truth.
    pub used_ratio: Option<f64>,
}

impl TargetModel {
    /// Predicts the wanted rows of a table and compares with what was measured. An error only where none of them
    /// could be predicted.
    pub fn evaluate(
        &self,
        dataset: &Dataset,
        wanted: impl Fn(&Row) -> bool,
    ) -> Result<Evaluation, LearnError> {
        let (mut known, mut censored_runs) = (Vec::new(), 0);
        for (index, row) in dataset.rows.iter().enumerate().filter(|(_, row)| wanted(row)) {
            match row.observed.exact() {
                Some(actual) if TARGETS.contains(&actual) => known.push((index, row, actual)),
                Some(_) => {}
                None => censored_runs += 1,
            }
        }
        let evaluated = |&(row, cells, actual): &(usize, &Row, f64)| {
            let prediction = self.predict(&case_of(&dataset.columns, cells));
            prediction
                .map(|prediction| EvaluatedCase { row, actual, prediction })
                .map_err(|error| (row, error))
        };
        let evaluated: Vec<Result<EvaluatedCase, (usize, LearnError)>> =
            known.par_iter().map(evaluated).collect();
        let (mut cases, mut refused) = (Vec::new(), Vec::new());
        for case in evaluated {
            match case {
                Ok(case) => cases.push(case),
                Err(of) => refused.push(of),
            }
        }
        if cases.is_empty() && !refused.is_empty() {
            return Err(refused.swap_remove(0).1);
        }
        Ok(Evaluation { refused, ..Evaluation::of(cases, censored_runs, self.reexecution) })
    }
}

impl Evaluation {
    fn of(cases: Vec<EvaluatedCase>, censored_runs: usize, reexecution: Reexecution) -> Evaluation {
        let mean = |of: &dyn Fn(&EvaluatedCase) -> f64| {
            (!cases.is_empty()).then(|| cases.iter().map(of).sum::<f64>() / cases.len() as f64)
        };
        let scores = |of: &dyn Fn(&EvaluatedCase) -> f64| {
            Scores::of(&cases.iter().map(|case| (of(case), case.actual)).collect::<Vec<_>>())
        };
        let inside = |case: &EvaluatedCase| if case.is_inside(0.9) { 100.0 } else { 0.0 };
        let request = |case: &EvaluatedCase| case.prediction.request;
        Evaluation {
            estimate: scores(&|case| case.prediction.estimate),
            request: scores(&request),
            coverage_90: mean(&inside),
            reserved_ratio: mean(&|case| reexecution.reserved(request(case), case.actual) / case.actual),
            used_ratio: mean(&|case| reexecution.used(request(case), case.actual) / case.actual),
            censored_runs,
            refused: Vec::new(),
            cases,
        }
    }
}
