//! `harp build`: from the history of an experiment to a model file.

use std::collections::BTreeMap;
use std::path::Path;

use harp_core::{Run, Scale, Target};
use harp_history::Recorded;
use harp_learn::{BuildOptions, Comparison, Kept, Learned, ModelFile, TargetModel};
use harp_report::text::plural;
use serde::Serialize;

use super::reuse;
use crate::arguments::{Build, BuildSettings};
use crate::components;
use crate::drift::{self, Drift};
use crate::failure::{Exit, Failure};
use crate::machines::Machines;
use crate::new_machine;
use crate::project::{self, Project};
use crate::sweep::{self, Knowledge};
use crate::terminal::Terminal;
use crate::views::in_short;

/// What is said of one target.
#[derive(Serialize)]
struct Built<'a> {
    target: &'a Target,
    winner: Option<String>,
    formula: Option<String>,
    growth: &'a [harp_learn::Growth],
    explanation: &'a str,
    scores: Option<&'a harp_core::Scores>,
    evidence: &'a harp_core::Evidence,
    warnings: &'a [String],
    comparison: Option<&'a Comparison>,
    drift: Option<&'a Drift>,
}

/// Builds the model of an experiment and writes it.
pub fn build(arguments: &Build, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    let mut runs = recorded_runs(&project)?;
    if let Some(since) = arguments.since {
        since.keep(&mut runs, |recorded| recorded.run.started)?;
    }
    if !arguments.from.is_empty() {
        return reuse::build_from(&project, &runs, arguments, terminal);
    }
    let mut model = build_model(&project, &runs, &arguments.settings, terminal)?;
    let file = arguments.model.clone().unwrap_or_else(|| project.model_file());
    let taught = learnable(&runs);
    let drifts: Vec<Option<Drift>> =
        model.targets.iter().map(|target| drift::in_runs(&project, target, &taught)).collect();
    keep(&mut model, drifts.iter().flatten().next());
    write_model(&model, &file)?;
    terminal.say(&format!("wrote {}", file.display()));
    drift::tell(drifts.iter().flatten().next(), terminal);
    let built: Vec<Built<'_>> =
        model.targets.iter().zip(&drifts).map(|(model, drift)| summary(model, drift.as_ref())).collect();
    if terminal.json {
        return terminal.print_json(&built);
    }
    for (model, built) in model.targets.iter().zip(&built) {
        terminal.print_text(&describe(model, built))?;
    }
    Ok(())
}

/// The runs of an experiment; without any there is nothing to learn from.
pub fn recorded_runs(project: &Project) -> Result<Vec<Recorded>, Failure> {
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
    recorded: &[Recorded],
    settings: &BuildSettings,
    terminal: &Terminal,
) -> Result<ModelFile, Failure> {
    let options = build_options(project, settings);
    let (runs, leaked) = without_test_cases(project, recorded);
    if leaked > 0 {
        let runs = plural(leaked, "run");
        terminal.say(&format!("left out, as the cases are now to be predicted (scale test): {runs}"));
    }
    let machines = Machines::telling(project, recorded);
    let mut models = Vec::new();
    for target in &project.experiment.learn.targets {
        let (table, skipped) =
            harp_history::dataset_with(runs.iter().copied(), target, &|run| machines.further(run));
        if skipped.failed > 0 && models.is_empty() {
            terminal.say(&format!(
                "{} that failed or ended at another limit say nothing of {target} and are left out",
                plural(skipped.failed, "run")
            ));
        }
        match components::learn(project, &runs, &table, &machines, &options) {
            Ok(mut model) => {
                harp_learn::explain_candidates(&mut model, &table, &options)?;
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
    let model = ModelFile::new(&project.experiment.application(), &created_by, models);
    let new_machine = new_machine::spread(&runs, &machines, &options);
    let machines = machines.features();
    let learned = learned(recorded).map(|learned| Learned { new_machine, machines, ..learned });
    Ok(ModelFile { learned, ..model })
}

/// The runs without those at other scales that are the same case as one to be predicted: predicting
/// what was learned from proves nothing. How many those are.
pub fn without_test_cases<'a>(project: &Project, recorded: &'a [Recorded]) -> (Vec<&'a Run>, usize) {
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

/// Keeps in a model that the runs it learned from differ.
pub fn keep(model: &mut ModelFile, drift: Option<&Drift>) {
    if let (Some(learned), Some(found)) = (&mut model.learned, drift.and_then(Drift::in_model_file)) {
        learned.mixed = Some(found);
    }
}

/// Writes a model file as a whole.
pub fn write_model(model: &ModelFile, file: &Path) -> Result<(), Failure> {
    project::write_whole(file, &model.to_text()?)
}

/// The runs that are learned from.
pub fn learnable(recorded: &[Recorded]) -> Vec<Recorded> {
    recorded.iter().filter(|recorded| recorded.run.configuration.scale != Scale::Test).cloned().collect()
}

/// Which runs a model learns from, for those who later ask what it has not seen.
pub fn learned(recorded: &[Recorded]) -> Option<Learned> {
    let runs = learnable(recorded);
    let distinct = |mut names: Vec<String>| {
        names.sort();
        names.dedup();
        names
    };
    Some(Learned {
        until: runs.iter().map(|recorded| recorded.run.started).max()?,
        runs: runs.len(),
        programs: distinct(runs.iter().filter_map(|recorded| recorded.program.clone()).collect()),
        hosts: distinct(runs.iter().map(|recorded| recorded.host.name.clone()).collect()),
        machines: BTreeMap::new(),
        new_machine: None,
        mixed: drift::in_history(&runs),
    })
}

fn summary<'a>(model: &'a TargetModel, drift: Option<&'a Drift>) -> Built<'a> {
    Built {
        target: &model.target,
        winner: winner_of(model),
        formula: crate::views::formula(model),
        growth: &model.growth,
        explanation: &model.explanation,
        scores: model.winner().and_then(|winner| winner.scores.as_ref()),
        evidence: &model.evidence,
        warnings: &model.warnings,
        comparison: model.comparison.as_deref(),
        drift,
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
    lines.extend(crate::views::growth(&model.growth).map(|growth| format!("  {growth}")));
    lines.extend(built.formula.as_ref().map(|formula| format!("  {}", in_short(formula))));
    let by_parts = built.comparison.is_some_and(|comparison| comparison.kept == Kept::Custom);
    if let Some(comparison) = built.comparison {
        let times = plural(comparison.runs, "prediction");
        lines.push(format!("  in {times} of runs that neither saw, {}", comparison.reason));
    }
    for (name, component) in model.custom.iter().flat_map(|custom| &custom.components) {
        let winner = component.winner().map(ToString::to_string).unwrap_or_default();
        lines.push(format!("  {name}: {winner}"));
        lines.extend(crate::views::formula(component).map(|formula| format!("    {}", in_short(&formula))));
    }
    if !by_parts {
        lines.push(format!("  {}", built.explanation));
    }
    lines.join("\n")
}
