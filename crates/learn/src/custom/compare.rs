//! One model of the whole against models of its components, by what each says of runs it never saw.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Dataset, Observed, Row, Scale, Scores, Target, Value};
use serde::{Deserialize, Serialize};

use super::{Custom, Formula, Rest};
use crate::model::case_of;
use crate::prepare::Beyond;
use crate::table::Table;
use crate::validate::{Character, Judged, Residuals};
use crate::{BuildOptions, LearnError, TargetModel, build};

/// Most times the runs are split.
const MOST_FOLDS: usize = 5;
/// Errors this close are equal, as chance moves the mean of some dozen errors by as much: then the formula, which
/// somebody knew to hold beyond what was run, is kept if its error is no larger, or if it under-predicts less.
const EQUAL: f64 = 0.1;

/// Which of the two is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The model of the whole.
    Basic,
    /// The formula of components.
    Custom,
}

/// How the two did on the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The formula.
    pub formula: String,
    /// Predictions judged, each by models that saw neither the run nor a repetition of it.
    pub runs: usize,
    /// The model of the whole.
    pub basic: Scores,
    /// The formula of components.
    pub custom: Scores,
    /// Which is kept.
    pub kept: Kept,
    /// Why, in words.
    pub reason: String,
}

/// A run that was held back: what it is, what it took, and what each said.
struct Held {
    case: BTreeMap<String, Value>,
    actual: f64,
    full_scale: bool,
    basic: f64,
    custom: f64,
    beyond: Beyond,
}

/// A target learned both ways, and how the two compare.
pub struct BothWays {
    /// One model of the whole.
    pub basic: TargetModel,
    /// The formula of components; `None` where it cannot be had, as the warnings of the other say.
    pub custom: Option<TargetModel>,
}

impl BothWays {
    /// The better of the two.
    pub fn kept(self) -> TargetModel {
        let kept =
            |model: &TargetModel| model.comparison.as_ref().is_some_and(|found| found.kept == Kept::Custom);
        self.custom.filter(kept).unwrap_or(self.basic)
    }
}

/// Builds the model of a target both ways. `components` are tables of the same runs, one a component of
/// the formula.
pub fn build_both_ways(
    dataset: &Dataset,
    formula: &Formula,
    components: &[Dataset],
    options: &BuildOptions,
) -> Result<BothWays, LearnError> {
    let mut basic = build(dataset, options)?;
    let parts = match fit(dataset, formula, components, options) {
        Ok(parts) => parts,
        Err(error) => {
            basic.warnings.push(format!("the formula `{formula}` is not used: {error}"));
            return Ok(BothWays { basic, custom: None });
        }
    };
    let held = hold_back(dataset, formula, components, options);
    let of = |said: fn(&Held) -> f64| {
        Scores::of(&held.iter().map(|held| (said(held), held.actual)).collect::<Vec<_>>())
    };
    let (Some(whole), Some(by_parts)) = (of(|held| held.basic), of(|held| held.custom)) else {
        basic.warnings.push(format!("the formula `{formula}` is not used: too few runs to compare it on"));
        return Ok(BothWays { basic, custom: None });
    };
    let (kept, reason) = decide(&whole, &by_parts);
    basic.comparison = Some(Box::new(Comparison {
        formula: formula.text().to_owned(),
        runs: held.len(),
        basic: whole,
        custom: by_parts,
        kept,
        reason,
    }));
    let mut custom = basic.clone();
    custom.residuals = Residuals::of(&judged(&held), &Character::of(&Table::of(dataset)?));
    custom.evidence.validation_runs = held.len();
    custom.formula = Some(parts.rest.text(formula));
    custom.growth.clear();
    custom.custom = Some(Box::new(parts));
    Ok(BothWays { basic, custom: Some(custom) })
}

/// The table without what the formula itself names: the formula says what that does, and a component
/// that is multiplied by `epochs` is meant not to depend on it.
fn without_named(table: &Dataset, formula: &Formula) -> Dataset {
    let names = formula.names();
    let keep: Vec<bool> = table.columns.iter().map(|column| !names.contains(column.name.as_str())).collect();
    let mut table = table.clone();
    let mut kept = keep.iter();
    table.columns.retain(|_| *kept.next().unwrap_or(&true));
    for row in &mut table.rows {
        let mut kept = keep.iter();
        row.cells.retain(|_| *kept.next().unwrap_or(&true));
    }
    table
}

fn fit(
    whole: &Dataset,
    formula: &Formula,
    components: &[Dataset],
    options: &BuildOptions,
) -> Result<Custom, LearnError> {
    let mut models = BTreeMap::new();
    for component in components {
        if let Target::Metric(name) = &component.target {
            models.insert(name.clone(), build(&without_named(component, formula), options)?);
        }
    }
    let rest = Rest::fit(whole, formula, components);
    Ok(Custom { formula: formula.clone(), components: models, rest })
}

fn decide(basic: &Scores, custom: &Scores) -> (Kept, String) {
    let better = custom.mape <= basic.mape;
    let equal = custom.mape <= (1.0 + EQUAL) * basic.mape;
    let kept = if better || (equal && custom.upp < basic.upp) { Kept::Custom } else { Kept::Basic };
    let said = |name: &str, scores: &Scores| {
        format!(
            "{name} errs by {:.1} % and is below the truth in {:.0} % of the cases",
            scores.mape, scores.upp
        )
    };
    let (better, worse) = (said("the formula of components", custom), said("one model of the whole", basic));
    let why = match kept {
        Kept::Custom => format!("{better}, {worse}: the formula is kept"),
        Kept::Basic => format!("{worse}, {better}: the model of the whole is kept"),
    };
    (kept, why)
}

