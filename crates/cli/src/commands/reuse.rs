//! `harp build --from`: learning from another application's runs and a few of one's own.

use harp_core::{Dataset, Run, Scale, Scores, Target};
use harp_history::Recorded;
use harp_learn::{BuildOptions, Formula, ModelFile, Reuse, TargetModel, build_from as learn_from, few_runs};
use harp_report::text::plural;
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use super::build::{build_options, learned, recorded_runs, without_test_cases, write_model};
use crate::arguments::Build;
use crate::components;
use crate::drift::{self, Drift};
use crate::failure::Failure;
use crate::machines::Machines;
use crate::project::Project;
use crate::terminal::Terminal;

/// A share of the runs may cost at most this share of what all cost.
const BUDGET: f64 = 0.25;

/// What is said of one target; documented in docs/json.md.
#[derive(Serialize)]
struct Answer {
    target: Target,
    reuse: Reuse,
    cost: Cost,
    test: Option<OnTest>,
}

/// What making the runs took, in seconds on the wall.
#[derive(Serialize)]
struct Cost {
    own_runs: usize,
    own_seconds: f64,
    all_runs: usize,
    all_seconds: f64,
    source_seconds: f64,
}

/// Errors on the cases of scale test, which nothing learned from.
#[derive(Serialize)]
struct OnTest {
    reused: Scores,
    alone_with_all: Option<Scores>,
    alone_with_the_same: Option<Scores>,
}

/// Builds a model of every target that the sources have, too.
pub fn build_from(
    project: &Project,
    recorded: &[Recorded],
    arguments: &Build,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let options = build_options(project, &arguments.settings);
    let (all, _) = without_test_cases(project, recorded);
    let mut sources: Vec<(String, Vec<Recorded>)> = Vec::new();
    for file in &arguments.from {
        let source = Project::load(file, &Terminal::silent())?;
        let real = |path: &std::path::Path| std::fs::canonicalize(path).ok();
        if real(&source.file).is_some_and(|other| real(&project.file) == Some(other)) {
            return Err(Failure::bad_input(format!("--from {}: that is this experiment", file.display()))
                .hint("name the folder of another application"));
        }
        sources.push((source.experiment.application(), recorded_runs(&source)?));
    }
    let runs = match arguments.share {
        Some(share) => the_few(&all, share),
        None => all.clone(),
    };
    let (mut models, mut answers) = (Vec::new(), Vec::new());
    for target in &project.experiment.learn.targets {
        match one(project, target, &runs, &all, &sources, &options) {
            Ok((model, answer)) => {
                models.push(model);
                answers.push(answer);
            }
            Err(failure) if models.is_empty() => return Err(failure),
            Err(failure) => terminal.say(&format!("warning: {target}: {}", failure.message)),
        }
    }
    let created_by = format!("harp {}", env!("CARGO_PKG_VERSION"));
    let model = ModelFile::new(&project.experiment.application(), &created_by, models);
    let model = ModelFile { learned: learned(recorded), ..model };
    let file = arguments.model.clone().unwrap_or_else(|| project.model_file());
    project.make_state()?;
    write_model(&model, &file)?;
    terminal.say(&format!("wrote {}", file.display()));
    let mixed = model.learned.as_ref().and_then(|learned| learned.mixed);
    drift::tell(mixed.map(Drift::in_learned).as_ref(), terminal);
    if terminal.json {
        return terminal.print_json(&answers);
    }
    for answer in &answers {
        tell(answer, terminal)?;
    }
    Ok(())
}

/// The few runs worth making: those that tell most, cheap together; cases to be predicted stay.
fn the_few<'a>(all: &[&'a Run], share: f64) -> Vec<&'a Run> {
    let (table, _) = harp_history::dataset(all.iter().copied(), &Target::Walltime);
    let mut chosen: Vec<_> = few_runs(&table, share, BUDGET)
        .into_iter()
        .map(|row| crate::views::features_of(&table, &table.rows[row]))
        .collect();
    // One run for each that was chosen: of repetitions the others were not made.
    let is_chosen = |run: &&&Run| {
        let features = run.configuration.features();
        let place = chosen.iter().position(|chosen| *chosen == features);
        run.configuration.scale == Scale::Test || place.map(|place| chosen.swap_remove(place)).is_some()
    };
    all.iter().filter(is_chosen).copied().collect()
}

