//! The few features that matter. Features that say the same twice (weights and width, operations and
//! layers) do no harm inside what was measured and much beyond it, and another application lies beyond.

use harp_core::{Dataset, Scale as RunScale};

use super::similar::{Scale, logarithms};
use crate::model::case_of;
use crate::regress::Cholesky;

/// A feature may go if the error grows by no more than this.
const WORTH: f64 = 1.05;
/// Keeps the equations solvable where features repeat each other.
const PENALTY: f64 = 1e-3;

/// The smallest of the named features with which a power law errs hardly more than with all, found by
/// leaving them out one by one (backward elimination).
pub(super) fn essential(table: &Dataset, names: &[String]) -> Vec<String> {
    let rows: Vec<_> = table
        .rows
        .iter()
        .filter_map(|row| Some((row, row.observed.exact().filter(|value| *value > 0.0)?.ln())))
        .collect();
    let points: Vec<Vec<f64>> =
        rows.iter().map(|(row, _)| logarithms(&case_of(&table.columns, row), names)).collect();
    let scale = Scale::of(&points);
    let points: Vec<Vec<f64>> = points.iter().map(|point| scale.standard(point)).collect();
    let weights: Vec<f64> =
        rows.iter().map(|(row, _)| if row.scale == RunScale::Sd { 1.0 } else { 2.0 }).collect();
    let targets: Vec<f64> = rows.iter().map(|(_, target)| *target).collect();
    let varies = |column: &usize| points.iter().any(|point| point[*column].abs() > 1e-9);
    let mut kept: Vec<usize> = (0..names.len()).filter(varies).collect();
    let Some(mut error) = left_out_error(&points, &targets, &weights, &kept) else { return names.to_vec() };
    let mut lowest = error;
    while kept.len() > 1 {
        let without = |gone: usize| kept.iter().copied().filter(|column| *column != gone).collect::<Vec<_>>();
        let tried = kept.iter().filter_map(|&gone| {
            let rest = without(gone);
            Some((left_out_error(&points, &targets, &weights, &rest)?, rest))
        });
        let Some((found, rest)) = tried.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        lowest = lowest.min(found);
        if found > WORTH * lowest && found > error {
            break;
        }
        (error, kept) = (found, rest);
    }
    kept.into_iter().map(|column| names[column].clone()).collect()
}

/// Mean error of a power law at rows it was not fitted to, in closed form: residual / (1 − leverage).
fn left_out_error(points: &[Vec<f64>], targets: &[f64], weights: &[f64], columns: &[usize]) -> Option<f64> {
    let width = columns.len() + 1;
    if points.len() < width + 2 {
        return None;
    }
    let row = |point: &Vec<f64>| -> Vec<f64> {
        std::iter::once(1.0).chain(columns.iter().map(|&column| point[column])).collect()
    };
    let rows: Vec<Vec<f64>> = points.iter().map(row).collect();
    let mut normal = vec![vec![0.0; width]; width];
    let mut right = vec![0.0; width];
    for ((row, target), weight) in rows.iter().zip(targets).zip(weights) {
        for left in 0..width {
            for column in 0..width {
                normal[left][column] += weight * row[left] * row[column];
            }
            right[left] += weight * row[left] * target;
        }
    }
    for (index, line) in normal.iter_mut().enumerate() {
        line[index] += PENALTY;
    }
    let factor = Cholesky::of(normal)?;
    let solution = factor.solve(right);
    let mut sum = 0.0;
    for ((row, target), weight) in rows.iter().zip(targets).zip(weights) {
        let said: f64 = row.iter().zip(&solution).map(|(value, slope)| value * slope).sum();
        let half = factor.half_solve(row.clone());
        let leverage = weight * half.iter().map(|value| value * value).sum::<f64>();
        sum += weight * (target - said).abs() / (1.0 - leverage).max(0.05);
    }
    Some(sum / weights.iter().sum::<f64>())
}
