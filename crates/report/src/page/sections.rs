//! The page's sections, each a piece of HTML or nothing where there is nothing to say.

use crate::chart::{Canvas, accuracy_chart, candidates_chart, pareto_chart, scaling_chart};
use crate::narrative::{plan_sentence, score_sentence, target_sentence, target_words};
use crate::table::{
    Table, candidates_table, cases_table, common_features, host_table, plan_table, sweep_table,
};
use crate::text::{escape, glued, percent, plural};
use crate::view::{PlanView, Provenance, RunView, TargetView, Verdict};

/// Most rows a table of the page has; the rest is in JSON.
const MOST_ROWS: usize = 500;

/// The figures a reader looks for first.
pub(super) fn facts(view: &RunView) -> String {
    let mut facts: Vec<(String, String)> = Vec::new();
    if let Some(first) = view.targets.first() {
        let (hits, judged) = first.hits();
        if judged > 0 {
            facts.push((format!("{hits} of {judged}"), "inside the predicted interval".to_owned()));
        }
        if let Some(scores) = &first.scores {
            facts.push((percent(scores.mape), format!("mean error of the {}", target_words(&first.target))));
        }
        let (killed, known) = first.killed();
        if known > 0 {
            facts.push((format!("{killed} of {known}"), "jobs killed at their request".to_owned()));
        }
    }
    if let Some(saving) = view.plan.as_ref().and_then(PlanView::saving_percent) {
        let (value, word) = if saving < 0.0 { (-saving, "dearer") } else { (saving, "cheaper") };
        facts.push((percent(value), format!("{word} than a full node")));
    }
    facts_list(&facts)
}

/// Figures with what they mean, large.
pub(super) fn facts_list(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let entry = |(value, meaning): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(meaning), escape(value))
    };
    format!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(entry).collect::<String>())
}

/// What must be known before trusting the page.
pub(super) fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    format!("<aside class=\"warnings\"><p>Before you trust this</p>{}</aside>\n", list("", warnings))
}

/// One target: its curves, predicted against actual, its cases.
pub(super) fn target(index: usize, view: &TargetView) -> String {
    let mut out = heading(&capitalised(&target_words(&view.target)));
    if index > 0 {
        out.push_str(&paragraph(&target_sentence(view)));
    }
    for (number, scaling) in view.scaling.iter().enumerate() {
        out.push_str(&figure(&format!("scaling-{index}-{number}"), (460.0, 420.0), |canvas| {
            scaling_chart(scaling, canvas)
        }));
    }
    if view.cases.iter().any(|case| case.verdict != Verdict::Unknown) {
        out.push_str(&figure(&format!("accuracy-{index}"), (460.0, 420.0), |canvas| {
            accuracy_chart(view, canvas)
        }));
        out.push_str("<h3>Predicted against actual</h3>\n");
    }
    if !view.cases.is_empty() {
        let common = common_features(view);
        if !common.is_empty() {
            out.push_str(&format!("<p>All cases {common}.</p>\n", common = escape(&common)));
        }
        out.push_str(&table(&cases_table(view)));
    }
    let evidence = &view.evidence;
    let note = format!(
        "Behind these figures: {}; {} of them, held back in turn, judged the model.",
        evidence.runs_in_words(),
        evidence.validation_runs
    );
    out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&note)));
    out
}

/// The recommendation, its reasons and its job script.
pub(super) fn plan(view: &PlanView) -> String {
    let mut out = heading("Recommended allocation");
    out.push_str(&paragraph(&plan_sentence(view)));
    if !view.reasons.is_empty() {
        out.push_str(&list("reasons", &view.reasons));
    }
    if let Some(score) = &view.backtest {
        out.push_str(&paragraph(&score_sentence(score)));
    }
    out.push_str(&warnings(&view.warnings));
    // One point is no choice and makes no picture.
    if view.options.len() > 1 {
        out.push_str(&figure("pareto", (440.0, 400.0), |canvas| pareto_chart(view, canvas)));
    }
    if !view.options.is_empty() {
        out.push_str(&table(&plan_table(view)));
    }
    if let Some(script) = &view.job_script {
        out.push_str(&format!("<h3>Job script</h3>\n<pre><code>{}</code></pre>\n", escape(script)));
    }
    out
}

