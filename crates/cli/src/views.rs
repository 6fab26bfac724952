//! From what the rooms return to what `report` shows.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Row, Scale, Target, Value};
use harp_history::Recorded;
use harp_learn::{AdjustmentKind, Measured, TargetModel};
use harp_report::{
    AxisView, CandidateView, CandidatesView, CaseView, CurvePoint, Estimate, MeasuredPoint, Quantity,
    ScalingSeries, ScalingView, SweepView, TargetView, TestPoint,
};

use crate::failure::Failure;

/// Points of a curve.
const CURVE_POINTS: usize = 48;

/// The table of candidates of a model.
pub fn candidates_view(model: &TargetModel) -> CandidatesView {
    let candidates = model.candidates.iter().enumerate().map(|(index, candidate)| CandidateView {
        regressor: candidate.model.to_string(),
        mix: candidate.mix.to_string(),
        preparation: match candidate.adjustment.kind {
            AdjustmentKind::None => String::new(),
            kind => kind.to_string(),
        },
        adjustment: Some(candidate.adjustment.factor),
        training_rows: model.evidence.scaled_down_runs,
        scores: candidate.scores.clone(),
        reexecution_cost: candidate.reserved_ratio,
        chosen: index == model.winner,
        note: candidate.excluded.clone(),
    });
    CandidatesView {
        target: model.target.clone(),
        policy: model.policy.to_string(),
        reason: model.explanation.clone(),
        candidates: candidates.collect(),
    }
}

/// The test cases of a table, predicted and compared, with candidates and curves.
pub fn target_view(
    model: &TargetModel,
    table: &harp_core::Dataset,
    coverage: f64,
) -> Result<TargetView, Failure> {
    let mut cases = Vec::new();
    for row in table.of_scale(Scale::Test) {
        let features = features_of(table, row);
        let prediction = model.predict(&features)?;
        let estimate = Estimate::of(&prediction, coverage);
        let mut case = CaseView::from_parts(features, estimate, prediction.request, Some(row.observed));
        case.out_of_range = prediction.out_of_range;
        cases.push(case);
    }
    let mut view = TargetView::new(model.target.clone(), coverage, model.evidence.clone(), cases);
    view.candidates = Some(candidates_view(model));
    view.scaling = scaling_views(model, table, coverage)?;
    Ok(view)
}

fn features_of(table: &harp_core::Dataset, row: &Row) -> BTreeMap<String, Value> {
    let cells = table.columns.iter().zip(&row.cells);
    cells.filter_map(|(column, cell)| Some((column.name.clone(), cell.clone()?))).collect()
}

/// What was run, counted.
pub fn sweep_view(runs: &[Recorded]) -> SweepView {
    let completed = |scale: Scale| {
        let of_scale = runs.iter().filter(|recorded| recorded.run.configuration.scale == scale);
        of_scale.filter(|recorded| recorded.run.outcome.is_completed()).count()
    };
    let is_censored = |recorded: &&Recorded| {
        recorded.run.outcome.walltime_is_lower_bound() || recorded.run.outcome.memory_is_lower_bound()
    };
    let unfinished = runs.iter().filter(|recorded| !recorded.run.outcome.is_completed());
    let censored = unfinished.clone().filter(is_censored).count();
    SweepView {
        scaled_down: completed(Scale::Sd),
        full_scale: completed(Scale::Fs),
        test: completed(Scale::Test),
        failed: unfinished.count() - censored,
        censored,
        time_spent: runs.iter().filter_map(|recorded| recorded.run.usage.walltime).sum(),
        money_spent: None,
    }
}

/// One curve for each numeric feature that varies, the one the target depends on most first.
///
/// A point belongs to a curve only if its other features are those the curve is drawn for, so each
/// picture holds the other features at the values of the largest tested (or else measured) cases.
fn scaling_views(
    model: &TargetModel,
    table: &harp_core::Dataset,
    coverage: f64,
) -> Result<Vec<ScalingView>, Failure> {
    let numeric: Vec<String> = model
        .features
        .iter()
        .filter(|feature| feature.dropped.is_none())
        .filter_map(|feature| match feature.measured {
            Measured::Numbers { smallest, largest } if largest > smallest => Some(feature.name.clone()),
            _ => None,
        })
        .collect();
    let mut views = Vec::new();
    for name in &numeric {
        if let Some((range, view)) = scaling_view(model, table, coverage, name)? {
            views.push((range, view));
        }
    }
    views.sort_by(|left, right| right.0.total_cmp(&left.0));
    Ok(views.into_iter().map(|(_, view)| view).collect())
}

