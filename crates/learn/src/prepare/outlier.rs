//! Runs that disagree wildly with their like. Measured in logarithms, against two yardsticks: the
//! repetitions of the same configuration, and, for scaled-down runs only, a power law through all of
//! them, where no more flexible model, fitted on the other runs, expects what the law does not. A
//! full-scale run is never left out for being rare or large: only its own repetitions can speak
//! against it.

use super::Prepared;
use crate::pipeline::Pipeline;
use crate::statistics::{median, robust_deviation};
use crate::table::Table;
use crate::{BuildOptions, ModelKind};

/// A run left out of training.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outlier {
    /// Row of the table.
    pub row: usize,
    /// How many times larger (or smaller, if below 1) it is than its like.
    pub ratio: f64,
}

/// Robust deviations beyond which a run disagrees.
const FAR: f64 = 6.0;
/// Factor below which a disagreement is not worth leaving a run out.
const SMALLEST_FACTOR: f64 = 1.5;
/// The same against the law, which may itself be wrong.
const SMALLEST_FACTOR_OF_LAW: f64 = 3.0;
/// Fewest rows a law can judge, and the largest share it may leave out.
const FEWEST_FOR_LAW: usize = 20;
const LARGEST_SHARE: f64 = 0.03;
/// What must find a run as strange as the law does: the law may have the wrong shape.
const WITNESSES: [ModelKind; 2] = [ModelKind::Phases, ModelKind::TrendProcess];
/// So many runs tell a factor of three.
const MOST_FOR_WITNESSES: usize = 150;

/// Finds them among the training rows.
pub(crate) fn outliers(table: &Table, rows: &[(usize, f64)]) -> Vec<Outlier> {
    let repeated = among_repetitions(table, rows);
    let rest: Vec<(usize, f64)> =
        rows.iter().copied().filter(|&(row, _)| !repeated.iter().any(|outlier| outlier.row == row)).collect();
    let from_law = against_law(table, &rest);
    repeated.into_iter().chain(from_law).collect()
}

/// Three repetitions or more: those far from their median, while most agree.
fn among_repetitions(table: &Table, rows: &[(usize, f64)]) -> Vec<Outlier> {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); table.groups];
    let repeated = rows.iter().map(|&(row, _)| row).filter(|&row| table.rows[row].repeats);
    repeated.for_each(|row| groups[table.rows[row].group].push(row));
    let mut found = Vec::new();
    for members in groups.iter().filter(|members| members.len() >= 3) {
        let logarithms: Vec<f64> = members.iter().map(|&row| table.rows[row].target.ln()).collect();
        let (Some(centre), Some(deviation)) =
            (median(&mut logarithms.clone()), robust_deviation(&logarithms))
        else {
            continue;
        };
        let limit = (FAR * deviation).max(SMALLEST_FACTOR.ln());
        for (&row, logarithm) in members.iter().zip(&logarithms) {
            if (logarithm - centre).abs() > limit {
                found.push(Outlier { row, ratio: (logarithm - centre).exp() });
            }
        }
    }
    found
}

/// Scaled-down runs far from a power law through the rows, and from what more flexible models expect,
/// the farthest first, at most a few.
fn against_law(table: &Table, rows: &[(usize, f64)]) -> Vec<Outlier> {
    if rows.len() < FEWEST_FOR_LAW {
        return Vec::new();
    }
    let Some(law) = fit(ModelKind::PowerLaw, table, rows) else { return Vec::new() };
    let residuals: Vec<f64> = rows.iter().map(|&(row, _)| residual(&law, table, row)).collect();
    let Some(deviation) = robust_deviation(&residuals) else { return Vec::new() };
    let limit = (FAR * deviation).max(SMALLEST_FACTOR_OF_LAW.ln());
    let mut found: Vec<Outlier> = rows
        .iter()
        .zip(&residuals)
        .filter(|((row, _), residual)| !table.rows[*row].full_scale && residual.abs() > limit)
        .map(|(&(row, _), residual)| Outlier { row, ratio: residual.exp() })
        .collect();
    if found.is_empty() {
        return found;
    }
    let mut others: Vec<(usize, f64)> =
        rows.iter().copied().filter(|&(row, _)| !found.iter().any(|outlier| outlier.row == row)).collect();
    // Where most are strange the law is.
    if others.len() < FEWEST_FOR_LAW {
        return Vec::new();
    }
    others = others.iter().copied().step_by(others.len().div_ceil(MOST_FOR_WITNESSES)).collect();
    let witnesses: Vec<Pipeline> =
        WITNESSES.into_iter().filter_map(|model| fit(model, table, &others)).collect();
    if witnesses.is_empty() {
        return Vec::new();
    }
    for witness in witnesses {
        found.retain(|outlier| {
            let off = residual(&witness, table, outlier.row);
            off.abs() > SMALLEST_FACTOR_OF_LAW.ln() && off.signum() == outlier.ratio.ln().signum()
        });
    }
    found.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()).then(a.row.cmp(&b.row)));
    found.truncate((LARGEST_SHARE * rows.len() as f64).ceil() as usize);
    found
}

fn fit(model: ModelKind, table: &Table, rows: &[(usize, f64)]) -> Option<Pipeline> {
    Pipeline::fit(model, &Prepared::with_all(table, rows), &BuildOptions::default(), 0).ok()
}

/// ln(truth/prediction) of a row.
fn residual(model: &Pipeline, table: &Table, row: usize) -> f64 {
    let cells: Vec<_> = table.rows[row].cells.iter().map(Option::as_ref).collect();
    table.rows[row].target.ln() - model.predict(&cells).0.ln()
}
