//! What a job costs: the rules sites charge by, as one function of allocation, node and time.
//!
//! Rules and where they come from:
//! - core-hours with memory-proportional cores: OSC,
//!   <https://www.osc.edu/supercomputing/knowledge-base/job_and_storage_charging>; the study's rates
//!   (HARP, PEARC'23): hours × (cores × $0.003 + GPUs × $0.09);
//! - node-hours with a shortest time and queue factors: TACC user guides, NERSC job policy;
//! - billing weights, summed or the largest: Slurm's `TRESBillingWeights` and `MAX_TRES`,
//!   <https://slurm.schedmd.com/tres.html>;
//! - by the second with a shortest time: public clouds.

use harp_core::{Allocation, Bytes, Money, Seconds};
use serde::Serialize;
use thiserror::Error;

use crate::{NodeType, Partition};

/// A rule and how time is counted for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Charge {
    /// What is multiplied with hours.
    pub rule: Rule,
    /// How time and amounts are rounded.
    pub billing: Billing,
}

/// How time and amounts are rounded before and after the rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Billing {
    /// Shorter jobs are charged as if they had run this long.
    pub minimum_time: Seconds,
    /// Time is rounded up to a multiple of this; 0 is not rounded.
    pub increment: Seconds,
    /// Cheaper jobs are charged this.
    pub minimum_charge: Money,
}

/// What is charged for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// hours × (effective cores × `core_hour` + GPUs × `gpu_hour`).
    CoreHours {
        /// Price of one core for one hour.
        core_hour: f64,
        /// Price of one GPU for one hour; `None` is not known.
        gpu_hour: Option<f64>,
        /// Effective cores are `max(cores, memory / memory per core)`; else cores alone.
        memory_counts: bool,
        /// Effective cores are rounded up to whole ones.
        whole_cores: bool,
        /// Jobs on more than one node pay for every core of their nodes.
        whole_nodes: bool,
    },
    /// hours × nodes × `node_hour`, whatever part of a node is used.
    NodeHours {
        /// Price of one node for one hour; `None` where only node types carry a price.
        node_hour: Option<f64>,
    },
    /// hours × `hour` × the sum or the largest of weighted resources.
    Weights {
        /// Price of one billing unit for one hour.
        hour: f64,
        /// The weights, unless the partition has its own.
        weights: Weights,
    },
}

/// Slurm's billing weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Weights {
    /// Of one core.
    pub core: f64,
    /// Of one GiB of memory.
    pub memory_gib: f64,
    /// Of one GPU.
    pub gpu: f64,
    /// How they become one number.
    pub combine: Combine,
}

/// How weighted resources become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Added up: Slurm's default.
    Sum,
    /// The largest on a node: Slurm's `MAX_TRES`.
    Max,
}

/// A price that cannot be told because the site's profile lacks a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[error("the price of node type `{node_type}` is not known: {reason}")]
pub struct PriceUnknown {
    /// The node type.
    pub node_type: String,
    /// What is missing.
    pub reason: String,
}

impl Rule {
    /// Plain core-hours and GPU-hours, without anything for memory or whole nodes.
    pub fn core_hours(core_hour: f64, gpu_hour: Option<f64>) -> Rule {
        Rule::CoreHours { core_hour, gpu_hour, memory_counts: false, whole_cores: false, whole_nodes: false }
    }
}

impl Billing {
    /// The time that is charged for: at least the minimum, rounded up to the increment.
    pub fn charged_time(&self, time: Seconds) -> Seconds {
        let time = time.0.max(0.0).max(self.minimum_time.0);
        let step = self.increment.0;
        Seconds(if step > 0.0 { (time / step).ceil() * step } else { time })
    }
}

impl Charge {
    /// A rule charged by the exact time.
    pub fn per(rule: Rule) -> Charge {
        Charge { rule, billing: Billing::default() }
    }

