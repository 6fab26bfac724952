//! Figures in sentences: why this plan, what else there was, and how near a miss is.

use harp_core::{Money, Seconds, counted};
use harp_site::{Scheduler, Site, format_amount};

use crate::choose::{choose, point};
use crate::{ChoiceRule, LimitKind, Miss, NoPlanFits, Plan, Recommendation, Refused};

/// The sentences of a recommendation, most important first.
pub(crate) fn of(site: &Site, recommendation: &Recommendation) -> Vec<String> {
    let Some(plan) = recommendation.plan() else { return Vec::new() };
    let mut sentences = vec![choice(site, recommendation, plan), figures(site, recommendation, plan)];
    sentences.extend(alternatives(site, recommendation, plan));
    sentences.extend(same_elsewhere(plan));
    sentences.extend(default(site, recommendation));
    sentences.extend(caveats(site, recommendation, plan));
    sentences.extend(plan.notes.iter().cloned());
    sentences.extend(refused(&recommendation.refused));
    sentences
}

fn choice(site: &Site, recommendation: &Recommendation, plan: &Plan) -> String {
    let limits = &recommendation.limits;
    let (fitting, all) = (recommendation.fitting.len(), recommendation.plans.len());
    let verb = |plural: &str| if fitting == 1 { format!("{plural}s") } else { plural.to_owned() };
    let conditions: Vec<String> = [
        limits.max_time.map(|limit| format!("{} at most {limit}", verb("take"))),
        limits.max_cost.map(|limit| format!("{} at most {}", verb("cost"), site.format_price(limit))),
        limits.max_risk.map(|risk| format!("{} at most {} risk", verb("run"), percent(risk))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let condition = if conditions.is_empty() {
        String::new()
    } else {
        let confidence = percent(recommendation.policy.confidence);
        format!(" of {all} that {} with {confidence} confidence", conditions.join(" and "))
    };
    let superlative = match recommendation.rule {
        _ if fitting == 1 => "the only plan".to_owned(),
        ChoiceRule::CheapestInTime | ChoiceRule::CheapestInBoth => format!("the cheapest of {fitting} plans"),
        ChoiceRule::FastestInCost => format!("the fastest of {fitting} plans"),
        ChoiceRule::Knee => format!("the knee of {fitting} plans"),
    };
    let meaning = match recommendation.rule {
        ChoiceRule::Knee if fitting > 1 => {
            "; beyond it one more percent of money buys less than one percent of time"
        }
        _ => "",
    };
    // The plan that goes by the rule alone, where the site's default partition was preferred to it.
    let by_rule = choose(&recommendation.plans, &recommendation.fitting, limits)
        .filter(|&index| index != recommendation.chosen)
        .and_then(|index| recommendation.plans.get(index));
    let (nearly, instead) = match (by_rule, &plan.placement.partition) {
        (Some(other), Some(partition)) => (
            "nearly ",
            format!("; {partition} is the default partition, and {} is hardly better", name(other)),
        ),
        _ => ("", String::new()),
    };
    format!("{} is {nearly}{superlative}{condition}{meaning}{instead}", name(plan))
}

fn figures(site: &Site, recommendation: &Recommendation, plan: &Plan) -> String {
    let time = &plan.time;
    let killed = match site.scheduler {
        Scheduler::Slurm => format!(
            "; asking for {}, it is killed with a probability of at most {}, and repeating it then with \
             more time makes the expected price {}",
            time.request.to_walltime(),
            percent(plan.risk.killed),
            site.format_price(plan.price.with_reexecution),
        ),
        Scheduler::None => String::new(),
    };
    format!(
        "it is expected to take {} ({} to {} with {} probability) and to cost {}{killed}",
        time.expected,
        time.low,
        time.high,
        percent(recommendation.policy.interval),
        site.format_price(plan.price.expected_use),
    )
}

/// The fastest and the cheapest plan, where they are others.
fn alternatives(site: &Site, recommendation: &Recommendation, plan: &Plan) -> Vec<String> {
    let front = &recommendation.front;
    let (time, price) = point(plan);
    let mut sentences = Vec::new();
    let other = |index: Option<&usize>| index.and_then(|&index| recommendation.plans.get(index));
    if let Some(fastest) = other(front.first()).filter(|fastest| point(fastest).0 < time) {
        let more = point(fastest).1 - price;
        let difference = if more >= 0.0 { "more" } else { "less" };
        sentences.push(format!(
            "the fastest, {}, would take {} less and cost {} {difference}",
            name(fastest),
            Seconds(time - point(fastest).0),
            site.format_price(Money(more.abs())),
        ));
    }
    if let Some(cheapest) = other(front.last()).filter(|cheapest| point(cheapest).1 < price) {
        let longer = point(cheapest).0 - time;
        let takes = match longer {
            0.0 => "as long".to_owned(),
            _ if longer > 0.0 => format!("{} longer", Seconds(longer)),
            _ => format!("{} less", Seconds(-longer)),
        };
        sentences.push(format!(
            "the cheapest, {}, would cost {} less and take {takes}",
            name(cheapest),
            site.format_price(Money(price - point(cheapest).1)),
        ));
    }
    sentences
}

/// What a full node for the longest time would reserve, and what it would be charged.
fn default(site: &Site, recommendation: &Recommendation) -> Vec<String> {
    let (default, saving) = (&recommendation.default, &recommendation.saving);
    let Some((time, price)) = default.time.zip(default.price_of_use) else { return Vec::new() };
    let cores = default
        .allocation
        .cores
        .map_or(String::new(), |cores| format!(" of {}", counted(cores as usize, "core")));
    let used = if time.on_all_cores {
        format!("the {} it is expected to take there", time.expected)
    } else {
        format!("the same {}, most of its cores idle", time.expected)
    };
    let compared = match saving.of_use_share {
        Some(share) if share > 0.0 => format!("; the plan costs {} less", percent(share)),
        Some(share) if share < 0.0 => format!("; the plan costs {} more", percent(-share)),
        _ => String::new(),
    };
    let sentence = match default.request {
        Some(longest) => format!(
            "asking for a full node{cores} for the longest time, {longest}, would reserve it that long and be \
             charged {} for {used}{compared}",
            site.format_price(price),
        ),
        None => format!("a full node{cores} would cost {} for {used}{compared}", site.format_price(price)),
    };
    vec![sentence]
}

fn same_elsewhere(plan: &Plan) -> Option<String> {
    match plan.other_node_types.as_slice() {
        [] => None,
        others => Some(format!("on {} every figure is the same", others.join(", "))),
    }
}

fn caveats(site: &Site, recommendation: &Recommendation, plan: &Plan) -> Vec<String> {
    let mut sentences = Vec::new();
    if plan.extrapolates() {
        let features: Vec<&str> = plan.out_of_range.iter().map(|out| out.feature.as_str()).collect();
        sentences
            .push(format!("the prediction extrapolates: {} outside the measured range", features.join(", ")));
    }
    if plan.evidence.validation_runs == 0 {
        sentences.push("no run was held back to judge the model; treat the interval with care".to_owned());
    }
    let foreign = site.scheduler != Scheduler::None || site.name != "local";
    if foreign && plan.candidate.node_type.is_none() {
        sentences.push(format!(
            "times are as on the machines that were measured; how fast the nodes of {} are is not in the model",
            site.name,
        ));
    }
    if site.scheduler == Scheduler::None && recommendation.limits.max_risk.is_some() {
        sentences.push("nothing here enforces a time limit: the risk is that of needing longer".to_owned());
    }
    sentences
}

fn refused(refused: &[Refused]) -> Option<String> {
    let count: usize = refused.iter().map(|refused| refused.count).sum();
    let first = refused.first()?;
    let rest = if count == 1 { String::new() } else { "for instance ".to_owned() };
    Some(format!("{} not considered: {rest}{}", was(count, "combination"), first.example))
}

/// The message of a question without an answer.
pub(crate) fn no_plan_fits(failure: &NoPlanFits) -> String {
    let Some(nearest) = &failure.nearest else {
        let reason = failure.refused.first().map(|refused| format!(": {}", refused.example));
        return format!("the site admits none of the candidates{}", reason.unwrap_or_default());
    };
    let misses: Vec<String> = failure.misses.iter().map(|miss| describe(miss, &failure.unit)).collect();
    format!(
        "none of {} holds the limits; the nearest, {}, {}",
        counted(failure.plans, "plan"),
        name(nearest),
        misses.join(" and "),
    )
}

fn describe(miss: &Miss, unit: &str) -> String {
    let (reached, allowed, by) = (miss.reached, miss.allowed, miss.by);
    match miss.limit {
        LimitKind::Time => format!(
            "takes up to {} where {} are allowed ({} too long)",
            Seconds(reached),
            Seconds(allowed),
            Seconds(by)
        ),
        LimitKind::Cost => format!(
            "costs up to {} where {} is allowed ({} too much)",
            format_amount(unit, Money(reached)),
            format_amount(unit, Money(allowed)),
            format_amount(unit, Money(by)),
        ),
        LimitKind::Risk => format!(
            "is killed with a probability of {} where {} is allowed",
            percent(reached),
            percent(allowed)
        ),
    }
}

/// A plan in a few words.
fn name(plan: &Plan) -> String {
    match &plan.placement.partition {
        Some(partition) => format!("{} in {partition}", plan.allocation),
        None => plan.allocation.to_string(),
    }
}

fn was(count: usize, noun: &str) -> String {
    format!("{} {}", counted(count, noun), if count == 1 { "was" } else { "were" })
}

/// `90 %`, `99.9 %`, `0.4 %`: as many decimals as tell it apart from 0 and 100.
fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let tenths = (10.0 * value).round() / 10.0;
    // Rounded once: 64.51 must not become 64.5 and then 64.
    if (10.0..=99.0).contains(&tenths) || tenths.fract() == 0.0 {
        format!("{value:.0} %")
    } else {
        format!("{tenths:.1} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_read_well() {
        for (share, text) in [
            (0.9, "90 %"),
            (0.05, "5 %"),
            (0.004, "0.4 %"),
            (0.9994, "99.9 %"),
            (0.333, "33 %"),
            (0.6451, "65 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
