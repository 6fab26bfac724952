//! What became of a run, from what its job left and what accounting says. Pure: no call, no file.

use harp_core::{Interruption, Outcome, Seconds, Usage};
use harp_slurm::{AccountedJob, Ended, StateKind};

use crate::slurm::inside::InsideResult;

/// A run that comes back without an outcome of its own is submitted again at most so often.
pub(super) const MOST_RETURNS: u32 = 3;

/// Below so many seconds, what accounting rounds is more than one in a hundred.
const COARSE_BELOW: f64 = 100.0;

/// What it rounds, at begin and end, and the start of harp itself.
const ROUNDED_BY: f64 = 2.0;

/// How a task of an array stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Standing<'a> {
    /// It waits, runs, or accounting has not caught up.
    Open,
    /// It is over, and accounting says how.
    Accounted(&'a AccountedJob),
    /// It is gone, and this cluster keeps no accounts.
    Unaccounted,
    /// It is gone, and accounting has been silent for so long that it will stay so.
    Lost,
}

/// What is known about a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    /// Whether its task has no other run.
    pub alone: bool,
    /// What it left when it ended.
    pub result: Option<&'a InsideResult>,
    /// Whether it has begun.
    pub started: bool,
    /// Whether no run of its task began after it.
    pub last: bool,
    /// Whether some run of its task has begun.
    pub task_started: bool,
    /// How its task stands.
    pub standing: Standing<'a>,
    /// How often it came back before.
    pub returned: u32,
}

/// What is to be done about a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// Wait.
    Wait,
    /// It has ended like this and used that.
    Ended(Outcome, Box<Usage>),
    /// It says nothing about the program: submit it again.
    Return,
}

/// Decides.
pub(super) fn verdict(facts: &Facts<'_>) -> Verdict {
    match (facts.standing, facts.result) {
        // Of a run among others accounting will say nothing; one that went well needs no explanation.
        (Standing::Open, Some(result)) if !facts.alone && result.outcome.is_completed() => own(result),
        (Standing::Open, _) => Verdict::Wait,
        (Standing::Unaccounted | Standing::Lost, Some(result)) => own(result),
        (Standing::Unaccounted | Standing::Lost, None) => {
            again(facts, || (Outcome::Interrupted { cause: Interruption::Unknown }, Usage::default()))
        }
        (Standing::Accounted(job), result) => match (job.ended(), result) {
            (Ended::NotYet, _) => Verdict::Wait,
            (Ended::Run(outcome), Some(result)) => finished(facts, job, &outcome, result),
            (Ended::NeverStarted, Some(result)) => own(result),
            (Ended::NeverStarted, None) if job.state.kind == StateKind::Cancelled => {
                Verdict::Ended(Outcome::Interrupted { cause: Interruption::Cancelled }, Box::default())
            }
            (Ended::NeverStarted, None) => again(facts, || (not_started(job), Usage::default())),
            (Ended::Run(outcome), None) => unfinished(facts, job, outcome),
        },
    }
}

/// The run as harp saw it from inside.
fn own(result: &InsideResult) -> Verdict {
    Verdict::Ended(result.outcome.clone(), Box::new(filled(Usage::default(), &result.usage)))
}

/// A run that left its result.
fn finished(facts: &Facts<'_>, job: &AccountedJob, outcome: &Outcome, result: &InsideResult) -> Verdict {
    let failed = matches!(result.outcome, Outcome::Signalled { .. } | Outcome::Failed { .. });
    let outcome = match outcome {
        // only Slurm knows that the kernel ended it for its memory
        Outcome::OutOfMemory { .. } if failed && facts.last => outcome.clone(),
        // what ends a job ends its program a moment before harp, which then sees it fail
        Outcome::TimedOut { .. } | Outcome::Interrupted { .. } if failed && facts.last => {
            return unfinished(facts, job, outcome.clone());
        }
        _ => result.outcome.clone(),
    };
    let accounted = if facts.alone { job.usage() } else { bounded(&outcome, job) };
    Verdict::Ended(outcome, Box::new(filled(accounted, &result.usage)))
}

