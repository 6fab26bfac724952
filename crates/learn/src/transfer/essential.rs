//! The few features that matter. Features that say the same twice (weights and width, operations and
//! layers) do no harm inside what was measured and much beyond it, and another application lies beyond.

use harp_core::{Dataset, Scale as RunScale};

use super::similar::{Scale, logarithms};
use crate::model::case_of;
use crate::regress::Cholesky;

/// A feature may go if the error grows by no more than this.
const WORTH: f64 = 1.05;
/// Features are interchangeable to the source if leaving out the one or the other errs this much alike.
const ALIKE: f64 = 1.03;
/// Keeps the equations solvable where features repeat each other.
const PENALTY: f64 = 1e-3;

/// The smallest of the named features with which a power law errs hardly more than with all, found by
/// leaving them out one by one (backward elimination). Which of two that say the same to the source goes
/// is decided by the target's own runs: the law must miss them evenly, as a factor is easily learned.
pub(super) fn essential(table: &Dataset, names: &[String], target: &Dataset) -> Vec<String> {
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
    let own: Vec<(Vec<f64>, f64)> = target
        .rows
        .iter()
        .filter(|row| row.scale != RunScale::Test)
        .filter_map(|row| {
            let actual = row.observed.exact().filter(|value| *value > 0.0)?.ln();
            Some((scale.standard(&logarithms(&case_of(&target.columns, row), names)), actual))
        })
        .collect();
    let unevenness = |columns: &[usize]| -> f64 {
        let Some((_, law)) = fitted(&points, &targets, &weights, columns) else { return f64::INFINITY };
        let residuals: Vec<f64> =
            own.iter().map(|(point, actual)| actual - said(&law, &with_one(point, columns))).collect();
        let mean = residuals.iter().sum::<f64>() / residuals.len().max(1) as f64;
        residuals.iter().map(|residual| (residual - mean).abs()).sum()
    };
    let varies = |column: &usize| points.iter().any(|point| point[*column].abs() > 1e-9);
    let mut kept: Vec<usize> = (0..names.len()).filter(varies).collect();
    let Some(mut error) = left_out_error(&points, &targets, &weights, &kept) else { return names.to_vec() };
    let mut lowest = error;
    while kept.len() > 1 {
        let without = |gone: usize| kept.iter().copied().filter(|column| *column != gone).collect::<Vec<_>>();
        let tried: Vec<(f64, Vec<usize>)> = kept
            .iter()
            .filter_map(|&gone| {
                let rest = without(gone);
                Some((left_out_error(&points, &targets, &weights, &rest)?, rest))
            })
            .collect();
        let least = tried.iter().map(|(error, _)| *error).fold(f64::INFINITY, f64::min);
        let alike = tried.into_iter().filter(|(error, _)| *error <= ALIKE * least);
        let evenest = alike.min_by(|a, b| unevenness(&a.1).total_cmp(&unevenness(&b.1)));
        let Some((found, rest)) = evenest else { break };
        lowest = lowest.min(found);
        if found > WORTH * lowest && found > error {
            break;
        }
        (error, kept) = (found, rest);
    }
    kept.into_iter().map(|column| names[column].clone()).collect()
}

/// A point with the constant 1 before it.
fn with_one(point: &[f64], columns: &[usize]) -> Vec<f64> {
    std::iter::once(1.0).chain(columns.iter().map(|&column| point[column])).collect()
}

fn said(law: &[f64], row: &[f64]) -> f64 {
    row.iter().zip(law).map(|(value, slope)| value * slope).sum()
}

/// A power law by weighted least squares.
fn fitted(
    points: &[Vec<f64>],
    targets: &[f64],
    weights: &[f64],
    columns: &[usize],
) -> Option<(Cholesky, Vec<f64>)> {
    let width = columns.len() + 1;
    if points.len() < width + 2 {
        return None;
    }
    let mut normal = vec![vec![0.0; width]; width];
    let mut right = vec![0.0; width];
    for ((point, target), weight) in points.iter().zip(targets).zip(weights) {
        let row = with_one(point, columns);
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
    let factor = Cholesky::of(&normal)?;
    let law = factor.solve(right);
    Some((factor, law))
}

/// Mean error of a power law at rows it was not fitted to, in closed form: residual / (1 − leverage).
fn left_out_error(points: &[Vec<f64>], targets: &[f64], weights: &[f64], columns: &[usize]) -> Option<f64> {
    let (factor, law) = fitted(points, targets, weights, columns)?;
    let mut sum = 0.0;
    for ((point, target), weight) in points.iter().zip(targets).zip(weights) {
        let row = with_one(point, columns);
        let said = said(&law, &row);
        let half = factor.half_solve(row);
        let leverage = weight * half.iter().map(|value| value * value).sum::<f64>();
        sum += weight * (target - said).abs() / (1.0 - leverage).max(0.05);
    }
    Some(sum / weights.iter().sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Column, Observed, Row, Target, Value};

    fn table(names: [&str; 3], rows: impl Iterator<Item = ([f64; 3], f64)>) -> Dataset {
        let columns = names.map(|name| Column { name: name.to_owned() }).to_vec();
        let row = |(group, (cells, seconds)): (usize, ([f64; 3], f64))| Row {
            cells: cells.map(|value| Some(Value::Real(value))).to_vec(),
            observed: Observed::Exact(seconds),
            scale: RunScale::Sd,
            group: group as u64,
        };
        Dataset::new(Target::Walltime, columns, rows.enumerate().map(row).collect()).unwrap()
    }

    /// To the source operations and weights are one thing; the target's time follows the operations.
    #[test]
    fn of_two_features_that_are_one_to_the_source_the_target_s_runs_tell_which_stays() {
        let names = ["weights", "flops", "samples"];
        let levels = [1.0, 2.0, 4.0, 8.0];
        let source = levels.into_iter().flat_map(|size| levels.map(|samples| (size, samples)));
        let source =
            table(names, source.map(|(size, samples)| ([size, 5.0 * size, samples], size * samples)));
        let cases = [(1.0, 30.0, 2.0), (3.0, 10.0, 1.0), (2.0, 60.0, 4.0), (0.5, 20.0, 3.0)];
        let by_flops =
            cases.map(|(weights, flops, samples)| ([weights, flops, samples], 0.7 * flops * samples));
        let target = table(names, by_flops.into_iter());
        let all = names.map(str::to_owned);
        assert_eq!(essential(&source, &all, &target), ["flops", "samples"]);
        let by_weights =
            cases.map(|(weights, flops, samples)| ([weights, flops, samples], 0.7 * weights * samples));
        let target = table(names, by_weights.into_iter());
        assert_eq!(essential(&source, &all, &target), ["weights", "samples"]);
    }
}
