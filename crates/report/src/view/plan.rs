//! Allocations to choose from, the choice, and what it is compared with.

use std::collections::BTreeMap;

use harp_core::{Allocation, Bytes, Money, Seconds, Value};
use serde::Serialize;

use super::{Estimate, ScoreView};

/// One allocation with what it would take and cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OptionView {
    /// The resources.
    pub allocation: Allocation,
    /// Predicted walltime in seconds.
    pub walltime: Estimate,
    /// Predicted peak memory in bytes.
    pub memory: Option<Estimate>,
    /// The time limit to ask for.
    pub request_time: Seconds,
    /// The memory to ask for.
    pub request_memory: Option<Bytes>,
    /// The expected price.
    pub price: Money,
    /// The price if the job uses its whole time limit.
    pub price_ceiling: Option<Money>,
    /// Probability, 0 to 1, that the job is killed at its limits.
    pub risk: f64,
    /// What keeps it from being chosen; empty when it fits all limits.
    pub problems: Vec<String>,
    /// Whether nothing else is both faster and cheaper.
    pub on_front: bool,
    /// Whether it is the bend of the front.
    pub knee: bool,
    /// Whether it is the one recommended.
    pub chosen: bool,
    /// Other node types where every figure is the same.
    pub also_on: Vec<String>,
    /// Whether it is what people ask for by default: the whole node.
    pub default: bool,
    /// Whether its prediction lies outside what was measured.
    pub extrapolates: bool,
}

impl OptionView {
    /// Whether it meets every limit.
    pub fn fits(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A recommendation and all it was chosen from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanView {
    /// The case asked about: parameters by name.
    pub features: BTreeMap<String, Value>,
    /// The site whose prices and limits hold.
    pub site: String,
    /// The unit of money: `€`, `SU`, `core-hours`.
    pub money_unit: String,
    /// Probability, 0 to 1, the intervals are meant to hold.
    pub coverage: f64,
    /// The time limit given, if any.
    pub max_time: Option<Seconds>,
    /// The cost limit given, if any.
    pub max_cost: Option<Money>,
    /// Every allocation considered.
    pub options: Vec<OptionView>,
    /// Why this one, in words, one sentence each.
    pub reasons: Vec<String>,
    /// The job script's text.
    pub job_script: Option<String>,
    /// Things to know before using it.
    pub warnings: Vec<String>,
    /// How past predictions of this application did.
    pub backtest: Option<ScoreView>,
}

impl PlanView {
    /// The option recommended.
    pub fn chosen(&self) -> Option<&OptionView> {
        self.options.iter().find(|option| option.chosen)
    }

    /// The option people take by default.
    pub fn default_option(&self) -> Option<&OptionView> {
        self.options.iter().find(|option| option.default)
    }

    /// What the choice saves against the default, in percent; negative when it costs more.
    pub fn saving_percent(&self) -> Option<f64> {
        let (chosen, default) = (self.chosen()?.price.0, self.default_option()?.price.0);
        (default > 0.0 && chosen.is_finite() && default.is_finite())
            .then(|| 100.0 * (default - chosen) / default)
    }
}
