//! One thing learned from the sources: a model of their rows, to be corrected by the target's own.

use std::collections::BTreeMap;

use harp_core::{Dataset, Row, Scale, Target, Value};

use super::SourceUse;
use super::correct::{Correction, Known};
use super::essential::essential;
use super::similar::{common, logarithms, weighted};
use crate::custom::Formula;
use crate::model::case_of;
use crate::{BuildOptions, Feature, LearnError, Measured, ModelKind, TargetModel, build};

/// The kinds of model that may be carried over.
const LAWS: [ModelKind; 3] = [ModelKind::PowerLaw, ModelKind::Posynomial, ModelKind::Ensemble];

/// One thing to be learned: the target itself, or a component of it.
pub(super) struct Piece {
    pub(super) name: Option<String>,
    pub(super) table: Dataset,
    pub(super) model: TargetModel,
    /// Features of the correction: all both have, as what matters may differ.
    pub(super) features: Vec<String>,
    /// The target's runs and what the model says of them.
    known: Vec<Known>,
    pub(super) uses: Vec<SourceUse>,
}

/// A source: its name, and its tables of the target and of the components in the order asked for.
pub(super) type Source = (String, Vec<Dataset>);

/// The runs of the target that can be learned from: case, truth, configuration, whether full scale.
pub(super) type Own = (BTreeMap<String, Value>, f64, usize, bool);

pub(super) fn runs_of(table: &Dataset) -> Vec<Own> {
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

/// Learns one table of the sources.
pub(super) fn piece(
    table: &Dataset,
    index: usize,
    sources: &[Source],
    formula: Option<&Formula>,
    own: &[Own],
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
        .map(|source| essential(source, &features, table))
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
    // Another application lies beyond what the source measured, where only laws hold.
    let laws = BuildOptions { models: LAWS.to_vec(), ..options.clone() };
    let mut model = build(&pooled, &laws)?;
    // A row that counts several times is one run.
    pooled.rows.dedup();
    let of_scale = |scale: Scale| pooled.rows.iter().filter(|row| row.scale == scale).count();
    model.evidence.scaled_down_runs = of_scale(Scale::Sd);
    model.evidence.full_scale_runs = of_scale(Scale::Fs);
    let name = match (&table.target, formula) {
        (Target::Metric(name), Some(_)) => Some(name.clone()),
        _ => None,
    };
    let known = said_of(&model, table, &common, own);
    Ok(Piece { name, table: table.clone(), model, features: common, known, uses })
}

impl Piece {
    /// The source's model corrected by the target's runs, without one configuration if asked.
    pub(super) fn corrected(&self, without: Option<usize>) -> Correction {
        let known: Vec<&Known> = self.known.iter().filter(|run| Some(run.group) != without).collect();
        Correction::fit(&known, &self.features)
    }
}

/// What the model says of the target's runs.
fn said_of(model: &TargetModel, table: &Dataset, features: &[String], own: &[Own]) -> Vec<Known> {
    let rows = table.rows.iter().filter(|row| row.scale != Scale::Test);
    rows.filter_map(|row| {
        let actual = row.observed.exact().filter(|value| *value > 0.0)?;
        let case = case_of(&table.columns, row);
        let group = own.iter().find(|(other, ..)| *other == case)?.2;
        let said = model.estimate_and_distance(&case).ok()?.0;
        Some(Known { point: logarithms(&case, features), residual: (actual / said).ln(), group })
    })
    .collect()
}

/// The piece's model with its correction fitted on all runs of the target.
pub(super) fn corrected_model(piece: Piece) -> TargetModel {
    let correction = piece.corrected(None);
    let mut model = piece.model;
    widen(&mut model, &piece.table);
    look_at(&mut model, &piece.features, &[&piece.table]);
    model.correction = Some(Box::new(correction));
    // These were another application's.
    model.growth.clear();
    model
}

/// What the target's own runs measured was measured, too.
fn widen(model: &mut TargetModel, table: &Dataset) {
    for feature in &mut model.features {
        let Measured::Numbers { smallest, largest } = &mut feature.measured else { continue };
        for number in numbers(table, &feature.name) {
            *smallest = smallest.min(number);
            *largest = largest.max(number);
        }
    }
}

/// Adds features that the learned model itself does not look at, but its correction or its formula: a case
/// must have them, and what was measured of them is known.
pub(super) fn look_at(model: &mut TargetModel, names: &[String], tables: &[&Dataset]) {
    for name in names {
        if model.features.iter().any(|feature| feature.name == *name) {
            continue;
        }
        let known: Vec<f64> = tables.iter().flat_map(|table| numbers(table, name)).collect();
        let rows = tables.iter().map(|table| learnable(table).count()).sum::<usize>();
        let measured = match known.is_empty() {
            true => Measured::Nothing,
            false => Measured::Numbers {
                smallest: known.iter().copied().fold(f64::INFINITY, f64::min),
                largest: known.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            },
        };
        let missing = known.len() < rows;
        model.features.push(Feature { name: name.clone(), measured, missing, dropped: None });
    }
}

fn learnable(table: &Dataset) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.scale != Scale::Test)
}

/// The values of a feature among the runs learned from.
fn numbers(table: &Dataset, name: &str) -> Vec<f64> {
    let Some(column) = table.columns.iter().position(|column| column.name == name) else { return Vec::new() };
    learnable(table).filter_map(|row| row.cells[column].as_ref().and_then(Value::as_number)).collect()
}
