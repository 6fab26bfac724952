//! The calls of a sweep: submit an array, see what is in the queue, ask accounting. Each of them is about
//! all jobs at once.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use harp_slurm::{AccountedJob, AccountingError, FIELDS, QUEUE_FORMAT, Queue, read_accounting};

use super::{CONTROLLER_PATIENCE, SEPARATOR, SlurmError, call, known_fields};

/// How long accounting may take about jobs it is asked for by number.
const PATIENCE: Duration = Duration::from_secs(120);

/// Submits a script and gives the job's number.
pub(super) fn submit(script: &Path) -> Result<u64, SlurmError> {
    let script = script.display().to_string();
    let said = call::submit("sbatch", &["--parsable", &script], CONTROLLER_PATIENCE)?;
    // `12`, or `12;cluster`
    let number = said.trim().lines().last().and_then(|line| line.split(';').next()?.trim().parse().ok());
    number.ok_or_else(|| SlurmError::Failed {
        command: "sbatch",
        said: format!("no job number in `{}`", said.trim()),
    })
}

/// Whether Slurm would take a script; what it says otherwise.
pub fn test_only(script: &Path) -> Result<(), SlurmError> {
    let script = script.display().to_string();
    call::submit("sbatch", &["--test-only", &script], CONTROLLER_PATIENCE).map(drop)
}

/// What of some jobs, by their names, is in the queue; with `ended`, also those that ended a moment ago.
pub(super) fn queue(names: &[String], ended: bool) -> Result<Queue, SlurmError> {
    let names = format!("--name={}", names.join(","));
    let format = format!("--format={QUEUE_FORMAT}");
    // the number and not `--me`, which older ones do not know
    let user = format!("--user={}", rustix::process::getuid().as_raw());
    let mut arguments = vec![user.as_str(), "--array", "--noheader", &names, &format];
    if ended {
        arguments.push("--states=all");
    }
    Ok(Queue::parse(&call::text("squeue", &arguments, CONTROLLER_PATIENCE)?))
}

/// What accounting says about some jobs (`12`) and tasks (`12_3`): every run of every task, oldest first.
pub(super) fn accounted(jobs: &[String]) -> Result<Vec<AccountedJob>, SlurmError> {
    ask(&[format!("--jobs={}", jobs.join(","))])
}

/// What accounting says about jobs by their names, since a moment in seconds since 1970.
pub(super) fn accounted_by_name(names: &[String], since: i64) -> Result<Vec<AccountedJob>, SlurmError> {
    let seconds = (crate::now().0 / 1000 - since).max(0) + 3600;
    ask(&[format!("--name={}", names.join(",")), format!("--starttime=now-{seconds}")])
}

fn ask(selection: &[String]) -> Result<Vec<AccountedJob>, SlurmError> {
    let fields = known_fields(&FIELDS)?;
    let format = format!("--format={}", fields.join(","));
    let separator = format!("--delimiter={SEPARATOR}");
    let mut arguments = vec!["--duplicates", "--parsable2", "--noconvert", &separator, &format];
    arguments.extend(selection.iter().map(String::as_str));
    let read = |source: &mut dyn Read| -> Result<Vec<AccountedJob>, AccountingError> {
        let mut jobs = Vec::new();
        read_accounting("sacct", source, &jiff::tz::TimeZone::UTC, &mut |job| jobs.push(job))?;
        Ok(jobs)
    };
    call::stream("sacct", &arguments, PATIENCE, read)?
        .map_err(|error| SlurmError::Failed { command: "sacct", said: error.to_string() })
}

/// Ends a job.
pub fn cancel(job: u64) -> Result<(), SlurmError> {
    call::text("scancel", &[&job.to_string()], CONTROLLER_PATIENCE).map(drop)
}
