//! The candidate models side by side: how wrong, and how often too low.

use super::Canvas;
use super::frame::{EDGE, header};
use super::lettering::{cut, text_width};
use super::svg::{Anchor, Drawing};
use crate::narrative::target_words;
use crate::text::{percent, plural, shorten};
use crate::view::{CandidateView, CandidatesView};

/// Height of a row, most rows drawn.
const ROW: f64 = 21.0;
const MOST_ROWS: usize = 40;

/// Two bars a candidate, best error first: mean absolute percentage error, and the share of cases
/// predicted too low. The canvas's height is taken as a wish: rows decide.
pub fn candidates_chart(view: &CandidatesView, canvas: &Canvas) -> String {
    let mut scored: Vec<(&CandidateView, f64, f64)> = view
        .candidates
        .iter()
        .filter_map(|candidate| candidate.scores.as_ref().map(|scores| (candidate, scores.mape, scores.upp)))
        .filter(|(_, mape, upp)| mape.is_finite() && upp.is_finite())
        .collect();
    scored.sort_by(|a, b| a.1.total_cmp(&b.1));
    let left_out = scored.len().saturating_sub(MOST_ROWS);
    // The winner is shown wherever it stands.
    let winner = scored.iter().position(|(candidate, ..)| candidate.chosen);
    if let Some(index) = winner.filter(|&index| index >= MOST_ROWS) {
        scored.swap(index, MOST_ROWS - 1);
    }
    scored.truncate(MOST_ROWS);
    let mut drawing = Drawing::default();
    let title = format!("Candidate models of the {}", target_words(&view.target));
    let reason = shorten(&view.reason, 240);
    let top = header(&mut drawing, canvas, &title, &reason, &[]) + 12.0;
    let bottom = draw_rows(&mut drawing, canvas, top, &scored);
    let mut height = bottom + EDGE;
    if left_out > 0 {
        let text = format!("{} more with larger errors", left_out);
        drawing.text("small muted", (EDGE, bottom + 14.0), Anchor::Start, &text);
        height += 16.0;
    }
    let canvas = Canvas { height, ..canvas.clone() };
    let description =
        format!("Validation scores of {}. {}", plural(view.candidates.len(), "candidate"), view.reason);
    drawing.finish(&canvas, &title, &description)
}

fn draw_rows(drawing: &mut Drawing, canvas: &Canvas, top: f64, rows: &[(&CandidateView, f64, f64)]) -> f64 {
    let width = canvas.width - 2.0 * EDGE;
    let (letters, size) = if width < 480.0 { ("small", 11.0) } else { ("", 12.0) };
    let widest = rows.iter().map(|(candidate, ..)| text_width(&candidate.label(), size)).fold(60.0, f64::max);
    let names = widest.min(width * 0.47);
    let panel = (width - names - 12.0 - 24.0) / 2.0;
    let first = EDGE + names + 12.0;
    let second = first + panel + 24.0;
    if rows.is_empty() {
        drawing.text("muted", (EDGE, top + 14.0), Anchor::Start, "no candidate could be scored");
        return top + ROW;
    }
    let narrow = panel < 150.0;
    for (x, text) in [
        (first, if narrow { "MAPE" } else { "mean absolute error (MAPE)" }),
        (second, if narrow { "UPP" } else { "share under-predicted (UPP)" }),
    ] {
        drawing.text("small muted", (x, top + 4.0), Anchor::Start, text);
    }
    let rows_top = top + 12.0;
    let bottom = rows_top + ROW * rows.len() as f64;
    let mape_end = reach(&rows.iter().map(|row| row.1).collect::<Vec<_>>());
    let upp_end = rows.iter().map(|row| row.2).fold(1.0, f64::max);
    for (index, (candidate, mape, upp)) in rows.iter().enumerate() {
        let y = rows_top + ROW * (index as f64 + 0.5);
        let class = format!("{letters} {}", if candidate.chosen { "strong" } else { "" });
        let label = cut(&candidate.label(), size, names);
        drawing.text(class.trim(), (first - 12.0, y + 4.0), Anchor::End, &label);
        let colour = if candidate.chosen { "c1" } else { "c5" };
        drawing.group(colour, "", |drawing| {
            bar(drawing, (first, y), panel, *mape, mape_end, candidate.chosen);
            bar(drawing, (second, y), panel, *upp, upp_end, candidate.chosen);
        });
    }
    for x in [first, second] {
        drawing.line("rule", (x, rows_top), (x, bottom));
    }
    bottom
}

/// The value at the end of a panel: the largest, unless it is so far out that the others would
/// vanish beside it.
fn reach(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let largest = sorted.last().copied().unwrap_or(0.0);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let end = if median > 0.0 && largest > 4.0 * median { 4.0 * median } else { largest };
    if end > 0.0 { end } else { 1.0 }
}

/// A bar with its value; one that is longer than the panel is cut open at its end.
fn bar(drawing: &mut Drawing, (x, y): (f64, f64), panel: f64, value: f64, end: f64, strong: bool) {
    let text = percent(value);
    let room = (panel - text_width(&text, 12.0) - 8.0).max(20.0);
    let length = room * (value / end).clamp(0.0, 1.0);
    drawing.rectangle(if strong { "fill" } else { "fill soft" }, (x, y - 5.5), length, 11.0);
    if value > end {
        let slash =
            |offset: f64| [(x + length - 9.0 + offset, y + 7.0), (x + length - 4.0 + offset, y - 7.0)];
        drawing.path("halo", &slash(0.0), false);
    }
    drawing.text(
        if strong { "small strong" } else { "small muted" },
        (x + length + 5.0, y + 4.0),
        Anchor::Start,
        &text,
    );
}
