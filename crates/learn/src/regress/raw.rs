//! Least squares on the target itself with products of scaled columns and their reciprocals: time or
//! memory that is affine in a size explodes under power laws. With a size and a number of workers the
//! products hold the terms of Ernest (Venkataraman et al., NSDI 2016): 1, size/workers, workers.
//!
//! Errors are counted relative to the target, so that small runs teach as much as large ones.

use serde::{Deserialize, Serialize};

use super::power_law::number;
use super::ridge::Problem;
use super::{Fitted, Regressor, Training};
use crate::prepare::Role;

const PENALTIES: [f64; 7] = [1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
/// Terms per configuration.
const SHARE: f64 = 0.35;
const MOST_TERMS: usize = 120;

/// Fits a [`Raw`].
pub(crate) struct RawRegression;

/// T = intercept + Σ coefficient · Π factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Raw {
    pub intercept: f64,
    pub terms: Vec<RawTerm>,
}

/// A coefficient and one or two factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RawTerm {
    pub coefficient: f64,
    pub factors: Vec<RawFactor>,
}

/// A column, scaled, or its reciprocal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct RawFactor {
    pub column: usize,
    /// What the column (or its reciprocal) is multiplied by; its largest value becomes 1.
    pub scale: f64,
    pub reciprocal: bool,
}

impl RawFactor {
    fn of(self, row: &[f64]) -> f64 {
        let value = row.get(self.column).copied().unwrap_or(0.0);
        if self.reciprocal { self.scale / value.max(1e-100) } else { self.scale * value }
    }
}

impl Regressor for RawRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let (mains, reciprocals, products) = terms(training);
        let most = MOST_TERMS.min((SHARE * training.configurations as f64) as usize);
        let mut factors = mains;
        if factors.is_empty() || factors.len() > most {
            return Err(format!("{} configurations are too few for it", training.configurations));
        }
        for more in [reciprocals, products] {
            if factors.len() + more.len() <= most {
                factors.extend(more);
            }
        }
        let rows: Vec<Vec<f64>> = training
            .inputs
            .iter()
            .map(|row| {
                factors.iter().map(|term| term.iter().map(|factor| factor.of(row)).product()).collect()
            })
            .collect();
        let weights: Vec<f64> =
            training.weights.iter().zip(training.targets).map(|(w, y)| w / (y * y).max(1e-120)).collect();
        let problem = Problem {
            rows: &rows,
            targets: training.targets,
            weights: &weights,
            hardness: &factors.iter().map(|term| term.len() as f64).collect::<Vec<_>>(),
        };
        let score = |row: usize, said: f64| (said - training.targets[row]).powi(2);
        let ridge = problem.solve(&PENALTIES, score).ok_or("least squares has no finite solution")?;
        let terms = factors
            .into_iter()
            .zip(ridge.coefficients)
            .map(|(factors, coefficient)| RawTerm { coefficient, factors })
            .collect();
        Ok(Fitted::Raw(Raw { intercept: ridge.intercept, terms }))
    }
}

type Terms = Vec<Vec<RawFactor>>;

/// Columns, reciprocals of numbers that are always positive, and products of two columns.
fn terms(training: &Training<'_>) -> (Terms, Terms, Terms) {
    let width = training.inputs.first().map_or(0, Vec::len);
    let (mut plain, mut reciprocal) = (Vec::new(), Vec::new());
    for column in 0..width {
        let values = || training.inputs.iter().map(move |row| row[column]);
        let largest = values().map(f64::abs).fold(0.0, f64::max);
        let smallest = values().fold(f64::INFINITY, f64::min);
        let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        plain.push(RawFactor { column, scale, reciprocal: false });
        let is_number = training.roles.get(column).is_none_or(|role| role.role == Role::Number);
        if is_number && smallest > 1e-90 {
            reciprocal.push(RawFactor { column, scale: smallest, reciprocal: true });
        }
    }
    let mut products = Vec::new();
    for (index, left) in plain.iter().enumerate() {
        products.extend(plain[index + 1..].iter().map(|right| vec![*left, *right]));
        let others = reciprocal.iter().filter(|right| right.column != left.column);
        products.extend(others.map(|right| vec![*left, *right]));
    }
    let single = |factors: Vec<RawFactor>| factors.into_iter().map(|factor| vec![factor]).collect();
    (single(plain), single(reciprocal), products)
}

impl Raw {
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let term =
            |term: &RawTerm| term.coefficient * term.factors.iter().map(|f| f.of(row)).product::<f64>();
        self.intercept + self.terms.iter().map(term).sum::<f64>()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let factor = |factor: &RawFactor| factor.column < width && factor.scale.is_finite();
        let term = |term: &RawTerm| {
            term.coefficient.is_finite() && term.factors.len() <= 2 && term.factors.iter().all(factor)
        };
        if self.intercept.is_finite() && self.terms.iter().all(term) {
            Ok(())
        } else {
            Err("a term of the sum does not fit the features".to_owned())
        }
    }

    /// `T ≈ 0.4 + 3.1e-3 · n + 0.2 · n/threads`, the terms that matter.
    pub(crate) fn formula(&self, name: impl Fn(usize) -> String) -> String {
        let largest =
            self.terms.iter().map(|term| term.coefficient.abs()).fold(self.intercept.abs(), f64::max);
        let signed = |value: f64, first: bool| match (value < 0.0, first) {
            (true, true) => format!("-{}", number(-value)),
            (true, false) => format!(" - {}", number(-value)),
            (false, true) => number(value),
            (false, false) => format!(" + {}", number(value)),
        };
        let mut text = format!("T ≈ {}", signed(self.intercept, true));
        for term in self.terms.iter().filter(|term| term.coefficient.abs() >= 1e-3 * largest) {
            let coefficient =
                term.coefficient * term.factors.iter().map(|factor| factor.scale).product::<f64>();
            text.push_str(&signed(coefficient, false));
            for factor in &term.factors {
                text.push_str(if factor.reciprocal { " / " } else { " · " });
                text.push_str(&name(factor.column));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affine_memory_and_ernest_are_found() {
        let inputs: Vec<Vec<f64>> = (1..8)
            .flat_map(|n| [1.0, 2.0, 4.0, 8.0].map(|workers| vec![1000.0 * f64::from(n), workers]))
            .collect();
        let law = |row: &[f64]| 3.0 + 0.01 * row[0] / row[1] + 0.2 * row[1];
        let targets: Vec<f64> = inputs.iter().map(|row| law(row)).collect();
        let weights = vec![1.0; targets.len()];
        let training = Training::plain(&inputs, &targets, &weights);
        let Fitted::Raw(found) = RawRegression.fit(&training).unwrap() else { panic!() };
        let far = [50_000.0, 16.0];
        assert!((found.predict(&far) / law(&far) - 1.0).abs() < 0.05, "{}", found.predict(&far));
    }
}
