//! The whole check, from text to experiment.

use std::collections::BTreeSet;

use harp_core::Scale;

use super::names::Names;
use super::{design, expressions, formulas, metrics, parameters, program};
use crate::spec::{self, Sink, Spec};
use crate::{Diagnostic, Experiment, Severity};

/// An experiment that passed, and what is odd about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The experiment.
    pub experiment: Experiment,
    /// What likely was not meant, though it can be run.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks an experiment file. `file_name` is only used in messages. The error holds
/// everything that is wrong (and odd), in the order of the file.
pub fn parse(file_name: &str, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    let mut sink = Sink::new(file_name, text);
    let experiment = spec::read(&mut sink).and_then(|spec| check(&spec, &mut sink));
    let found = sink.finish();
    match experiment {
        Some(experiment) if found.iter().all(|one| one.severity == Severity::Warning) => {
            Ok(Checked { experiment, warnings: found })
        }
        _ => Err(found),
    }
}

/// Checks a specification; `None` only if something was reported.
fn check(spec: &Spec, sink: &mut Sink<'_>) -> Option<Experiment> {
    let scales = scales(spec);
    let name = check_name(spec, sink);
    let resources = design::resources(spec, &scales);
    let mut names = Names::new(spec, &scales, &resources, sink);
    let parameters = parameters::check(spec, &scales, &mut names, sink);
    let program = program::check(spec, &mut names, sink);
    let metrics = metrics::check(spec, &mut names, sink);
    let constraints = expressions::constraints(spec, &mut names, sink);
    let computation_order = expressions::computation_order(&parameters, spec, sink);
    let designs = design::designs(spec, &scales, &parameters, &resources, sink);
    let schedule = design::schedule(spec);
    let mut learn = design::learn(spec, &metrics, sink);
    learn.formulas = formulas::check(spec, &learn.targets, &metrics, &mut names, sink);
    names.report_unused(spec, &resources, sink);
    let mut program = program?;
    program::settle_directory(&mut program, &metrics, spec, sink);
    let places = program::places_of(spec, &program, sink);
    Some(Experiment {
        name: name?,
        file: sink.file.to_owned(),
        program,
        metrics,
        parameters,
        constraints,
        resources,
        designs,
        schedule,
        learn,
        computation_order,
        places,
    })
}

/// The scales anything is said about; scaled down if nothing is.
fn scales(spec: &Spec) -> BTreeSet<Scale> {
    let mut scales: BTreeSet<Scale> =
        spec.parameters.iter().flat_map(|(_, parameter)| parameter.scales.keys().copied()).collect();
    scales.extend(spec.scale_allocations.keys());
    scales.extend(spec.scale_designs.keys());
    if scales.is_empty() {
        scales.insert(Scale::Sd);
    }
    scales
}

fn check_name(spec: &Spec, sink: &mut Sink<'_>) -> Option<String> {
    let Some(name) = &spec.name else {
        if !spec.name_reported {
            sink.error(0, "the experiment has no name", "begin the file with  name = \"my-program\"");
        }
        return None;
    };
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if name.value.is_empty() || !name.value.chars().all(plain) || name.value.starts_with('.') {
        sink.error(
            name.start(),
            format!("the name {:?} cannot be used for files", name.value),
            "use letters, digits, `-`, `_` and `.`",
        );
        return None;
    }
    Some(name.value.clone())
}
