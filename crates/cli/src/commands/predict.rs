//! `harp predict`: time and memory of cases that were never run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use harp_core::{Evidence, OutOfRange, Prediction, Value};
use harp_learn::LearnError;
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use crate::arguments::Predict;
use crate::cases;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;
use crate::views;

/// The answer; documented in the reference.
#[derive(Serialize)]
struct Answer {
    application: String,
    interval: f64,
    cases: Vec<CaseAnswer>,
}

#[derive(Serialize)]
struct CaseAnswer {
    features: BTreeMap<String, Value>,
    predictions: Vec<TargetAnswer>,
}

#[derive(Serialize)]
struct TargetAnswer {
    target: String,
    estimate: f64,
    low: f64,
    high: f64,
    request: f64,
    risk_at_request: f64,
    extrapolates: bool,
    out_of_range: Vec<OutOfRange>,
    evidence: Evidence,
    #[serde(skip)]
    quantity: Quantity,
}

/// Predicts the cases given.
pub fn predict(arguments: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    let model_file = &arguments.model.model;
    let model = project::read_model(model_file)?;
    let mut cases = match &arguments.csv {
        Some(file) => read_csv(file)?,
        None => Vec::new(),
    };
    if !arguments.case.is_empty() {
        cases.push(cases::features(&arguments.case)?);
    }
    let mut answers = Vec::with_capacity(cases.len());
    for mut case in cases {
        // What was given must be known; what is worked out may not have been kept.
        let given = case.clone();
        cases::complete(model_file, &mut case);
        case.retain(|name, _| given.contains_key(name) || model.features.contains(name));
        // A file's path stood for its size, which is known by now.
        let sizes: Vec<String> =
            case.keys().filter_map(|name| name.strip_suffix("_bytes")).map(str::to_owned).collect();
        case.retain(|name, value| !(matches!(value, Value::Text(_)) && sizes.contains(name)));
        cases::check_names(&model, &case)?;
        let mut predictions = Vec::new();
        for target in &model.targets {
            let prediction = target.predict(&case).map_err(with_way_out)?;
            cases::check_range(&prediction, arguments.extrapolate)?;
            predictions.push(target_answer(prediction, arguments.interval));
        }
        answers.push(CaseAnswer { features: case, predictions });
    }
    let answer =
        Answer { application: model.application.clone(), interval: arguments.interval, cases: answers };
    if terminal.json {
        return terminal.print_json(&answer);
    }
    if arguments.csv.is_some() {
        terminal.print_table(&table(&answer))
    } else {
        answer.cases.iter().try_for_each(|case| terminal.print(&in_words(case, &answer)))
    }
}

/// A resource that was not given is a choice `harp recommend` makes.
fn with_way_out(error: LearnError) -> Failure {
    const RESOURCES: [&str; 6] = ["nodes", "cores", "threads", "memory", "gpus", "node_type"];
    let is_resource =
        matches!(&error, LearnError::MissingFeature { feature } if RESOURCES.contains(&feature.as_str()));
    let failure = Failure::from(error);
    if is_resource {
        failure.hint("`harp recommend` predicts every allocation and chooses one")
    } else {
        failure
    }
}

fn read_csv(file: &Path) -> Result<Vec<BTreeMap<String, Value>>, Failure> {
    let source: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(file).map_err(|error| Failure::file("read", file, &error))?)
    };
    Ok(harp_history::read_cases(&file.display().to_string(), source)?)
}

fn target_answer(prediction: Prediction, interval: f64) -> TargetAnswer {
    let (low, high) = prediction.distribution.interval(interval);
    TargetAnswer {
        quantity: Quantity::of(&prediction.target),
        target: prediction.target.to_string(),
        estimate: prediction.estimate,
        low,
        high,
        request: prediction.request,
        risk_at_request: prediction.risk_at_request(),
        extrapolates: prediction.extrapolates(),
        evidence: prediction.evidence,
        out_of_range: prediction.out_of_range,
    }
}

/// One case, a few lines a target.
fn in_words(case: &CaseAnswer, answer: &Answer) -> String {
    let mut lines = Vec::new();
    for prediction in &case.predictions {
        let quantity = &prediction.quantity;
        let target: harp_core::Target = prediction.target.parse().unwrap_or(harp_core::Target::Walltime);
        lines.push(format!(
            "{:12} {}   {} interval {}   request {} (risk of being killed {})",
            views::target_words(&target),
            quantity.format(prediction.estimate),
            harp_report::text::share(answer.interval),
            quantity.range(prediction.low, prediction.high),
            quantity.format(prediction.request),
            harp_report::text::share(prediction.risk_at_request),
        ));
    }
    if let Some(first) = case.predictions.first() {
        let evidence = &first.evidence;
        lines.push(format!(
            "evidence     {} scaled-down and {} full-scale runs, judged on {} not seen in training",
            evidence.scaled_down_runs, evidence.full_scale_runs, evidence.validation_runs
        ));
        lines.extend(
            first.out_of_range.iter().map(|outside| {
                format!("warning      {}: this is an extrapolation", cases::describe(outside))
            }),
        );
    }
    lines.join("\n")
}

/// Many cases, one row each.
fn table(answer: &Answer) -> Table {
    let names: Vec<&String> =
        answer.cases.first().map(|case| case.features.keys().collect()).unwrap_or_default();
    let mut columns: Vec<Column> = names.iter().map(|name| Column::right(name.as_str())).collect();
    if let Some(case) = answer.cases.first() {
        for prediction in &case.predictions {
            columns.push(Column::right(prediction.target.clone()));
            columns.push(
                Column::right(format!("{} interval", harp_report::text::share(answer.interval)))
                    .key(format!("{}_interval", prediction.target)),
            );
            columns.push(Column::right("request").key(format!("{}_request", prediction.target)));
        }
        columns.push(Column::left("note"));
    }
    let mut table = Table::new(columns);
    for case in &answer.cases {
        let mut cells: Vec<Cell> = names
            .iter()
            .map(|name| {
                case.features.get(*name).map_or_else(Cell::missing, |value| Cell::text(value.to_string()))
            })
            .collect();
        for prediction in &case.predictions {
            let quantity = &prediction.quantity;
            cells.push(Cell::number(quantity.format(prediction.estimate), prediction.estimate));
            cells.push(Cell::text(quantity.range(prediction.low, prediction.high)));
            cells.push(Cell::number(quantity.format(prediction.request), prediction.request));
        }
        let outside = case.predictions.first().is_some_and(|prediction| prediction.extrapolates);
        cells.push(Cell::text(if outside { "extrapolation" } else { "" }));
        table.push(cells);
    }
    table
}
