//! A product of powers: ln(T − c) is linear in the logarithms of the positive features, in the
//! categories, and in category × logarithm, so that each category may have exponents of its own.
//!
//! Run times and sizes multiply (shared experience of performance modelling: Extra-P, Ernest), and a
//! sum of logarithms extrapolates where trees and networks cannot. The constant c is the start-up
//! time, or the memory of an empty program; it is kept only where leaving rows out says it helps.

use serde::{Deserialize, Serialize};

use super::ridge::{Problem, Ridge};
use super::{Fitted, Regressor, Training};
use crate::prepare::{ColumnRole, Role};
use crate::statistics::robust_deviation;

/// Penalties tried, relative to standardised columns.
const PENALTIES: [f64; 8] = [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// Multiples of it fill the unit interval evenly.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;
/// Constants tried, as shares of the smallest target.
const OFFSETS: [f64; 7] = [0.25, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99];
/// A constant must lower the left-out error to this share of what it is without.
const WORTHWHILE: f64 = 0.8;
/// Interactions are penalised this much harder than the features themselves.
const INTERACTION_HARDNESS: f64 = 4.0;
/// Exponents that change with size need more runs still: terms per configuration.
const CURVED_SHARE: f64 = 0.4;
/// Robust deviations from which on a row counts less, and how often rows are weighed anew.
const HUBER: f64 = 1.5;
const REWEIGHTINGS: usize = 3;
/// Most terms; beyond it only the features themselves are used, and no constant is searched for.
const MOST_TERMS: usize = 120;

/// More configurations tell no more of so few terms.
const MOST_CONFIGURATIONS: usize = 4000;

/// Fits a [`PowerLaw`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct PowerLawRegression {
    /// Whether products of two logarithms enter too: exponents that change with size.
    pub products: bool,
}

/// T = offset + exp(intercept + Σ coefficient · Π factor).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PowerLaw {
    pub offset: f64,
    pub intercept: f64,
    pub terms: Vec<Term>,
}

/// One term of the exponent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Term {
    pub coefficient: f64,
    pub factors: Vec<Factor>,
}

/// A column, seen in one way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Factor {
    pub column: usize,
    pub form: Form,
}

/// How a column enters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// ln x, for columns that are always positive; below the floor the floor counts.
    Logarithm {
        /// A tenth of the smallest value measured.
        floor: f64,
    },
    /// ln(1 + x), for columns that may be 0.
    LogarithmOfOnePlus,
    /// x, for indicators and columns with negative values.
    Plain,
}

impl Factor {
    pub(super) fn of(self, row: &[f64]) -> f64 {
        let value = row.get(self.column).copied().unwrap_or(0.0);
        match self.form {
            Form::Logarithm { floor } => value.max(floor).ln(),
            Form::LogarithmOfOnePlus => value.max(0.0).ln_1p(),
            Form::Plain => value,
        }
    }
}

impl Regressor for PowerLawRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        PowerLaw::fit(training, *self).map(Fitted::PowerLaw)
    }
}

impl PowerLaw {
    /// Fits it, or says why it cannot.
    pub(super) fn fit(training: &Training<'_>, kind: PowerLawRegression) -> Result<PowerLaw, String> {
        let merged = Merged::of(training).thinned(MOST_CONFIGURATIONS);
        let training = &merged.training(training);
        let (mains, interactions) = terms(training, kind.products);
        // An interaction needs runs to be told from its parts.
        let most = MOST_TERMS.min(3 * training.configurations / 2);
        let most = if kind.products {
            most.min((CURVED_SHARE * training.configurations as f64) as usize)
        } else {
            most
        };
        let affordable = mains.len() + interactions.len() <= most;
        if kind.products && !affordable {
            let wanted = mains.len() + interactions.len();
            return Err(format!("it would have {wanted} terms, and {most} are the most here"));
        }
        let hardness: Vec<f64> = if affordable {
            let hard = interactions.iter().map(|_| INTERACTION_HARDNESS);
            mains.iter().map(|_| 1.0).chain(hard).collect()
        } else {
            vec![1.0; mains.len()]
        };
        let factors: Vec<Vec<Factor>> =
            if affordable { mains.into_iter().chain(interactions).collect() } else { mains };
        let rows: Vec<Vec<f64>> = training
            .inputs
            .iter()
            .map(|row| {
                factors.iter().map(|term| term.iter().map(|factor| factor.of(row)).product()).collect()
            })
            .collect();
        let no_numbers = "the logarithms cannot be fitted with finite numbers";
        let (mut offset, mut fit) = best_offset(training, &rows, &hardness).ok_or(no_numbers)?;
        for _ in 0..REWEIGHTINGS {
            let Some(weights) = huber_weights(training, &rows, offset, &fit) else { break };
            let training = Training { weights: &weights, ..*training };
            (offset, fit) = best_offset(&training, &rows, &hardness).ok_or(no_numbers)?;
        }
        let terms = factors
            .into_iter()
            .zip(fit.coefficients)
            .map(|(factors, coefficient)| Term { coefficient, factors })
            .collect();
        Ok(PowerLaw { offset, intercept: fit.intercept, terms })
    }
}

