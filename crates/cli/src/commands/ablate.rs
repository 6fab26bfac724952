//! `harp ablate`: what each axis of an experiment is worth.

use harp_core::{Run, Target};
use harp_learn::{Ablation, Axis};
use harp_report::text::plural;
use harp_report::{Cell, Column, Table};
use serde::Serialize;

use super::backtest::no_run_has;
use super::build::{build_options, recorded_runs, without_test_cases};
use crate::arguments::Ablate;
use crate::cases::RESOURCES;
use crate::failure::Failure;
use crate::project::Project;
use crate::terminal::Terminal;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    target: String,
    #[serde(flatten)]
    ablation: &'a Ablation,
}

/// Takes an experiment apart.
pub fn ablate(arguments: &Ablate, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    let recorded = recorded_runs(&project)?;
    let (runs, _): (Vec<&Run>, usize) = without_test_cases(&project, &recorded);
    let target = match &arguments.target {
        Some(name) => {
            let Ok(target) = name.parse::<Target>();
            target
        }
        None => project.experiment.learn.targets.first().cloned().unwrap_or(Target::Walltime),
    };
    let (table, _) = harp_history::dataset(runs, &target);
    if table.rows.is_empty() && !recorded.is_empty() {
        return Err(no_run_has(&target));
    }
    let features: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let axes = axes(arguments, &features)?;
    let options = build_options(&project, &arguments.settings);
    let ablation = harp_learn::ablate(&table, &axes, &options)?;
    if terminal.json {
        return terminal.print_json(&Answer { target: target.to_string(), ablation: &ablation });
    }
    let runs = plural(ablation.runs, "run");
    terminal.print_text(&format!(
        "{target}: {runs}, each predicted by models that did not see it, with an error of {:.1} %{}",
        ablation.error,
        match (ablation.study, ablation.with_principal_components) {
            (Some(study), Some(components)) => format!(
                "; the study's models alone err by {study:.1} %, with principal components of 99 % of the \
                 variance by {components:.1} %"
            ),
            _ => String::new(),
        }
    ))?;
    terminal.print_table(&table_of(&ablation))?;
    terminal.print_text(
        "without: when it is no feature; shuffled: with the values of other runs; never seen: at its largest \
         level by models that saw only the others; enough: so few levels predict the others nearly as well (– where \
         none are). What shuffling hurts and leaving out does not is said by other features, too.",
    )
}

fn axes(arguments: &Ablate, features: &[String]) -> Result<Vec<Axis>, Failure> {
    if !arguments.axis.is_empty() {
        let mut axes = Vec::new();
        for (name, list) in &arguments.axis {
            let wanted: Vec<String> = list.split(',').map(|feature| feature.trim().to_owned()).collect();
            if let Some(unknown) = wanted.iter().find(|feature| !features.contains(feature)) {
                return Err(Failure::bad_input(format!("axis `{name}`: there is no feature `{unknown}`"))
                    .hint(format!("the features are {}", features.join(", "))));
            }
            axes.push(Axis { name: name.clone(), features: wanted });
        }
        return Ok(axes);
    }
    let (hardware, others): (Vec<&String>, Vec<&String>) =
        features.iter().partition(|feature| RESOURCES.contains(&feature.as_str()));
    let mut axes: Vec<Axis> =
        others.into_iter().map(|name| Axis { name: name.clone(), features: vec![name.clone()] }).collect();
    if !hardware.is_empty() {
        let features = hardware.into_iter().cloned().collect();
        axes.push(Axis { name: "hardware".to_owned(), features });
    }
    Ok(axes)
}

fn table_of(ablation: &Ablation) -> Table {
    let mut table = Table::new([
        Column::left("axis"),
        Column::right("shuffled"),
        Column::right("without").key("dropped"),
        Column::right("never seen").key("held_out"),
        Column::right("levels"),
        Column::right("enough").key("levels_needed"),
        Column::right("runs").key("runs_needed"),
    ]);
    let percent = |value: Option<f64>| {
        value.map_or_else(Cell::missing, |value| Cell::number(format!("{value:.1} %"), value))
    };
    let count = |value: Option<usize>| value.map_or_else(Cell::missing, Cell::from);
    for worth in &ablation.axes {
        let named = worth.axis.features.len() > 1 || worth.axis.features.first() != Some(&worth.axis.name);
        let name = match named {
            true => format!("{} ({})", worth.axis.name, worth.axis.features.join(", ")),
            false => worth.axis.name.clone(),
        };
        table.push([
            Cell::text(name),
            percent(Some(worth.shuffled)),
            percent(worth.dropped),
            percent(worth.held_out),
            Cell::from(worth.levels),
            count(worth.levels_needed),
            count(worth.runs_needed),
        ]);
    }
    table
}