    /// What `allocation` costs for `time` on nodes of `node_type`, submitted to `partition`.
    ///
    /// Cores not asked for are the whole node; memory not asked for is what comes with the cores;
    /// GPUs not asked for are none. Never falls as `time` grows.
    pub fn price(
        &self,
        allocation: &Allocation,
        node_type: &NodeType,
        partition: Option<&Partition>,
        time: Seconds,
    ) -> Result<Money, PriceUnknown> {
        let unknown =
            |reason: &str| PriceUnknown { node_type: node_type.name.clone(), reason: reason.to_owned() };
        if let Some(reason) = &node_type.price_unknown {
            return Err(unknown(reason));
        }
        let hourly = match &self.rule {
            Rule::CoreHours { core_hour, gpu_hour, memory_counts, whole_cores, whole_nodes } => {
                let many = allocation.node_count() > 1;
                let cores = effective_cores(allocation, node_type, *memory_counts, many && *whole_nodes)
                    .map_err(unknown)?;
                let cores = if *whole_cores { whole(cores) } else { cores };
                let gpus = f64::from(allocation.gpus.unwrap_or(0));
                let gpu_price = match node_type.gpu_hour.or(*gpu_hour) {
                    Some(price) => gpus * price,
                    None if gpus == 0.0 => 0.0,
                    None => return Err(unknown("`gpu_hour` is not set")),
                };
                nodes(allocation) * (cores * node_type.core_hour.unwrap_or(*core_hour) + gpu_price)
            }
            Rule::NodeHours { node_hour } => {
                let price =
                    node_type.node_hour.or(*node_hour).ok_or_else(|| unknown("`node_hour` is not set"))?;
                nodes(allocation) * price
            }
            Rule::Weights { hour, weights } => {
                let weights = partition.and_then(|partition| partition.weights).unwrap_or(*weights);
                hour * nodes(allocation) * weights.bill(allocation, node_type).map_err(unknown)?
            }
        };
        let factor = partition.map_or(1.0, |partition| partition.factor);
        let amount = self.billing.charged_time(time).hours() * hourly * factor;
        Ok(Money(amount.max(self.billing.minimum_charge.0)))
    }
}

impl Weights {
    /// Billing units of one node's part of an allocation.
    fn bill(&self, allocation: &Allocation, node_type: &NodeType) -> Result<f64, &'static str> {
        let cores = cores_per_node(allocation, node_type)?;
        let memory = match (allocation.memory, node_type.memory_per_core()) {
            (Some(memory), _) => memory.gibibytes(),
            (None, Some(per_core)) => per_core * cores / Bytes(1 << 30).as_f64(),
            (None, None) if self.memory_gib == 0.0 => 0.0,
            (None, None) => return Err("its memory per core is not set"),
        };
        let parts =
            [self.core * cores, self.memory_gib * memory, self.gpu * f64::from(allocation.gpus.unwrap_or(0))];
        Ok(match self.combine {
            Combine::Sum => parts.iter().sum(),
            Combine::Max => parts.iter().copied().fold(0.0, f64::max),
        })
    }
}

fn nodes(allocation: &Allocation) -> f64 {
    f64::from(allocation.node_count())
}

/// Rounded up, but a rounding error above a whole number is not another core.
fn whole(cores: f64) -> f64 {
    (cores - 1e-6).ceil()
}

fn cores_per_node(allocation: &Allocation, node_type: &NodeType) -> Result<f64, &'static str> {
    allocation.cores.or(node_type.cores).map(f64::from).ok_or("its number of cores is not set")
}

/// Cores one node's part is charged as: those asked for, or as many as its memory belongs to, and
/// never more than the node has.
fn effective_cores(
    allocation: &Allocation,
    node_type: &NodeType,
    memory_counts: bool,
    whole_node: bool,
) -> Result<f64, &'static str> {
    if whole_node {
        return node_type.cores.map(f64::from).ok_or("its number of cores is not set");
    }
    let cores = cores_per_node(allocation, node_type)?;
    let Some(memory) = allocation.memory.filter(|_| memory_counts) else {
        return Ok(cores);
    };
    let per_core = node_type.memory_per_core().ok_or("its memory per core is not set")?;
    let by_memory = memory.as_f64() / per_core;
    let most = node_type.cores.map_or(f64::INFINITY, f64::from).max(cores);
    Ok(cores.max(by_memory).min(most))
}

#[cfg(test)]
mod tests;