/// Rows with repetitions of one configuration made one, with their geometric mean and their weights
/// together: the same law results, but leaving a row out then leaves out all of its like.
struct Merged {
    inputs: Vec<Vec<f64>>,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

impl Merged {
    fn of(training: &Training<'_>) -> Merged {
        let mut order: Vec<usize> = (0..training.inputs.len()).collect();
        let compare = |&left: &usize, &right: &usize| {
            let pairs = training.inputs[left].iter().zip(&training.inputs[right]);
            pairs.map(|(l, r)| l.total_cmp(r)).find(|order| order.is_ne()).unwrap_or(left.cmp(&right))
        };
        order.sort_by(compare);
        let mut merged = Merged { inputs: Vec::new(), targets: Vec::new(), weights: Vec::new() };
        for row in order {
            let (input, logarithm) = (&training.inputs[row], training.targets[row].ln());
            let weight = training.weights[row];
            match (merged.inputs.last(), merged.targets.last_mut(), merged.weights.last_mut()) {
                (Some(last), Some(mean), Some(sum)) if last == input => {
                    *sum += weight;
                    *mean += (logarithm - *mean) * weight / *sum;
                }
                _ => {
                    merged.inputs.push(input.clone());
                    merged.targets.push(logarithm);
                    merged.weights.push(weight);
                }
            }
        }
        merged.targets.iter_mut().for_each(|logarithm| *logarithm = logarithm.exp());
        merged
    }

    /// About so many, spread by the golden ratio: every k-th row of a grid may have the same number of threads.
    fn thinned(mut self, most: usize) -> Merged {
        let share = most as f64 / self.inputs.len().max(1) as f64;
        if share < 1.0 {
            let kept = |row: usize| ((row + 1) as f64 * GOLDEN_RATIO).fract() < share;
            self.inputs = chosen(self.inputs, kept);
            self.targets = chosen(self.targets, kept);
            self.weights = chosen(self.weights, kept);
        }
        self
    }

