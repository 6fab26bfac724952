//! One candidate at one place becomes a plan: what to ask for, what it costs, how risky it is.

use harp_core::{Allocation, Bytes, Distribution, Money, Prediction, Seconds};
use harp_site::{MemoryOption, NodeType, Partition, Placement, RefusalReason, Scheduler, Site};

use crate::refused::Why;
use crate::{Forecast, Plan, PlanMemory, PlanPrice, PlanRisk, PlanTime, Policy};

/// Steps of the numerical mean over a distribution.
const STEPS: u32 = 200;
const MEBIBYTE: u64 = 1 << 20;
const MINUTE: f64 = 60.0;

/// What a candidate asks for before memory and time are known: cores not given are as many as
/// threads.
pub(crate) fn with_cores(candidate: &Allocation) -> Allocation {
    Allocation { cores: candidate.cores.or(candidate.threads), ..candidate.clone() }
}

/// The plan of a candidate at a place, or why it is none.
pub(crate) fn appraise(
    site: &Site,
    candidate: &Allocation,
    placement: &Placement,
    forecast: &Forecast,
    policy: &Policy,
) -> Result<Plan, Why> {
    let node_type = site.node_type(&placement.node_type).ok_or_else(|| {
        Why::Site(RefusalReason::UnknownNodeType { name: placement.node_type.clone(), known: Vec::new() })
    })?;
    let partition = placement.partition.as_deref().and_then(|name| site.partition(name));
    let mut notes = Vec::new();
    if let Some(stopped) = partition.filter(|partition| partition.preemptible) {
        notes.push(format!("jobs in {} may be stopped to make room for others", stopped.name));
    }

    let mut allocation = with_cores(candidate);
    allocation.node_type = Some(node_type.name.clone());
    allocation.gpus = allocation.gpus.filter(|&gpus| gpus > 0);
    if allocation.cores.is_none() {
        allocation.cores = whole_node_cores(node_type, partition);
    }
    let (memory, memory_risk) =
        ask_for_memory(site, node_type, &mut allocation, forecast.peak_memory.as_ref(), policy, &mut notes)?;

    let walltime = &forecast.walltime;
    if let Some(&(level, _)) = walltime.distribution.quantiles().last()
        && level < policy.confidence
    {
        notes.push(format!(
            "the prediction knows no quantile above {:.0} %: no limit holds more surely",
            100.0 * level
        ));
    }
    let request = ask_for_time(site, partition, walltime, policy, &mut notes)?;
    if let Some(reason) = site.refusal(&allocation, node_type, partition, Some(request)) {
        return Err(Why::Site(reason));
    }

    let (low, high) = walltime.distribution.interval(policy.interval);
    let pricing = Pricing { site, allocation: &allocation, node_type, partition, request, policy };
    let bound = walltime.distribution.quantile(policy.confidence);
    let time_risk = walltime.distribution.probability_above(request.0);
    Ok(Plan {
        time: PlanTime {
            expected: Seconds(walltime.estimate),
            low: Seconds(low),
            high: Seconds(high),
            request,
            with_confidence: pricing.attempts(bound).into_iter().sum(),
        },
        price: PlanPrice {
            expected_use: pricing.price(Seconds(walltime.estimate))?,
            request: pricing.price(request)?,
            with_reexecution: pricing.expected(&walltime.distribution)?,
            with_confidence: pricing.of_attempts(bound)?,
        },
        risk: PlanRisk {
            time: time_risk,
            memory: memory_risk,
            killed: (time_risk + memory_risk.unwrap_or(0.0)).min(1.0),
        },
        memory,
        candidate: candidate.clone(),
        placement: placement.clone(),
        other_partitions: Vec::new(),
        other_node_types: Vec::new(),
        evidence: walltime.evidence.clone(),
        out_of_range: walltime.out_of_range.clone(),
        notes,
        allocation,
    })
}

/// Every core a job can have on a node.
pub(crate) fn whole_node_cores(node_type: &NodeType, partition: Option<&Partition>) -> Option<u32> {
    let limit = partition.and_then(|partition| partition.max_cores).unwrap_or(u32::MAX);
    node_type.cores.map(|cores| cores.min(limit))
}

/// Walltime to ask for: the model's request; for a scheduler whole minutes, at least one, since
/// Slurm's limits have that resolution. Where the partition gives less, its limit is asked for if
/// it holds with the policy's confidence.
fn ask_for_time(
    site: &Site,
    partition: Option<&Partition>,
    walltime: &Prediction,
    policy: &Policy,
    notes: &mut Vec<String>,
) -> Result<Seconds, Why> {
    let asked = match site.scheduler {
        Scheduler::Slurm => Seconds((walltime.request / MINUTE).ceil().max(1.0) * MINUTE),
        Scheduler::None => Seconds(walltime.request),
    };
    let Some(limit) = partition.and_then(|partition| partition.max_time).filter(|limit| asked > *limit)
    else {
        return Ok(asked);
    };
    if walltime.distribution.quantile(policy.confidence) > limit.0 {
        return Err(Why::Site(RefusalReason::TooLong { asked, limit }));
    }
    notes.push(format!("{asked} would be asked for, but the partition gives at most {limit}"));
    Ok(limit)
}

