//! Whether the values of a case make sense at all: no amount of extrapolation answers `threads=0`.

use std::collections::BTreeMap;

use harp_core::Value;
use harp_experiment::{Domain, Experiment, Kind, Parameter};
use harp_learn::{Measured, ModelFile};

use crate::cases;
use crate::failure::Failure;
use crate::project::Project;

/// Refuses values that the program or a machine cannot be given.
pub fn check(
    model: &ModelFile,
    project: Option<&Project>,
    case: &BTreeMap<String, Value>,
) -> Result<(), Failure> {
    for (name, value) in case {
        let parameter = project.and_then(|project| parameter(&project.experiment, name));
        let problem = match parameter {
            Some(parameter) => check_parameter(parameter, value),
            None if cases::RESOURCES.contains(&name.as_str()) => check_resource(name, value),
            None => check_feature(model, name, value),
        };
        if let Some(problem) = problem {
            return Err(Failure::bad_input(format!("{name}={value}: {problem}")));
        }
    }
    match project {
        Some(project) => check_constraints(project, case),
        None => Ok(()),
    }
}

fn parameter<'a>(experiment: &'a Experiment, name: &str) -> Option<&'a Parameter> {
    experiment.parameters.iter().find(|parameter| parameter.name == name)
}

fn check_parameter(parameter: &Parameter, value: &Value) -> Option<String> {
    let number = value.as_number().filter(|_| !matches!(value, Value::Boolean(_)));
    let name = &parameter.name;
    match (parameter.kind, number) {
        (Kind::Integer, Some(number)) if number.fract() == 0.0 => {}
        (Kind::Integer, _) => return Some(format!("`{name}` is a whole number")),
        (Kind::Real, Some(_)) => {}
        (Kind::Real, None) => return Some(format!("`{name}` is a number")),
        (Kind::Boolean, _) if !matches!(value, Value::Boolean(_)) => {
            return Some(format!("`{name}` is true or false"));
        }
        _ => return None,
    }
    let smallest = parameter.values.values().map(smallest).fold(f64::INFINITY, f64::min);
    (smallest >= 0.0 && smallest.is_finite() && number.is_some_and(|number| number < 0.0))
        .then(|| format!("`{name}` is nowhere below 0"))
}

/// The smallest number of some values; without numbers, none.
fn smallest(domain: &Domain) -> f64 {
    match domain {
        Domain::Range(range) => range.from,
        Domain::Levels(levels) => {
            levels.iter().map(|level| level.as_number().unwrap_or(f64::NAN)).fold(f64::INFINITY, f64::min)
        }
    }
}

fn check_resource(name: &str, value: &Value) -> Option<String> {
    let number = value.as_number();
    let least = if name == "gpus" { 0.0 } else { 1.0 };
    match name {
        "node_type" | "gpu_kind" | "constraint" => None,
        "memory" if number.is_none_or(|bytes| bytes < 1.0) => {
            Some("memory is a size above 0, such as 4G".to_owned())
        }
        "memory" => None,
        _ if number.is_none_or(|count| count.fract() != 0.0) => Some(format!("`{name}` is a whole number")),
        _ if number.is_some_and(|count| count < least) => Some(format!("a job has at least {least} {name}")),
        _ => None,
    }
}

/// What only the model knows: a number that was never negative, a feature that is a number.
fn check_feature(model: &ModelFile, name: &str, value: &Value) -> Option<String> {
    let features = model.targets.iter().flat_map(|model| &model.features);
    let measured = features.filter(|feature| feature.name == name).map(|feature| &feature.measured).next()?;
    let Measured::Numbers { smallest, .. } = measured else { return None };
    match value.as_number() {
        None => Some(format!("`{name}` is a number")),
        Some(number) if number < 0.0 && *smallest >= 0.0 => Some(format!("`{name}` was never below 0")),
        Some(_) => None,
    }
}

fn check_constraints(project: &Project, case: &BTreeMap<String, Value>) -> Result<(), Failure> {
    let Ok(configuration) = cases::configuration(project, case) else { return Ok(()) };
    match project.experiment.broken_constraint(&configuration) {
        None => Ok(()),
        Some(constraint) => Err(Failure::bad_input(format!(
            "{configuration} breaks the constraint `{}`",
            constraint.expression
        ))
        .hint(format!("it stands at {}:{}", project.file.display(), constraint.position))),
    }
}
