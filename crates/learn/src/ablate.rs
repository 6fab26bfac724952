//! What each axis of an experiment is worth: the error without it, where it was never varied so far,
//! with its values shuffled, and with fewer of its levels (the DNN study, PEARC'23, asks for such an
//! ablation along input, hardware and application).

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Dataset, Row, Scale, Scores, Value};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::Serialize;

use crate::model::case_of;
use crate::{BuildOptions, LearnError, ModelKind, TargetModel, build};

/// Times the runs are split.
const FOLDS: usize = 4;
/// With so much more error than with all levels, fewer levels are not enough.
const ENOUGH: f64 = 1.2;
/// Shuffles of a feature.
const SHUFFLES: usize = 5;

/// Features that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Its name: hardware, input.
    pub name: String,
    /// Its features.
    pub features: Vec<String>,
}

/// What one axis is worth. Errors are mean absolute percentage errors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisWorth {
    /// The axis.
    #[serde(flatten)]
    pub axis: Axis,
    /// The error when it is not a feature.
    pub dropped: Option<f64>,
    /// The error at its largest level by models that never saw that level.
    pub held_out: Option<f64>,
    /// The error when its values are shuffled among the cases.
    pub shuffled: f64,
    /// Its levels.
    pub levels: usize,
    /// How many of them are enough.
    pub levels_needed: Option<usize>,
    /// How many runs those are.
    pub runs_needed: Option<usize>,
}

/// The whole ablation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ablation {
    /// Runs learned from and, held back in turn, judged.
    pub runs: usize,
    /// The error with everything.
    pub error: f64,
    /// The error of the study's models alone (linear, tree, network).
    pub study: Option<f64>,
    /// Their error with principal components of 99 % of the variance instead of the features.
    pub with_principal_components: Option<f64>,
    /// The axes, the most important first.
    pub axes: Vec<AxisWorth>,
}

/// Takes an experiment apart. Rows of scale `test` are not looked at.
pub fn ablate(dataset: &Dataset, axes: &[Axis], options: &BuildOptions) -> Result<Ablation, LearnError> {
    let table = dataset.filtered(|row| row.scale != Scale::Test && row.observed.exact().is_some());
    let folds = folds(&table, options.seed);
    let models: Vec<TargetModel> =
        folds.iter().filter_map(|fold| build(&without(&table, fold), options).ok()).collect();
    if models.len() != folds.len() || folds.is_empty() {
        // The whole says why.
        build(&table, options)?;
        return Err(LearnError::NothingToJudge { target: table.target.clone() });
    }
    let error = judge(&table, &folds, &models, &|_, case| case)
        .ok_or_else(|| LearnError::NothingToJudge { target: table.target.clone() })?;
    let kinds = vec![ModelKind::Linear, ModelKind::Tree, ModelKind::SmallNetwork, ModelKind::Network];
    let study = BuildOptions { models: kinds, principal_components: false, ..options.clone() };
    let components = BuildOptions { principal_components: true, ..study.clone() };
    let mut worths: Vec<AxisWorth> = axes
        .iter()
        .map(|axis| {
            let (levels_needed, runs_needed) = needed(&table, axis, error, options);
            AxisWorth {
                dropped: cross_validated(&table_without(&table, &axis.features), options),
                held_out: held_out(&table, axis, options),
                shuffled: shuffled(&table, &folds, &models, axis, options.seed).unwrap_or(error),
                levels: levels(&table, axis).len(),
                levels_needed,
                runs_needed,
                axis: axis.clone(),
            }
        })
        .collect();
    worths.sort_by(|a, b| b.shuffled.total_cmp(&a.shuffled));
    Ok(Ablation {
        runs: table.rows.len(),
        error,
        study: cross_validated(&table, &study),
        with_principal_components: cross_validated(&table, &components),
        axes: worths,
    })
}

