//! The source's model, corrected, judged and compared.

use std::collections::BTreeMap;

use harp_core::{Dataset, Row, Scale, Scores, Target, Value};
use serde::{Deserialize, Serialize};

use super::correct::{Correction, Known};
use super::essential::essential;
use super::similar::{common, weighted};
use crate::custom::{Custom, Formula};
use crate::model::case_of;
use crate::table::Table;
use crate::validate::{Character, Judged, Residuals};
use crate::{BuildOptions, FEWEST_CONFIGURATIONS, LearnError, Measured, TargetModel, build};

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

/// One thing to be learned: the target itself, or a component of it.
struct Piece {
    name: Option<String>,
    table: Dataset,
    model: TargetModel,
    /// Features of the correction: all both have, as what matters may differ.
    features: Vec<String>,
    uses: Vec<SourceUse>,
}

/// A model and what reuse was worth.
pub struct Reused {
    /// The model that is kept.
    pub model: TargetModel,
    /// The comparison.
    pub reuse: Reuse,
}

/// A source: its name, and its tables of the target and of the components in the order asked for.
type Source = (String, Vec<Dataset>);

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
    let mut pieces = Vec::new();
    for index in asked {
        pieces.push(piece(&tables[index], index, sources, formula, options)?);
    }
    let known = runs_of(whole);
    let mut judged = Vec::new();
    for (row, (case, actual, group, full_scale)) in known.iter().enumerate() {
        let corrected = |piece: &Piece| piece.corrected(Some(*group), &known);
        if let Some((predicted, spans)) = say(&pieces, formula, case, &corrected) {
            let (actual, full_scale) = (*actual, *full_scale);
            judged.push(Judged { row, group: *group, predicted, actual, full_scale, spans, weight: 1.0 });
        }
    }
    let pairs: Vec<(f64, f64)> = judged.iter().map(|said| (said.predicted, said.actual)).collect();
    let nothing = || LearnError::NothingToJudge { target: whole.target.clone() };
    let reused = Scores::of(&pairs).ok_or_else(nothing)?;
    let alone = alone(whole, &known, options);
    let kept = alone.as_ref().is_none_or(|alone| reused.mape <= HURTS * alone.mape);
    let uses = pieces.first().map(|piece| piece.uses.clone()).unwrap_or_default();
    let reason = reason(&uses, &reused, alone.as_ref(), kept);
    let reuse = Reuse { sources: uses, runs: known.len(), alone, reused, kept, reason };
    if !kept {
        let mut model = build(whole, options)?;
        model.reuse = Some(Box::new(reuse.clone()));
        return Ok(Reused { model, reuse });
    }
    let residuals = Residuals::of(&judged, &Character::of(&Table::of(whole)?));
    // Of the whole only what was measured is used where a formula puts it together.
    let base = match formula {
        Some(_) => Some(piece(whole, 0, sources, None, options)?),
        None => None,
    };
    let mut model = finished(pieces, base, formula, &known, whole)?;
    model.residuals = residuals;
    model.evidence.validation_runs = judged.len();
    model.explanation = reuse.reason.clone();
    model.reuse = Some(Box::new(reuse.clone()));
    Ok(Reused { model, reuse })
}

/// The runs of the target that can be learned from: case, truth, configuration, whether full scale.
type Own = (BTreeMap<String, Value>, f64, usize, bool);

fn runs_of(table: &Dataset) -> Vec<Own> {
    let mut cases: Vec<BTreeMap<String, Value>> = Vec::new();
    let mut found = Vec::new();
    for row in table.rows.iter().filter(|row| row.scale != Scale::Test) {
        let Some(actual) = row.observed.exact().filter(|value| *value > 0.0) else { continue };
        let case = case_of(&table.columns, row);
        let group = cases.iter().position(|known| *known == case).unwrap_or_else(|| {
            cases.push(case.clone());
            cases.len() - 1
        });
        found.push((case, actual, group, row.scale == Scale::Fs));
    }
    found
}

