//! What the target's few runs say of the source's model: a factor, and how it changes with the
//! features, as far as so few can tell.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Value, median};
use serde::{Deserialize, Serialize};

use super::similar::{Scale, logarithms};
use crate::regress::Cholesky;

/// So many runs for each number that is fitted, beside the factor.
const RUNS_PER_FEATURE: usize = 3;
/// Lines count by their error to this power, as candidates do.
const POWER: i32 = -4;
/// Keeps a line flat where the runs do not differ.
const RIDGE: f64 = 0.01;
/// An error below this is luck.
const SMALLEST_ERROR: f64 = 1e-3;
/// Residuals beyond so many standard deviations count less, the more they are beyond (Huber, 1964): on a
/// shared machine some run is always far too slow, and one of ten moves the mean of all by its tenth.
const HUBER: f64 = 1.345;
/// Rounds of weighing and fitting.
const ROUNDS: usize = 20;
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
    /// The mean of all lines over no, one or two features (over all, where there are runs enough), each by
    /// how well it says the configurations that are left out in turn. So few runs cannot tell which features
    /// matter; a choice among them is mostly luck, a line over all of them follows the noise.
    pub(super) fn fit(known: &[&Known], features: &[String]) -> Correction {
        let groups: BTreeSet<usize> = known.iter().map(|run| run.group).collect();
        let most = groups.len().saturating_sub(1) / RUNS_PER_FEATURE;
        let mut mean =
            Correction { features: features.to_vec(), exponents: vec![0.0; features.len()], constant: 0.0 };
        let mut total = 0.0;
        for subset in subsets(features.len(), most) {
            let weight = if most == 0 { 1.0 } else { left_out_error(known, &subset).powi(POWER) };
            let line = Line::fit(known, &subset);
            mean.constant += weight * line.constant;
            for (feature, slope) in subset.iter().zip(&line.slopes) {
                mean.exponents[*feature] += weight * slope;
            }
            total += weight;
        }
        mean.constant /= total;
        mean.exponents.iter_mut().for_each(|exponent| *exponent /= total);
        mean
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

/// The sets of up to two of so many features, the empty one first, and all of them if that many are allowed.
fn subsets(width: usize, most: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    if most >= 1 {
        found.extend((0..width).map(|one| vec![one]));
    }
    if most >= 2 {
        found.extend((0..width).flat_map(|one| (one + 1..width).map(move |other| vec![one, other])));
    }
    if width > 2 && most >= width {
        found.push((0..width).collect());
    }
    found
}

/// Mean absolute residual of configurations that a line has not seen.
fn left_out_error(known: &[&Known], subset: &[usize]) -> f64 {
    let mut sum = 0.0;
    for fold in 0..FOLDS {
        let (held, others): (Vec<&Known>, Vec<&Known>) =
            known.iter().partition(|run| run.group % FOLDS == fold);
        if held.is_empty() {
            continue;
        }
        let line = Line::fit(&others, subset);
        sum += held.iter().map(|run| (run.residual - line.at(run, subset)).abs()).sum::<f64>();
    }
    (sum / known.len().max(1) as f64).max(SMALLEST_ERROR)
}

/// A line over a few of the features.
struct Line {
    constant: f64,
    slopes: Vec<f64>,
}

impl Line {
    /// By least squares, runs that lie far off counting less.
    fn fit(known: &[&Known], subset: &[usize]) -> Line {
        let points: Vec<Vec<f64>> =
            known.iter().map(|run| subset.iter().map(|&feature| run.point[feature]).collect()).collect();
        let scale = Scale::of(&points);
        let standard: Vec<Vec<f64>> = points.iter().map(|point| scale.standard(point)).collect();
        let mut weights = vec![1.0; known.len()];
        let mut line = Line::weighted(known, &standard, &weights);
        for _ in 0..ROUNDS {
            let residuals: Vec<f64> = known
                .iter()
                .zip(&standard)
                .map(|(run, point)| (run.residual - line.value(point)).abs())
                .collect();
            // A standard deviation, from the middle residual.
            let spread = 1.4826 * median(&mut residuals.clone()).unwrap_or(0.0);
            let far = (HUBER * spread).max(SMALLEST_ERROR);
            weights = residuals.iter().map(|residual| far / residual.max(far)).collect();
            line = Line::weighted(known, &standard, &weights);
        }
        // From deviations back to logarithms: what is standard is (x − centre)/spread.
        let zero = scale.standard(&vec![0.0; subset.len()]);
        let one = scale.standard(&vec![1.0; subset.len()]);
        let constant = line.value(&zero);
        let slopes =
            line.slopes.iter().zip(one.iter().zip(&zero)).map(|(slope, (one, zero))| slope * (one - zero));
        Line { constant, slopes: slopes.collect() }
    }

    fn weighted(known: &[&Known], points: &[Vec<f64>], weights: &[f64]) -> Line {
        let width = points.first().map_or(0, Vec::len);
        let total = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mean = |of: &dyn Fn(usize) -> f64| {
            weights.iter().enumerate().map(|(run, weight)| weight * of(run)).sum::<f64>() / total
        };
        let residual = mean(&|run| known[run].residual);
        let centre: Vec<f64> = (0..width).map(|column| mean(&|run| points[run][column])).collect();
        let mut normal = vec![vec![0.0; width]; width];
        let mut right = vec![0.0; width];
        for ((point, run), weight) in points.iter().zip(known).zip(weights) {
            let from: Vec<f64> = point.iter().zip(&centre).map(|(value, centre)| value - centre).collect();
            for row in 0..width {
                for column in 0..width {
                    normal[row][column] += weight * from[row] * from[column];
                }
                right[row] += weight * from[row] * (run.residual - residual);
            }
        }
        for (index, row) in normal.iter_mut().enumerate() {
            row[index] += RIDGE;
        }
        let slopes = Cholesky::of(&normal).map_or_else(|| vec![0.0; width], |factor| factor.solve(right));
        let constant =
            residual - slopes.iter().zip(&centre).map(|(slope, centre)| slope * centre).sum::<f64>();
        Line { constant, slopes }
    }

    fn value(&self, point: &[f64]) -> f64 {
        self.constant + self.slopes.iter().zip(point).map(|(slope, value)| slope * value).sum::<f64>()
    }

    fn at(&self, run: &Known, subset: &[usize]) -> f64 {
        self.value(&subset.iter().map(|&feature| run.point[feature]).collect::<Vec<f64>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten runs, four features, a factor of 3 and a slope in the second, and some noise.
    #[test]
    fn few_runs_tell_a_factor_and_the_slope_that_matters() {
        let mut state = 7u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let known: Vec<Known> = (0..10)
            .map(|group| {
                let point: Vec<f64> = (0..4).map(|_| 3.0 * uniform()).collect();
                let residual = 3f64.ln() - 0.4 * point[1] + 0.04 * (uniform() - 0.5);
                Known { point, residual, group }
            })
            .collect();
        let features: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let all: Vec<&Known> = known.iter().collect();
        let found = Correction::fit(&all, &features);
        assert!((found.exponents[1] + 0.4).abs() < 0.03, "{found:?}");
        assert!([0, 2, 3].iter().all(|&other| found.exponents[other].abs() < 0.03), "{found:?}");
        assert!((found.constant - 3f64.ln()).abs() < 0.1, "{found:?}");
        // Three runs only tell the factor.
        let few = Correction::fit(&all[..3], &features);
        assert!(few.exponents.iter().all(|exponent| *exponent == 0.0), "{few:?}");
        let mean = all[..3].iter().map(|run| run.residual).sum::<f64>() / 3.0;
        assert!((few.constant - mean).abs() < 1e-12);
    }
}
