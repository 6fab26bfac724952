//! The question and its answer: all plans, the one to take, and why.

use std::fmt;

use harp_core::Allocation;
use harp_site::{Placement, Refusal, Site};
use serde::Serialize;
use thiserror::Error;

use crate::appraise::{appraise, with_cores};
use crate::choose::{
    by_partition, by_price, choose, fitting, is_in_default, misses, nearest, point, prefer_default,
};
use crate::front::pareto_front;
use crate::reasons;
use crate::refused::{RefusedList, Why};
use crate::{ChoiceRule, DefaultPlan, Forecast, Limits, Miss, Plan, Policy, Refused, Saving};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Where the job would run.
    pub site: &'a Site,
    /// Allocations to consider, for instance from [`crate::Choices::allocations`].
    pub candidates: &'a [Allocation],
    /// What the person allows.
    pub limits: Limits,
    /// How cautious to be.
    pub policy: Policy,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// Name of the site.
    pub site: String,
    /// Unit of every price.
    pub unit: String,
    /// The limits of the question.
    pub limits: Limits,
    /// The policy of the question.
    pub policy: Policy,
    /// By what the plan was chosen.
    pub rule: ChoiceRule,
    /// Index into `plans` of the one to take.
    pub chosen: usize,
    /// Every admissible plan, cheapest first, whether it holds the limits or not.
    pub plans: Vec<Plan>,
    /// Indices into `plans` of those that hold the limits, cheapest first.
    pub fitting: Vec<usize>,
    /// Indices into `plans` of those that no other beats in both time and price, fastest first.
    pub front: Vec<usize>,
    /// What would be asked for without a prediction.
    pub default: DefaultPlan,
    /// What the chosen plan saves against it.
    pub saving: Saving,
    /// Candidates that did not become plans, by reason.
    pub refused: Vec<Refused>,
    /// Why this plan, in sentences.
    pub reasons: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AdviseError<E> {
    /// There was nothing to choose from.
    #[error("there are no candidate allocations")]
    NoCandidates,
    /// No plan holds the limits, or the site admits none.
    #[error("{0}")]
    NoPlanFits(Box<NoPlanFits>),
    /// Not one candidate could be predicted; the first error.
    #[error("{0}")]
    Forecast(E),
}

/// No plan holds the limits: the one that comes nearest, or why there is none at all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoPlanFits {
    /// Unit of every price.
    pub unit: String,
    /// How many plans the site admits.
    pub plans: usize,
    /// The plan whose worst excess is the smallest share of its limit; `None` when the site admits
    /// none.
    pub nearest: Option<Plan>,
    /// The limits it misses, and by how much.
    pub misses: Vec<Miss>,
    /// Candidates that did not become plans, by reason.
    pub refused: Vec<Refused>,
}

impl Recommendation {
    /// The plan to take.
    pub fn plan(&self) -> Option<&Plan> {
        self.plans.get(self.chosen)
    }
}

impl fmt::Display for NoPlanFits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&reasons::no_plan_fits(self))
    }
}

/// Appraises every candidate at every place of the site that admits it, and chooses one.
///
/// `forecast` is asked once a candidate and, at the end, once more for the default (the whole node);
/// where it fails for some candidates only, those are counted among the refused.
pub fn recommend<E: fmt::Display>(
    question: &Question<'_>,
    mut forecast: impl FnMut(&Allocation) -> Result<Forecast, E>,
) -> Result<Recommendation, AdviseError<E>> {
    let Question { site, candidates, limits, policy } = question;
    if candidates.is_empty() {
        return Err(AdviseError::NoCandidates);
    }
    let mut plans = Vec::new();
    let mut refused = RefusedList::default();
    let mut first_error = None;
    let mut forecasts = 0;
    for candidate in *candidates {
        let admission = site.admit(&with_cores(candidate), None);
        let mut turned_down: Vec<(Placement, Why)> = admission
            .refusals
            .into_iter()
            .map(|Refusal { node_type, partition, reason }| {
                (Placement { node_type, partition }, Why::Site(reason))
            })
            .collect();
        if admission.placements.is_empty() {
            refused.add_without_plan(candidate, &[], turned_down);
            continue;
        }
        match forecast(candidate) {
            Ok(forecast) => {
                forecasts += 1;
                let (found, failed) =
                    appraise_everywhere(question, candidate, &admission.placements, &forecast);
                // What speaks against a place that admits the candidate says more than what speaks
                // against one that does not.
                turned_down.splice(0..0, failed);
                refused.add_without_plan(candidate, &found, turned_down);
                plans.extend(worth_telling(site, candidate, found));
            }
            Err(error) => {
                refused.add(candidate, None, &Why::Forecast(error.to_string()));
                first_error.get_or_insert(error);
            }
        }
    }
    if let (0, Some(error)) = (forecasts, first_error) {
        return Err(AdviseError::Forecast(error));
    }
    plans.sort_by(by_price);
    let refused = refused.into_inner();
    let fitting = fitting(&plans, limits);
    let Some(chosen) = choose(&plans, &fitting, limits) else {
        return Err(AdviseError::NoPlanFits(Box::new(no_plan_fits(question, plans, refused))));
    };
    let chosen = prefer_default(site, &plans, &fitting, chosen);
    let default = default_plan(question, &plans[chosen], &mut forecast);
    let points: Vec<(f64, f64)> = plans.iter().map(point).collect();
    let mut recommendation = Recommendation {
        site: site.name.clone(),
        unit: site.unit.clone(),
        limits: *limits,
        policy: *policy,
        rule: ChoiceRule::of(limits),
        chosen,
        fitting,
        front: pareto_front(&points),
        saving: default.saving(&plans[chosen]),
        default,
        plans,
        refused,
        reasons: Vec::new(),
    };
    recommendation.reasons = reasons::of(site, &recommendation);
    Ok(recommendation)
}

