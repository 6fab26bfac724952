//! What the target's few runs say of the source's model: a factor, and how it changes with the
//! features, as far as so few can tell.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::Value;
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
    fn fit(known: &[&Known], subset: &[usize]) -> Line {
        let points: Vec<Vec<f64>> =
            known.iter().map(|run| subset.iter().map(|&feature| run.point[feature]).collect()).collect();
        let scale = Scale::of(&points);
        let width = subset.len();
        let zero = scale.standard(&vec![0.0; width]);
        let one = scale.standard(&vec![1.0; width]);
        let mean = known.iter().map(|run| run.residual).sum::<f64>() / known.len().max(1) as f64;
        let mut normal = vec![vec![0.0; width]; width];
        let mut right = vec![0.0; width];
        for (point, run) in points.iter().zip(known) {
            let point = scale.standard(point);
            for row in 0..width {
                for column in 0..width {
                    normal[row][column] += point[row] * point[column];
                }
                right[row] += point[row] * (run.residual - mean);
            }
        }
        for (index, row) in normal.iter_mut().enumerate() {
            row[index] += RIDGE;
        }
        let standard = Cholesky::of(normal).map_or_else(|| vec![0.0; width], |factor| factor.solve(right));
        // From deviations back to logarithms: what is standard is (x − centre)/spread.
        let slopes =
            standard.iter().zip(one.iter().zip(&zero)).map(|(slope, (one, zero))| slope * (one - zero));
        let slopes: Vec<f64> = slopes.collect();
        let constant = mean + standard.iter().zip(&zero).map(|(slope, zero)| slope * zero).sum::<f64>();
        Line { constant, slopes }
    }

    fn at(&self, run: &Known, subset: &[usize]) -> f64 {
        self.constant
            + subset.iter().zip(&self.slopes).map(|(&feature, slope)| slope * run.point[feature]).sum::<f64>()
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
