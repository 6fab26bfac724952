//! The table of predicted cases beside what really happened.

use std::collections::BTreeSet;

use harp_core::{Observed, Value};

use super::tables::{bare, truth, unit_suffix};
use super::{Cell, Column, Table};
use crate::Quantity;
use crate::style::Tone;
use crate::text::{self, share, signed_percent};
use crate::view::{CaseView, TargetView, Verdict};

/// Predicted cases, each with its truth where it is known. Features that are the same in all cases are
/// no columns: [`common_features`] says them.
pub fn cases_table(view: &TargetView) -> Table {
    let quantity = Quantity::of(&view.target);
    let names = telling_features(&view.cases);
    let unit = unit_suffix(&quantity);
    let interval = format!("{} interval", share(view.coverage));
    let mut columns: Vec<Column> = names.iter().map(|name| feature_column(name, &view.cases)).collect();
    columns.extend([
        Column::right("predicted").key(format!("predicted{unit}")),
        Column::right(interval).for_people(),
        Column::right("low").key(format!("low{unit}")).for_programs(),
        Column::right("high").key(format!("high{unit}")).for_programs(),
        Column::right("request").key(format!("request{unit}")).optional(),
        Column::right("actual").key(format!("actual{unit}")),
        Column::right("error").key("error_percent"),
        Column::left("verdict"),
        Column::left("lower bound").key("actual_is_lower_bound").for_programs(),
        Column::left("killed").key("killed_at_request").for_programs(),
        Column::left("extrapolated").for_programs(),
    ]);
    let mut table = Table::new(columns);
    for case in &view.cases {
        let mut cells: Vec<Cell> =
            names.iter().map(|name| feature_cell(name, case.features.get(name))).collect();
        let (request, actual) = request_and_actual(case, &quantity);
        cells.extend([
            Cell::number(quantity.format(case.estimate.value), case.estimate.value),
            Cell::text(quantity.range(case.estimate.low, case.estimate.high)),
            bare(case.estimate.low),
            bare(case.estimate.high),
            Cell::number(request, case.request),
            actual,
            case.error_percent.map_or_else(Cell::missing, |error| Cell::number(signed_percent(error), error)),
            verdict_cell(case, crate::narrative::is_limited(&view.target)),
            case.actual.map_or_else(Cell::missing, |actual| truth(actual.exact().is_none())),
            case.killed.map_or_else(Cell::missing, truth),
            truth(case.extrapolates()),
        ]);
        table.push(cells);
    }
    table.without_empty_columns()
}

/// What was asked for and what was needed; a request that was too small is seen to be.
fn request_and_actual(case: &CaseView, quantity: &Quantity) -> (String, Cell) {
    let (value, at_least) = match case.actual {
        Some(Observed::Exact(value)) => (value, ""),
        Some(Observed::AtLeast(value)) => (value, "≥ "),
        None => return (quantity.format(case.request), Cell::missing()),
    };
    let (request, actual) = match case.killed {
        Some(true) => quantity.apart(case.request, value),
        _ => (quantity.format(case.request), quantity.format(value)),
    };
    (request, Cell::number(format!("{at_least}{actual}"), value))
}

fn verdict_cell(case: &CaseView, is_limited: bool) -> Cell {
    let mut words = vec![case.verdict.name()];
    if case.killed == Some(true) && is_limited {
        words.push("killed at request");
    }
    if case.extrapolates() {
        words.push("extrapolated");
    }
    let tone = match case.verdict {
        Verdict::Unknown => Tone::Plain,
        Verdict::Hit if case.killed == Some(true) => Tone::Warning,
        Verdict::Hit => Tone::Good,
        Verdict::Above | Verdict::Below => Tone::Bad,
    };
    let shown = if case.verdict == Verdict::Unknown { &words[1..] } else { &words[..] };
    match (shown, case.actual) {
        ([], None) => Cell::missing(),
        ([], Some(_)) => Cell::word(case.verdict.name(), case.verdict.key()),
        _ => Cell::word(shown.join(", "), case.verdict.key()).tone(tone),
    }
}

/// Features that differ between cases, by name.
fn telling_features(cases: &[CaseView]) -> Vec<String> {
    let names: BTreeSet<&String> = cases.iter().flat_map(|case| case.features.keys()).collect();
    let differs = |name: &&String| {
        cases.windows(2).any(|pair| pair[0].features.get(*name) != pair[1].features.get(*name))
    };
    names.iter().copied().filter(differs).cloned().collect()
}

/// What all cases have in common: `with cores=1, size=160`; empty when nothing is.
pub fn common_features(view: &TargetView) -> String {
    let telling = telling_features(&view.cases);
    let Some(first) = view.cases.first() else { return String::new() };
    let common: Vec<String> = first
        .features
        .iter()
        .filter(|(name, _)| !telling.contains(name))
        .map(|(name, value)| format!("{name}={}", text::feature(name, value)))
        .collect();
    if common.is_empty() { String::new() } else { format!("with {}", common.join(", ")) }
}

fn feature_column(name: &str, cases: &[CaseView]) -> Column {
    let is_text =
        |case: &CaseView| matches!(case.features.get(name), Some(Value::Text(_) | Value::Boolean(_)));
    if cases.iter().any(is_text) { Column::left(name).key(name) } else { Column::right(name).key(name) }
}

fn feature_cell(name: &str, value: Option<&Value>) -> Cell {
    match value {
        None => Cell::missing(),
        Some(Value::Boolean(truth)) => Cell::truth(truth.to_string(), *truth),
        Some(value @ Value::Integer(integer)) => Cell::number(text::feature(name, value), *integer as f64),
        Some(value @ Value::Real(real)) => Cell::number(text::feature(name, value), *real),
        Some(Value::Text(text)) => Cell::text(text.as_str()),
    }
}
