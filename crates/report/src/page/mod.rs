//! One HTML page that tells the whole story of a run. It needs nothing beside it: no script, no
//! font, no picture, no network, and its own policy forbids them.

mod document;
mod sections;
mod sheet;

pub use document::document_page;

use crate::narrative::verdict_sentence;
use crate::text::{escape, glued, join_words, plural};
use crate::view::RunView;
use sections::{facts, made, models, plan, target, warnings, where_it_ran};
use sheet::sheet;

/// The page of a run: the verdict in one sentence, the charts, predicted against actual, the
/// recommended allocation with its job script, the candidate models, the machine and the evidence,
/// and how it was made.
pub fn run_page(view: &RunView) -> String {
    let mut page = String::new();
    page.push_str(&format!("<p class=\"kicker\">{}</p>\n", escape(&kicker(view))));
    page.push_str(&format!("<h1>{}</h1>\n", escape(&glued(&verdict_sentence(view)))));
    page.push_str(&facts(view));
    page.push_str(&warnings(&view.warnings));
    for (index, view) in view.targets.iter().enumerate() {
        page.push_str(&target(index, view));
    }
    if let Some(view) = &view.plan {
        page.push_str(&plan(view));
    }
    page.push_str(&models(view));
    page.push_str(&where_it_ran(view));
    page.push_str(&made(&view.provenance));
    whole(&format!("harp: {}", view.application), &view.provenance.harp_version, &page)
}

/// A whole page around its content.
fn whole(title: &str, harp_version: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"generator\" content=\"harp {}\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
         {body}</main>\n</body>\n</html>\n",
        escape(harp_version),
        escape(title),
        sheet()
    )
}

/// `euler · 36 scaled-down runs and 4 full-scale runs · judged on 10 test runs`.
fn kicker(view: &RunView) -> String {
    let sweep = &view.sweep;
    let learned: Vec<String> = [(sweep.scaled_down, "scaled-down run"), (sweep.full_scale, "full-scale run")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| plural(count, noun))
        .collect();
    let mut words = vec![view.application.clone()];
    if !learned.is_empty() {
        words.push(join_words(&learned));
    }
    if sweep.test > 0 {
        words.push(format!("judged on {}", plural(sweep.test, "test run")));
    }
    words.join(" · ")
}
