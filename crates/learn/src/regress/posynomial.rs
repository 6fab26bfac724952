//! A sum of power laws (a posynomial): ln T = ln Σₖ exp(aₖ + wₖ · ln x). Programs have phases, each a
//! power law of its own: set-up, computation, communication; which one matters changes with size.
//!
//! Fitted by a robust loss on the logarithm (pseudo-Huber) with L-BFGS from three starts. Exponents
//! are penalised a little and bounded: hardly a program grows faster than x^3.5.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::log_space::LogSpace;
use super::minimise::minimise;
use super::power_law::{Form, number};
use super::ridge::Problem;
use super::{Fitted, Regressor, Training};
use crate::statistics::robust_deviation;

/// Largest exponent of a number.
const STEEPEST: f64 = 3.5;
/// Penalty on the exponents, and on the same in units of the columns' deviations.
const PENALTY: f64 = 1e-4;
const PENALTY_OF_SCALED: f64 = 3e-5;
/// Most terms, and fewest configurations for each number fitted.
const MOST_TERMS: usize = 4;
const CONFIGURATIONS_PER_NUMBER: f64 = 1.5;
/// Where the loss turns from square to linear: at first, and at least.
const FIRST_TURN: f64 = 0.3;
const SMALLEST_TURN: f64 = 0.02;
const STARTS: usize = 3;
/// Of the random starts: one for all, as several models share a fit.
const SEED: u64 = 1;
const STEPS: usize = 150;
/// More rows than this are thinned: these few numbers do not need them.
const MOST_ROWS: usize = 2000;

/// Fits a [`Posynomial`].
pub(crate) struct PosynomialRegression;

/// Terms in the coordinates of a log space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Posynomial {
    pub space: LogSpace,
    pub terms: Vec<PowerTerm>,
}

/// exp(intercept + Σ slope · coordinate).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PowerTerm {
    pub intercept: f64,
    pub slopes: Vec<f64>,
}

impl Regressor for PosynomialRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        training.posynomial().map(Fitted::Posynomial)
    }
}

/// The rows in the log space, and what a fit is judged by.
struct Fit<'a> {
    space: &'a LogSpace,
    rows: Vec<Vec<f64>>,
    logarithms: Vec<f64>,
    /// Sum to 1.
    weights: Vec<f64>,
    terms: usize,
}

impl Posynomial {
    /// Fits with as many terms as the configurations allow, or says why it cannot.
    pub(super) fn fit(training: &Training<'_>) -> Result<Posynomial, String> {
        let width = training.inputs.first().map_or(0, Vec::len);
        let affordable = training.configurations as f64 / (CONFIGURATIONS_PER_NUMBER * (width + 1) as f64);
        let terms = (affordable as usize).min(MOST_TERMS);
        if terms < 2 || width == 0 {
            return Err(format!(
                "{} configurations are too few for two terms of {} numbers",
                training.configurations,
                width + 1
            ));
        }
        let space = LogSpace::fit(training);
        let step = training.inputs.len().div_ceil(MOST_ROWS);
        let chosen: Vec<usize> = (0..training.inputs.len()).step_by(step).collect();
        let total: f64 = chosen.iter().map(|&row| training.weights[row]).sum();
        let fit = Fit {
            rows: chosen.iter().map(|&row| space.apply(&training.inputs[row])).collect(),
            logarithms: chosen.iter().map(|&row| training.targets[row].ln()).collect(),
            weights: chosen.iter().map(|&row| training.weights[row] / total).collect(),
            space: &space,
            terms,
        };
        let terms = fit.best(SEED).ok_or("the posynomial found no finite terms")?;
        let posynomial = Posynomial { space: space.clone(), terms };
        posynomial.check(width)?;
        Ok(posynomial)
    }

