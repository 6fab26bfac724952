//! The source's model, corrected, judged and compared.

use std::collections::BTreeMap;

use harp_core::{Dataset, Scores, Target, Value, counted};
use serde::{Deserialize, Serialize};

use super::correct::Correction;
use super::piece::{Own, Piece, Source, corrected_model, look_at, piece, runs_of};
use crate::custom::{Custom, Formula, Rest, build_both_ways};
use crate::model::case_of;
use crate::table::Table;
use crate::validate::{Character, Judged, Residuals};
use crate::{BuildOptions, FEWEST_CONFIGURATIONS, LearnError, TargetModel, build};

/// Reuse that errs this much more than the target's own runs is refused.
const HURTS: f64 = 1.02;

/// How much of a source was used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceUse {
    /// The application.
    pub application: String,
    /// Its runs that could be learned from.
    pub runs: usize,
    /// Those similar enough to count.
    pub used: usize,
    /// Their mean similarity, 1 where they are the same.
    pub similarity: f64,
    /// The features both have.
    pub features: Vec<String>,
}

/// What reuse is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reuse {
    /// The sources.
    pub sources: Vec<SourceUse>,
    /// Runs of the target's own that were learned from and, held back in turn, judged.
    pub runs: usize,
    /// How the target's runs alone did; `None` where they are too few to learn from.
    pub alone: Option<Scores>,
    /// How the source's model, corrected, did on the same runs.
    pub reused: Scores,
    /// Whether it is kept.
    pub kept: bool,
    /// Why, in words.
    pub reason: String,
}

/// A model and what reuse was worth.
pub struct Reused {
    /// The model that is kept.
    pub model: TargetModel,
    /// The comparison.
    pub reuse: Reuse,
}

/// Builds a model from sources and a few runs of the target. `tables` holds the target's table first,
/// then, with a formula, those of its components; every source has its tables in the same order.
pub fn build_from(
    tables: &[Dataset],
    sources: &[Source],
    formula: Option<&Formula>,
    options: &BuildOptions,
) -> Result<Reused, LearnError> {
    let Some(whole) = tables.first() else {
        return Err(LearnError::NothingToJudge { target: Target::Walltime });
    };
    let asked: Vec<usize> = if formula.is_some() { (1..tables.len()).collect() } else { vec![0] };
    let known = runs_of(whole);
    let mut pieces = Vec::new();
    for index in asked {
        pieces.push(piece(&tables[index], index, sources, formula, &known, options)?);
    }
    let groups = known.iter().map(|run| run.2 + 1).max().unwrap_or(0);
    let without = |piece: &Piece| (0..groups).map(|group| piece.corrected(Some(group))).collect();
    let corrections: Vec<Vec<Correction>> = pieces.iter().map(without).collect();
    let rests: Vec<Rest> = (0..groups).map(|group| rest_without(tables, formula, &known, group)).collect();
    let mut judged = Vec::new();
    for (row, (case, actual, group, full_scale)) in known.iter().enumerate() {
        let corrected: Vec<&Correction> = corrections.iter().map(|groups| &groups[*group]).collect();
        if let Some((predicted, spans)) = say(&pieces, formula, rests[*group], case, &corrected) {
            let (actual, full_scale) = (*actual, *full_scale);
            judged.push(Judged { row, group: *group, predicted, actual, full_scale, spans, weight: 1.0 });
        }
    }
    let pairs: Vec<(f64, f64)> = judged.iter().map(|said| (said.predicted, said.actual)).collect();
    let nothing = || LearnError::NothingToJudge { target: whole.target.clone() };
    let reused = Scores::of(&pairs).ok_or_else(nothing)?;
    let alone = alone(whole, &known, options);
    let kept = alone.as_ref().is_none_or(|alone| reused.mape <= HURTS * alone.mape);
    let uses = uses_of(&pieces);
    let reason = reason(&uses, &reused, alone.as_ref(), kept);
    let reuse = Reuse { sources: uses, runs: known.len(), alone, reused, kept, reason };
    if !kept {
        let mut model = match formula {
            Some(formula) => build_both_ways(whole, formula, &tables[1..], options)?.kept(),
            None => build(whole, options)?,
        };
        model.reuse = Some(Box::new(reuse.clone()));
        return Ok(Reused { model, reuse });
    }
    let residuals = Residuals::of(&judged, &Character::of(&Table::of(whole)?));
    // Of the whole only what was measured is used where a formula puts it together.
    let base = match formula {
        Some(_) => Some(piece(whole, 0, sources, None, &known, options)?),
        None => None,
    };
    let mut model = finished(pieces, base, formula, &known, tables)?;
    model.residuals = residuals;
    model.evidence.validation_runs = judged.len();
    model.explanation = reuse.reason.clone();
    model.reuse = Some(Box::new(reuse.clone()));
    Ok(Reused { model, reuse })
}

