//! The page of a document: its sections in order, in the same dress as the page of a run.

use super::sections::{facts_list, figure, heading, made_list, paragraph, table, warnings};
use super::whole;
use crate::chart::{bars_chart, lines_chart};
use crate::text::{escape, glued};
use crate::view::{DocumentView, Part};

/// One page that needs nothing beside it: headline, figures, and every section with its charts and tables.
pub fn document_page(view: &DocumentView) -> String {
    let mut body = format!("<p class=\"kicker\">{}</p>\n", escape(&view.kicker));
    body.push_str(&format!("<h1>{}</h1>\n", escape(&glued(&view.headline))));
    body.push_str(&facts_list(&view.facts));
    body.push_str(&warnings(&view.warnings));
    for (number, section) in view.sections.iter().enumerate() {
        body.push_str(&heading(&section.title));
        for (place, part) in section.parts.iter().enumerate() {
            body.push_str(&rendered(part, &format!("part-{number}-{place}")));
        }
    }
    body.push_str(&made_list(&view.made, &view.command));
    whole(&view.title, &view.harp_version, &body)
}

fn rendered(part: &Part, id: &str) -> String {
    match part {
        Part::Text(text) => paragraph(text),
        Part::Statements(items) => statements(items),
        Part::Lines(lines) => figure(id, (380.0, 340.0), |canvas| lines_chart(lines, canvas)),
        Part::Bars(bars) => figure(id, (340.0, 320.0), |canvas| bars_chart(bars, canvas)),
        Part::Table(title, rows) => format!("<h3>{}</h3>\n{}", escape(title), table(rows)),
    }
}

/// Statements, each behind the sign of whether it holds.
fn statements(items: &[(Option<bool>, String)]) -> String {
    let item = |(holds, text): &(Option<bool>, String)| {
        let (class, sign) = match holds {
            Some(true) => ("good", "✓"),
            Some(false) => ("warning", "✗"),
            None => ("faint", "?"),
        };
        format!("<li><b class=\"{class}\">{sign}</b>{}</li>\n", escape(&glued(text)))
    };
    format!("<ul class=\"statements\">\n{}</ul>\n", items.iter().map(item).collect::<String>())
}