/// The candidates of every target that has them.
pub(super) fn models(view: &RunView) -> String {
    let with_candidates = || view.targets.iter().filter_map(|target| target.candidates.as_ref());
    if with_candidates().next().is_none() {
        return String::new();
    }
    let mut out = heading("Candidate models");
    for (index, candidates) in with_candidates().enumerate() {
        let what = target_words(&candidates.target);
        let sentence = match candidates.winner() {
            Some(winner) => format!(
                "For the {what}, the policy {} chose {} among {}. {}",
                candidates.policy,
                winner.label(),
                plural(candidates.candidates.len(), "candidate"),
                candidates.reason
            ),
            None => format!("For the {what}, no candidate was chosen. {}", candidates.reason),
        };
        out.push_str(&paragraph(sentence.trim()));
        out.push_str(&figure(&format!("candidates-{index}"), (300.0, 300.0), |canvas| {
            candidates_chart(candidates, canvas)
        }));
        out.push_str(&table(&candidates_table(candidates)));
    }
    out.push_str(
        "<p class=\"note\">MAPE: mean absolute percentage error. UPP: share of cases predicted too low. \
         UP MAPE and OV MAPE: the error among those predicted too low and too high. All on validation \
         rows, none on test rows.</p>\n",
    );
    out
}

/// The runs and the machines.
pub(super) fn where_it_ran(view: &RunView) -> String {
    let mut out = heading("Runs and machines");
    out.push_str(&table(&sweep_table(&view.sweep)));
    let mut spent = format!("All runs together took {}", view.sweep.time_spent);
    if let (Some(money), Some(plan)) = (view.sweep.money_spent, &view.plan) {
        spent.push_str(&format!(" and would cost {money} {}", plan.money_unit));
    }
    out.push_str(&format!("<p class=\"note\">{}.</p>\n", escape(spent.trim_end())));
    if !view.hosts.is_empty() {
        out.push_str(&table(&host_table(&view.hosts)));
    }
    out
}

/// Versions, seed and command.
pub(super) fn made(view: &Provenance) -> String {
    let known = [
        ("harp", view.harp_version.clone()),
        ("seed", view.seed.to_string()),
        ("experiment", view.experiment.clone()),
        ("made", view.made.clone()),
    ];
    let mut facts: Vec<(String, String)> = known.map(|(name, text)| (name.to_owned(), text)).into();
    facts.extend(view.details.iter().cloned());
    made_list(&facts, &view.command)
}

/// How something was made, and the command that makes it again.
pub(super) fn made_list(facts: &[(String, String)], command: &str) -> String {
    let entries: String = facts
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text)))
        .collect();
    let mut out = heading("How it was made");
    out.push_str(&format!("<dl class=\"made\">\n{entries}</dl>\n"));
    if !command.is_empty() {
        out.push_str(&format!("<h3>Make it again</h3>\n<pre><code>{}</code></pre>\n", escape(command)));
    }
    out
}

/// A chart twice: for a wide window and for a phone; the style sheet shows one of them.
pub(super) fn figure(id: &str, (wide, narrow): (f64, f64), draw: impl Fn(&Canvas) -> String) -> String {
    format!(
        "<figure>\n<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n</figure>\n",
        draw(&Canvas::inline(format!("{id}-wide"), 840.0, wide)),
        draw(&Canvas::inline(format!("{id}-narrow"), 380.0, narrow))
    )
}

pub(super) fn table(table: &Table) -> String {
    let (shown, left_out) = table.first_rows(MOST_ROWS);
    let mut out = format!("<div class=\"scroll\">{}</div>\n", shown.to_html());
    if left_out > 0 {
        let note = format!("{} more in the JSON output.", plural(left_out, "row"));
        out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&note)));
    }
    out
}

pub(super) fn list(class: &str, items: &[String]) -> String {
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", escape(&glued(item)))).collect();
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    format!("<ul{class}>\n{items}</ul>\n")
}

pub(super) fn heading(text: &str) -> String {
    format!("<h2>{}</h2>\n", escape(text))
}

pub(super) fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escape(&glued(text)))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
