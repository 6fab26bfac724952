//! `harp status`: how far an experiment is, and what runs now.

use std::collections::BTreeMap;
use std::fs;

use harp_core::{Scale, Seconds};
use harp_report::{Cell, Column, Table};
use serde::Serialize;

use crate::arguments::Status;
use crate::drift::{self, Drift};
use crate::failure::Failure;
use crate::progress::Running;
use crate::project::{self, Project};
use crate::score;
use crate::sweep::{self, Knowledge, Standing};
use crate::terminal::Terminal;

/// The answer; documented in the reference.
#[derive(Serialize)]
struct Answer {
    application: String,
    scales: Vec<Counts>,
    running: Vec<Running>,
    in_queue: usize,
    jobs: Vec<u64>,
    expected_seconds_left: Option<f64>,
    model: Option<String>,
    drift: Option<Drift>,
}

/// How many planned runs of a scale stand where.
#[derive(Default, Serialize)]
struct Counts {
    scale: String,
    planned: usize,
    done: usize,
    failed: usize,
    censored: usize,
    missing: usize,
}

/// Shows how far an experiment is.
pub fn status(arguments: &Status, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    let knowledge = Knowledge::of(&project)?;
    let plan = sweep::planned(&project, &[], &knowledge)?;
    let outcomes = sweep::outcomes(&project)?;
    let mut counts: BTreeMap<Scale, Counts> = BTreeMap::new();
    let mut left = Some(0.0);
    for run in &plan.runs {
        let scale = run.configuration.scale;
        let count =
            counts.entry(scale).or_insert_with(|| Counts { scale: scale.to_string(), ..Counts::default() });
        count.planned += 1;
        match sweep::standing(run, &outcomes) {
            Standing::Done => count.done += 1,
            Standing::Failed => count.failed += 1,
            Standing::Censored => count.censored += 1,
            Standing::Missing => {
                count.missing += 1;
                left = left.zip(knowledge.time(&run.configuration)).map(|(sum, time)| sum + time.0);
            }
        }
    }
    let (in_queue, jobs) = in_queue(&project)?;
    let answer = Answer {
        application: project.experiment.application(),
        scales: counts.into_values().collect(),
        running: running(&project),
        in_queue,
        jobs,
        expected_seconds_left: left,
        model: fs::metadata(project.model_file()).is_ok().then(|| project.model_file().display().to_string()),
        drift: drift(&project),
    };
    if terminal.json {
        return terminal.print_json(&answer);
    }
    terminal.print_table(&table(&answer))?;
    terminal.print_text(&words(&answer))
}

/// Whether the model's program or its runs have changed since it was built.
fn drift(project: &Project) -> Option<Drift> {
    let model = project::read_model(&project.model_file()).ok()?;
    drift::in_model(project, &model, &score::unseen(project, &model))
}

/// What a sweep says is running, if that sweep is alive.
fn running(project: &Project) -> Vec<Running> {
    if !project.is_locked() {
        return Vec::new();
    }
    let text = fs::read_to_string(project.state().join("running.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// How many runs were handed to Slurm and are not recorded, and the jobs they are in.
fn in_queue(project: &Project) -> Result<(usize, Vec<u64>), Failure> {
    let Some(history) = project.read_history()? else { return Ok((0, Vec::new())) };
    let open = crate::on_slurm::open_batches(&history, &project.experiment.application())?;
    let runs = open.iter().map(|open| open.batch.len() - open.settled.len()).sum();
    Ok((runs, open.iter().filter_map(|open| open.job).collect()))
}

fn table(answer: &Answer) -> Table {
    let columns = ["planned", "done", "failed", "at a limit", "missing"].map(Column::right);
    let mut table = Table::new([Column::left("scale")].into_iter().chain(columns));
    for count in &answer.scales {
        table.push([
            Cell::text(count.scale.as_str()),
            Cell::from(count.planned),
            Cell::from(count.done),
            Cell::from(count.failed),
            Cell::from(count.censored),
            Cell::from(count.missing),
        ]);
    }
    table
}

fn words(answer: &Answer) -> String {
    let mut lines = Vec::new();
    for running in &answer.running {
        lines.push(format!("running: {} (repetition {})", running.configuration, running.repetition));
    }
    if answer.in_queue > 0 {
        let runs = harp_report::text::plural(answer.in_queue, "run");
        let jobs = crate::on_slurm::in_words(&answer.jobs);
        lines.push(format!("{runs} in the queue of Slurm{jobs}: harp generate --on slurm waits for them"));
    }
    let missing: usize = answer.scales.iter().map(|count| count.missing).sum();
    lines.push(match (missing, answer.expected_seconds_left) {
        (0, _) => "nothing is missing".to_owned(),
        (_, Some(left)) => format!("about {} of run time left", Seconds(left)),
        (_, None) => "how long the rest takes is not known yet".to_owned(),
    });
    lines.push(match &answer.model {
        Some(_) => "a model is built: harp predict, harp models".to_owned(),
        None => "no model yet: harp build".to_owned(),
    });
    lines.extend(answer.drift.as_ref().map(|drift| format!("warning: {}", drift.message)));
    lines.join("\n")
}