/// The curve over one feature, and how much the target changes along it (in the logarithm).
fn scaling_view(
    model: &TargetModel,
    table: &harp_core::Dataset,
    coverage: f64,
    name: &str,
) -> Result<Option<(f64, ScalingView)>, Failure> {
    let rows: Vec<(BTreeMap<String, Value>, &Row)> =
        table.rows.iter().map(|row| (features_of(table, row), row)).collect();
    let x_of = |features: &BTreeMap<String, Value>| features.get(name).and_then(Value::as_number);
    let used: BTreeSet<&str> = model
        .features
        .iter()
        .filter(|feature| feature.dropped.is_none())
        .map(|feature| feature.name.as_str())
        .collect();
    let others = |features: &BTreeMap<String, Value>| -> BTreeMap<String, Value> {
        features
            .iter()
            .filter(|(key, _)| *key != name && used.contains(key.as_str()))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };

    // The largest target of the tests (or of everything) decides at which values the others are held.
    let largest = |scale: Option<Scale>| {
        rows.iter()
            .filter(|(features, row)| {
                x_of(features).is_some() && scale.is_none_or(|scale| row.scale == scale)
            })
            .max_by(|left, right| left.1.observed.value().total_cmp(&right.1.observed.value()))
    };
    let Some((reference, _)) = largest(Some(Scale::Test)).or_else(|| largest(None)) else { return Ok(None) };
    let held = others(reference);
    let (held_numbers, _): (BTreeMap<_, _>, BTreeMap<_, _>) =
        held.clone().into_iter().partition(|(_, value)| value.as_number().is_some());

    let mut by_category: BTreeMap<String, (BTreeMap<String, Value>, ScalingSeries)> = BTreeMap::new();
    let mut xs = Vec::new();
    let mut measured_up_to: Option<f64> = None;
    for (features, row) in &rows {
        let Some(x) = x_of(features) else { continue };
        xs.push(x);
        if row.scale != Scale::Test {
            measured_up_to = Some(measured_up_to.map_or(x, |known| known.max(x)));
        }
        let mine = others(features);
        let (numbers, categories): (BTreeMap<_, _>, BTreeMap<_, _>) =
            mine.into_iter().partition(|(_, value)| value.as_number().is_some());
        let label =
            categories.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ");
        let (_, series) = by_category.entry(label.clone()).or_insert_with(|| {
            let mut fixed = held_numbers.clone();
            fixed.extend(categories);
            (fixed, ScalingSeries { name: label, ..ScalingSeries::default() })
        });
        if numbers != held_numbers {
            continue;
        }
        if row.scale == Scale::Test {
            let prediction = model.predict(features)?;
            series.tests.push(TestPoint {
                x,
                predicted: Estimate::of(&prediction, coverage),
                actual: Some(row.observed),
            });
        } else {
            series.measured.push(MeasuredPoint { x, y: row.observed, scale: row.scale });
        }
    }
    let (low, high) =
        xs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
    if high <= low {
        return Ok(None);
    }
    let whole = rows.iter().all(|(features, _)| matches!(features.get(name), Some(Value::Integer(_)) | None));
    let mut change: f64 = 0.0;
    for (fixed, series) in by_category.values_mut() {
        for x in curve_places(low, high, whole && high - low < CURVE_POINTS as f64) {
            let mut case = fixed.clone();
            case.insert(name.to_owned(), Value::Real(x));
            let prediction = model.predict(&case)?;
            series.curve.push(CurvePoint { x, y: Estimate::of(&prediction, coverage) });
        }
        let ends = series.curve.first().zip(series.curve.last());
        change = change.max(ends.map_or(0.0, |(first, last)| (last.y.value / first.y.value).ln().abs()));
    }
    let held_text =
        held_numbers.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ");
    let view = ScalingView {
        title: format!("How {} grows with {name}", target_words(&model.target)),
        subtitle: if held_text.is_empty() { String::new() } else { format!("with {held_text}") },
        x: if low > 0.0 {
            AxisView::logarithmic(name, Quantity::Number)
        } else {
            AxisView::linear(name, Quantity::Number)
        },
        y: AxisView::logarithmic(target_words(&model.target), Quantity::of(&model.target)),
        coverage,
        measured_up_to,
        series: by_category.into_values().map(|(_, series)| series).collect(),
    };
    Ok(Some((change, view)))
}

/// Where a curve is worked out: evenly in the logarithm where that exists; only whole numbers where
/// nothing lies between them.
fn curve_places(low: f64, high: f64, whole: bool) -> Vec<f64> {
    if whole {
        let mut places = Vec::new();
        let mut x = low;
        while x <= high {
            places.push(x);
            x += 1.0;
        }
        return places;
    }
    let share = |index: usize| index as f64 / (CURVE_POINTS - 1) as f64;
    let place = |index: usize| {
        if low > 0.0 { low * (high / low).powf(share(index)) } else { low + (high - low) * share(index) }
    };
    (0..CURVE_POINTS).map(place).collect()
}

/// A target in words.
pub fn target_words(target: &Target) -> String {
    match target {
        Target::Walltime => "walltime".to_owned(),
        Target::PeakMemory => "peak memory".to_owned(),
        Target::CpuTime => "processor time".to_owned(),
        Target::Metric(name) => name.clone(),
    }
}
