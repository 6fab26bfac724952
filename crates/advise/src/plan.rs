//! One plan: an allocation at a place, with every figure needed to judge it.

use harp_core::{Allocation, Bytes, Evidence, Money, OutOfRange, Prediction, Reexecution, Seconds};
use harp_site::Placement;
use serde::Serialize;

/// What a model says about one allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Seconds on the wall.
    pub walltime: Prediction,
    /// Bytes per node at the peak, where a model of it exists.
    pub peak_memory: Option<Prediction>,
}

/// What the person allows. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Longest time until the result.
    pub max_time: Option<Seconds>,
    /// Highest price, all attempts together.
    pub max_cost: Option<Money>,
    /// Highest probability of being killed, between 0 and 1.
    pub max_risk: Option<f64>,
}

/// How cautiously figures become requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Policy {
    /// Probability with which a limit must hold.
    pub confidence: f64,
    /// Probability of the intervals shown.
    pub interval: f64,
    /// Memory asked for is at least this quantile of the prediction …
    pub memory_level: f64,
    /// … and that or the model's request, whichever is larger, is raised by this share.
    pub memory_headroom: f64,
    /// What happens to a job that is killed at its time limit.
    pub reexecution: Reexecution,
}

impl Default for Policy {
    /// Limits and intervals at 90 %, memory at the 95 % quantile plus a tenth, time doubled after a
    /// kill as in the study (HARP, PEARC'23).
    fn default() -> Self {
        Policy {
            confidence: 0.9,
            interval: 0.9,
            memory_level: 0.95,
            memory_headroom: 0.1,
            reexecution: Reexecution::default(),
        }
    }
}

/// An allocation at a place, and what is to be expected of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// What to ask for: node type, cores and memory filled in.
    pub allocation: Allocation,
    /// The candidate the prediction was made for.
    pub candidate: Allocation,
    /// Node type and partition.
    pub placement: Placement,
    /// Other partitions that admit the same at the same node type, none of them cheaper unless they stop jobs;
    /// where this is the site's default, hardly cheaper.
    pub other_partitions: Vec<String>,
    /// Other node types where every figure is the same: it does not matter which of them the job gets.
    pub other_node_types: Vec<String>,
    /// Predicted and requested time.
    pub time: PlanTime,
    /// Predicted and requested memory; `None` without a prediction and without a request.
    pub memory: Option<PlanMemory>,
    /// What it costs.
    pub price: PlanPrice,
    /// How likely it is to be killed.
    pub risk: PlanRisk,
    /// Runs behind the prediction of time.
    pub evidence: Evidence,
    /// Features outside the measured range; empty is interpolation.
    pub out_of_range: Vec<OutOfRange>,
    /// What a reader must know about this plan, in words.
    pub notes: Vec<String>,
}

/// Times of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanTime {
    /// The prediction.
    pub expected: Seconds,
    /// Lower end of the interval.
    pub low: Seconds,
    /// Upper end of the interval.
    pub high: Seconds,
    /// Walltime to ask for.
    pub request: Seconds,
    /// Time until the result that is not exceeded with the policy's confidence; where a scheduler
    /// kills, attempts that were killed count.
    pub with_confidence: Seconds,
}

/// Memory of a plan, per node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanMemory {
    /// The prediction of the peak.
    pub expected: Option<Bytes>,
    /// Lower end of the interval.
    pub low: Option<Bytes>,
    /// Upper end of the interval.
    pub high: Option<Bytes>,
    /// Memory to ask for, whole MiB; `None` where asking is forbidden.
    pub request: Option<Bytes>,
}

/// Prices of a plan, in the site's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanPrice {
    /// Of the predicted time.
    pub expected_use: Money,
    /// Of the whole time asked for.
    pub request: Money,
    /// Expected over the predictive distribution of time, attempts killed at their time limit and
    /// their repetition included; being killed for memory is not. Plans are ranked by this.
    pub with_reexecution: Money,
    /// Not exceeded with the policy's confidence, attempts included.
    pub with_confidence: Money,
}

/// Probabilities that a plan's job is killed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanRisk {
    /// That it needs more time than asked for.
    pub time: f64,
    /// That it needs more memory than it gets, where memory is predicted.
    pub memory: Option<f64>,
    /// Upper bound for either: their sum, at most 1. How they depend on each other is not known.
    pub killed: f64,
}

impl Plan {
    /// Whether the prediction lies outside what was measured.
    pub fn extrapolates(&self) -> bool {
        !self.out_of_range.is_empty()
    }
}
