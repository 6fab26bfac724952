//! `harp predict`: time and memory of cases that were never run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use harp_core::{Evidence, OutOfRange, Prediction, Value};
use harp_learn::{LearnError, ModelFile};
use harp_report::text::feature as feature_text;
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use crate::allocations;
use crate::arguments::Predict;
use crate::cases;
use crate::drift::{self, Drift};
use crate::failure::Failure;
use crate::freshness::warn_if_stale;
use crate::machines::Machine;
use crate::project::{self, Project};
use crate::score;
use crate::terminal::Terminal;
use crate::values;
use crate::views;

/// The answer; documented in the reference.
#[derive(Serialize)]
struct Answer {
    application: String,
    interval: f64,
    cases: Vec<CaseAnswer>,
    drift: Option<Drift>,
    /// What runs killed at a limit say against cases beyond the measured range.
    warnings: Vec<String>,
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
    let (model_file, experiment_file) = match &arguments.model.model {
        Some(file) => (file.clone(), cases::experiment_beside(file)),
        None => (project::model_of(&arguments.file), project::experiment_file(&arguments.file)),
    };
    let model = project::read_model(&model_file)?;
    let project = Project::load(&experiment_file, &Terminal::silent()).ok();
    if let Some(project) = &project {
        warn_if_stale(project, &model_file, &model.application, terminal);
    }
    // It knows computed parameters, sizes of files, values and constraints; another application's does
    // not. A model alone predicts, too.
    let project = project.filter(|project| project.experiment.application() == model.application);
    let drift = project
        .as_ref()
        .and_then(|project| drift::in_model(project, &model, &score::unseen(project, &model)));
    drift::tell(drift.as_ref(), terminal);
    let mut given = match &arguments.csv {
        Some(file) => read_csv(file)?,
        None => Vec::new(),
    };
    if !arguments.case.is_empty() {
        given.push(cases::features(&arguments.case)?);
    }
    let machine = machine(project.as_ref(), &model, arguments)?;
    if let Some(note) = machine.note() {
        terminal.say(&format!("warning: {note}"));
    }
    let mut answers = Vec::with_capacity(given.len());
    let mut not_given = Vec::new();
    for case in given {
        cases::check_names(&model, project.as_ref().map(|project| &project.experiment), &case)?;
        values::check(&model, project.as_ref(), &case)?;
        warn_of_unknown_resources(&model, &case, terminal);
        let missing = missing_resources(&model, &case);
        let mut every = vec![case];
        if let (Some(project), Some(case), false) = (&project, every.first(), missing.is_empty()) {
            every = with_every_allocation(project, case)?;
            not_given
                .extend(missing.into_iter().filter(|name| !not_given.contains(name)).collect::<Vec<_>>());
        }
        for case in every {
            answers.push(answer(&model, project.as_ref(), &machine, case, arguments)?);
        }
    }
    let extrapolates =
        answers.iter().flat_map(|case| &case.predictions).any(|prediction| prediction.extrapolates);
    let answer = Answer {
        warnings: if extrapolates { contradictions(&model).collect() } else { Vec::new() },
        application: model.application.clone(),
        interval: arguments.interval,
        cases: answers,
        drift,
    };
    for warning in &answer.warnings {
        terminal.say(&format!("warning: {warning}"));
    }
    if terminal.json {
        return terminal.print_json(&answer);
    }
    match answer.cases.as_slice() {
        [only] if arguments.csv.is_none() => terminal.print_text(&in_words(only, &answer)),
        _ => tell_many(&answer, &not_given, terminal),
    }
}

/// What runs killed at a limit say against the finished ones, target by target.
pub(super) fn contradictions(model: &ModelFile) -> impl Iterator<Item = String> {
    model.targets.iter().filter_map(|target| Some(format!("{}: {}", target.target, target.contradicted()?)))
}

/// The machine that is meant; only an experiment's history knows any.
fn machine(project: Option<&Project>, model: &ModelFile, arguments: &Predict) -> Result<Machine, Failure> {
    let Some(project) = project else { return Ok(Machine::default()) };
    let site = arguments.site.as_deref().or(project.experiment.learn.site.as_deref());
    let site = site.filter(|_| arguments.node_type.is_some()).map(crate::commands::find_site).transpose()?;
    Machine::find(project, model, site.as_ref(), arguments.node_type.as_deref())
}

/// One case, completed, checked and predicted.
fn answer(
    model: &ModelFile,
    project: Option<&Project>,
    machine: &Machine,
    mut case: BTreeMap<String, Value>,
    arguments: &Predict,
) -> Result<CaseAnswer, Failure> {
    if let Some(project) = project {
        cases::complete(project, &mut case);
    }
    machine.add(&mut case);
    // A file's path stood for its size, and what never varied was not kept.
    case.retain(|name, _| model.features.contains(name));
    let mut predictions = Vec::new();
    for target in &model.targets {
        let prediction = machine.widened(target.predict(&case).map_err(with_way_out)?);
        cases::check_range(&prediction, arguments.extrapolate)?;
        predictions.push(target_answer(prediction, arguments.interval));
    }
    Ok(CaseAnswer { features: case, predictions })
}

/// Says which resources a case names that no run was given: of what never varied nothing is known.
fn warn_of_unknown_resources(model: &ModelFile, case: &BTreeMap<String, Value>, terminal: &Terminal) {
    for (name, value) in case {
        let is_resource = *name != "memory" && cases::RESOURCES.contains(&name.as_str());
        if is_resource && !model.features.contains(name) {
            terminal.say(&format!(
                "warning: {name}={value} changes nothing: no run was made with a set number of {name}; vary it \
                 under [allocation] to learn what it does"
            ));
        }
    }
}