fn piece(
    table: &Dataset,
    index: usize,
    sources: &[Source],
    formula: Option<&Formula>,
    options: &BuildOptions,
) -> Result<Piece, LearnError> {
    let mut features: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    for (_, tables) in sources {
        let both = tables.get(index).map(|source| common(table, source)).unwrap_or_default();
        features.retain(|name| both.contains(name));
    }
    // The formula says what it names itself; a component does not depend on it.
    if let Some(formula) = formula {
        features.retain(|name| !formula.names().contains(name.as_str()));
    }
    // What matters for every source.
    let needed: Vec<Vec<String>> = sources
        .iter()
        .filter_map(|(_, tables)| tables.get(index))
        .map(|source| essential(source, &features))
        .collect();
    let common = features.clone();
    features.retain(|name| needed.iter().any(|names| names.contains(name)));
    let mut pooled = Dataset { target: table.target.clone(), columns: Vec::new(), rows: Vec::new() };
    let mut uses = Vec::new();
    for (number, (application, tables)) in sources.iter().enumerate() {
        let Some(source) = tables.get(index) else { continue };
        let (rows, used, similarity) = weighted(table, source, &features);
        let runs = source.rows.len();
        uses.push(SourceUse {
            application: application.clone(),
            runs,
            used,
            similarity,
            features: features.clone(),
        });
        pooled.columns = rows.columns;
        // Configurations of different applications are never repetitions of each other. Cases a source
        // only wanted to predict were measured, too: here they teach.
        let apart = (number as u64 + 1) << 40;
        let learned = |row: Row| Row {
            group: row.group + apart,
            scale: if row.scale == Scale::Test { Scale::Fs } else { row.scale },
            ..row
        };
        pooled.rows.extend(rows.rows.into_iter().map(learned));
    }
    let model = build(&pooled, options)?;
    let name = match (&table.target, formula) {
        (Target::Metric(name), Some(_)) => Some(name.clone()),
        _ => None,
    };
    Ok(Piece { name, table: table.clone(), model, features: common, uses })
}

impl Piece {
    /// The source's model corrected by the target's runs, without one configuration if asked.
    fn corrected(&self, without: Option<usize>, own: &[Own]) -> Correction {
        let rows = self.table.rows.iter().filter(|row| row.scale != Scale::Test);
        let known: Vec<Known> = rows
            .filter_map(|row| {
                let actual = row.observed.exact().filter(|value| *value > 0.0)?;
                let case = case_of(&self.table.columns, row);
                let group = own.iter().find(|(other, ..)| *other == case)?.2;
                let said = self.model.estimate_and_distance(&case).ok()?.0;
                Some(Known { case, residual: (actual / said).ln(), group })
            })
            .filter(|run| Some(run.group) != without)
            .collect();
        Correction::fit(&known, &self.features)
    }
}

/// What the pieces say of a case together, and how far it lies beyond what they learned.
fn say(
    pieces: &[Piece],
    formula: Option<&Formula>,
    case: &BTreeMap<String, Value>,
    correction: &dyn Fn(&Piece) -> Correction,
) -> Option<(f64, f64)> {
    let mut said = BTreeMap::new();
    let mut spans: f64 = 0.0;
    for piece in pieces {
        let (value, beyond) = piece.model.estimate_and_distance(case).ok()?;
        spans = spans.max(beyond.spans);
        said.insert(piece.name.clone().unwrap_or_default(), value * correction(piece).logarithm(case).exp());
    }
    let Some(formula) = formula else { return said.into_values().next().map(|value| (value, spans)) };
    let number = |name: &str| said.get(name).copied().or_else(|| case.get(name).and_then(Value::as_number));
    let value = formula.value(&number).ok().filter(|value| *value > 0.0 && value.is_finite())?;
    Some((value, spans))
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
    let names: Vec<String> =
        sources.iter().map(|source| format!("{} runs of {}", source.used, source.application)).collect();
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
    whole: &Dataset,
) -> Result<TargetModel, LearnError> {
    let mut parts = BTreeMap::new();
    let mut single = base.map(|piece| corrected_model(piece, own));
    for piece in pieces {
        match piece.name.clone() {
            Some(name) => {
                parts.insert(name, corrected_model(piece, own));
            }
            None => single = Some(corrected_model(piece, own)),
        }
    }
    let nothing = || LearnError::NothingToJudge { target: whole.target.clone() };
    let mut model = single.ok_or_else(nothing)?;
    let own_of = |full_scale: bool| own.iter().filter(|run| run.3 == full_scale).count();
    model.evidence.scaled_down_runs += own_of(false);
    model.evidence.full_scale_runs += own_of(true);
    if let Some(formula) = formula {
        model.correction = None;
        model.formula = Some(format!("T ≈ {formula}"));
        model.custom = Some(Box::new(Custom { formula: formula.clone(), components: parts }));
    }
    Ok(model)
}

fn corrected_model(piece: Piece, own: &[Own]) -> TargetModel {
    let correction = piece.corrected(None, own);
    let mut model = piece.model;
    widen(&mut model, &piece.table);
    model.correction = Some(Box::new(correction));
    model
}

/// What the target's own runs measured was measured, too.
fn widen(model: &mut TargetModel, table: &Dataset) {
    for feature in &mut model.features {
        let Some(column) = table.columns.iter().position(|column| column.name == feature.name) else {
            continue;
        };
        let Measured::Numbers { smallest, largest } = &mut feature.measured else { continue };
        let rows = table.rows.iter().filter(|row| row.scale != Scale::Test);
        for number in rows.filter_map(|row| row.cells[column].as_ref().and_then(Value::as_number)) {
            *smallest = smallest.min(number);
            *largest = largest.max(number);
        }
    }
}
