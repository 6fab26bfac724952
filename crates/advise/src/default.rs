//! What people ask for when they do not know: the full node for the partition's longest time.

use harp_core::{Allocation, Money, Seconds};
use harp_site::{Placement, Site};
use serde::Serialize;

use crate::appraise::whole_node_cores;
use crate::{Forecast, Plan, Policy};

/// The request people make without a prediction, at the place of the chosen plan.
///
/// What such a request costs is the full node for the time the program runs: sites charge for time used.
/// The longest time is what is reserved, not what is paid; that is only paid by a job that hangs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DefaultPlan {
    /// All cores of the node; threads as the time below was predicted for.
    pub allocation: Allocation,
    /// Where.
    pub placement: Placement,
    /// The partition's longest time, where there is one.
    pub request: Option<Seconds>,
    /// Price of the full node for that time: what is charged if the job never ends by itself.
    pub price_of_request: Option<Money>,
    /// Time predicted for the program there.
    pub time: Option<DefaultTime>,
    /// Price of the full node for the predicted time.
    pub price_of_use: Option<Money>,
}

/// The time of a program on the full node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DefaultTime {
    /// The prediction.
    pub expected: Seconds,
    /// Lower end of the interval.
    pub low: Seconds,
    /// Upper end of the interval.
    pub high: Seconds,
    /// What the model would ask for.
    pub request: Seconds,
    /// Probability that it takes longer than the partition's longest time; where there is none, than the
    /// model would ask for, as in every plan.
    pub risk: f64,
    /// Whether it was predicted for all cores; else for the program as in the plan, the other cores idle.
    pub on_all_cores: bool,
}

/// What the chosen plan saves against the default. Negative is a loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Saving {
    /// Request against request: what a job that never ends would cost less.
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

    /// The default with a forecast made for `candidate`.
    pub(crate) fn new(
        site: &Site,
        chosen: &Plan,
        candidate: &Allocation,
        forecast: Option<&Forecast>,
        policy: &Policy,
    ) -> DefaultPlan {
        let allocation = Allocation {
            cores: full_cores(site, chosen),
            threads: candidate.threads,
            memory: None,
            ..chosen.allocation.clone()
        };
        let placement = chosen.placement.clone();
        let partition = placement.partition.as_deref().and_then(|name| site.partition(name));
        let request = partition.and_then(|partition| partition.max_time);
        let time = forecast.map(|Forecast { walltime, .. }| {
            let (low, high) = walltime.distribution.interval(policy.interval);
            DefaultTime {
                expected: Seconds(walltime.estimate),
                low: Seconds(low),
                high: Seconds(high),
                request: Seconds(walltime.request),
                risk: walltime
                    .distribution
                    .probability_above(request.map_or(walltime.request, |limit| limit.0)),
                on_all_cores: candidate.cores.is_none() || candidate.cores == allocation.cores,
            }
        });
        let price = |time: Seconds| site.price(&allocation, &placement, time).ok();
        DefaultPlan {
            price_of_request: request.and_then(price),
            price_of_use: time.and_then(|time| price(time.expected)),
            request,
            time,
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