    /// ln T.
    pub(super) fn logarithm(&self, row: &[f64]) -> f64 {
        let place = self.space.apply(row);
        let exponents = self.terms.iter().map(|term| term.at(&place));
        log_sum(&exponents.collect::<Vec<_>>())
    }

    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        self.logarithm(row).min(700.0).exp()
    }

    pub(super) fn parameters(&self) -> usize {
        self.terms.iter().map(|term| term.slopes.len() + 1).sum()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        self.space.check(width)?;
        let finite = |term: &PowerTerm| {
            term.slopes.len() == width
                && term.intercept.is_finite()
                && term.slopes.iter().all(|slope| slope.is_finite())
        };
        if (1..=16).contains(&self.terms.len()) && self.terms.iter().all(finite) {
            Ok(())
        } else {
            Err("a term of the posynomial does not fit the features".to_owned())
        }
    }

    /// `T ≈ 3.1e-9 · n^2.98 + 0.4 · threads^-0.87`, terms that never matter left out.
    pub(crate) fn formula(&self, name: impl Fn(usize) -> String) -> String {
        let largest = self.terms.iter().map(|term| term.intercept).fold(f64::NEG_INFINITY, f64::max);
        let mut texts = Vec::new();
        for term in self.terms.iter().filter(|term| term.intercept > largest - 7.0) {
            let mut constant = term.intercept;
            let mut factors = Vec::new();
            for (column, slope) in term.slopes.iter().enumerate() {
                let exponent = slope / self.space.deviations[column];
                constant -= exponent * self.space.means[column];
                if exponent.abs() < 5e-3 {
                    continue;
                }
                let text = name(column);
                factors.push(match self.space.forms[column] {
                    Form::Logarithm { .. } => format!("{text}^{exponent:.2}"),
                    Form::LogarithmOfOnePlus => format!("(1 + {text})^{exponent:.2}"),
                    Form::Plain => format!("{}[{text}]", number(exponent.exp())),
                });
            }
            let mut parts = vec![number(constant.exp())];
            parts.append(&mut factors);
            texts.push(parts.join(" · "));
        }
        format!("T ≈ {}", texts.join(" + "))
    }
}

impl PowerTerm {
    fn at(&self, place: &[f64]) -> f64 {
        self.intercept + self.slopes.iter().zip(place).map(|(slope, x)| slope * x).sum::<f64>()
    }
}