fn one(
    project: &Project,
    target: &Target,
    runs: &[&Run],
    all: &[&Run],
    sources: &[(String, Vec<Recorded>)],
    options: &BuildOptions,
) -> Result<(TargetModel, Answer), Failure> {
    let written = project.experiment.learn.formulas.iter().find(|one| one.target == *target);
    let formula = written.and_then(|written| Formula::parse(&written.text).ok());
    let mut targets = vec![target.clone()];
    targets.extend(written.iter().flat_map(|one| one.components.iter().cloned().map(Target::Metric)));
    let tables_of = |runs: &[&Run]| -> Vec<Dataset> {
        targets.iter().map(|target| harp_history::dataset(runs.iter().copied(), target).0).collect()
    };
    let mut known = Vec::new();
    let mut source_seconds = 0.0;
    for (name, recorded) in sources {
        let runs: Vec<&Run> = recorded.iter().map(|recorded| &recorded.run).collect();
        source_seconds += seconds(&runs, true);
        known.push((name.clone(), tables_of(&runs)));
    }
    // A source that does not report the components can still lend its whole.
    let has_parts = known.iter().all(|(_, tables)| tables.iter().all(|table| !table.rows.is_empty()));
    let formula = formula.filter(|_| has_parts);
    let tables = tables_of(runs);
    let reused = learn_from(&tables, &known, formula.as_ref(), options)?;
    let whole = tables_of(all);
    let test = match whole.first() {
        Some(whole) if whole.of_scale(Scale::Test).next().is_some() => {
            let alone = |runs: &[&Run], table: &Dataset| {
                components::learn(project, runs, table, &Machines::default(), options)
                    .ok()
                    .and_then(|model| on_test(&model, whole))
            };
            on_test(&reused.model, whole).map(|scores| OnTest {
                reused: scores,
                alone_with_all: alone(all, whole),
                alone_with_the_same: tables.first().and_then(|table| alone(runs, table)),
            })
        }
        _ => None,
    };
    let learnable = |runs: &[&Run]| runs.iter().filter(|run| run.configuration.scale != Scale::Test).count();
    let cost = Cost {
        own_runs: learnable(runs),
        own_seconds: seconds(runs, false),
        all_runs: learnable(all),
        all_seconds: seconds(all, false),
        source_seconds,
    };
    Ok((reused.model, Answer { target: target.clone(), reuse: reused.reuse, cost, test }))
}

/// Seconds the runs took together; those to be predicted only where asked for.
fn seconds(runs: &[&Run], with_test: bool) -> f64 {
    let counted = runs.iter().filter(|run| with_test || run.configuration.scale != Scale::Test);
    counted.filter_map(|run| run.usage.walltime).map(|time| time.0).sum()
}

fn on_test(model: &TargetModel, table: &Dataset) -> Option<Scores> {
    let cases = model.evaluate(table, |row| row.scale == Scale::Test).ok()?.cases;
    Scores::of(&cases.iter().map(|case| (case.prediction.estimate, case.actual)).collect::<Vec<_>>())
}

fn tell(answer: &Answer, terminal: &Terminal) -> Result<(), Failure> {
    let target = crate::views::target_words(&answer.target);
    terminal.print_text(&format!("{target}: {}", answer.reuse.reason))?;
    for source in &answer.reuse.sources {
        terminal.print_text(&format!(
            "  {}: {} of {} are similar enough (similarity {:.2}), by {}",
            source.application,
            source.used,
            plural(source.runs, "run"),
            source.similarity,
            source.features.join(", ")
        ))?;
    }
    let mut table = Table::new([
        Column::left("learned from"),
        Column::right("runs made"),
        Column::right("they took").key("seconds"),
        Column::right("error when left out").key("mape"),
        Column::right("error on the test cases").key("test_mape"),
    ]);
    let percent = |scores: Option<&Scores>| {
        scores.map_or_else(Cell::missing, |scores| Cell::number(format!("{:.1} %", scores.mape), scores.mape))
    };
    let time = |value: f64| Cell::number(Quantity::Seconds.format(value), value);
    let test = answer.test.as_ref();
    let cost = &answer.cost;
    table.push([
        Cell::text("others' runs and its own"),
        Cell::from(cost.own_runs),
        time(cost.own_seconds),
        percent(Some(&answer.reuse.reused)),
        percent(test.map(|test| &test.reused)),
    ]);
    table.push([
        Cell::text("its own alone"),
        Cell::from(cost.own_runs),
        time(cost.own_seconds),
        percent(answer.reuse.alone.as_ref()),
        percent(test.and_then(|test| test.alone_with_the_same.as_ref())),
    ]);
    if cost.all_runs > cost.own_runs {
        table.push([
            Cell::text("all of its own"),
            Cell::from(cost.all_runs),
            time(cost.all_seconds),
            Cell::missing(),
            percent(test.and_then(|test| test.alone_with_all.as_ref())),
        ]);
    }
    terminal.print_table(&table)?;
    terminal.print("")
}