    fn training<'a>(&'a self, from: &Training<'a>) -> Training<'a> {
        Training { inputs: &self.inputs, targets: &self.targets, weights: &self.weights, law: None, ..*from }
    }
}

fn chosen<T>(all: Vec<T>, kept: impl Fn(usize) -> bool) -> Vec<T> {
    all.into_iter().enumerate().filter(|(index, _)| kept(*index)).map(|(_, one)| one).collect()
}

/// The features themselves, and the products of indicators with logarithms of other features; if
/// wanted, of logarithms with each other and themselves too.
fn terms(training: &Training<'_>, products: bool) -> (Vec<Vec<Factor>>, Vec<Vec<Factor>>) {
    let width = training.inputs.first().map_or(0, Vec::len);
    let mut mains = Vec::new();
    let mut indicators: Vec<Factor> = Vec::new();
    let mut logarithms: Vec<Factor> = Vec::new();
    for column in 0..width {
        let values = || training.inputs.iter().map(move |row| row[column]);
        let smallest = values().fold(f64::INFINITY, f64::min);
        let largest = values().fold(f64::NEG_INFINITY, f64::max);
        let number = training.roles.get(column).is_none_or(|role| role.role == Role::Number);
        let two_valued = values().all(|value| value == smallest || value == largest);
        let form = Form::of(training, column);
        let factor = Factor { column, form };
        match form {
            Form::Logarithm { .. } | Form::LogarithmOfOnePlus => logarithms.push(factor),
            Form::Plain if !number || two_valued => indicators.push(factor),
            Form::Plain => {}
        }
        mains.push(vec![factor]);
    }
    let feature = |factor: &Factor| training.roles.get(factor.column).map(|role: &ColumnRole| role.feature);
    let mut interactions = Vec::new();
    for indicator in &indicators {
        for logarithm in logarithms.iter().filter(|logarithm| feature(logarithm) != feature(indicator)) {
            interactions.push(vec![*indicator, *logarithm]);
        }
    }
    if products {
        for (index, left) in logarithms.iter().enumerate() {
            for right in &logarithms[index..] {
                interactions.push(vec![*left, *right]);
            }
        }
    }
    (mains, interactions)
}

/// Weights under which rows far from the fit count less (Huber, Annals of Mathematical Statistics
/// 1964); `None` where no row is far.
fn huber_weights(training: &Training<'_>, rows: &[Vec<f64>], offset: f64, fit: &Ridge) -> Option<Vec<f64>> {
    let residuals: Vec<f64> = rows
        .iter()
        .zip(training.targets)
        .map(|(row, target)| {
            let exponent: f64 = row.iter().zip(&fit.coefficients).map(|(value, c)| value * c).sum();
            (target / (offset + (fit.intercept + exponent).min(700.0).exp())).ln()
        })
        .collect();
    let count = residuals.len();
    let left = count.checked_sub(fit.coefficients.len() + 1).filter(|&left| left >= 3)?;
    // Fitted residuals are smaller than errors by the share of the freedom that was spent.
    let deviation = robust_deviation(&residuals)? * (count as f64 / left as f64).sqrt();
    let limit = HUBER * deviation;
    if limit <= 1e-9 || residuals.iter().all(|residual| residual.abs() <= limit) {
        return None;
    }
    let weigh = |(weight, residual): (&f64, &f64)| weight * (limit / residual.abs().max(limit)).max(1e-3);
    Some(training.weights.iter().zip(&residuals).map(weigh).collect())
}

/// Fits with and without a constant and keeps it where it is worth it.
fn best_offset(training: &Training<'_>, rows: &[Vec<f64>], hardness: &[f64]) -> Option<(f64, Ridge)> {
    let targets = training.targets;
    let fit = |offset: f64| {
        let logarithms: Vec<f64> = targets.iter().map(|target| (target - offset).ln()).collect();
        // An error of ln(T − c) is worth (T − c)/T of an error of ln T.
        let weights: Vec<f64> = targets
            .iter()
            .zip(training.weights)
            .map(|(target, weight)| weight * ((target - offset) / target).powi(2).max(1e-6))
            .collect();
        let problem = Problem { rows, targets: &logarithms, weights: &weights, hardness };
        // `solve` weighs by the weights above; divide them out again, so that fits compare.
        let score = |row: usize, left_out: f64| {
            let predicted = (offset + left_out.min(700.0).exp()).ln();
            (predicted - targets[row].ln()).powi(2) * training.weights[row] / weights[row]
        };
        let total: f64 = weights.iter().sum();
        problem.solve(&PENALTIES, score).map(|ridge| Ridge { error: ridge.error * total, ..ridge })
    };
    let plain = fit(0.0)?;
    let smallest = targets.iter().copied().fold(f64::INFINITY, f64::min);
    let terms = hardness.len();
    // A constant target has no law to take a constant from, and few runs cannot tell.
    if terms == 0 || terms > MOST_TERMS || training.configurations < terms + 4 || plain.error <= 1e-12 {
        return Some((0.0, plain));
    }
    let mut best = (0.0, plain);
    let limit = WORTHWHILE * best.1.error;
    for share in OFFSETS {
        let offset = share * smallest;
        if let Some(ridge) = fit(offset)
            && ridge.error < best.1.error
            && ridge.error < limit
        {
            best = (offset, ridge);
        }
    }
    Some(best)
}

impl PowerLaw {
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let exponent: f64 = self
            .terms
            .iter()
            .map(|term| term.coefficient * term.factors.iter().map(|factor| factor.of(row)).product::<f64>())
            .sum();
        self.offset + (self.intercept + exponent).min(700.0).exp()
    }

    /// Numbers fitted.
    pub(super) fn parameters(&self) -> usize {
        self.terms.len() + 1 + usize::from(self.offset > 0.0)
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let factor = |factor: &Factor| {
            let positive = match factor.form {
                Form::Logarithm { floor } => floor > 0.0 && floor.is_finite(),
                Form::LogarithmOfOnePlus | Form::Plain => true,
            };
            factor.column < width && positive
        };
        let term = |term: &Term| {
            term.coefficient.is_finite() && term.factors.len() <= 2 && term.factors.iter().all(factor)
        };
        let numbers = self.offset >= 0.0 && self.offset.is_finite() && self.intercept.is_finite();
        if numbers && self.terms.iter().all(term) {
            Ok(())
        } else {
            Err("a term of the power law does not fit the features".to_owned())
        }
    }