/// What the chosen plan is held against: the full node, with as much of it used as can be predicted.
fn default_plan<E>(
    question: &Question<'_>,
    chosen: &Plan,
    forecast: &mut impl FnMut(&Allocation) -> Result<Forecast, E>,
) -> DefaultPlan {
    let Question { site, policy, .. } = question;
    // On the whole node, if that lies no further outside what was measured than the plan itself.
    let known = |feature: &str| chosen.out_of_range.iter().any(|outside| outside.feature == feature);
    let full = DefaultPlan::candidate(site, chosen);
    let on_all_cores = forecast(&full)
        .ok()
        .filter(|forecast| forecast.walltime.out_of_range.iter().all(|outside| known(&outside.feature)));
    match on_all_cores {
        Some(forecast) => DefaultPlan::new(site, chosen, &full, Some(&forecast), policy),
        // Else the program is run as in the plan, and the rest of the node is idle.
        None => {
            let forecast = forecast(&chosen.candidate).ok();
            DefaultPlan::new(site, chosen, &chosen.candidate, forecast.as_ref(), policy)
        }
    }
}

/// Plans of one candidate: at each node type that takes it, in its best partition; and the
/// places where it is no plan.
fn appraise_everywhere(
    question: &Question<'_>,
    candidate: &Allocation,
    placements: &[Placement],
    forecast: &Forecast,
) -> (Vec<Plan>, Vec<(Placement, Why)>) {
    let (mut plans, mut failed): (Vec<Plan>, Vec<(Placement, Why)>) = (Vec::new(), Vec::new());
    for placement in placements {
        let plan = match appraise(question.site, candidate, placement, forecast, &question.policy) {
            Ok(plan) => plan,
            Err(why) => {
                failed.push((placement.clone(), why));
                continue;
            }
        };
        let same_node = |other: &&mut Plan| other.placement.node_type == plan.placement.node_type;
        match plans.iter_mut().find(same_node) {
            Some(known) => keep_better(question.site, known, plan),
            None => plans.push(plan),
        }
    }
    (plans, failed)
}

/// The plans of one candidate that a person has to choose between. A program that asks for no GPU is
/// kept off nodes that have some, unless no other node gives it as many cores: others wait for them, sites
/// turn such jobs away, and where GPUs alone are charged it would seem to be free. Node types that differ in no
/// figure are told once.
fn worth_telling(site: &Site, candidate: &Allocation, mut plans: Vec<Plan>) -> Vec<Plan> {
    let has_gpus = |plan: &Plan| {
        site.node_type(&plan.placement.node_type).is_some_and(|node_type| node_type.gpu_count() > 0)
    };
    let asks_for_gpus = candidate.gpus.is_some_and(|gpus| gpus > 0);
    if !asks_for_gpus && candidate.node_type.is_none() {
        let plain: Vec<Option<u32>> =
            plans.iter().filter(|plan| !has_gpus(plan)).map(|plan| plan.allocation.cores).collect();
        plans.retain(|plan| !has_gpus(plan) || !plain.contains(&plan.allocation.cores));
    }
    let mut told: Vec<Plan> = Vec::new();
    for plan in plans {
        let alike = |other: &&mut Plan| {
            (other.time, other.price, other.risk) == (plan.time, plan.price, plan.risk)
                && (other.allocation.cores, other.memory) == (plan.allocation.cores, plan.memory)
                && has_gpus(other) == has_gpus(&plan)
        };
        match told.iter_mut().find(alike) {
            Some(other) => keep_usual(site, other, plan),
            None => told.push(plan),
        }
    }
    told
}

/// Keeps that of two plans without a difference that is in the site's default partition, and remembers the
/// other's node type.
fn keep_usual(site: &Site, known: &mut Plan, mut other: Plan) {
    if is_in_default(site, &other) && !is_in_default(site, known) {
        std::mem::swap(known, &mut other);
        known.other_node_types = std::mem::take(&mut other.other_node_types);
    }
    known.other_node_types.push(other.placement.node_type);
}

/// Keeps the better of two plans that differ in their partition, and remembers the other's name.
fn keep_better(site: &Site, known: &mut Plan, mut other: Plan) {
    if by_partition(site, &other, known).is_lt() {
        std::mem::swap(known, &mut other);
        known.other_partitions = std::mem::take(&mut other.other_partitions);
    }
    known.other_partitions.extend(other.placement.partition);
}

fn no_plan_fits(question: &Question<'_>, mut plans: Vec<Plan>, refused: Vec<Refused>) -> NoPlanFits {
    let count = plans.len();
    let nearest = nearest(&plans, &question.limits).map(|index| plans.swap_remove(index));
    NoPlanFits {
        unit: question.site.unit.clone(),
        plans: count,
        misses: nearest.as_ref().map(|plan| misses(plan, &question.limits)).unwrap_or_default(),
        nearest,
        refused,
    }
}

#[cfg(test)]
pub(crate) mod tests;
