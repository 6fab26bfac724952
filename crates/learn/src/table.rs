//! The rows that may be learned from: finished, positive, never of scale `test`; and which of them
//! are repetitions of one another.

use std::collections::{HashMap, HashSet};

use harp_core::{Column, Dataset, Observed, Row, Scale, Value};

use crate::LearnError;

/// Features beyond this are cut to it; squares of them would overflow.
pub(crate) const LARGEST_NUMBER: f64 = 1e100;
/// Targets outside this range are not measurements; their errors would overflow.
pub(crate) const TARGETS: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

/// One usable row.
#[derive(Debug, Clone)]
pub(crate) struct TableRow {
    pub cells: Vec<Option<Value>>,
    pub target: f64,
    pub full_scale: bool,
    /// Rows with the same number are repetitions of one configuration.
    pub group: usize,
    /// Whether rows of its group are repetitions for sure: what an empty cell stands for may differ.
    pub repeats: bool,
}

/// The usable rows of a dataset.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Indices in the dataset of rows that are lower bounds.
    pub censored: Vec<usize>,
    /// Those of configurations that never finished, as rows whose target is at least what stands there;
    /// their groups are beyond all others. Where a repetition finished, that one tells more.
    pub lower_bounds: Vec<TableRow>,
    /// Finished rows whose target is not a positive number that could be a measurement.
    pub unusable: usize,
    /// How many groups there are.
    pub groups: usize,
    /// Usable rows before most were set aside as there were too many.
    pub thinned_from: Option<usize>,
    /// Runs taken out because something else slowed them down; see [`crate::prepare::without_disturbed`].
    pub disturbed: Vec<Disturbed>,
    /// Runs taken out because a number of them is not known; see [`crate::prepare::without_unknown`].
    pub left_out: Vec<LeftOut>,
}

/// Runs of which a number is not known.
#[derive(Debug, Clone)]
pub(crate) struct LeftOut {
    pub column: usize,
    pub why: Unknown,
    /// Those that no column before took out.
    pub rows: usize,
}

/// Why a number is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// There is nothing.
    Empty,
    /// It is negative where all others are positive.
    Negative,
}

/// A run that was much slower than a repetition of it.
#[derive(Debug, Clone)]
pub(crate) struct Disturbed {
    pub row: TableRow,
    /// ln(this run / the median of the undisturbed repetitions).
    pub slowdown: f64,
}

impl Table {
    /// Takes the usable rows. Rows of scale `test` are skipped before anything else is read.
    pub(crate) fn of(dataset: &Dataset) -> Result<Table, LearnError> {
        let columns = dataset.columns.clone();
        let mut table = Table {
            columns,
            rows: Vec::new(),
            censored: Vec::new(),
            lower_bounds: Vec::new(),
            unusable: 0,
            groups: 0,
            thinned_from: None,
            disturbed: Vec::new(),
            left_out: Vec::new(),
        };
        let mut kept: Vec<(&Row, f64)> = Vec::new();
        for (index, row) in dataset.rows.iter().enumerate().filter(|(_, row)| row.scale != Scale::Test) {
            if row.cells.len() != dataset.columns.len() {
                return Err(LearnError::Ragged {
                    row: index,
                    cells: row.cells.len(),
                    columns: dataset.columns.len(),
                });
            }
            match row.observed {
                Observed::AtLeast(_) => table.censored.push(index),
                Observed::Exact(target) if TARGETS.contains(&target) => {
                    kept.push((row, target));
                }
                Observed::Exact(_) => table.unusable += 1,
            }
        }
        in_an_order_of_their_own(&mut kept);
        let groups = groups_of(&kept);
        table.groups = groups.iter().max().map_or(0, |largest| largest + 1);
        table.lower_bounds = lower_bounds(dataset, &table, &kept);
        let repeats = repetitions_for_sure(&kept, dataset.columns.len());
        table.rows = kept
            .into_iter()
            .zip(groups)
            .zip(repeats)
            .map(|(((row, target), group), repeats)| TableRow {
                cells: row.cells.clone(),
                target,
                full_scale: row.scale == Scale::Fs,
                group,
                repeats,
            })
            .collect();
        Ok(table)
    }

    /// At most about so many rows, spread evenly over the runs as they came, full-scale ones up to half;
    /// repetitions stay together. More would change no model here, only take its time.
    pub(crate) fn thinned(mut self, most: usize) -> Table {
        if self.rows.len() <= most {
            return self;
        }
        self.thinned_from = Some(self.rows.len());
        let full_scale = self.rows.iter().filter(|row| row.full_scale).count();
        let scaled_down = self.rows.len() - full_scale;
        let large = full_scale.min((most / 2).max(most.saturating_sub(scaled_down)));
        let shares =
            [(most - large) as f64 / scaled_down.max(1) as f64, large as f64 / full_scale.max(1) as f64];
        let mut decided: Vec<Option<bool>> = vec![None; self.groups];
        let mut due = [0.0; 2];
        self.keeping(|row| {
            let kind = usize::from(row.full_scale);
            due[kind] += shares[kind];
            let keep = *decided[row.group].get_or_insert(due[kind] >= 1.0);
            if keep {
                due[kind] -= 1.0;
            }
            keep
        })
    }

