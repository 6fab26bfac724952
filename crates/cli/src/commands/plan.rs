//! `harp plan`: what would run, how many, how long, at what price. Nothing is run.

use std::collections::BTreeMap;

use harp_core::{Configuration, Money, Scale, Seconds};
use harp_report::text::plural;
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use crate::arguments::Plan;
use crate::failure::Failure;
use crate::project::Project;
use crate::sweep::{self, Knowledge, Standing};
use crate::terminal::Terminal;

/// The answer; documented in the reference.
#[derive(Serialize)]
struct Answer {
    application: String,
    runs: usize,
    missing: usize,
    expected_seconds: Option<f64>,
    longest_seconds: Option<f64>,
    expected_cost: Option<f64>,
    money_unit: String,
    notes: Vec<String>,
    configurations: Vec<Planned>,
}

/// One configuration, with its repetitions counted.
#[derive(Serialize)]
struct Planned {
    #[serde(flatten)]
    configuration: Configuration,
    key: String,
    repetitions: u32,
    missing: u32,
    expected_seconds: Option<f64>,
    expected_cost: Option<f64>,
    timeout_seconds: Option<f64>,
}

/// Shows the plan.
pub fn plan(arguments: &Plan, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    project.check_files(false, terminal)?;
    show(&project, &arguments.scale, terminal)
}

/// Shows what some scales would run.
pub fn show(project: &Project, scales: &[Scale], terminal: &Terminal) -> Result<(), Failure> {
    let knowledge = Knowledge::of(project)?;
    let plan = sweep::planned(project, scales, &knowledge)?;
    let outcomes = sweep::outcomes(project)?;
    let mut order = Vec::new();
    let mut by_key: BTreeMap<String, Planned> = BTreeMap::new();
    for run in &plan.runs {
        let key = run.configuration.key().0;
        let planned = by_key.entry(key.clone()).or_insert_with(|| {
            order.push(key.clone());
            let design = project.experiment.designs.get(&run.configuration.scale);
            Planned {
                configuration: run.configuration.clone(),
                key,
                repetitions: 0,
                missing: 0,
                expected_seconds: knowledge.time(&run.configuration).map(|time| time.0),
                expected_cost: knowledge.cost(&run.configuration).map(|cost| cost.0),
                timeout_seconds: design.and_then(|design| design.timeout).map(|time| time.0),
            }
        });
        planned.repetitions += 1;
        planned.missing += u32::from(sweep::standing(run, &outcomes) == Standing::Missing);
    }
    let configurations: Vec<Planned> = order.iter().filter_map(|key| by_key.remove(key)).collect();
    // Known only if it is known for every configuration that is missing.
    let total = |of: fn(&Planned) -> Option<f64>| -> Option<f64> {
        let mut missing = configurations.iter().filter(|planned| planned.missing > 0);
        // The sum of no numbers is -0.0, which nobody wants to read.
        missing.try_fold(0.0, |sum, planned| Some(sum + of(planned)? * f64::from(planned.missing)))
    };
    let answer = Answer {
        application: project.experiment.application(),
        runs: plan.runs.len(),
        missing: configurations.iter().map(|planned| planned.missing as usize).sum(),
        expected_seconds: total(|planned| planned.expected_seconds),
        longest_seconds: total(|planned| planned.timeout_seconds),
        expected_cost: total(|planned| planned.expected_cost),
        money_unit: knowledge.site().unit.clone(),
        notes: plan.notes,
        configurations,
    };
    if terminal.json {
        return terminal.print_json(&answer);
    }
    terminal.print_table(&table(&answer))?;
    terminal.print_text(&summary(&answer))
}

fn table(answer: &Answer) -> Table {
    let mut table = Table::new([
        Column::left("scale"),
        Column::left("configuration"),
        Column::right("runs"),
        Column::right("missing"),
        Column::right("expected").key("expected_s"),
        Column::right("price"),
        Column::right("time-out").key("timeout_s"),
    ]);
    let money = Quantity::Money(answer.money_unit.clone());
    let cell = |quantity: &Quantity, value: Option<f64>| match value {
        Some(value) => Cell::number(quantity.format(value), value),
        None => Cell::missing(),
    };
    for planned in &answer.configurations {
        table.push([
            Cell::text(planned.configuration.scale.name()),
            Cell::text(planned.configuration.to_string()),
            Cell::from(planned.repetitions as usize),
            Cell::from(planned.missing as usize),
            cell(&Quantity::Seconds, planned.expected_seconds),
            cell(&money, planned.expected_cost),
            cell(&Quantity::Seconds, planned.timeout_seconds),
        ]);
    }
    table.without_empty_columns()
}

fn summary(answer: &Answer) -> String {
    let mut text = format!("\n{}, {} of them missing", plural(answer.runs, "run"), answer.missing);
    if answer.missing > 0 {
        match (answer.expected_seconds, answer.longest_seconds) {
            (Some(time), _) => text.push_str(&format!("; about {} of run time", Seconds(time))),
            (None, Some(time)) => {
                text.push_str(&format!("; at most {} of run time, by their time-outs", Seconds(time)))
            }
            (None, None) => text.push_str("; how long is not known before the first of them has run"),
        }
        if let Some(cost) = answer.expected_cost {
            text.push_str(&format!(", {}", harp_site::format_amount(&answer.money_unit, Money(cost))));
        }
    }
    for note in &answer.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    text
}