/// Resources the model uses that a case does not say. A memory limit is no choice: it is what is
/// predicted.
fn missing_resources(model: &ModelFile, case: &BTreeMap<String, Value>) -> Vec<&'static str> {
    let is_used = |name: &str| {
        let features = model.targets.iter().flat_map(|target| &target.features);
        features.filter(|feature| feature.dropped.is_none()).any(|feature| feature.name == name)
    };
    cases::RESOURCES
        .into_iter()
        .filter(|name| *name != "memory" && is_used(name) && !case.contains_key(*name))
        .collect()
}

/// The case once for every allocation the experiment varied.
fn with_every_allocation(
    project: &Project,
    case: &BTreeMap<String, Value>,
) -> Result<Vec<BTreeMap<String, Value>>, Failure> {
    let allocations = allocations::of_case(project, case)?;
    let with = |allocation: harp_core::Allocation| {
        let mut case = case.clone();
        case.extend(allocation.entries().into_iter().map(|(name, value)| (name.to_owned(), value)));
        case
    };
    Ok(allocations.into_iter().map(with).collect())
}

/// A resource that was not given is a choice `harp recommend` makes.
fn with_way_out(error: LearnError) -> Failure {
    let is_resource = matches!(&error, LearnError::MissingFeature { feature } if cases::RESOURCES.contains(&feature.as_str()));
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
        let risk = harp_report::text::share(prediction.risk_at_request);
        // Only time and memory are limits a job is killed at.
        let risk = match prediction.target.as_str() {
            "walltime" | "peak_memory" => format!("(risk of being killed {risk})"),
            _ => format!("(exceeded with a probability of {risk})"),
        };
        lines.push(format!(
            "{:12} {}   {} interval {}   request {} {risk}",
            target_words(prediction),
            quantity.format(prediction.estimate),
            harp_report::text::share(answer.interval),
            quantity.range(prediction.low, prediction.high),
            quantity.format(prediction.request),
        ));
    }
    if let Some(first) = case.predictions.first() {
        lines.push(evidence(first));
        lines.extend(
            first.out_of_range.iter().map(|outside| {
                format!("warning      {}: this is an extrapolation", cases::describe(outside))
            }),
        );
    }
    lines.join("\n")
}

fn target_words(prediction: &TargetAnswer) -> String {
    views::target_words(&prediction.target.parse().unwrap_or(harp_core::Target::Walltime))
}

fn evidence(prediction: &TargetAnswer) -> String {
    let evidence = &prediction.evidence;
    format!(
        "evidence     {}; {} of them, held back in turn, judged the model",
        evidence.runs_in_words(),
        evidence.validation_runs
    )
}

/// Many cases: what they have in common above the table, and what holds for all below it.
fn tell_many(answer: &Answer, not_given: &[&str], terminal: &Terminal) -> Result<(), Failure> {
    let (telling, common) = told_apart(answer);
    let mut head = Vec::new();
    if !not_given.is_empty() {
        head.push(format!(
            "{} not given: predicted for every value that was varied",
            not_given.join(" and ")
        ));
    }
    if !common.is_empty() {
        head.push(format!("with {}", common.join(", ")));
    }
    if !head.is_empty() {
        terminal.print_text(&head.join("\n"))?;
    }
    terminal.print_table(&table(answer, &telling))?;
    match answer.cases.first().and_then(|case| case.predictions.first()) {
        Some(first) => terminal.print_text(&evidence(first)),
        None => Ok(()),
    }
}

/// Names of the features that differ between cases, and those that do not with their value.
fn told_apart(answer: &Answer) -> (Vec<String>, Vec<String>) {
    let Some(first) = answer.cases.first() else { return (Vec::new(), Vec::new()) };
    let names: BTreeSet<&String> = answer.cases.iter().flat_map(|case| case.features.keys()).collect();
    let is_common = |name: &&&String| {
        answer.cases.iter().all(|case| case.features.get(**name) == first.features.get(**name))
    };
    let common = names.iter().filter(is_common).filter_map(|name| {
        first.features.get(*name).map(|value| format!("{name}={}", feature_text(name, value)))
    });
    let telling = names.iter().filter(|name| !is_common(name)).map(|name| (*name).clone());
    (telling.collect(), common.collect())
}

/// One row a case.
fn table(answer: &Answer, names: &[String]) -> Table {
    let mut columns: Vec<Column> = names.iter().map(|name| Column::right(name.as_str())).collect();
    if let Some(case) = answer.cases.first() {
        for prediction in &case.predictions {
            columns.push(Column::right(target_words(prediction)).key(prediction.target.clone()));
            columns.push(
                Column::right(format!("{} interval", harp_report::text::share(answer.interval)))
                    .key(format!("{}_interval", prediction.target)),
            );
            columns.push(Column::right("request").key(format!("{}_request", prediction.target)).optional());
        }
        columns.push(Column::left("note"));
    }
    let mut table = Table::new(columns);
    for case in &answer.cases {
        let mut cells: Vec<Cell> = names
            .iter()
            .map(|name| {
                let value = case.features.get(name);
                value.map_or_else(Cell::missing, |value| Cell::text(feature_text(name, value)))
            })
            .collect();
        for prediction in &case.predictions {
            let quantity = &prediction.quantity;
            cells.push(Cell::number(quantity.format(prediction.estimate), prediction.estimate));
            cells.push(Cell::text(quantity.range(prediction.low, prediction.high)));
            cells.push(Cell::number(quantity.format(prediction.request), prediction.request));
        }
        let outside = case.predictions.first().is_some_and(|prediction| prediction.extrapolates);
        cells.push(if outside { Cell::text("extrapolation") } else { Cell::missing() });
        table.push(cells);
    }
    table.without_empty_columns()
}
