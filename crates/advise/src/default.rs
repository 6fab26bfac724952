//! What people ask for when they do not know: the full node for the partition's longest time.

use harp_core::{Allocation, Money, Seconds};
use harp_site::{Placement, Site};
use serde::Serialize;

use crate::appraise::whole_node_cores;
use crate::{Forecast, Plan};

/// The request people make without a prediction, at the place of the chosen plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefaultPlan {
    /// All cores of the node; nodes, threads and GPUs as in the chosen plan.
    pub allocation: Allocation,
    /// Where.
    pub placement: Placement,
    /// The partition's longest time, where there is one.
    pub request: Option<Seconds>,
    /// Price of the full node for that time.
    pub price_of_request: Option<Money>,
    /// Time predicted on the full node, where that is as well within the measured range as the plan.
    pub expected: Option<Seconds>,
    /// Price of the full node for that time.
    pub price_of_use: Option<Money>,
}

/// What the chosen plan saves against the default. Negative is a loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saving {
    /// Request against request: what is reserved for nothing.
    pub of_request: Option<Money>,
    /// The same as a share of the default, between 0 and 1 when it is a saving.
    pub of_request_share: Option<f64>,
    /// Expected use against expected use: what is billed where only used time counts.
    pub of_use: Option<Money>,
    /// The same as a share of the default.
    pub of_use_share: Option<f64>,
}

impl DefaultPlan {
    /// The candidate a prediction for the default must be made for: as the chosen one, with the
    /// whole node's cores in place of the resources that were varied.
    pub(crate) fn candidate(site: &Site, chosen: &Plan) -> Allocation {
        let cores = full_cores(site, chosen);
        let mut candidate = chosen.candidate.clone();
        candidate.cores = candidate.cores.and(cores);
        candidate.threads = candidate.threads.and(cores);
        candidate.memory = None;
        candidate
    }

    pub(crate) fn new(site: &Site, chosen: &Plan, forecast: Option<&Forecast>) -> DefaultPlan {
        let allocation =
            Allocation { cores: full_cores(site, chosen), memory: None, ..chosen.allocation.clone() };
        let placement = chosen.placement.clone();
        let partition = placement.partition.as_deref().and_then(|name| site.partition(name));
        let request = partition.and_then(|partition| partition.max_time);
        // Comparable only if it lies no further outside what was measured than the plan itself.
        let known = |feature: &str| chosen.out_of_range.iter().any(|outside| outside.feature == feature);
        let expected = forecast
            .filter(|forecast| forecast.walltime.out_of_range.iter().all(|outside| known(&outside.feature)))
            .map(|forecast| Seconds(forecast.walltime.estimate));
        let price = |time: Seconds| site.price(&allocation, &placement, time).ok();
        DefaultPlan {
            price_of_request: request.and_then(price),
            price_of_use: expected.and_then(price),
            request,
            expected,
            allocation,
            placement,
        }
    }

    /// What a plan saves against this.
    pub fn saving(&self, plan: &Plan) -> Saving {
        let difference = |default: Option<Money>, plan: Money| default.map(|default| default - plan);
        let share = |saved: Option<Money>, default: Option<Money>| {
            saved.zip(default).filter(|(_, default)| default.0 > 0.0).map(|(saved, all)| saved.0 / all.0)
        };
        let of_request = difference(self.price_of_request, plan.price.request);
        let of_use = difference(self.price_of_use, plan.price.expected_use);
        Saving {
            of_request,
            of_request_share: share(of_request, self.price_of_request),
            of_use,
            of_use_share: share(of_use, self.price_of_use),
        }
    }
}

fn full_cores(site: &Site, chosen: &Plan) -> Option<u32> {
    let node_type = site.node_type(&chosen.placement.node_type)?;
    let partition = chosen.placement.partition.as_deref().and_then(|name| site.partition(name));
    whole_node_cores(node_type, partition)
}
