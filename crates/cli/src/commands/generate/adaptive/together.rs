//! Runs that are chosen together: each as if those before it had been made.

use harp_core::Seconds;
use harp_experiment::PlannedRun;

use super::answer::{Choice, Ended};
use super::known::{Allowed, Known};
use super::{Chooser, Left, Next, RunKey};
use crate::arguments::{Adaptive, Generate, Where};
use crate::failure::Failure;

use std::collections::BTreeSet;

/// How many jobs wait side by side, unless told otherwise: enough that a queue is worth its wait, few
/// enough that each choice still learns from many before it.
const JOBS_TOGETHER: u32 = 4;

/// Each of some runs that share a budget is given at least so many times what the longest is expected to
/// take: it is ended at its part of the budget.
const ROOM: f64 = 2.0;

/// Runs to be made now.
pub(super) struct Round {
    pub(super) chosen: Vec<(PlannedRun, Choice)>,
    /// When each of them is ended, so that all together keep to the budget.
    pub(super) limit: Option<Seconds>,
}

/// How many runs are chosen together.
pub(super) fn how_many(arguments: &Generate) -> usize {
    let usual = if arguments.slurm.on == Where::Slurm { JOBS_TOGETHER } else { 1 };
    arguments.adaptive.together.unwrap_or(usual) as usize
}

/// Chooses up to so many runs; none, and why, when there is a reason to stop.
pub(super) fn choose(
    chooser: &mut Chooser<'_>,
    known: &Known,
    arguments: &Generate,
    tried: &mut BTreeSet<RunKey>,
    number: usize,
) -> Result<Result<Round, (Ended, String)>, Failure> {
    let settings: &Adaptive = &arguments.adaptive;
    let budget = Left::of(settings, known, &[]).time;
    let mut runs = Vec::new();
    let mut choices: Vec<Choice> = Vec::new();
    while choices.len() < how_many(arguments) {
        let left = Left::of(settings, known, &choices);
        let allowed = Allowed {
            scales: &arguments.scale,
            retry_failed: arguments.retry_failed,
            time: left.time,
            tried,
        };
        match chooser.next(known, &choices, &allowed, left)? {
            Next::End(ended, reason) if choices.is_empty() => return Ok(Err((ended, reason))),
            Next::End(..) => break,
            Next::Run(_, choice) if !has_room(budget, &choices, &choice) => break,
            Next::Run(run, mut choice) => {
                choice.number = number + choices.len();
                tried.insert((run.configuration.key(), run.repetition));
                runs.push(run);
                choices.push(*choice);
            }
        }
    }
    let limit = budget.map(|budget| Seconds(budget.0 / choices.len() as f64));
    Ok(Ok(Round { chosen: runs.into_iter().zip(choices).collect(), limit }))
}

/// Whether another run may share what is left of the budget. The first may have all of it.
fn has_room(budget: Option<Seconds>, choices: &[Choice], next: &Choice) -> bool {
    let Some(budget) = budget.filter(|_| !choices.is_empty()) else { return true };
    let expected = choices.iter().chain([next]).map(|choice| choice.expected_seconds);
    let longest = expected.reduce(|longest, seconds| Some(longest?.max(seconds?))).flatten();
    longest.is_some_and(|longest| ROOM * longest * (choices.len() + 1) as f64 <= budget.0)
}
