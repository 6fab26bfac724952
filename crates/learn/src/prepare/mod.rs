//! Turning rows into numbers: encoding, dropping what says nothing, standardising, leaving out
//! outliers. Everything is fitted on the training rows of one fit and travels with the model.

mod bounds;
mod censored;
mod disturbed;
mod encode;
mod outlier;
mod reduce;
mod standardise;
mod unknown;

pub(crate) use bounds::{Beyond, Bounds};
pub(crate) use disturbed::without_disturbed;
pub(crate) use encode::{ColumnRole, Encoder, Encoding, Role, number_of};
pub(crate) use outlier::{Outlier, outliers};
pub(crate) use reduce::{Reason, Reduction, reduce};
pub(crate) use standardise::Standardiser;
pub(crate) use unknown::without_unknown;

use std::sync::OnceLock;

use harp_core::Value;

use crate::regress::Posynomial;
use crate::table::{Table, TableRow};

/// Training rows as numbers, shared by all models fitted on them.
pub(crate) struct Prepared {
    pub encoder: Encoder,
    pub reduction: Reduction,
    /// What each kept column is.
    pub roles: Vec<ColumnRole>,
    pub bounds: Bounds,
    /// Kept columns, one vector a row.
    pub inputs: Vec<Vec<f64>>,
    pub targets: Vec<f64>,
    pub weights: Vec<f64>,
    /// Different configurations among the rows.
    pub configurations: usize,
    /// The posynomial of these rows, once fitted; see [`crate::regress::Training`].
    pub law: OnceLock<Result<Posynomial, String>>,
    /// Rows left out.
    pub outliers: Vec<Outlier>,
}

impl Prepared {
    /// Prepares the given rows of the table, each with its weight.
    pub(crate) fn of(table: &Table, rows: &[(usize, f64)], remove_outliers: bool) -> Prepared {
        let left_out = if remove_outliers { outliers(table, rows) } else { Vec::new() };
        let rows: Vec<(usize, f64)> = rows
            .iter()
            .copied()
            .filter(|&(row, _)| !left_out.iter().any(|outlier| outlier.row == row))
            .collect();
        Prepared { outliers: left_out, ..Prepared::with_all(table, &rows) }
    }

    /// The same, learning also from runs of which only a lower bound is known.
    pub(crate) fn with_lower_bounds(table: &Table, rows: &[(usize, f64)], remove_outliers: bool) -> Prepared {
        let prepared = Prepared::of(table, rows, remove_outliers);
        if table.lower_bounds.is_empty() { prepared } else { prepared.raised(table, rows) }
    }

    /// Prepares the given rows without leaving any out.
    pub(crate) fn with_all(table: &Table, rows: &[(usize, f64)]) -> Prepared {
        let known: Vec<Known<'_>> = rows
            .iter()
            .map(|&(row, weight)| Known { row: &table.rows[row], target: table.rows[row].target, weight })
            .collect();
        Prepared::from(table.columns.len(), &known, known.len())
    }

    /// Prepares rows of which the first so many were measured; what lies beyond them is out of range.
    fn from(features: usize, rows: &[Known<'_>], measured: usize) -> Prepared {
        let cells: Vec<Vec<Option<&Value>>> =
            rows.iter().map(|known| known.row.cells.iter().map(Option::as_ref).collect()).collect();
        let targets: Vec<f64> = rows.iter().map(|known| known.target).collect();
        let encoder = Encoder::fit(features, &cells);
        let encoded: Vec<Vec<f64>> = cells.iter().map(|cells| encoder.encode(cells)).collect();
        let all_roles = encoder.columns();
        let mut groups: Vec<usize> = rows.iter().map(|known| known.row.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let reduction = reduce(&encoded, all_roles.len(), groups.len());
        let inputs = encoded.iter().map(|row| reduction.kept.iter().map(|&c| row[c]).collect()).collect();
        Prepared {
            roles: reduction.kept.iter().map(|&column| all_roles[column]).collect(),
            bounds: Bounds::of(&cells[..measured], &targets[..measured], &reduction, &all_roles),
            encoder,
            reduction,
            inputs,
            targets,
            weights: rows.iter().map(|known| known.weight).collect(),
            configurations: groups.len(),
            law: OnceLock::new(),
            outliers: Vec::new(),
        }
    }
}

/// A row, what is taken as its target, and its weight.
#[derive(Clone, Copy)]
struct Known<'a> {
    row: &'a TableRow,
    target: f64,
    weight: f64,
}