    /// `T ≈ 3.1e-9 · n^2.98 · threads^-0.87 + 0.4`; `name` gives a column's name. A power or factor
    /// that holds only for one category carries it in brackets.
    pub(crate) fn formula(&self, name: impl Fn(usize) -> String) -> String {
        let mut parts = vec![number(self.intercept.exp())];
        for term in self.terms.iter().filter(|term| term.coefficient.abs() >= 5e-4) {
            let mut condition = String::new();
            let mut bases = Vec::new();
            for factor in &term.factors {
                let column = name(factor.column);
                match factor.form {
                    Form::Logarithm { .. } => bases.push(column),
                    Form::LogarithmOfOnePlus => bases.push(format!("(1 + {column})")),
                    Form::Plain => condition = format!("[{column}]"),
                }
            }
            let power = exponent(term.coefficient);
            parts.push(match bases.as_slice() {
                [] => format!("{}{condition}", number(term.coefficient.exp())),
                [base] => format!("{base}^{power}{condition}"),
                [base, other, ..] => format!("{base}^({power}·ln {other})"),
            });
        }
        let constant = if self.offset > 0.0 { format!(" + {}", number(self.offset)) } else { String::new() };
        format!("T ≈ {}{constant}", parts.join(" · "))
    }
}

/// Three digits, in powers of ten where the number is far from one.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.01..10_000.0).contains(&value) {
        let digits = (2 - value.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.2e}")
    }
}

fn exponent(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(count: usize) -> Vec<ColumnRole> {
        (0..count).map(|feature| ColumnRole { feature, role: Role::Number }).collect()
    }

    fn fit(inputs: &[Vec<f64>], targets: &[f64], roles: &[ColumnRole]) -> PowerLaw {
        let weights = vec![1.0; targets.len()];
        let training = Training {
            inputs,
            targets,
            weights: &weights,
            roles,
            configurations: inputs.len(),
            seed: 1,
            penalty: super::super::Penalty::Squares,
            law: None,
        };
        match (PowerLawRegression { products: false }).fit(&training).unwrap() {
            Fitted::PowerLaw(law) => law,
            other => panic!("{other:?}"),
        }
    }

    fn grid() -> Vec<Vec<f64>> {
        let sizes = [100.0, 200.0, 400.0, 800.0, 1600.0];
        sizes.iter().flat_map(|&n| [1.0, 2.0, 4.0].map(|threads| vec![n, threads])).collect()
    }

    #[test]
    fn a_law_is_found_and_printed() {
        let inputs = grid();
        let targets: Vec<f64> =
            inputs.iter().map(|row| 3.1e-9 * row[0].powi(3) * row[1].powf(-0.8)).collect();
        let law = fit(&inputs, &targets, &roles(2));
        assert!((law.predict(&[1e4, 8.0]) / (3.1e3 * 8f64.powf(-0.8)) - 1.0).abs() < 1e-3);
        let names = ["n", "threads"];
        assert_eq!(law.formula(|column| names[column].to_owned()), "T ≈ 3.10e-9 · n^3 · threads^-0.8");
    }

    #[test]
    fn a_constant_is_found() {
        let inputs = grid();
        let targets: Vec<f64> = inputs.iter().map(|row| 0.5 + 1e-5 * row[0].powi(2) / row[1]).collect();
        let law = fit(&inputs, &targets, &roles(2));
        assert!(law.offset > 0.3, "{law:?}");
        let truth = 0.5 + 1e-5 * 1e8;
        assert!((law.predict(&[1e4, 1.0]) / truth - 1.0).abs() < 0.1, "{}", law.predict(&[1e4, 1.0]));
    }

    #[test]
    fn categories_have_exponents_of_their_own() {
        let mut inputs = Vec::new();
        let mut targets = Vec::new();
        for n in [100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0] {
            for category in [0.0, 1.0] {
                inputs.push(vec![n, category]);
                targets.push(if category == 0.0 { 1e-3 * n } else { 1e-6 * n * n });
            }
        }
        let mut roles = roles(2);
        roles[1].role = Role::Level(1);
        let law = fit(&inputs, &targets, &roles);
        assert!((law.predict(&[1e4, 0.0]) / 10.0 - 1.0).abs() < 0.01);
        assert!((law.predict(&[1e4, 1.0]) / 100.0 - 1.0).abs() < 0.01);
    }
}