impl Fit<'_> {
    /// The best of several starts.
    fn best(&self, seed: u64) -> Option<Vec<PowerTerm>> {
        let start = self.power_law()?;
        let mut random = Pcg64::seed_from_u64(seed);
        let mut best: Option<(Vec<f64>, f64)> = None;
        for attempt in 0..STARTS {
            let start = self.start(&start, attempt, &mut random);
            let found = minimise(start, STEPS, |numbers, gradient| self.loss(numbers, FIRST_TURN, gradient));
            if best.as_ref().is_none_or(|(_, lowest)| found.1 < *lowest) {
                best = Some(found);
            }
        }
        let (numbers, _) = best?;
        let deviation = robust_deviation(&self.residuals(&numbers))?;
        let turn = (1.5 * deviation).clamp(SMALLEST_TURN, FIRST_TURN);
        let (numbers, loss) =
            minimise(numbers, STEPS, |numbers, gradient| self.loss(numbers, turn, gradient));
        loss.is_finite().then(|| self.terms_of(&numbers))
    }

    /// One power law through everything.
    fn power_law(&self) -> Option<PowerTerm> {
        let width = self.space.forms.len();
        let problem = Problem {
            rows: &self.rows,
            targets: &self.logarithms,
            weights: &self.weights,
            hardness: &vec![1.0; width],
        };
        let ridge =
            problem.solve(&[1e-6, 1e-4, 1e-2, 1e-1], |row, said| (said - self.logarithms[row]).powi(2))?;
        Some(PowerTerm { intercept: ridge.intercept, slopes: ridge.coefficients })
    }

    /// The law and, below it, a constant and further terms: flat at first, then random ones.
    fn start(&self, law: &PowerTerm, attempt: usize, random: &mut Pcg64) -> Vec<f64> {
        let mut numbers = Vec::new();
        for term in 0..self.terms {
            let spread = if attempt == 0 { 0.1 } else { 0.6 };
            let depth = if term == 0 { 0.2 } else { 1.0 + 0.5 * term as f64 };
            numbers.push(law.intercept - depth);
            for slope in &law.slopes {
                let share = match (term, attempt) {
                    (0, _) => 1.1,
                    (_, 0) => {
                        if term == 1 {
                            0.0
                        } else {
                            0.6
                        }
                    }
                    _ => 0.7,
                };
                let swing = 2.0 * (random.next_u32() as f64 / u32::MAX as f64) - 1.0;
                numbers.push(share * slope + spread * swing * (0.3 + slope.abs()));
            }
        }
        numbers
    }

    fn terms_of(&self, numbers: &[f64]) -> Vec<PowerTerm> {
        let width = self.space.forms.len();
        let term = |chunk: &[f64]| PowerTerm {
            intercept: chunk[0],
            slopes: chunk[1..]
                .iter()
                .zip(self.space.deviations.iter().zip(&self.space.forms))
                .map(|(slope, (deviation, form))| match form {
                    Form::Plain => *slope,
                    _ => slope.clamp(-STEEPEST * deviation, STEEPEST * deviation),
                })
                .collect(),
        };
        numbers.chunks_exact(width + 1).map(term).collect()
    }

    fn residuals(&self, numbers: &[f64]) -> Vec<f64> {
        let terms = self.terms_of(numbers);
        let said = |row: &Vec<f64>| log_sum(&terms.iter().map(|term| term.at(row)).collect::<Vec<_>>());
        self.rows.iter().zip(&self.logarithms).map(|(row, logarithm)| logarithm - said(row)).collect()
    }

    /// Pseudo-Huber loss and penalties, with the gradient.
    fn loss(&self, numbers: &[f64], turn: f64, gradient: &mut [f64]) -> f64 {
        let size = self.space.forms.len() + 1;
        gradient.fill(0.0);
        let mut loss = 0.0;
        let mut exponents = vec![0.0; self.terms];
        for ((row, logarithm), weight) in self.rows.iter().zip(&self.logarithms).zip(&self.weights) {
            for (exponent, chunk) in exponents.iter_mut().zip(numbers.chunks_exact(size)) {
                *exponent = chunk[0] + chunk[1..].iter().zip(row).map(|(slope, x)| slope * x).sum::<f64>();
            }
            let sum = log_sum(&exponents);
            let residual = sum - logarithm;
            let root = (1.0 + (residual / turn).powi(2)).sqrt();
            loss += weight * turn * turn * (root - 1.0);
            let slope = weight * residual / root;
            for (exponent, chunk) in exponents.iter().zip(gradient.chunks_exact_mut(size)) {
                let share = slope * (exponent - sum).exp();
                chunk[0] += share;
                chunk[1..].iter_mut().zip(row).for_each(|(g, x)| *g += share * x);
            }
        }
        for (chunk, gradients) in numbers.chunks_exact(size).zip(gradient.chunks_exact_mut(size)) {
            for column in 0..size - 1 {
                let deviation = self.space.deviations[column];
                let (slope, exponent) = (chunk[column + 1], chunk[column + 1] / deviation);
                let excess = match self.space.forms[column] {
                    Form::Plain => 0.0,
                    _ => (exponent.abs() - STEEPEST).max(0.0),
                };
                loss += PENALTY * exponent * exponent + PENALTY_OF_SCALED * slope * slope + excess * excess;
                gradients[column + 1] += 2.0
                    * (PENALTY * exponent / deviation
                        + PENALTY_OF_SCALED * slope
                        + excess * exponent.signum() / deviation);
            }
        }
        loss
    }
}

/// ln Σ exp, without overflow.
fn log_sum(exponents: &[f64]) -> f64 {
    let largest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest + exponents.iter().map(|exponent| (exponent - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(inputs: &[Vec<f64>], targets: &[f64]) -> Posynomial {
        let weights = vec![1.0; targets.len()];
        Posynomial::fit(&Training::plain(inputs, targets, &weights)).unwrap()
    }

    #[test]
    fn two_phases_are_told_apart() {
        let mut inputs = Vec::new();
        for n in [100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0] {
            for threads in [1.0, 2.0, 4.0, 8.0] {
                inputs.push(vec![n, threads]);
            }
        }
        let law = |n: f64, threads: f64| 2.0 + 1e-5 * n * n / threads;
        let targets: Vec<f64> = inputs.iter().map(|row| law(row[0], row[1])).collect();
        let found = fit(&inputs, &targets);
        let ratio = found.predict(&[6400.0, 8.0]) / law(6400.0, 8.0);
        assert!((ratio - 1.0).abs() < 0.15, "{ratio} {}", found.formula(|c| ["n", "threads"][c].into()));
    }
}