/// A run whose job is over and that left nothing.
fn unfinished(facts: &Facts<'_>, job: &AccountedJob, outcome: Outcome) -> Verdict {
    let usage = || if facts.alone { job.usage() } else { bounded(&outcome, job) };
    if let Outcome::Interrupted { cause } = outcome {
        return match cause {
            // somebody did not want it: it is theirs to ask for it again
            Interruption::Cancelled | Interruption::Deadline => {
                Verdict::Ended(outcome.clone(), Box::new(usage()))
            }
            _ => again(facts, || (Outcome::Interrupted { cause }, usage())),
        };
    }
    match (facts.started, &outcome) {
        // the job was too short for all its runs: this one had less than its due
        (true, Outcome::TimedOut { .. }) if !facts.alone => again(facts, || (outcome.clone(), usage())),
        (true, Outcome::Completed) => {
            let reason = "its job ended well, but it left no result".to_owned();
            again(facts, || (Outcome::Rejected { reason: reason.clone() }, usage()))
        }
        (true, _) => Verdict::Ended(outcome.clone(), Box::new(usage())),
        // those behind the one the job ended with; or the job came when it was not wanted any more
        (false, _) if facts.task_started || outcome.is_completed() => {
            again(facts, || (not_started(job), Usage::default()))
        }
        (false, Outcome::TimedOut { .. } | Outcome::OutOfMemory { .. }) => {
            Verdict::Ended(outcome.clone(), Box::new(usage()))
        }
        (false, _) => Verdict::Ended(not_started(job), Box::default()),
    }
}

fn not_started(job: &AccountedJob) -> Outcome {
    let how = match job.ended() {
        Ended::Run(outcome) => outcome.to_string(),
        _ => "was taken away".to_owned(),
    };
    Outcome::NotStarted { reason: format!("job {} {how} before it began", job.id) }
}

/// Submits a run again, or, if that was done often enough, takes what there is.
fn again(facts: &Facts<'_>, otherwise: impl FnOnce() -> (Outcome, Usage)) -> Verdict {
    if facts.returned < MOST_RETURNS {
        return Verdict::Return;
    }
    let (outcome, usage) = otherwise();
    Verdict::Ended(outcome, Box::new(usage))
}

/// What a job's figures say about one of its several runs: nothing, but for the limit it was killed at.
fn bounded(outcome: &Outcome, job: &AccountedJob) -> Usage {
    match outcome {
        Outcome::OutOfMemory { .. } => {
            let Usage { peak_memory, peak_memory_source, .. } = job.usage();
            Usage { peak_memory, peak_memory_source, ..Usage::default() }
        }
        _ => Usage::default(),
    }
}

/// Accounting's figures, with harp's own where it has none; those are named.
fn filled(accounted: Usage, own: &Usage) -> Usage {
    let mut usage = accounted;
    let mut names = Vec::new();
    macro_rules! fill {
        ($($field:ident),*) => {$(
            if usage.$field.is_none() && own.$field.is_some() {
                usage.$field = own.$field;
                names.push(stringify!($field).to_owned());
            }
        )*};
    }
    // accounting counts whole seconds, too coarse for a short job: harp's time is finer where both agree
    let is_coarse = |counted: &Seconds| {
        let agrees = |own: Seconds| (counted.0 - own.0).abs() < ROUNDED_BY;
        counted.0 < COARSE_BELOW && own.walltime.is_some_and(agrees)
    };
    usage.walltime = usage.walltime.filter(|counted| counted.0 > 0.0 && !is_coarse(counted));
    if usage.peak_memory.is_none() {
        usage.peak_memory_source = own.peak_memory_source;
    }
    // the two belong together: a program that never enters the kernel has 0 there, not nothing
    if usage.user_time.zip(usage.system_time).is_none_or(|(user, system)| user.0 + system.0 <= 0.0) {
        (usage.user_time, usage.system_time) = (None, None);
    }
    fill!(walltime, user_time, system_time, peak_memory, read, written, voluntary_switches);
    fill!(involuntary_switches, peak_gpu_memory, gpu_utilisation, energy_joules);
    usage.filled = names;
    usage
}

#[cfg(test)]
mod tests;
