//! What a design has to be told.

use std::path::Path;

use harp_core::{Configuration, Money, Scale, Seconds};

use super::choose;
use crate::{Diagnostic, Experiment};

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
