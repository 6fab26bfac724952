//! The space a design moves in: one dimension for each thing that varies, and the way from a point
//! of it to a configuration.

use std::cell::RefCell;

use harp_core::{Allocation, Bytes, Configuration, Parameters, Scale, Value};

use super::Surroundings;
use crate::check::RESOURCES;
use crate::experiment::Resources;
use crate::{Diagnostic, Domain, Experiment, Parameter, Position, Severity};

/// All combinations of one scale.
pub(super) struct Space<'a> {
    experiment: &'a Experiment,
    scale: Scale,
    known: &'a Surroundings<'a>,
    /// Names and domains: parameters as declared, then resources.
    dimensions: Vec<(&'a str, Domain)>,
    /// How many combinations each constraint excluded.
    excluded: RefCell<Vec<u64>>,
}

impl<'a> Space<'a> {
    pub(super) fn new(experiment: &'a Experiment, scale: Scale, known: &'a Surroundings<'a>) -> Space<'a> {
        let parameters = experiment.parameters.iter().filter_map(|parameter| {
            parameter.values.get(&scale).map(|domain| (parameter.name.as_str(), domain.clone()))
        });
        let resources = experiment.resources.get(&scale).map(resource_domains).unwrap_or_default();
        Space {
            experiment,
            scale,
            known,
            dimensions: parameters.chain(resources).collect(),
            excluded: RefCell::new(vec![0; experiment.constraints.len()]),
        }
    }

    /// How many things vary.
    pub(super) fn varied(&self) -> usize {
        self.dimensions.iter().filter(|(_, domain)| varies(domain)).count()
    }

    /// How many combinations a grid has, before constraints.
    pub(super) fn grid_size(&self) -> u64 {
        self.dimensions.iter().fold(1, |size: u64, (_, domain)| {
            size.saturating_mul(match domain {
                Domain::Levels(levels) => levels.len() as u64,
                Domain::Range(range) => range.grid().len() as u64,
            })
        })
    }

    /// How many combinations there are, if they can be counted.
    pub(super) fn size(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(1u64, |size, (_, domain)| {
            Some(size.saturating_mul(match domain {
                Domain::Levels(levels) => levels.len() as u64,
                Domain::Range(range) => range.size()?,
            }))
        })
    }

    /// The values of each dimension: those a grid takes or, with `every`, all there are.
    pub(super) fn levels(&self, every: bool) -> Vec<Vec<Value>> {
        let levels = |domain: &Domain| match domain {
            Domain::Levels(levels) => levels.clone(),
            Domain::Range(range) if every && range.integer => {
                (range.from as i64..=range.to as i64).map(Value::Integer).collect()
            }
            Domain::Range(range) => range.grid(),
        };
        self.dimensions.iter().map(|(_, domain)| levels(domain)).collect()
    }

    /// The combination at a point of the unit cube that has a coordinate for each thing that varies.
    pub(super) fn point(&self, coordinates: &[f64]) -> Vec<Value> {
        let mut coordinates = coordinates.iter();
        let mut at = |domain: &Domain| {
            let position = if varies(domain) { coordinates.next().copied().unwrap_or(0.0) } else { 0.0 };
            match domain {
                Domain::Levels(levels) => {
                    let index = (position * levels.len() as f64) as usize;
                    levels.get(index).or(levels.last()).cloned().unwrap_or(Value::Boolean(false))
                }
                Domain::Range(range) => range.at(position),
            }
        };
        self.dimensions.iter().map(|(_, domain)| at(domain)).collect()
    }

    /// The configuration of a combination; `None` if a constraint excludes it.
    pub(super) fn configuration(&self, point: &[Value]) -> Result<Option<Configuration>, Diagnostic> {
        let mut parameters = Parameters::default();
        let mut allocation = Allocation::default();
        for ((name, _), value) in self.dimensions.iter().zip(point) {
            match RESOURCES.contains(name) {
                true => set_resource(&mut allocation, name, value),
                false => parameters.set(*name, value.clone()),
            }
        }
        let configuration = self.experiment.complete(self.scale, parameters, allocation, self.known)?;
        match self.experiment.violated(&configuration)? {
            None => Ok(Some(configuration)),
            Some(number) => {
                if let Some(count) = self.excluded.borrow_mut().get_mut(number) {
                    *count += 1;
                }
                Ok(None)
            }
        }
    }

    pub(super) fn fault(&self, position: Position, message: String, hint: &str) -> Diagnostic {
        self.experiment.report(Severity::Error, position, message, hint)
    }

    /// Why no combination is left: the constraint that excluded most.
    pub(super) fn nothing_left(&self) -> Diagnostic {
        let excluded = self.excluded.borrow();
        let worst = self.experiment.constraints.iter().zip(excluded.iter()).max_by_key(|(_, count)| **count);
        let (position, what) = match worst {
            Some((constraint, _)) => (constraint.position, format!("`{}`", constraint.expression)),
            None => (Position { line: 1, column: 1 }, "the constraints".to_owned()),
        };
        let message = format!(
            "no combination at scale `{}` satisfies the constraints; {what} excludes most",
            self.scale
        );
        self.fault(position, message, "widen the values or loosen the constraint")
    }
}

/// The combination at a place in the grid of some levels, the last dimension changing fastest.
pub(super) fn grid_point(levels: &[Vec<Value>], index: u64) -> Vec<Value> {
    let mut rest = index;
    let mut point = Vec::with_capacity(levels.len());
    for levels in levels.iter().rev() {
        let count = levels.len().max(1) as u64;
        point.extend(levels.get((rest % count) as usize).cloned());
        rest /= count;
    }
    point.reverse();
    point
}

/// Whether a dimension has more than one value.
pub(super) fn varies(domain: &Domain) -> bool {
    match domain {
        Domain::Levels(levels) => levels.len() > 1,
        Domain::Range(range) => range.from < range.to,
    }
}

/// The resources that are asked for as dimensions.
pub(super) fn resource_domains(resources: &Resources) -> Vec<(&'static str, Domain)> {
    let counts = |counts: &[u32]| counts.iter().map(|count| Value::Integer(i64::from(*count))).collect();
    let names = |names: &[String]| names.iter().map(|name| Value::from(name.as_str())).collect();
    let all: [(&'static str, Vec<Value>); 9] = [
        ("nodes", counts(&resources.nodes)),
        ("tasks", counts(&resources.tasks)),
        ("cores", counts(&resources.cores)),
        ("threads", counts(&resources.threads)),
        (
            "memory",
            resources
                .memory
                .iter()
                .map(|bytes| Value::Integer(i64::try_from(bytes.0).unwrap_or(i64::MAX)))
                .collect(),
        ),
        ("gpus", counts(&resources.gpus)),
        ("gpu_kind", names(&resources.gpu_kind)),
        ("node_type", names(&resources.node_type)),
        ("constraint", names(&resources.constraint)),
    ];
    all.into_iter()
        .filter(|(_, levels)| !levels.is_empty())
        .map(|(name, levels)| (name, Domain::Levels(levels)))
        .collect()
}

fn set_resource(allocation: &mut Allocation, name: &str, value: &Value) {
    let count = match value {
        Value::Integer(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    match (name, value) {
        ("nodes", _) => allocation.nodes = count,
        ("tasks", _) => allocation.tasks = count,
        ("cores", _) => allocation.cores = count,
        ("threads", _) => allocation.threads = count,
        ("gpus", _) => allocation.gpus = count,
        ("memory", Value::Integer(bytes)) => allocation.memory = u64::try_from(*bytes).ok().map(Bytes),
        ("gpu_kind", Value::Text(kind)) => allocation.gpu_kind = Some(kind.clone()),
        ("constraint", Value::Text(constraint)) => allocation.constraint = Some(constraint.clone()),
        ("node_type", Value::Text(node_type)) => allocation.node_type = Some(node_type.clone()),
        _ => {}
    }
}

/// How many things vary at a scale.
pub(crate) fn varied(parameters: &[Parameter], resources: Option<&Resources>, scale: Scale) -> usize {
    let parameters = parameters.iter().filter_map(|parameter| parameter.values.get(&scale).cloned());
    let resources = resources.map(resource_domains).unwrap_or_default();
    parameters.chain(resources.into_iter().map(|(_, domain)| domain)).filter(varies).count()
}
