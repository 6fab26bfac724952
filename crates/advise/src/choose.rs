//! Which of the plans to take, and by how much the others miss the limits.

use std::cmp::Ordering;

use harp_site::Site;
use serde::Serialize;

use crate::front::{compare, knee};
use crate::{Limits, Plan};

/// By what the plan was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceRule {
    /// A time limit: the cheapest plan that holds it.
    CheapestInTime,
    /// A cost limit: the fastest plan that holds it.
    FastestInCost,
    /// Both: the cheapest plan that holds both.
    CheapestInBoth,
    /// Neither: the knee of the Pareto front.
    Knee,
}

/// A limit of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// `max_time`, seconds.
    Time,
    /// `max_cost`, the site's unit.
    Cost,
    /// `max_risk`, a probability.
    Risk,
}

/// A limit that a plan does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Miss {
    /// Which limit.
    pub limit: LimitKind,
    /// What was allowed.
    pub allowed: f64,
    /// What the plan reaches.
    pub reached: f64,
    /// How much that is too much.
    pub by: f64,
}

impl ChoiceRule {
    /// The rule that goes with the limits given.
    pub fn of(limits: &Limits) -> ChoiceRule {
        match (limits.max_time, limits.max_cost) {
            (Some(_), None) => ChoiceRule::CheapestInTime,
            (None, Some(_)) => ChoiceRule::FastestInCost,
            (Some(_), Some(_)) => ChoiceRule::CheapestInBoth,
            (None, None) => ChoiceRule::Knee,
        }
    }
}

impl Miss {
    /// The excess as a share of what was allowed; infinite for a limit of 0.
    pub fn share(&self) -> f64 {
        if self.by > 0.0 { self.by / self.allowed.max(0.0) } else { 0.0 }
    }
}

/// The limits a plan does not hold. Time and cost must hold with the policy's confidence.
pub(crate) fn misses(plan: &Plan, limits: &Limits) -> Vec<Miss> {
    [
        (LimitKind::Time, limits.max_time.map(|limit| limit.0), plan.time.with_confidence.0),
        (LimitKind::Cost, limits.max_cost.map(|limit| limit.0), plan.price.with_confidence.0),
        (LimitKind::Risk, limits.max_risk, plan.risk.killed),
    ]
    .into_iter()
    .filter_map(|(limit, allowed, reached)| {
        let allowed = allowed?;
        let too_much = compare(reached, allowed).is_gt();
        too_much.then_some(Miss { limit, allowed, reached, by: reached - allowed })
    })
    .collect()
}

/// Indices of the plans that hold the limits.
pub(crate) fn fitting(plans: &[Plan], limits: &Limits) -> Vec<usize> {
    (0..plans.len()).filter(|&index| misses(&plans[index], limits).is_empty()).collect()
}

/// Index of the plan to take among those that hold the limits, `None` when none does.
pub(crate) fn choose(plans: &[Plan], fitting: &[usize], limits: &Limits) -> Option<usize> {
    let best = |order: fn(&Plan, &Plan) -> Ordering| {
        fitting.iter().copied().min_by(|&left, &right| order(&plans[left], &plans[right]))
    };
    match ChoiceRule::of(limits) {
        ChoiceRule::CheapestInTime | ChoiceRule::CheapestInBoth => best(by_price),
        ChoiceRule::FastestInCost => best(by_time),
        ChoiceRule::Knee => {
            let points: Vec<(f64, f64)> = fitting.iter().map(|&index| point(&plans[index])).collect();
            knee(&points).and_then(|index| fitting.get(index).copied())
        }
    }
}

/// A price or time that is larger by no more than this share is nearly the same: no prediction is as exact.
const NEARLY: f64 = 0.02;

/// The site's default partition instead of another, where the same allocation there holds the limits, costs
/// and takes nearly the same: it is where a job is expected, and so little is no reason to go elsewhere.
pub(crate) fn prefer_default(site: &Site, plans: &[Plan], fitting: &[usize], chosen: usize) -> usize {
    let best = &plans[chosen];
    if is_in_default(site, best) {
        return chosen;
    }
    let there = fitting.iter().copied().filter(|&index| {
        let plan = &plans[index];
        is_in_default(site, plan) && plan.candidate == best.candidate && is_nearly(plan, best)
    });
    there.min_by(|&left, &right| by_price(&plans[left], &plans[right])).unwrap_or(chosen)
}

/// Which of two plans of a candidate on the same nodes goes first: one whose partition lets jobs end, then the
/// cheaper, but for the site's default partition.
pub(crate) fn by_partition(site: &Site, left: &Plan, right: &Plan) -> Ordering {
    let may_be_stopped = |plan: &Plan| {
        let partition = plan.placement.partition.as_deref().and_then(|name| site.partition(name));
        partition.is_some_and(|partition| partition.preemptible)
    };
    let order = may_be_stopped(left).cmp(&may_be_stopped(right));
    order.then_with(|| match (is_in_default(site, left), is_in_default(site, right)) {
        (true, false) if is_nearly(left, right) => Ordering::Less,
        (false, true) if is_nearly(right, left) => Ordering::Greater,
        _ => by_price(left, right),
    })
}

pub(crate) fn is_in_default(site: &Site, plan: &Plan) -> bool {
    let default = site.default_partition();
    default.is_some_and(|default| plan.placement.partition.as_ref() == Some(&default.name))
}

/// Whether a plan is dearer and slower than another by next to nothing.
fn is_nearly(plan: &Plan, other: &Plan) -> bool {
    let ((time, price), (least_time, least_price)) = (point(plan), point(other));
    time <= least_time * (1.0 + NEARLY) && price <= least_price * (1.0 + NEARLY)
}

/// Index of the plan whose worst excess, as a share of its limit, is smallest; the cheaper of equals.
pub(crate) fn nearest(plans: &[Plan], limits: &Limits) -> Option<usize> {
    let worst = |index: usize| misses(&plans[index], limits).iter().map(Miss::share).fold(0.0, f64::max);
    (0..plans.len()).min_by(|&left, &right| {
        compare(worst(left), worst(right)).then_with(|| by_price(&plans[left], &plans[right]))
    })
}

/// A plan as a point of the front: predicted time, expected price.
pub(crate) fn point(plan: &Plan) -> (f64, f64) {
    (plan.time.expected.0, plan.price.with_reexecution.0)
}

/// Cheaper first, then faster, then with fewer cores.
pub(crate) fn by_price(left: &Plan, right: &Plan) -> Ordering {
    let ((t0, p0), (t1, p1)) = (point(left), point(right));
    compare(p0, p1).then(compare(t0, t1)).then_with(|| cores(left).cmp(&cores(right)))
}

/// Faster first, then cheaper, then with fewer cores.
pub(crate) fn by_time(left: &Plan, right: &Plan) -> Ordering {
    let ((t0, p0), (t1, p1)) = (point(left), point(right));
    compare(t0, t1).then(compare(p0, p1)).then_with(|| cores(left).cmp(&cores(right)))
}

fn cores(plan: &Plan) -> u64 {
    u64::from(plan.allocation.cores.unwrap_or(u32::MAX)) * u64::from(plan.allocation.node_count())
}