/// Sets the memory an allocation asks for; gives its figures and the risk that it is too little.
fn ask_for_memory(
    site: &Site,
    node_type: &NodeType,
    allocation: &mut Allocation,
    predicted: Option<&Prediction>,
    policy: &Policy,
    notes: &mut Vec<String>,
) -> Result<(Option<PlanMemory>, Option<f64>), Why> {
    let fixed = allocation.memory;
    let share = allocation.cores.and_then(|cores| node_type.memory_share(cores));
    // What the job may use in the end.
    let granted = match (predicted, fixed) {
        (Some(predicted), Some(limit)) => {
            let needed = bytes(predicted.distribution.quantile(policy.confidence));
            if needed > limit {
                return Err(Why::Memory { needed, limit });
            }
            Some(limit)
        }
        (Some(predicted), None) => {
            let most = match (site.memory, site.exclusive) {
                (MemoryOption::Forbidden, false) => share.or(node_type.memory),
                _ => node_type.memory,
            };
            Some(memory_request(predicted, policy, most, notes)?)
        }
        (None, Some(limit)) => Some(limit),
        (None, None) if site.memory == MemoryOption::Mandatory => Some(share.ok_or(Why::NoMemory)?),
        (None, None) => None,
    };
    allocation.memory = granted;
    if let Some(reason) = site.refusal(allocation, node_type, None, None) {
        return Err(Why::Site(reason));
    }
    let available = if site.memory == MemoryOption::Forbidden {
        allocation.memory = None;
        if site.exclusive { node_type.memory } else { share }
    } else {
        granted
    };
    let interval = predicted.map(|predicted| predicted.distribution.interval(policy.interval));
    let figures = PlanMemory {
        expected: predicted.map(|predicted| rounded(predicted.estimate)),
        low: interval.map(|(low, _)| rounded(low)),
        high: interval.map(|(_, high)| rounded(high)),
        request: allocation.memory,
    };
    let risk = predicted
        .zip(available)
        .map(|(predicted, available)| predicted.distribution.probability_above(available.as_f64()));
    let known = predicted.is_some() || allocation.memory.is_some();
    Ok((known.then_some(figures), risk))
}

/// Memory to ask for, in whole MiB: the model's request or the policy's quantile, whichever is
/// larger, with head-room; the node's memory where that is less and still holds with confidence.
fn memory_request(
    predicted: &Prediction,
    policy: &Policy,
    most: Option<Bytes>,
    notes: &mut Vec<String>,
) -> Result<Bytes, Why> {
    let level = predicted.distribution.quantile(policy.memory_level);
    let wanted = bytes(predicted.request.max(level) * (1.0 + policy.memory_headroom));
    let wanted = Bytes(wanted.mebibytes_rounded_up().max(1) * MEBIBYTE);
    let Some(available) = most.filter(|available| wanted > *available) else {
        return Ok(wanted);
    };
    let needed = bytes(predicted.distribution.quantile(policy.confidence));
    let capped = Bytes(available.0 / MEBIBYTE * MEBIBYTE);
    if needed > capped {
        return Err(Why::Site(RefusalReason::TooMuchMemory { asked: wanted, available }));
    }
    notes.push(format!("{wanted} of memory would be asked for, but at most {available} can be had"));
    Ok(capped)
}

/// To the nearest byte, for figures that are shown.
fn rounded(value: f64) -> Bytes {
    Bytes(value.max(0.0).round() as u64)
}

/// Up to a whole byte, for figures that must suffice.
fn bytes(value: f64) -> Bytes {
    Bytes(value.max(0.0).ceil() as u64)
}

/// Prices of one allocation at one place with one walltime request.
struct Pricing<'a> {
    site: &'a Site,
    allocation: &'a Allocation,
    node_type: &'a NodeType,
    partition: Option<&'a Partition>,
    request: Seconds,
    policy: &'a Policy,
}

impl Pricing<'_> {
    fn price(&self, time: Seconds) -> Result<Money, Why> {
        self.site.charge.price(self.allocation, self.node_type, self.partition, time).map_err(Why::Price)
    }

    /// How long each attempt runs if the program truly needs `actual` seconds: killed ones to their
    /// limit, the last one to its end. Without a scheduler nothing is killed.
    fn attempts(&self, actual: f64) -> Vec<Seconds> {
        if self.site.scheduler == Scheduler::None {
            return vec![Seconds(actual)];
        }
        let mut attempts = self.policy.reexecution.attempts(self.request.0, actual);
        if let Some(last) = attempts.last_mut() {
            *last = actual;
        }
        attempts.into_iter().map(Seconds).collect()
    }

    fn of_attempts(&self, actual: f64) -> Result<Money, Why> {
        self.attempts(actual).into_iter().map(|time| self.price(time)).sum()
    }

    /// The mean price over the distribution, each attempt billed by itself (cost of re-execution,
    /// HARP, PEARC'23). Like the distribution it knows no tail beyond its last quantile, and the
    /// growing limits are not held against the partition's longest time.
    fn expected(&self, distribution: &Distribution) -> Result<Money, Why> {
        let level = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
        let total: Money = (0..STEPS)
            .map(|step| self.of_attempts(distribution.quantile(level(step))))
            .sum::<Result<_, _>>()?;
        Ok(total * f64::from(STEPS).recip())
    }
}