    /// The same with some of the rows. Groups are numbered anew, as some may have gone; lower bounds stay beyond
    /// them.
    pub(crate) fn keeping(mut self, mut keep: impl FnMut(&TableRow) -> bool) -> Table {
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        self.rows.retain_mut(|row| {
            let kept = keep(row);
            if kept {
                let next = numbers.len();
                row.group = *numbers.entry(row.group).or_insert(next);
            }
            kept
        });
        self.groups = numbers.len();
        for (index, bound) in self.lower_bounds.iter_mut().enumerate() {
            bound.group = self.groups + index;
        }
        self
    }

    /// Number of different groups among some rows.
    pub(crate) fn groups_among(&self, rows: impl Iterator<Item = usize>) -> usize {
        let mut seen = vec![false; self.groups];
        rows.for_each(|row| seen[self.rows[row].group] = true);
        seen.into_iter().filter(|&seen| seen).count()
    }
}

/// An order that does not hang on how the rows came, so that a sorted file gives the same model; and a mixed one,
/// as every k-th row of a grid in its own order may have the same number of threads.
fn in_an_order_of_their_own(rows: &mut [(&Row, f64)]) {
    let place = |(row, target): &(&Row, f64)| {
        let key = cells_key(&row.cells);
        // FNV-1a, and a last mixing: keys that differ in their last digit only lie far apart.
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
        let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (hash ^ (hash >> 32), key, row.scale, target.to_bits())
    };
    rows.sort_by_cached_key(place);
}

/// Rows that were killed at a limit, with what they needed at least.
fn lower_bounds(dataset: &Dataset, table: &Table, finished: &[(&Row, f64)]) -> Vec<TableRow> {
    let finished: HashSet<String> = finished.iter().map(|(row, _)| cells_key(&row.cells)).collect();
    let killed = table.censored.iter().map(|&index| &dataset.rows[index]);
    let mut killed: Vec<(&Row, f64)> = killed
        .map(|row| (row, row.observed.value()))
        .filter(|(row, bound)| TARGETS.contains(bound) && !finished.contains(&cells_key(&row.cells)))
        .collect();
    in_an_order_of_their_own(&mut killed);
    let numbered = killed.into_iter().enumerate();
    numbered
        .map(|(index, (row, target))| TableRow {
            cells: row.cells.clone(),
            target,
            full_scale: row.scale == Scale::Fs,
            group: table.groups + index,
            repeats: false,
        })
        .collect()
}

/// Rows belong together when the caller says so or when their cells are equal: exact duplicates
/// would otherwise leak from training into validation.
fn groups_of(rows: &[(&Row, f64)]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..rows.len()).collect();
    let mut by_number: HashMap<u64, usize> = HashMap::new();
    let mut by_cells: HashMap<String, usize> = HashMap::new();
    for (index, (row, _)) in rows.iter().enumerate() {
        let first = *by_number.entry(row.group).or_insert(index);
        join(&mut parent, first, index);
        let first = *by_cells.entry(cells_key(&row.cells)).or_insert(index);
        join(&mut parent, first, index);
    }
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    (0..rows.len())
        .map(|index| {
            let root = root_of(&mut parent, index);
            let next = numbers.len();
            *numbers.entry(root).or_insert(next)
        })
        .collect()
}

/// Rows the caller put together, and those without a gap in a column that others fill.
fn repetitions_for_sure(rows: &[(&Row, f64)], columns: usize) -> Vec<bool> {
    let filled: Vec<bool> =
        (0..columns).map(|column| rows.iter().any(|(row, _)| row.cells[column].is_some())).collect();
    let mut together: HashMap<u64, usize> = HashMap::new();
    rows.iter().for_each(|(row, _)| *together.entry(row.group).or_default() += 1);
    let complete = |row: &Row| row.cells.iter().zip(&filled).all(|(cell, filled)| cell.is_some() || !filled);
    rows.iter().map(|(row, _)| together[&row.group] > 1 || complete(row)).collect()
}

fn root_of(parent: &mut [usize], mut index: usize) -> usize {
    while parent[index] != index {
        parent[index] = parent[parent[index]];
        index = parent[index];
    }
    index
}

fn join(parent: &mut [usize], left: usize, right: usize) {
    let (left, right) = (root_of(parent, left), root_of(parent, right));
    parent[left.max(right)] = left.min(right);
}

fn cells_key(cells: &[Option<Value>]) -> String {
    let mut key = String::new();
    for cell in cells {
        match cell {
            None => key.push('-'),
            Some(value) => match value.as_number() {
                Some(number) => key.push_str(&format!("n{}", number + 0.0)),
                None => key.push_str(&format!("t{}:{value}", value.to_string().len())),
            },
        }
        key.push('|');
    }
    key
}
