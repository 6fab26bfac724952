//! From an experiment to the list of configurations to run, and to the order of the runs.
//!
//! The same file and seed give the same list on every machine. What only the caller can know — how
//! large a file is, how long a run is expected to take, what it would cost — comes in as closures.

mod budget;
mod chance;
mod choose;
mod latin;
mod plan;
mod range;
pub(crate) mod sobol;
mod space;

#[cfg(test)]
mod tests;

use std::path::Path;

use harp_core::{Configuration, Money, Scale, Seconds};

use crate::experiment::Resources;
use crate::{Diagnostic, Experiment, Parameter};

pub use plan::Plan;

/// What only the caller can know. The default knows nothing.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The size of a file, given relative to the experiment file; `None` if it is not there.
    pub file_size: &'a dyn Fn(&Path) -> Option<u64>,
    /// How long one run of a configuration is expected to take.
    pub expected_time: &'a dyn Fn(&Configuration) -> Option<Seconds>,
    /// What one run of a configuration is expected to cost.
    pub expected_cost: &'a dyn Fn(&Configuration) -> Option<Money>,
}

impl Default for Surroundings<'_> {
    fn default() -> Self {
        Surroundings { file_size: &|_| None, expected_time: &|_| None, expected_cost: &|_| None }
    }
}

impl Experiment {
    /// The configurations of a scale, each once, in the order they were chosen.
    pub fn configurations(
        &self,
        scale: Scale,
        known: &Surroundings<'_>,
    ) -> Result<Vec<Configuration>, Diagnostic> {
        choose::choose(self, scale, known)
    }
}

/// How many things vary at a scale.
pub(crate) fn varied(parameters: &[Parameter], resources: Option<&Resources>, scale: Scale) -> usize {
    let parameters = parameters.iter().filter_map(|parameter| parameter.values.get(&scale).cloned());
    let resources = resources.map(space::resource_domains).unwrap_or_default();
    parameters.chain(resources.into_iter().map(|(_, domain)| domain)).filter(space::varies).count()
}
