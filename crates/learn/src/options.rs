//! What the caller decides about a build: the policy, the seed, the optional steps.

use harp_core::{Loss, Policy, Reexecution};
use serde::{Deserialize, Serialize};

use crate::ModelKind;

/// Settings of a build. The same settings, seed and data give the same model, bit for bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildOptions {
    /// How the winner is chosen.
    pub policy: Policy,
    /// Seed of everything random: which full-scale runs enter a mix, the networks' first weights.
    pub seed: u64,
    /// Replace the study's standardised features by the principal components that hold 99 % of
    /// their variance. The power law keeps the features, so that its formula can be read.
    pub principal_components: bool,
    /// Leave out scaled-down runs that disagree wildly with their like; they are named.
    pub remove_outliers: bool,
    /// What happens to a job that is killed at its limit.
    pub reexecution: Reexecution,
    /// What errors cost while linear, neural and boosted models are trained.
    pub loss: Loss,
    /// The kinds of model that compete.
    pub models: Vec<ModelKind>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            policy: Policy::default(),
            seed: 42,
            principal_components: false,
            remove_outliers: true,
            reexecution: Reexecution::default(),
            loss: Loss::default(),
            models: ModelKind::ALL.to_vec(),
        }
    }
}