fn judged(held: &[Held]) -> Vec<Judged> {
    let mut groups: Vec<&BTreeMap<String, Value>> = Vec::new();
    held.iter()
        .enumerate()
        .map(|(row, held)| {
            let group = groups.iter().position(|case| **case == held.case).unwrap_or_else(|| {
                groups.push(&held.case);
                groups.len() - 1
            });
            Judged {
                row,
                group,
                predicted: held.custom,
                actual: held.actual,
                full_scale: held.full_scale,
                spans: held.beyond.spans,
                weight: 1.0,
            }
        })
        .collect()
}

/// Splits the runs, learns from the rest both ways, and asks about what was held back.
fn hold_back(
    dataset: &Dataset,
    formula: &Formula,
    components: &[Dataset],
    options: &BuildOptions,
) -> Vec<Held> {
    let mut held = Vec::new();
    for fold in folds(dataset, formula) {
        let rest = dataset.filtered(|row| !fold.contains(&name_of(dataset, row)));
        // A component does not know what the formula names: it forgets all runs alike but for that.
        let held_back = dataset.rows.iter().filter(|row| fold.contains(&name_of(dataset, row)));
        let forgotten: BTreeSet<String> = held_back.map(|row| name_without(dataset, row, formula)).collect();
        let parts: Vec<Dataset> = components
            .iter()
            .map(|table| table.filtered(|row| !forgotten.contains(&name_without(table, row, formula))))
            .collect();
        let (Ok(basic), Ok(custom)) = (build(&rest, options), fit(&rest, formula, &parts, options)) else {
            continue;
        };
        for row in &dataset.rows {
            let Some(actual) = exact(row).filter(|_| fold.contains(&name_of(dataset, row))) else { continue };
            let case = case_of(&dataset.columns, row);
            let (Ok(whole), Ok((parts, beyond))) = (basic.predict(&case), custom.centre(&case)) else {
                continue;
            };
            held.push(Held {
                case,
                actual,
                full_scale: row.scale == Scale::Fs,
                basic: whole.estimate,
                custom: parts,
                beyond,
            });
        }
    }
    held
}

fn exact(row: &Row) -> Option<f64> {
    match row.observed {
        Observed::Exact(value) if value > 0.0 && row.scale != Scale::Test => Some(value),
        _ => None,
    }
}

/// A configuration by its values: what is the same in every table of the same runs.
fn name_of(dataset: &Dataset, row: &Row) -> String {
    let case = case_of(&dataset.columns, row);
    case.iter().map(|(name, value)| format!("{name}={value};")).collect()
}

fn name_without(dataset: &Dataset, row: &Row, formula: &Formula) -> String {
    let names = formula.names();
    let case = case_of(&dataset.columns, row);
    let others = case.iter().filter(|(name, _)| !names.contains(name.as_str()));
    others.map(|(name, value)| format!("{name}={value};")).collect()
}

/// Configurations held back together. Those at full scale in turn, as that is what is to be predicted,
/// and all of them at once, as what is to be predicted is often larger still; with fewer than two of
/// them, the largest third as well; and what is farthest out along what the formula names.
fn folds(dataset: &Dataset, formula: &Formula) -> Vec<BTreeSet<String>> {
    let mut largest: BTreeMap<String, f64> = BTreeMap::new();
    let mut full_scale = BTreeSet::new();
    for row in &dataset.rows {
        let Some(value) = exact(row) else { continue };
        let name = name_of(dataset, row);
        if row.scale == Scale::Fs {
            full_scale.insert(name.clone());
        }
        let known = largest.entry(name).or_insert(value);
        *known = known.max(value);
    }
    let count = full_scale.len().min(MOST_FOLDS);
    let mut folds = vec![BTreeSet::new(); count];
    for (index, name) in full_scale.iter().enumerate() {
        folds[index % count].insert(name.clone());
    }
    if count > 1 {
        folds.push(full_scale.clone());
    }
    if count < 2 {
        let mut others: Vec<(String, f64)> =
            largest.into_iter().filter(|(name, _)| !full_scale.contains(name)).collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        folds.push(others.iter().take(others.len() / 3).map(|(name, _)| name.clone()).collect());
    }
    folds.extend(farthest(dataset, formula));
    folds.retain(|fold| !fold.is_empty());
    folds
}

/// What the formula is about: the runs with the largest values of the features it names. Along those it
/// claims to know how the target grows, and the cases to be predicted lie farther out still.
fn farthest(dataset: &Dataset, formula: &Formula) -> Vec<BTreeSet<String>> {
    let names = formula.names();
    let mut folds = Vec::new();
    for (index, column) in dataset.columns.iter().enumerate() {
        let number = |row: &Row| row.cells[index].as_ref().and_then(Value::as_number);
        let known = || dataset.rows.iter().filter(|row| exact(row).is_some());
        let largest = known().filter_map(number).fold(f64::NEG_INFINITY, f64::max);
        let smallest = known().filter_map(number).fold(f64::INFINITY, f64::min);
        if names.contains(column.name.as_str()) && largest > smallest {
            // The upper half of its range, so that what is held back lies well beyond what is left.
            let middle = (largest + smallest) / 2.0;
            let far = known().filter(|row| number(row).is_some_and(|value| value > middle));
            folds.push(far.map(|row| name_of(dataset, row)).collect());
        }
    }
    folds
}
