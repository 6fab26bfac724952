//! The cases all this is about: what is to be predicted, or given the best allocation.

use std::collections::BTreeMap;

use harp_core::{Configuration, OutOfRange, Scale, Value};
use harp_experiment::{Domain, Kind};
use harp_report::text::feature as feature_text;

use crate::allocations;
use crate::cases::{self, RESOURCES};
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sweep::{self, Knowledge};

/// The configurations that are to be predicted: the case given on every allocation that is varied, or
/// the experiment's test cases.
pub(super) fn cases(
    project: &Project,
    knowledge: &Knowledge,
    given: &[(String, String)],
) -> Result<Vec<Configuration>, Failure> {
    if !given.is_empty() {
        return of_case(project, &features(project, given)?);
    }
    if !project.experiment.scales().contains(&Scale::Test) {
        let none = format!("{} has no `test` values: nothing is to be predicted", project.file.display());
        return Err(Failure::bad_input(none).hint("name a case with --for NAME=VALUE, or add test values"));
    }
    let mut cases: Vec<Configuration> = Vec::new();
    for run in sweep::planned(project, &[Scale::Test], knowledge)?.runs {
        if !cases.contains(&run.configuration) {
            cases.push(run.configuration);
        }
    }
    Ok(cases)
}

/// Refuses cases so far from everything the experiment runs that `harp predict` would refuse them, too. Where they
/// are run themselves, its test cases count as well.
pub(super) fn within_reach(project: &Project, cases: &[Configuration], are_run: bool) -> Result<(), Failure> {
    let is_number = |kind: Kind| matches!(kind, Kind::Integer | Kind::Real);
    for parameter in project.experiment.parameters.iter().filter(|parameter| is_number(parameter.kind)) {
        let domains = parameter.values.iter().filter(|(scale, _)| are_run || **scale != Scale::Test);
        let ends: Vec<f64> = domains.flat_map(|(_, domain)| numbers(domain)).collect();
        let measured = (
            ends.iter().copied().fold(f64::INFINITY, f64::min),
            ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let asked = cases.iter().filter_map(|case| case.parameters.get(&parameter.name));
        for value in asked.filter(|value| value.as_number().is_some() && !ends.is_empty()) {
            let outside = OutOfRange {
                feature: parameter.name.clone(),
                value: Some(value.clone()),
                measured: Some(measured),
                known: Vec::new(),
            };
            if outside.is_far() {
                let of = [measured.0, measured.1].map(|end| feature_text(&parameter.name, &Value::Real(end)));
                let side = match value.as_number() {
                    Some(number) if number < measured.0 => "smaller",
                    _ => "larger",
                };
                let value = feature_text(&parameter.name, value);
                let far = format!(
                    "{}={value} is far outside the {} to {} of the {}",
                    parameter.name,
                    of[0],
                    of[1],
                    if are_run { "experiment" } else { "small and full-scale runs" }
                );
                return Err(Failure::bad_input(far).exit(Exit::OutsideRange).hint(format!(
                    "name a case nearer to them, or give {side} values as fs under [parameters.{}]",
                    parameter.name
                )));
            }
        }
    }
    Ok(())
}

fn in_words(kind: Kind) -> &'static str {
    if kind == Kind::Integer { "a whole number" } else { "a number" }
}

/// The numbers a parameter's values are or lie between.
fn numbers(domain: &Domain) -> Vec<f64> {
    match domain {
        Domain::Levels(levels) => levels.iter().filter_map(Value::as_number).collect(),
        Domain::Range(range) => vec![range.from, range.to],
    }
}

/// The one case whose best allocation is looked for, on every allocation that is varied, at the largest
/// scale that is learned from: these are runs of full size.
pub(super) fn allocations_of_one_case(
    project: &Project,
    knowledge: &Knowledge,
    given: &[(String, String)],
) -> Result<Vec<Configuration>, Failure> {
    let all = cases(project, knowledge, given)?;
    let mut different: Vec<&harp_core::Parameters> = Vec::new();
    for case in &all {
        if !different.contains(&&case.parameters) {
            different.push(&case.parameters);
        }
    }
    if different.len() > 1 {
        let first: Vec<String> = different.iter().take(3).map(|parameters| parameters.to_string()).collect();
        let many = format!("there are {} test cases, and a best allocation is of one", different.len());
        return Err(Failure::bad_input(many)
            .hint(format!("name it with --for, for example --for {}", first.join(" or --for "))));
    }
    let scales = project.experiment.scales();
    let scale = if scales.contains(&Scale::Fs) { Scale::Fs } else { Scale::Sd };
    Ok(all.into_iter().map(|case| Configuration { scale, ..case }).collect())
}

fn of_case(project: &Project, case: &BTreeMap<String, Value>) -> Result<Vec<Configuration>, Failure> {
    let every = allocations::of_case(project, case)?;
    every.iter().map(|allocation| allocations::configuration(project, case, allocation)).collect()
}

/// The case as given, checked: every name known, every parameter there.
fn features(project: &Project, given: &[(String, String)]) -> Result<BTreeMap<String, Value>, Failure> {
    let case = cases::features(given)?;
    let parameters = &project.experiment.parameters;
    let is_size = |name: &str| {
        name.strip_suffix("_bytes").is_some_and(|file| parameters.iter().any(|known| known.name == file))
    };
    let is_known = |name: &str| {
        parameters.iter().any(|known| known.name == name) || RESOURCES.contains(&name) || is_size(name)
    };
    if let Some(unknown) = case.keys().find(|name| !is_known(name)) {
        let names: Vec<&str> = parameters.iter().map(|known| known.name.as_str()).collect();
        let what = format!("`{unknown}` is not a parameter or resource of {}", project.experiment.name);
        return Err(Failure::bad_input(what).hint(format!("it has {}", names.join(", "))));
    }
    for parameter in parameters {
        let Some(value) = case.get(&parameter.name) else { continue };
        let fits = match parameter.kind {
            Kind::Integer => value.as_number().is_some_and(|number| number.fract() == 0.0),
            Kind::Real => value.as_number().is_some(),
            Kind::Text | Kind::Boolean | Kind::File => true,
        };
        if !fits {
            let what = format!("`{}` is {}, not `{value}`", parameter.name, in_words(parameter.kind));
            return Err(Failure::bad_input(what).hint(format!("give {}=NUMBER after --for", parameter.name)));
        }
    }
    let is_said = |name: &str| case.contains_key(name) || case.contains_key(&format!("{name}_bytes"));
    let missing = parameters.iter().find(|known| known.expression.is_none() && !is_said(&known.name));
    match missing {
        Some(missing) => Err(Failure::bad_input(format!("the case does not say `{}`", missing.name))
            .hint(format!("add {}=VALUE after --for", missing.name))),
        None => Ok(case),
    }
}
