//! What the caller decides about a build: the policy, the seed, the optional steps.

use std::fmt;
use std::str::FromStr;

use harp_core::Reexecution;
use serde::{Deserialize, Serialize};

use crate::ModelKind;

/// How the winner among the candidates is chosen, and what is asked of a scheduler. The estimate is
/// the median of the predictive distribution under every policy, and the request is never below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Lowest mean absolute error; the request is the winner's adjusted prediction.
    Mae,
    /// The study's walltime metric (HARP, PEARC'23): lowest share of under-predictions, ties by the
    /// lowest over-prediction; the request is the winner's adjusted prediction. Only models compete
    /// whose own error is not clearly worse than the best one's.
    #[default]
    Wtm,
    /// Lowest expected cost when a killed job is run again with more; the request is the quantile
    /// that costs least.
    Cost,
    /// The model is chosen as by cost; the request is the quantile that is exceeded with at most the
    /// given probability.
    Upp {
        /// The accepted probability of being killed, in thousandths, below one half.
        per_mille: u16,
    },
}

impl Policy {
    /// Those without a number of their own.
    pub const ALL: [Policy; 3] = [Policy::Mae, Policy::Wtm, Policy::Cost];

    /// The short name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Mae => "mae",
            Policy::Wtm => "wtm",
            Policy::Cost => "cost",
            Policy::Upp { .. } => "upp",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Upp { per_mille } => formatter.pad(&format!("upp={}", f64::from(*per_mille) / 1000.0)),
            _ => formatter.pad(self.name()),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(share) = text.strip_prefix("upp=") {
            let share: Option<f64> = share.parse().ok().filter(|share| (0.001..0.5).contains(share));
            let share =
                share.ok_or_else(|| format!("`{text}`: the share must be from 0.001 to below 0.5"))?;
            return Ok(Policy::Upp { per_mille: (1000.0 * share).round() as u16 });
        }
        Policy::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| format!("`{text}` is not a policy; use mae, wtm, cost or upp=0.05"))
    }
}

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
            models: ModelKind::ALL.to_vec(),
        }
    }
}
