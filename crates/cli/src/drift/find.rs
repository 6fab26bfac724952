//! Where runs began to differ.

use std::collections::BTreeMap;

use harp_core::{Run, Scale, Target};
use harp_history::Recorded;
use harp_learn::{Cause, Learned, Mixed, ModelFile, TargetModel, change, ratio_since, shift};

use super::contents::{Switch, switch};
use super::{Drift, Newer};
use crate::fingerprint;
use crate::machines::Machines;
use crate::project::Project;

/// Half the width of a 90 % interval, in standard deviations.
const HALF_OF_90: f64 = 1.645;
/// So many runs of a changed program that agree with the model say that the change does not matter.
const ENOUGH: usize = 3;

/// Whether runs made after a model was built disagree with it, its program is not there any more, or it
/// learned from runs that differ.
pub fn in_model(project: &Project, model: &ModelFile, unseen: &[Recorded]) -> Option<Drift> {
    let learned = model.learned.as_ref()?;
    let newer: Vec<&Recorded> = unseen.iter().filter(|one| one.run.started > learned.until).collect();
    let machines = Machines::known_to(project, model);
    // A test case is larger than what was learned from: being wrong about it is no drift.
    let judged: Vec<(&Recorded, f64, f64)> = time_model(model)
        .into_iter()
        .flat_map(|model| newer.iter().map(move |one| (model, *one)))
        .filter_map(|(model, one)| judged(model, &machines, &one.run).map(|(r, s)| (one, r, s)))
        .collect();
    in_newer(project, learned, &newer, &judged)
        .or_else(|| program_is_gone(project, learned, &newer, &judged))
        .or_else(|| learned.mixed.map(Drift::in_learned))
}

/// Whether runs disagree with the model's predictions of them.
fn in_newer(
    project: &Project,
    learned: &Learned,
    newer: &[&Recorded],
    judged: &[(&Recorded, f64, f64)],
) -> Option<Drift> {
    let residuals: Vec<(f64, f64)> =
        judged.iter().map(|(_, residual, spread)| (*residual, *spread)).collect();
    let found = shift(&residuals)?;
    let since: Vec<&Recorded> = judged[found.first..].iter().map(|(one, ..)| *one).collect();
    let cause = cause(&since, &learned.programs, &learned.hosts);
    let first = *since.first()?;
    let mut told = Mixed { since: first.run.started, runs: since.len(), ratio: Some(found.ratio), cause };
    let is_new = |one: &Recorded| is_other(one.program.as_deref(), &learned.programs);
    // Where fingerprints say when the program changed, nobody needs to guess.
    let began = (0..judged.len())
        .filter(|&at| is_new(judged[at].0) && (at == 0 || judged[at - 1].0.program != judged[at].0.program));
    let began = began.min_by_key(|at| at.abs_diff(found.first)).filter(|_| cause == Cause::Program);
    if let Some(at) = began {
        let of_it = newer.iter().filter(|one| one.program == judged[at].0.program);
        let after = at.checked_sub(1).map_or(learned.until, |before| judged[before].0.run.started);
        let starts = of_it.map(|one| one.run.started).filter(|started| *started > after);
        told.since = starts.min().unwrap_or(told.since);
        told.runs = judged.len() - at;
        told.ratio = middle(residuals[at..].iter().map(|run| run.0)).map(f64::exp);
    }
    let now = fingerprint::of(project);
    let program_changed_later =
        since.iter().any(|one| is_new(one)) || is_other(Some(&now), &learned.programs);
    let newer = Newer { found: told, host: Some(first.host.name.clone()), program_changed_later };
    Some(Drift::since(&newer, "the model says, beyond its 90 % interval"))
}

/// Whether a program is none of some; without any, nobody knows.
fn is_other(program: Option<&str>, known: &[String]) -> bool {
    !known.is_empty() && program.is_some_and(|program| known.iter().all(|known| known != program))
}

/// Whether no run of a history was made with the program as it is now, though it is known with which they were.
pub fn is_of_another_program(project: &Project, recorded: &[Recorded]) -> bool {
    let known: Vec<String> = recorded.iter().filter_map(|one| one.program.clone()).collect();
    is_other(Some(&fingerprint::of(project)), &known)
}

/// Whether the program as it is now is one the model knows nothing of.
fn program_is_gone(
    project: &Project,
    learned: &Learned,
    newer: &[&Recorded],
    judged: &[(&Recorded, f64, f64)],
) -> Option<Drift> {
    let now = fingerprint::of(project);
    let is_now = |one: &Recorded| one.program.as_ref() == Some(&now);
    let agree = judged.iter().filter(|(one, ..)| is_now(one)).count();
    if !is_other(Some(&now), &learned.programs) || agree >= ENOUGH {
        return None;
    }
    let starts: Vec<_> = newer.iter().filter(|one| is_now(one)).map(|one| one.run.started).collect();
    Some(Drift::of_program(starts.iter().min().map(|first| (*first, starts.len()))))
}

