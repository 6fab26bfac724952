//! Cases as people give them, and whether a model may answer them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use harp_core::{Allocation, Bytes, Configuration, OutOfRange, Parameters, Prediction, Scale, Value};
use harp_experiment::{Experiment, Surroundings};
use harp_learn::ModelFile;
use harp_report::text::{feature as feature_text, is_bytes};

use crate::failure::{Exit, Failure};
use crate::project::{self, Project};

/// The resources an allocation may name.
pub const RESOURCES: [&str; 9] =
    ["nodes", "tasks", "cores", "threads", "memory", "gpus", "gpu_kind", "node_type", "constraint"];

/// Reads `name=value` settings into features. `memory=4G` and `input_bytes=4G` are understood as bytes.
pub fn features(settings: &[(String, String)]) -> Result<BTreeMap<String, Value>, Failure> {
    let mut features = BTreeMap::new();
    for (name, text) in settings {
        let value = match Value::from_text(text) {
            Value::Text(text) if is_bytes(name) => {
                let bytes: Bytes =
                    text.parse().map_err(|error| Failure::bad_input(format!("{name}={text}: {error}")))?;
                Value::Integer(i64::try_from(bytes.0).unwrap_or(i64::MAX))
            }
            value => value,
        };
        if features.insert(name.clone(), value).is_some() {
            return Err(Failure::bad_input(format!("`{name}` is given twice")));
        }
    }
    Ok(features)
}

/// The experiment file a model file lies beside.
pub fn experiment_beside(model_file: &Path) -> PathBuf {
    let folder = model_file.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    folder.join(project::USUAL_FILE)
}

/// The same case with what its experiment can work out; where it cannot, as it is.
pub fn complete(project: &Project, case: &mut BTreeMap<String, Value>) {
    if let Ok(configuration) = configuration(project, case) {
        case.extend(configuration.values());
    }
}

/// The configuration of a case: resources apart from parameters, computed parameters and sizes added.
pub fn configuration(project: &Project, case: &BTreeMap<String, Value>) -> Result<Configuration, Failure> {
    let number = |name: &str| {
        let count = case.get(name).and_then(Value::as_number);
        count.filter(|count| (0.0..=f64::from(u32::MAX)).contains(count)).map(|count| count as u32)
    };
    let is_parameter =
        |name: &str| project.experiment.parameters.iter().any(|parameter| parameter.name == name);
    let word = |name: &str| case.get(name).map(ToString::to_string).filter(|_| !is_parameter(name));
    let allocation = Allocation {
        nodes: number("nodes"),
        tasks: number("tasks").filter(|_| !is_parameter("tasks")),
        cores: number("cores"),
        threads: number("threads"),
        memory: case.get("memory").and_then(Value::as_number).map(|bytes| Bytes(bytes as u64)),
        gpus: number("gpus"),
        gpu_kind: word("gpu_kind"),
        node_type: case.get("node_type").map(ToString::to_string),
        constraint: word("constraint"),
    };
    let resources: Vec<&str> = allocation.entries().into_iter().map(|(name, _)| name).collect();
    let parameters = case.iter().filter(|(name, _)| !resources.contains(&name.as_str()));
    let parameters = Parameters(parameters.map(|(name, value)| (name.clone(), value.clone())).collect());
    let known = Surroundings { file_size: &|path: &Path| project.file_size(path), ..Surroundings::default() };
    project
        .experiment
        .complete(Scale::Test, parameters, allocation, &known)
        .map_err(|diagnostic| Failure::of_diagnostics(&[diagnostic]))
}

/// Refuses names neither a model nor its experiment knows: most likely a slip of the pen. Every command
/// takes the same names.
pub fn check_names(
    model: &ModelFile,
    experiment: Option<&Experiment>,
    case: &BTreeMap<String, Value>,
) -> Result<(), Failure> {
    let mut known: BTreeSet<&str> =
        model.targets.iter().flat_map(|model| &model.features).map(|feature| feature.name.as_str()).collect();
    let parameters = experiment.into_iter().flat_map(|experiment| &experiment.parameters);
    known.extend(parameters.map(|parameter| parameter.name.as_str()));
    // What an experiment did not vary may be asked for all the same: it only fixes the allocation.
    let is_resource = |name: &str| experiment.is_some() && RESOURCES.contains(&name);
    match case.keys().find(|name| !known.contains(name.as_str()) && !is_resource(name)) {
        Some(unknown) => {
            let names: Vec<&str> = known.into_iter().collect();
            Err(Failure::bad_input(format!(
                "`{unknown}` is not a parameter or resource of {}",
                model.application
            ))
            .hint(format!("it has {}", names.join(", "))))
        }
        None => Ok(()),
    }
}

/// Refuses a case far outside what was measured, unless asked to answer anyway.
pub fn check_range(prediction: &Prediction, extrapolate: bool) -> Result<(), Failure> {
    if extrapolate {
        return Ok(());
    }
    match prediction.out_of_range.iter().find(|outside| outside.is_far()) {
        None => Ok(()),
        Some(outside) => Err(Failure::bad_input(describe(outside))
            .exit(Exit::OutsideRange)
            .hint("measure nearer to it, or allow it with --extrapolate")),
    }
}

/// What is outside, in words.
pub fn describe(outside: &OutOfRange) -> String {
    let feature = &outside.feature;
    let value =
        outside.value.as_ref().map_or_else(|| "nothing".to_owned(), |value| feature_text(feature, value));
    let number = |number: f64| feature_text(feature, &Value::Real(number));
    match outside.measured {
        Some((low, high)) if low == high => {
            format!("{feature}={value} was never measured, only {}", number(low))
        }
        Some((low, high)) => {
            format!("{feature}={value} is outside the measured {} to {}", number(low), number(high))
        }
        None => format!("{feature}={value} was never measured, only {}", outside.known.join(", ")),
    }
}
