//! The allocations a case may be given: every combination the experiment varied that its constraints
//! allow.

use std::collections::BTreeMap;

use harp_advise::Choices;
use harp_core::{Allocation, Bytes, Configuration, Value};
use harp_experiment::Experiment;

use crate::cases;
use crate::failure::Failure;
use crate::project::Project;

/// Every allocation the constraints allow, at least one; resources given with the case are fixed.
pub fn of_case(project: &Project, case: &BTreeMap<String, Value>) -> Result<Vec<Allocation>, Failure> {
    let mut allowed = Vec::new();
    for allocation in choices(&project.experiment, case).allocations() {
        let configuration = configuration(project, case, &allocation)?;
        let admitted = project.experiment.admits(&configuration);
        if admitted.map_err(|diagnostic| Failure::of_diagnostics(&[diagnostic]))? {
            allowed.push(allocation);
        }
    }
    if allowed.is_empty() {
        return Err(Failure::bad_input(
            "the constraints allow none of the experiment's allocations for this case",
        )
        .hint(format!("look at `constraints` and [allocation] in {}", project.file.display())));
    }
    Ok(allowed)
}

/// The case with an allocation's resources in place of its own.
pub fn configuration(
    project: &Project,
    case: &BTreeMap<String, Value>,
    allocation: &Allocation,
) -> Result<Configuration, Failure> {
    let mut case = case.clone();
    case.extend(allocation.entries().into_iter().map(|(name, value)| (name.to_owned(), value)));
    cases::configuration(project, &case)
}

/// Every value of each resource the experiment names; a resource given with the case is fixed.
fn choices(experiment: &Experiment, case: &BTreeMap<String, Value>) -> Choices {
    let mut choices = Choices::default();
    for resources in experiment.resources.values() {
        choices.nodes.extend(&resources.nodes);
        choices.tasks.extend(&resources.tasks);
        choices.cores.extend(&resources.cores);
        choices.threads.extend(&resources.threads);
        choices.gpus.extend(&resources.gpus);
        choices.gpu_kinds.extend(resources.gpu_kind.iter().cloned());
        choices.node_types.extend(resources.node_type.iter().cloned());
        choices.constraints.extend(resources.constraint.iter().cloned());
    }
    // A parameter may be called like a resource that came later.
    let given = |name: &str| case.get(name).filter(|_| !is_young(name) || !is_parameter(experiment, name));
    let fixed = |name: &str| given(name).and_then(Value::as_number).map(|number| number as u32);
    for (name, values) in [
        ("nodes", &mut choices.nodes),
        ("tasks", &mut choices.tasks),
        ("cores", &mut choices.cores),
        ("threads", &mut choices.threads),
        ("gpus", &mut choices.gpus),
    ] {
        if let Some(value) = fixed(name) {
            *values = [value].into();
        }
    }
    // A measured memory limit is no choice: what to ask for follows from the predicted peak.
    let memory = case.get("memory").and_then(Value::as_number);
    choices.memory = memory.map(|bytes| Bytes(bytes as u64)).into_iter().collect();
    for (name, values) in [
        ("node_type", &mut choices.node_types),
        ("gpu_kind", &mut choices.gpu_kinds),
        ("constraint", &mut choices.constraints),
    ] {
        if let Some(value) = given(name) {
            *values = [value.to_string()].into();
        }
    }
    choices
}

/// Resources that were none when the first experiments were written.
fn is_young(name: &str) -> bool {
    ["tasks", "gpu_kind", "constraint"].contains(&name)
}

fn is_parameter(experiment: &Experiment, name: &str) -> bool {
    experiment.parameters.iter().any(|parameter| parameter.name == name)
}
