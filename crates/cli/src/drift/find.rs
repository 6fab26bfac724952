//! Where runs began to differ.

use std::collections::BTreeMap;

use harp_core::{Run, Scale, Target};
use harp_history::Recorded;
use harp_learn::{Learned, ModelFile, TargetModel, change, shift};

use super::{Cause, Drift};
use crate::fingerprint;
use crate::machines::Machines;
use crate::project::Project;

/// Half the width of a 90 % interval, in standard deviations.
const HALF_OF_90: f64 = 1.645;
/// So many runs of a changed program that agree with the model say that the change does not matter.
const ENOUGH: usize = 3;

/// Whether runs made after a model was built disagree with it, or its program is not there any more.
pub fn in_model(project: &Project, model: &ModelFile, unseen: &[Recorded]) -> Option<Drift> {
    let learned = model.learned.as_ref()?;
    let of_time = time_model(model)?;
    let machines = Machines::all(project);
    // A test case is larger than what was learned from: being wrong about it is no drift.
    let newer = unseen.iter().filter(|recorded| recorded.run.started > learned.until);
    let newer: Vec<(&Recorded, f64, f64)> = newer
        .filter_map(|recorded| judged(of_time, &machines, &recorded.run).map(|(r, s)| (recorded, r, s)))
        .collect();
    let residuals: Vec<(f64, f64)> = newer.iter().map(|(_, residual, spread)| (*residual, *spread)).collect();
    if let Some(found) = shift(&residuals) {
        let since: Vec<&Recorded> = newer[found.first..].iter().map(|(recorded, ..)| *recorded).collect();
        let cause = cause(&since, &learned.programs, &learned.hosts);
        let against = "the model says, beyond its 90 % interval";
        return Some(Drift::since(since.first()?, found.ratio, since.len(), cause, against));
    }
    program_is_gone(project, learned, &newer).then(Drift::of_program)
}

/// Whether the program as it is now is one the model knows nothing of.
fn program_is_gone(project: &Project, learned: &Learned, newer: &[(&Recorded, f64, f64)]) -> bool {
    let now = fingerprint::of(project);
    let of_now = newer.iter().filter(|(recorded, ..)| recorded.program.as_ref() == Some(&now)).count();
    !learned.programs.is_empty() && !learned.programs.contains(&now) && of_now < ENOUGH
}

/// Whether runs changed at some moment, by a model that learned from all of them.
pub fn in_runs(project: &Project, model: &TargetModel, recorded: &[Recorded]) -> Option<Drift> {
    if !matches!(model.target, Target::Walltime | Target::CpuTime) {
        return None;
    }
    let machines = Machines::all(project);
    let mut seen: Vec<(&Recorded, f64)> = recorded
        .iter()
        .filter_map(|one| judged(model, &machines, &one.run).map(|(residual, _)| (one, residual)))
        .collect();
    seen.sort_by_key(|(recorded, _)| recorded.run.started);
    // Scales run one after the other: what a model has against one of them is no change in time.
    let of_scale = |scale: Scale| -> f64 {
        let mut own: Vec<f64> = seen
            .iter()
            .filter(|(recorded, _)| recorded.run.configuration.scale == scale)
            .map(|(_, residual)| *residual)
            .collect();
        own.sort_by(f64::total_cmp);
        own.get(own.len() / 2).copied().unwrap_or(0.0)
    };
    let middles: BTreeMap<Scale, f64> =
        Scale::ALL.into_iter().map(|scale| (scale, of_scale(scale))).collect();
    let residual = |one: &(&Recorded, f64)| one.1 - middles[&one.0.run.configuration.scale];
    let residuals: Vec<f64> = seen.iter().map(residual).collect();
    let found = change(&residuals)?;
    let (before, since) = seen.split_at(found.first);
    let programs: Vec<String> = before.iter().filter_map(|(one, _)| one.program.clone()).collect();
    let hosts: Vec<String> = before.iter().map(|(one, _)| one.host.name.clone()).collect();
    let since: Vec<&Recorded> = since.iter().map(|(one, _)| *one).collect();
    let cause = cause(&since, &programs, &hosts);
    Some(Drift::since(since.first()?, found.ratio, since.len(), cause, "the runs before them"))
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
    let is_new_program = |one: &Recorded| one.program.as_ref().is_some_and(|name| !programs.contains(name));
    if !programs.is_empty() && most(&is_new_program) {
        return Cause::Program;
    }
    if most(&|one: &Recorded| !hosts.contains(&one.host.name)) { Cause::Machine } else { Cause::Unknown }
}