/// Whether runs that a model learned from changed at some moment: where the history says that the program
/// did, there; else, in time, where ranks show it.
pub fn in_runs(project: &Project, model: &TargetModel, recorded: &[Recorded]) -> Option<Drift> {
    let seen = residuals(project, model, recorded);
    match switch(recorded) {
        Some(found) => Some(Drift::since(&of_programs(found, &seen), "the runs before them")),
        None => by_ranks(project, &seen),
    }
}

/// Runs since the program changed, and by how much that shows in runs of the same scales.
fn of_programs(found: Switch, seen: &[(&Recorded, f64)]) -> Newer {
    let is_before = |one: &Recorded| one.run.started < found.since;
    let sides = |scale: Scale, before: bool| {
        seen.iter().any(|(one, _)| one.run.configuration.scale == scale && is_before(one) == before)
    };
    let both: Vec<Scale> =
        Scale::ALL.into_iter().filter(|scale| sides(*scale, true) && sides(*scale, false)).collect();
    let compared = seen.iter().filter(|(one, _)| both.contains(&one.run.configuration.scale));
    let (before, since): (Vec<_>, Vec<_>) = compared.partition(|(one, _)| is_before(one));
    let figures = |side: Vec<&(&Recorded, f64)>| side.into_iter().map(|one| one.1).collect::<Vec<f64>>();
    let ratio = ratio_since(&figures(before), &figures(since));
    let found = Mixed { since: found.since, runs: found.runs, ratio, cause: Cause::Program };
    Newer { found, host: None, program_changed_later: false }
}

/// A change where nothing says when something happened.
fn by_ranks(project: &Project, seen: &[(&Recorded, f64)]) -> Option<Drift> {
    let figures: Vec<f64> = seen.iter().map(|one| one.1).collect();
    let found = change(&figures)?;
    let (before, since) = seen.split_at(found.first);
    let programs: Vec<String> = before.iter().filter_map(|(one, _)| one.program.clone()).collect();
    let hosts: Vec<String> = before.iter().map(|(one, _)| one.host.name.clone()).collect();
    let since: Vec<&Recorded> = since.iter().map(|(one, _)| *one).collect();
    let first = *since.first()?;
    let cause = cause(&since, &programs, &hosts);
    let ratio = Some(found.ratio);
    let program_changed_later = is_other(Some(&fingerprint::of(project)), &programs);
    let found = Mixed { since: first.run.started, runs: since.len(), ratio, cause };
    let newer = Newer { found, host: Some(first.host.name.clone()), program_changed_later };
    Some(Drift::since(&newer, "the runs before them"))
}

/// What runs took beside what a model of time says of them, in the order of time. Scales run one after the
/// other: what a model has against one of them is no change in time.
fn residuals<'a>(
    project: &Project,
    model: &TargetModel,
    recorded: &'a [Recorded],
) -> Vec<(&'a Recorded, f64)> {
    if !matches!(model.target, Target::Walltime | Target::CpuTime) {
        return Vec::new();
    }
    let machines = Machines::telling(project, recorded);
    let mut seen: Vec<(&Recorded, f64)> = recorded
        .iter()
        .filter_map(|one| judged(model, &machines, &one.run).map(|(residual, _)| (one, residual)))
        .collect();
    seen.sort_by_key(|(recorded, _)| recorded.run.started);
    let of_scale = |scale: Scale| -> f64 {
        let own = seen.iter().filter(|(one, _)| one.run.configuration.scale == scale);
        middle(own.map(|(_, residual)| *residual)).unwrap_or(0.0)
    };
    let middles: BTreeMap<Scale, f64> =
        Scale::ALL.into_iter().map(|scale| (scale, of_scale(scale))).collect();
    seen.iter_mut().for_each(|one| one.1 -= middles[&one.0.run.configuration.scale]);
    seen
}

/// The one in the middle.
fn middle(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// The model of time, which every run says something of.
fn time_model(model: &ModelFile) -> Option<&TargetModel> {
    model.target(&Target::Walltime).or_else(|| model.target(&Target::CpuTime))
}

/// ln(truth/estimate) of a completed run inside what was measured, and the spread its prediction has.
fn judged(model: &TargetModel, machines: &Machines, run: &Run) -> Option<(f64, f64)> {
    if !run.outcome.is_completed() {
        return None;
    }
    let truth = match model.target {
        Target::CpuTime => run.usage.cpu_time()?,
        _ => run.usage.walltime?,
    };
    let mut features = run.configuration.features();
    features.extend(machines.further(run));
    let prediction = model.predict(&features).ok()?;
    if prediction.extrapolates() || truth.0 <= 0.0 {
        return None;
    }
    let (low, high) = prediction.distribution.interval(0.9);
    Some(((truth.0 / prediction.estimate).ln(), (high / low).ln() / (2.0 * HALF_OF_90)))
}

/// What most of the runs since have that none had before.
fn cause(since: &[&Recorded], programs: &[String], hosts: &[String]) -> Cause {
    let most = |is_new: &dyn Fn(&Recorded) -> bool| {
        2 * since.iter().filter(|recorded| is_new(recorded)).count() > since.len()
    };
    if most(&|one: &Recorded| is_other(one.program.as_deref(), programs)) {
        return Cause::Program;
    }
    if most(&|one: &Recorded| !hosts.contains(&one.host.name)) { Cause::Machine } else { Cause::Unknown }
}
