//! `harp build`: from the history of an experiment to a model file.

use std::path::Path;

use harp_core::{Run, Scale, Target};
use harp_learn::{BuildOptions, Comparison, Kept, ModelFile, TargetModel};
use harp_report::text::plural;
use serde::Serialize;

use super::reuse;
use crate::arguments::{Build, BuildSettings};
use crate::components;
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::sweep::{self, Knowledge};
use crate::terminal::Terminal;

/// What is said of one target.
#[derive(Serialize)]
struct Built<'a> {
    target: &'a Target,
    winner: Option<String>,
    formula: Option<String>,
    explanation: &'a str,
    scores: Option<&'a harp_core::Scores>,
    evidence: &'a harp_core::Evidence,
    warnings: &'a [String],
    comparison: Option<&'a Comparison>,
}

/// Builds the model of an experiment and writes it.
pub fn build(arguments: &Build, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    let runs = recorded_runs(&project)?;
    if !arguments.from.is_empty() {
        return reuse::build_from(&project, &runs, arguments, terminal);
    }
    let model = build_model(&project, &runs, &arguments.settings, terminal)?;
    let file = arguments.model.clone().unwrap_or_else(|| project.model_file());
    write_model(&model, &file)?;
    terminal.say(&format!("wrote {}", file.display()));
    let built: Vec<Built<'_>> = model.targets.iter().map(summary).collect();
    if terminal.json {
        return terminal.print_json(&built);
    }
    for (model, built) in model.targets.iter().zip(&built) {
        terminal.print_text(&describe(model, built))?;
    }
    Ok(())
}

/// The runs of an experiment; without any there is nothing to learn from.
pub fn recorded_runs(project: &Project) -> Result<Vec<harp_history::Recorded>, Failure> {
    let application = project.experiment.application();
    let runs = match project.read_history()? {
        Some(history) => history.runs(Some(&application))?,
        None => Vec::new(),
    };
    if runs.is_empty() {
        return Err(Failure::bad_input(format!("there are no runs of {application} yet"))
            .exit(Exit::NotEnoughEvidence)
            .hint("`harp generate` makes them"));
    }
    Ok(runs)
}

/// Builds a model of every target the experiment names. A target that was not measured is left out
/// and said; the first one must be there.
pub fn build_model(
    project: &Project,
    recorded: &[harp_history::Recorded],
    settings: &BuildSettings,
    terminal: &Terminal,
) -> Result<ModelFile, Failure> {
    let options = build_options(project, settings);
    let (runs, leaked) = without_test_cases(project, recorded);
    if leaked > 0 {
        terminal
            .say(&format!("{leaked} runs of cases that are now to be predicted (scale test) are left out"));
    }
    let mut models = Vec::new();
    for target in &project.experiment.learn.targets {
        let (table, skipped) = harp_history::dataset(runs.iter().copied(), target);
        if skipped.failed > 0 && models.is_empty() {
            terminal.say(&format!(
                "{} that failed or ended at another limit say nothing of {target} and are left out",
                plural(skipped.failed, "run")
            ));
        }
        match components::learn(project, &runs, &table, &options) {
            Ok(model) => {
                for warning in &model.warnings {
                    terminal.say(&format!("warning: {target}: {warning}"));
                }
                models.push(model);
            }
            Err(error) if models.is_empty() => return Err(error.into()),
            Err(error) => terminal.say(&format!("warning: {error}")),
        }
    }
    let created_by = format!("harp {}", env!("CARGO_PKG_VERSION"));
    Ok(ModelFile::new(&project.experiment.application(), &created_by, models))
}

/// The runs without those at other scales that are the same case as one to be predicted: predicting
/// what was learned from proves nothing. How many those are.
pub fn without_test_cases<'a>(
    project: &Project,
    recorded: &'a [harp_history::Recorded],
) -> (Vec<&'a Run>, usize) {
    let planned =
        Knowledge::of(project).and_then(|knowledge| sweep::planned(project, &[Scale::Test], &knowledge));
    // Without test values there is nothing to keep apart.
    let planned = planned.map(|plan| plan.runs).unwrap_or_default();
    let tests: Vec<_> = planned.iter().map(|run| run.configuration.values()).collect();
    let is_leak =
        |run: &Run| run.configuration.scale != Scale::Test && tests.contains(&run.configuration.values());
    let runs = recorded.iter().map(|recorded| &recorded.run);
    let (leaked, kept): (Vec<&Run>, Vec<&Run>) = runs.partition(|run| is_leak(run));
    (kept, leaked.len())
}

/// What the settings say, and the experiment where they say nothing.
pub fn build_options(project: &Project, settings: &BuildSettings) -> BuildOptions {
    let experiment = BuildOptions {
        policy: project.experiment.learn.policy,
        seed: project.experiment.schedule.seed,
        ..BuildOptions::default()
    };
    settings.over(experiment)
}

/// Writes a model file as a whole.
pub fn write_model(model: &ModelFile, file: &Path) -> Result<(), Failure> {
    project::write_whole(file, &model.to_text()?)
}

fn summary(model: &TargetModel) -> Built<'_> {
    Built {
        target: &model.target,
        winner: winner_of(model),
        formula: crate::views::formula(model),
        explanation: &model.explanation,
        scores: model.winner().and_then(|winner| winner.scores.as_ref()),
        evidence: &model.evidence,
        warnings: &model.warnings,
        comparison: model.comparison.as_deref(),
    }
}

/// The model's name: the formula where it is put together from components.
fn winner_of(model: &TargetModel) -> Option<String> {
    match &model.custom {
        Some(custom) => Some(format!("put together: {}", custom.formula)),
        None => model.winner().map(ToString::to_string),
    }
}

fn describe(model: &TargetModel, built: &Built<'_>) -> String {
    let mut lines = vec![format!("{}: {}", model.target, built.winner.as_deref().unwrap_or("no model"))];
    lines.extend(built.formula.as_ref().map(|formula| format!("  {formula}")));
    let by_parts = built.comparison.is_some_and(|comparison| comparison.kept == Kept::Custom);
    if let Some(comparison) = built.comparison {
        let times = plural(comparison.runs, "prediction");
        lines.push(format!("  in {times} of runs that neither saw, {}", comparison.reason));
    }
    for (name, component) in model.custom.iter().flat_map(|custom| &custom.components) {
        let winner = component.winner().map(ToString::to_string).unwrap_or_default();
        lines.push(format!("  {name}: {winner}"));
        lines.extend(crate::views::formula(component).map(|formula| format!("    {formula}")));
    }
    if !by_parts {
        lines.push(format!("  {}", built.explanation));
    }
    lines.join("\n")
}