/// Configurations held back together, by chance.
fn folds(table: &Dataset, seed: u64) -> Vec<BTreeSet<u64>> {
    let mut groups: Vec<u64> =
        table.rows.iter().map(|row| row.group).collect::<BTreeSet<_>>().into_iter().collect();
    let mut random = Pcg64::seed_from_u64(seed);
    for last in (1..groups.len()).rev() {
        groups.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
    let count = FOLDS.min(groups.len());
    let mut folds = vec![BTreeSet::new(); count];
    for (index, group) in groups.into_iter().enumerate() {
        folds[index % count].insert(group);
    }
    folds
}

fn without(table: &Dataset, fold: &BTreeSet<u64>) -> Dataset {
    table.filtered(|row| !fold.contains(&row.group))
}

/// The error of models on what was held back from each, its case changed first.
fn judge(
    table: &Dataset,
    folds: &[BTreeSet<u64>],
    models: &[TargetModel],
    change: &dyn Fn(usize, BTreeMap<String, Value>) -> BTreeMap<String, Value>,
) -> Option<f64> {
    let mut pairs = Vec::new();
    for (fold, model) in folds.iter().zip(models) {
        for (index, row) in table.rows.iter().enumerate().filter(|(_, row)| fold.contains(&row.group)) {
            let case = change(index, case_of(&table.columns, row));
            pairs.extend(model.predict(&case).ok().map(|said| (said.estimate, row.observed.value())));
        }
    }
    Scores::of(&pairs).map(|scores| scores.mape)
}

fn cross_validated(table: &Dataset, options: &BuildOptions) -> Option<f64> {
    let folds = folds(table, options.seed);
    let models: Vec<TargetModel> =
        folds.iter().map(|fold| build(&without(table, fold), options)).collect::<Result<_, _>>().ok()?;
    judge(table, &folds, &models, &|_, case| case)
}

fn table_without(table: &Dataset, features: &[String]) -> Dataset {
    let keep: Vec<bool> = table.columns.iter().map(|column| !features.contains(&column.name)).collect();
    let cells = |row: &Row| {
        row.cells.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(cell, _)| cell.clone()).collect()
    };
    Dataset {
        target: table.target.clone(),
        columns: table
            .columns
            .iter()
            .zip(&keep)
            .filter(|(_, keep)| **keep)
            .map(|(column, _)| column.clone())
            .collect(),
        rows: table.rows.iter().map(|row| Row { cells: cells(row), ..row.clone() }).collect(),
    }
}

/// An axis's levels by the values of all its features, the smallest first.
fn levels(table: &Dataset, axis: &Axis) -> Vec<Vec<Value>> {
    let mut found: Vec<Vec<Value>> = Vec::new();
    for row in &table.rows {
        let level = level_of(table, row, axis);
        if !found.contains(&level) {
            found.push(level);
        }
    }
    found.sort_by(|a, b| {
        let different = a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
        different.unwrap_or_else(|| a.len().cmp(&b.len()))
    });
    found
}

fn level_of(table: &Dataset, row: &Row, axis: &Axis) -> Vec<Value> {
    let case = case_of(&table.columns, row);
    axis.features.iter().filter_map(|name| case.get(name).cloned()).collect()
}

/// The error at the largest level by a model of all the others.
fn held_out(table: &Dataset, axis: &Axis, options: &BuildOptions) -> Option<f64> {
    let levels = levels(table, axis);
    let largest = levels.last().filter(|_| levels.len() > 1)?;
    let model = build(&table.filtered(|row| level_of(table, row, axis) != *largest), options).ok()?;
    let of_largest = table.rows.iter().filter(|row| level_of(table, row, axis) == *largest);
    let pairs: Vec<(f64, f64)> = of_largest
        .filter_map(|row| {
            let said = model.predict(&case_of(&table.columns, row)).ok()?;
            Some((said.estimate, row.observed.value()))
        })
        .collect();
    Scores::of(&pairs).map(|scores| scores.mape)
}

/// Permutation importance (Breiman, 2001): the error when the axis's values are those of other cases.
fn shuffled(
    table: &Dataset,
    folds: &[BTreeSet<u64>],
    models: &[TargetModel],
    axis: &Axis,
    seed: u64,
) -> Option<f64> {
    let mut random = Pcg64::seed_from_u64(seed ^ 0x5eed);
    let mut errors = Vec::new();
    for _ in 0..SHUFFLES {
        let mut order: Vec<usize> = (0..table.rows.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
        }
        let change = |index: usize, mut case: BTreeMap<String, Value>| {
            let other = case_of(&table.columns, &table.rows[order[index]]);
            for name in &axis.features {
                match other.get(name) {
                    Some(value) => case.insert(name.clone(), value.clone()),
                    None => case.remove(name),
                };
            }
            case
        };
        errors.extend(judge(table, folds, models, &change));
    }
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// The fewest levels, the ends among them, with which cases at all levels are predicted nearly as well,
/// and the runs those levels have.
fn needed(
    table: &Dataset,
    axis: &Axis,
    error: f64,
    options: &BuildOptions,
) -> (Option<usize>, Option<usize>) {
    let levels = levels(table, axis);
    for count in 2..levels.len() {
        let spread = |index: usize| index * (levels.len() - 1) / (count - 1);
        let chosen: Vec<&Vec<Value>> = (0..count).map(|index| &levels[spread(index)]).collect();
        let part = table.filtered(|row| chosen.contains(&&level_of(table, row, axis)));
        let Ok(model) = build(&part, options) else { continue };
        // Judged on the levels it never saw.
        let others = table.rows.iter().filter(|row| !chosen.contains(&&level_of(table, row, axis)));
        let pairs: Vec<(f64, f64)> = others
            .filter_map(|row| {
                let said = model.predict(&case_of(&table.columns, row)).ok()?;
                Some((said.estimate, row.observed.value()))
            })
            .collect();
        if Scores::of(&pairs).is_some_and(|scores| scores.mape <= ENOUGH * error) {
            return (Some(count), Some(part.rows.len()));
        }
    }
    (None, None)
}
