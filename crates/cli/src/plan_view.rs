//! From a recommendation to what `report` shows of it.

use std::collections::BTreeMap;

use harp_advise::{Plan, Recommendation};
use harp_core::{Allocation, Value};
use harp_report::{Estimate, OptionView, PlanView};
use harp_site::Site;

use crate::cases;

/// What is shown of a recommendation.
pub fn plan_view(
    site: &Site,
    case: &BTreeMap<String, Value>,
    advised: &Recommendation,
    script: Option<String>,
) -> PlanView {
    let fitting: Vec<(f64, f64)> =
        advised.fitting.iter().map(|&index| time_and_price(&advised.plans[index])).collect();
    let knee = harp_advise::knee(&fitting).map(|index| advised.fitting[index]);
    let mut options: Vec<OptionView> = advised
        .plans
        .iter()
        .enumerate()
        .map(|(index, plan)| OptionView {
            on_front: advised.front.contains(&index),
            knee: knee == Some(index),
            chosen: index == advised.chosen,
            problems: if advised.fitting.contains(&index) {
                Vec::new()
            } else {
                vec!["beyond the limits".to_owned()]
            },
            ..option_view(plan)
        })
        .collect();
    add_default(&mut options, advised);
    for option in &mut options {
        // Memory has a column of its own, and the only kind of node there is needs no name.
        option.allocation.memory = None;
        if site.node_types.len() == 1 {
            option.allocation.node_type = None;
        }
    }
    PlanView {
        features: case.clone(),
        site: site.name.clone(),
        money_unit: site.unit.clone(),
        coverage: advised.policy.interval,
        max_time: advised.limits.max_time,
        max_cost: advised.limits.max_cost,
        options,
        reasons: advised.reasons.clone(),
        job_script: script,
        warnings: advised.plan().map(warnings).unwrap_or_default(),
        backtest: None,
    }
}

/// Adds the full node to hold the choice against. Where nobody sets a longest time it may be one of the
/// plans; where the chosen plan has all of its cores, there is nothing to compare.
fn add_default(options: &mut Vec<OptionView>, advised: &Recommendation) {
    let full = &advised.default.allocation;
    let is_full = |allocation: &Allocation| {
        (allocation.cores, allocation.threads, &allocation.node_type)
            == (full.cores, full.threads, &full.node_type)
    };
    let same = options.iter_mut().find(|option| is_full(&option.allocation));
    match same {
        Some(option) if advised.default.request.is_none() => option.default = true,
        Some(option) if option.chosen => {}
        _ => options.extend(default_option(advised)),
    }
}

fn time_and_price(plan: &Plan) -> (f64, f64) {
    (plan.time.expected.0, plan.price.with_reexecution.0)
}

fn option_view(plan: &Plan) -> OptionView {
    let memory = plan.memory.as_ref();
    OptionView {
        allocation: plan.allocation.clone(),
        walltime: Estimate::new(plan.time.expected.0, plan.time.low.0, plan.time.high.0),
        memory: memory.and_then(|memory| {
            Some(Estimate::new(memory.expected?.as_f64(), memory.low?.as_f64(), memory.high?.as_f64()))
        }),
        request_time: plan.time.request,
        request_memory: memory.and_then(|memory| memory.request),
        price: plan.price.expected_use,
        price_ceiling: Some(plan.price.request),
        risk: plan.risk.killed,
        problems: Vec::new(),
        on_front: false,
        knee: false,
        chosen: false,
        also_on: plan.other_node_types.clone(),
        default: false,
        extrapolates: plan.extrapolates(),
    }
}

/// The full node for the longest time, priced by the time the program uses, as far as that is known.
fn default_option(advised: &Recommendation) -> Option<OptionView> {
    let default = &advised.default;
    let (time, price) = default.time.zip(default.price_of_use)?;
    Some(OptionView {
        allocation: default.allocation.clone(),
        walltime: Estimate::new(time.expected.0, time.low.0, time.high.0),
        memory: None,
        request_time: default.request.unwrap_or(time.request),
        request_memory: None,
        price,
        price_ceiling: default.price_of_request,
        risk: time.risk,
        problems: Vec::new(),
        on_front: false,
        knee: false,
        chosen: false,
        also_on: Vec::new(),
        default: true,
        extrapolates: advised.plan().is_some_and(Plan::extrapolates),
    })
}

fn warnings(plan: &Plan) -> Vec<String> {
    let outside = plan
        .out_of_range
        .iter()
        .map(|outside| format!("{}: this is an extrapolation", cases::describe(outside)));
    outside.chain(plan.notes.iter().cloned()).collect()
}
