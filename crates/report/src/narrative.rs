//! Results in one sentence: the verdict of a run, of a target, of a plan.

use harp_core::Target;

use crate::Quantity;
use crate::text::{percent, plural, share};
use crate::view::{JudgedOn, PlanView, RunView, ScoreView, TargetView};

/// The whole verdict: hits, error, jobs killed, money saved.
pub fn verdict_sentence(view: &RunView) -> String {
    let Some(first) = view.targets.first() else {
        return "Nothing was predicted.".to_owned();
    };
    let mut sentence = target_sentence(first);
    if let Some(plan) = view.plan.as_ref().and_then(saving_clause) {
        sentence.push(' ');
        sentence.push_str(&plan);
    }
    sentence
}

/// `9 of 10 test runs took a walltime inside the predicted 90 % interval; the error was 6 % …`
pub fn target_sentence(view: &TargetView) -> String {
    let what = target_words(&view.target);
    let (hits, judged) = view.hits();
    if judged == 0 {
        let cases = plural(view.cases.len(), "case");
        return format!(
            "The {what} of {cases} was predicted; no run has finished that it could be judged by."
        );
    }
    let interval = share(view.coverage);
    let mut clauses = vec![match (hits, judged) {
        (1, 1) => format!("Hit: the actual {what} lies inside the predicted {interval} interval"),
        (0, 1) => format!("Miss: the actual {what} lies outside the predicted {interval} interval"),
        (hits, judged) if hits == judged && judged == view.cases.len() => {
            format!("Hit: all {judged} test runs had their {what} inside the predicted {interval} interval")
        }
        (hits, judged) if hits == judged => {
            format!(
                "Hit: the {judged} test runs that finished had their {what} inside the predicted {interval} interval"
            )
        }
        (hits, judged) => {
            format!("{hits} of {judged} test runs had their {what} inside the predicted {interval} interval")
        }
    }];
    let unknown = view.cases.len() - judged;
    if unknown > 0 {
        clauses.push(format!("of {} the {what} is not known", plural(unknown, "more test run")));
    }
    if let Some(scores) = &view.scores {
        let mean = if scores.cases == 1 { "the error is" } else { "the mean error is" };
        clauses.push(format!("{mean} {}", percent(scores.mape)));
    }
    match view.killed() {
        (_, 0) => {}
        // Jobs are killed at their limits of time and memory, never for a figure they print.
        (over, known) if !is_limited(&view.target) => {
            clauses.push(format!("{over} of {known} were above the predicted upper bound"));
        }
        (0, 1) => clauses.push("the job would have finished within its request".to_owned()),
        (1, 1) => clauses.push("the job would have been killed at its request".to_owned()),
        (0, known) if known == view.cases.len() => {
            clauses.push("every job would have finished within its request".to_owned());
        }
        (0, known) => clauses.push(format!("{known} jobs would have finished within their request")),
        (killed, known) => {
            clauses.push(format!("{killed} of {known} jobs would have been killed at their request"));
        }
    }
    format!("{}.", clauses.join("; "))
}

/// Whether a scheduler limits it.
pub(crate) fn is_limited(target: &Target) -> bool {
    matches!(target, Target::Walltime | Target::PeakMemory)
}

/// What is recommended, what it takes, costs and saves.
pub fn plan_sentence(view: &PlanView) -> String {
    let Some(chosen) = view.chosen() else {
        return "No allocation fits the limits.".to_owned();
    };
    let money = Quantity::Money(view.money_unit.clone());
    let time = &chosen.walltime;
    let mut sentence = format!(
        "{}: {} ({}) for {}, with a {} risk of being killed at its limits.",
        chosen.allocation,
        Quantity::Seconds.format(time.value),
        Quantity::Seconds.range(time.low, time.high),
        money.format(chosen.price.0),
        share(chosen.risk),
    );
    if let Some(saving) = saving_clause(view) {
        sentence.push(' ');
        sentence.push_str(&saving);
    }
    sentence
}

/// `backtest: MAPE 6.1 % (4.2 to 9.0 %), 1 of 24 requests too small, on 24 runs the model had not seen`.
pub fn score_sentence(score: &ScoreView) -> String {
    let range = score.mape_interval.map(|(low, high)| format!(" ({} to {})", percent(low), percent(high)));
    let requests = score.too_small.map(|small| format!(", {small} of {} requests too small", score.cases));
    let on = match score.judged_on {
        JudgedOn::Unseen => format!("on {} the model had not seen", plural(score.cases, "run")),
        JudgedOn::HeldBack => format!(
            "on {} held back while it was chosen; none has been run since to prove it",
            plural(score.cases, "run")
        ),
    };
    let (range, requests) = (range.unwrap_or_default(), requests.unwrap_or_default());
    format!("backtest: MAPE {}{range}{requests}, {on}", percent(score.mape))
}

/// `The recommended allocation costs 0.12 € instead of 0.50 €: 76 % less.`
fn saving_clause(view: &PlanView) -> Option<String> {
    let (chosen, default) = (view.chosen()?, view.default_option()?);
    let saving = view.saving_percent()?;
    let money = Quantity::Money(view.money_unit.clone());
    let (price, usual) = (money.format(chosen.price.0), money.format(default.price.0));
    Some(match saving {
        _ if chosen.default => {
            format!("The full node, {}, is the recommended allocation.", default.allocation)
        }
        s if s >= 0.5 => {
            format!(
                "The recommended allocation costs {price} instead of {usual} for a full node: {} less.",
                percent(s)
            )
        }
        s if s <= -0.5 => {
            format!(
                "The recommended allocation costs {price}, {} more than a full node's {usual}.",
                percent(-s)
            )
        }
        _ => format!("The recommended allocation costs as much as a full node, {usual}."),
    })
}

/// A target's name in a sentence.
pub(crate) fn target_words(target: &Target) -> String {
    match target {
        Target::Walltime => "walltime".to_owned(),
        Target::PeakMemory => "peak memory".to_owned(),
        Target::CpuTime => "processor time".to_owned(),
        Target::Metric(name) => format!("`{name}`"),
    }
}
