//! Where the estimates of a simulation come from: those that come with harp, a harp model, or a table
//! that anything else has made.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use harp_core::{Target, Value};
use harp_learn::TargetModel;
use harp_report::text::{join_words, number};
use harp_sim::{FromModel, SimJob, Source, Workload};

use crate::arguments::Wanted;
use crate::failure::{Exit, Failure};
use crate::project;
use crate::terminal::Terminal;

/// The names under which a model may know what a trace says of every job.
const PROCESSORS: [&str; 5] = ["processors", "procs", "cores", "cpus", "nodes"];
const REQUEST: &str = "requested_time";

/// Seconds by job: its number and its submission, for numbers may come twice.
type Seconds = HashMap<(u64, i64), f64>;

/// Makes estimators. `cases` is a table of what a model is to know of each job.
pub fn source(
    wanted: &Wanted,
    cases: Option<&Path>,
    workload: &Workload,
    terminal: &Terminal,
) -> Result<Source, Failure> {
    let (name, seconds) = match wanted {
        Wanted::Named(estimates) => return Ok(Source::from(*estimates)),
        Wanted::Table(file) => ("file", from_table(file, workload)?),
        Wanted::Model(file) => ("model", from_model(file, cases, workload)?),
    };
    let without = workload.jobs.len() - seconds.len();
    if without > 0 {
        terminal.say(&format!(
            "note: {} of {} jobs have no estimate there; their request is used",
            number(without as f64),
            number(workload.jobs.len() as f64)
        ));
    }
    let seconds = Arc::new(seconds);
    Ok(Source::new(name, move || {
        let seconds = Arc::clone(&seconds);
        Box::new(FromModel(move |job: &SimJob| seconds.get(&key(job)).copied()))
    }))
}

fn key(job: &SimJob) -> (u64, i64) {
    (job.number, job.submit)
}

fn from_table(file: &Path, workload: &Workload) -> Result<Seconds, Failure> {
    let rows = by_job(file)?;
    let mut found = Seconds::new();
    for job in &workload.jobs {
        let Some(row) = rows.get(&job.number) else { continue };
        let seconds = row.get("seconds").and_then(Value::as_number).filter(|seconds| *seconds >= 0.0);
        let seconds = seconds.ok_or_else(|| {
            Failure::bad_input(format!("{}: job {} has no number in `seconds`", file.display(), job.number))
                .hint("give a table with the columns job,seconds")
        })?;
        found.insert(key(job), seconds);
    }
    require_some(found, file, "no job of the trace is in it")
}

fn from_model(file: &Path, cases: Option<&Path>, workload: &Workload) -> Result<Seconds, Failure> {
    let model = project::read_model(file)?;
    let Some(target) = model.target(&Target::Walltime) else {
        return Err(Failure::bad_input(format!("{}: the model does not tell the time", file.display())));
    };
    let known = cases.map(by_job).transpose()?.unwrap_or_default();
    let mut found = Seconds::new();
    // without cases jobs of the same shape have the same estimate
    let mut alike: HashMap<(u32, i64), Option<f64>> = HashMap::new();
    for job in &workload.jobs {
        let seconds = match known.get(&job.number) {
            Some(case) => ask(target, job, case.clone()),
            None => *alike
                .entry((job.processors, job.request))
                .or_insert_with(|| ask(target, job, BTreeMap::new())),
        };
        found.extend(seconds.map(|seconds| (key(job), seconds)));
    }
    let names: Vec<&str> = target.features.iter().map(|feature| feature.name.as_str()).collect();
    require_some(
        found,
        file,
        &format!(
            "the model asks for {}; a trace tells processors and {REQUEST} only, the rest comes with --cases",
            join_words(&names)
        ),
    )
}

/// The model's estimate for a job; `None` where it cannot tell.
fn ask(model: &TargetModel, job: &SimJob, mut case: BTreeMap<String, Value>) -> Option<f64> {
    let told = PROCESSORS.map(|name| (name, i64::from(job.processors))).into_iter();
    for (name, value) in told.chain([(REQUEST, job.request)]) {
        case.entry(name.to_owned()).or_insert(Value::Integer(value));
    }
    case.retain(|name, _| model.features.iter().any(|feature| feature.name == *name));
    model.predict(&case).ok().map(|prediction| prediction.estimate)
}

/// The rows of a table by the number in their column `job`.
fn by_job(file: &Path) -> Result<HashMap<u64, BTreeMap<String, Value>>, Failure> {
    let source = File::open(file).map_err(|error| Failure::file("read", file, &error))?;
    let rows = harp_history::read_cases(&file.display().to_string(), source)?;
    let mut found = HashMap::with_capacity(rows.len());
    for (index, mut row) in rows.into_iter().enumerate() {
        let job = row.remove("job").and_then(|value| value.as_number()).filter(|job| *job >= 0.0);
        let job = job.ok_or_else(|| {
            Failure::bad_input(format!("{}:{}: there is no number in `job`", file.display(), index + 2))
                .hint("name the job of the trace in a column `job`")
        })?;
        found.insert(job as u64, row);
    }
    Ok(found)
}

fn require_some(found: Seconds, file: &Path, otherwise: &str) -> Result<Seconds, Failure> {
    if found.is_empty() {
        return Err(
            Failure::bad_input(format!("{}: {otherwise}", file.display())).exit(Exit::NotEnoughEvidence)
        );
    }
    Ok(found)
}
