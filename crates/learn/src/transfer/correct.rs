//! What the target's few runs say of the source's model: a factor, and how it changes with the
//! features, as far as so few can tell.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::Value;
use serde::{Deserialize, Serialize};

use super::similar::{Scale, logarithms};
use crate::regress::Cholesky;

/// Penalties that are tried; the last leaves a plain factor.
const PENALTIES: [f64; 4] = [0.3, 2.0, 10.0, 1e9];
/// Fewer runs only tell a factor.
const ENOUGH: usize = 4;
/// Up to so many configurations each is left out by itself.
const FOLDS: usize = 20;

/// ln(truth / source's prediction) as a line over the logarithms of the features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// The features.
    pub features: Vec<String>,
    /// Exponents.
    pub exponents: Vec<f64>,
    /// The logarithm of the factor.
    pub constant: f64,
}

/// A run of the target and what the source's model says of it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Logarithms of the correction's features.
    pub point: Vec<f64>,
    pub residual: f64,
    pub group: usize,
}

impl Correction {
    /// Fits a line; how bold it is, is chosen by leaving configurations out in turn.
    pub(super) fn fit(known: &[&Known], features: &[String]) -> Correction {
        let groups: BTreeSet<usize> = known.iter().map(|run| run.group).collect();
        let plain = PENALTIES[PENALTIES.len() - 1];
        let penalty = if groups.len() < ENOUGH {
            plain
        } else {
            let error = |penalty: f64| -> f64 {
                let one = |fold: usize| {
                    let (held, others): (Vec<&Known>, Vec<&Known>) =
                        known.iter().partition(|run| run.group % FOLDS == fold);
                    let fitted = Correction::with(&others, features, penalty);
                    held.iter().map(|run| (run.residual - fitted.at(&run.point)).abs()).sum::<f64>()
                };
                (0..FOLDS).map(one).sum()
            };
            // A bolder line must be clearly better: with few runs it is so by chance.
            let mut best = (plain, error(plain));
            for penalty in PENALTIES.into_iter().rev().skip(1) {
                let found = error(penalty);
                if found < 0.9 * best.1 {
                    best = (penalty, found);
                }
            }
            best.0
        };
        Correction::with(known, features, penalty)
    }

    fn with(known: &[&Known], features: &[String], penalty: f64) -> Correction {
        let points: Vec<Vec<f64>> = known.iter().map(|run| run.point.clone()).collect();
        let scale = Scale::of(&points);
        let centre: Vec<f64> = scale.standard(&vec![0.0; features.len()]);
        let points: Vec<Vec<f64>> = points.iter().map(|point| scale.standard(point)).collect();
        let count = known.len().max(1) as f64;
        let mean = known.iter().map(|run| run.residual).sum::<f64>() / count;
        let width = features.len();
        let mut normal = vec![vec![0.0; width]; width];
        let mut right = vec![0.0; width];
        for (point, run) in points.iter().zip(known) {
            for row in 0..width {
                for column in 0..width {
                    normal[row][column] += point[row] * point[column];
                }
                right[row] += point[row] * (run.residual - mean);
            }
        }
        for (index, row) in normal.iter_mut().enumerate() {
            row[index] += penalty;
        }
        let slopes = Cholesky::of(normal).map_or_else(|| vec![0.0; width], |factor| factor.solve(right));
        // From deviations back to logarithms: what is standard is (x − centre)/spread.
        let unit: Vec<f64> =
            scale.standard(&vec![1.0; width]).iter().zip(&centre).map(|(one, zero)| one - zero).collect();
        let exponents: Vec<f64> = slopes.iter().zip(&unit).map(|(slope, unit)| slope * unit).collect();
        let constant = mean + slopes.iter().zip(&centre).map(|(slope, zero)| slope * zero).sum::<f64>();
        Correction { features: features.to_vec(), exponents, constant }
    }

    /// The logarithm of what the source's prediction is multiplied by.
    pub(crate) fn logarithm(&self, case: &BTreeMap<String, Value>) -> f64 {
        self.at(&logarithms(case, &self.features))
    }

    fn at(&self, point: &[f64]) -> f64 {
        let line: f64 = point.iter().zip(&self.exponents).map(|(value, exponent)| value * exponent).sum();
        (self.constant + line).clamp(-20.0, 20.0)
    }

    /// Whether a file's numbers can be used.
    pub(crate) fn check(&self) -> Result<(), String> {
        let finite = self.constant.is_finite() && self.exponents.iter().all(|exponent| exponent.is_finite());
        match finite && self.exponents.len() == self.features.len() {
            true => Ok(()),
            false => Err("the correction is not sound".to_owned()),
        }
    }
}