/// How much of each source the pieces use together: all features that matter to one of them.
fn uses_of(pieces: &[Piece]) -> Vec<SourceUse> {
    let Some((first, others)) = pieces.split_first() else { return Vec::new() };
    let mut uses = first.uses.clone();
    for (index, found) in uses.iter_mut().enumerate() {
        for other in others.iter().filter_map(|piece| piece.uses.get(index)) {
            found.used = found.used.max(other.used);
            found.similarity += other.similarity;
            found.features.extend(other.features.iter().cloned());
        }
        found.similarity /= pieces.len() as f64;
        found.features.sort();
        found.features.dedup();
    }
    uses
}

/// What the pieces say of a case together, and how far it lies beyond what they learned.
fn say(
    pieces: &[Piece],
    formula: Option<&Formula>,
    rest: Rest,
    case: &BTreeMap<String, Value>,
    corrections: &[&Correction],
) -> Option<(f64, f64)> {
    let mut said = BTreeMap::new();
    let mut spans: f64 = 0.0;
    for (piece, correction) in pieces.iter().zip(corrections) {
        let (value, beyond) = piece.model.estimate_and_distance(case).ok()?;
        spans = spans.max(beyond.spans);
        said.insert(piece.name.clone().unwrap_or_default(), value * correction.logarithm(case).exp());
    }
    let Some(formula) = formula else { return said.into_values().next().map(|value| (value, spans)) };
    let number = |name: &str| said.get(name).copied().or_else(|| case.get(name).and_then(Value::as_number));
    let value = formula.value(&number).ok().filter(|value| *value > 0.0 && value.is_finite())?;
    Some((rest.whole(value), spans))
}

/// What the formula leaves out, by the target's runs of all configurations but one.
fn rest_without(tables: &[Dataset], formula: Option<&Formula>, own: &[Own], group: usize) -> Rest {
    let (Some(formula), Some((whole, parts))) = (formula, tables.split_first()) else {
        return Rest::default();
    };
    let is_left_out = |case: &BTreeMap<String, Value>| own.iter().any(|run| run.2 == group && run.0 == *case);
    Rest::fit(&whole.filtered(|row| !is_left_out(&case_of(&whole.columns, row))), formula, parts)
}

/// How the target's runs alone do on each configuration in turn.
fn alone(whole: &Dataset, own: &[Own], options: &BuildOptions) -> Option<Scores> {
    let groups: std::collections::BTreeSet<usize> = own.iter().map(|run| run.2).collect();
    if groups.len() <= FEWEST_CONFIGURATIONS {
        return None;
    }
    // Beyond a dozen, every so-manieth configuration is as good a judge as all of them.
    let step = groups.len().div_ceil(12);
    let mut pairs = Vec::new();
    for group in groups.iter().copied().step_by(step) {
        let held: Vec<&Own> = own.iter().filter(|run| run.2 == group).collect();
        let rest = whole.filtered(|row| held.iter().all(|run| run.0 != case_of(&whole.columns, row)));
        let Ok(model) = build(&rest, options) else { continue };
        for (case, actual, ..) in held {
            pairs.extend(model.predict(case).ok().map(|said| (said.estimate, *actual)));
        }
    }
    Scores::of(&pairs)
}

fn reason(sources: &[SourceUse], reused: &Scores, alone: Option<&Scores>, kept: bool) -> String {
    let names: Vec<String> = sources
        .iter()
        .map(|source| format!("{} of {}", counted(source.used, "run"), source.application))
        .collect();
    let reuse = format!("{}, corrected by its own, err by {:.1} %", names.join(" and "), reused.mape);
    match (alone, kept) {
        (None, _) => format!("{reuse}; its own alone are too few to learn from: the others are used"),
        (Some(alone), true) => format!("{reuse}, its own alone by {:.1} %: the others are used", alone.mape),
        (Some(alone), false) => {
            format!("{reuse}, its own alone by {:.1} %: the others would hurt and are refused", alone.mape)
        }
    }
}

/// The model with its corrections fitted on all runs of the target.
fn finished(
    pieces: Vec<Piece>,
    base: Option<Piece>,
    formula: Option<&Formula>,
    own: &[Own],
    tables: &[Dataset],
) -> Result<TargetModel, LearnError> {
    let whole = &tables[0];
    let mut parts = BTreeMap::new();
    let mut single = base.map(corrected_model);
    for piece in pieces {
        match piece.name.clone() {
            Some(name) => {
                parts.insert(name, corrected_model(piece));
            }
            None => single = Some(corrected_model(piece)),
        }
    }
    let nothing = || LearnError::NothingToJudge { target: whole.target.clone() };
    let mut model = single.ok_or_else(nothing)?;
    let own_of = |full_scale: bool| own.iter().filter(|run| run.3 == full_scale).count();
    model.evidence.scaled_down_runs += own_of(false);
    model.evidence.full_scale_runs += own_of(true);
    if let Some(formula) = formula {
        model.correction = None;
        let is_column = |name: &&str| whole.columns.iter().any(|column| column.name == *name);
        let named: Vec<String> =
            formula.names().into_iter().filter(is_column).map(ToOwned::to_owned).collect();
        look_at(&mut model, &named, &[whole]);
        let rest = Rest::fit(whole, formula, &tables[1..]);
        model.formula = Some(rest.text(formula));
        model.custom = Some(Box::new(Custom { formula: formula.clone(), components: parts, rest }));
    }
    Ok(model)
}
