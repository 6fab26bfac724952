//! Predicted against actual: on the diagonal the prediction was right, below it too small.

use harp_core::Observed;

use super::Canvas;
use super::axis::Axis;
use super::frame::{EDGE, Key, Plot, header, thinned};
use super::lettering::{Area, LINE, Labels, cut, text_width};
use super::marks::{Mark, interval};
use super::svg::{Anchor, Drawing};
use crate::Quantity;
use crate::narrative::target_words;
use crate::text::{percent, share, shorten};
use crate::view::{AxisView, CaseView, TargetView};

/// Draws each case's prediction with its interval over what really happened.
pub fn accuracy_chart(view: &TargetView, canvas: &Canvas) -> String {
    let quantity = Quantity::of(&view.target);
    let what = target_words(&view.target);
    let cases: Vec<(&CaseView, f64)> = view
        .cases
        .iter()
        .filter_map(|case| Some((case, case.actual.and_then(Observed::exact)?)))
        .filter(|(case, actual)| actual.is_finite() && case.estimate.is_finite())
        .collect();
    let mut drawing = Drawing::default();
    let title = format!("Predicted against actual {what}");
    let subtitle = format!("One point per test case; bars are the {} interval", share(view.coverage));
    let top = header(&mut drawing, canvas, &title, &subtitle, &keys(&cases));
    let values = || {
        cases
            .iter()
            .flat_map(|(case, actual)| [case.estimate.value, case.estimate.low, case.estimate.high, *actual])
    };
    let axis = |name: String| Axis::over(&AxisView::logarithmic(name, quantity.clone()), values());
    let notes = notes(view);
    let plot =
        Plot::new(canvas, top, 10.0, axis(format!("actual {what}")), axis(format!("predicted {what}")))
            .squared();
    draw_regions(&mut drawing, &plot);
    plot.draw(&mut drawing);
    let area = plot.area;
    drawing.line("rule", (area.left, area.bottom), (area.right, area.top));
    name_regions(&mut drawing, &plot);
    if cases.is_empty() {
        plot.draw_empty(&mut drawing);
    }
    plot.clipped(&mut drawing, canvas, |drawing| draw_cases(drawing, &plot, &cases, &quantity));
    name_misses(&mut drawing, &plot, &cases, &quantity);
    draw_notes(&mut drawing, canvas, &plot, &notes);
    let description =
        notes.iter().map(|(value, meaning)| format!("{value} {meaning}.")).collect::<Vec<_>>().join(" ");
    drawing.finish(canvas, &title, &description)
}

fn keys(cases: &[(&CaseView, f64)]) -> Vec<Key> {
    let any = |miss: bool| cases.iter().any(|(case, _)| case.verdict.is_miss() == miss);
    let entries = [
        (any(false), Key::new("c0", Mark::Filled, "actual inside the interval")),
        (any(true), Key::new("bad", Mark::Cross, "actual outside the interval")),
    ];
    entries.into_iter().filter(|(used, _)| *used).map(|(_, key)| key).collect()
}

/// Figures worth saying beside the picture.
fn notes(view: &TargetView) -> Vec<(String, String)> {
    let (hits, judged) = view.hits();
    let mut notes =
        vec![(format!("{hits} of {judged}"), format!("inside the {} interval", share(view.coverage)))];
    if let Some(scores) = &view.scores {
        notes.push((percent(scores.mape), "mean absolute error (MAPE)".to_owned()));
    }
    let (killed, known) = view.killed();
    if known > 0 {
        notes.push((format!("{killed} of {known}"), "killed at their request".to_owned()));
    }
    notes
}

/// The half where jobs are given too little.
fn draw_regions(drawing: &mut Drawing, plot: &Plot) {
    let Area { left, top, right, bottom } = plot.area;
    drawing.group("bad", "", |drawing| {
        drawing.path("tint", &[(left, bottom), (right, top), (right, bottom)], true);
    });
}

fn name_regions(drawing: &mut Drawing, plot: &Plot) {
    let Area { left, top, right, bottom } = plot.area;
    drawing.group("bad", "", |drawing| {
        drawing.text("own small", (right - 8.0, bottom - 10.0), Anchor::End, "under-predicted");
    });
    drawing.text("small muted", (left + 8.0, top + 16.0), Anchor::Start, "over-predicted");
}

fn draw_cases(drawing: &mut Drawing, plot: &Plot, cases: &[(&CaseView, f64)], quantity: &Quantity) {
    let noted = cases.len() <= 200;
    let placed = cases
        .iter()
        .filter_map(|&(case, actual)| Some((plot.point(actual, case.estimate.value)?, (case, actual))));
    let mut points = thinned(placed.collect());
    // Misses last, so that no hit covers them.
    points.sort_by_key(|(_, (case, _))| case.verdict.is_miss());
    for ((x, y), (case, actual)) in points {
        let height =
            |value: f64| plot.y.position(if plot.y.shows(value) { value } else { plot.y.domain().0 });
        let note = format!(
            "{}: predicted {} ({}), actual {}",
            case.label(),
            quantity.format(case.estimate.value),
            quantity.range(case.estimate.low, case.estimate.high),
            quantity.format(actual)
        );
        let (colour, mark) = if case.verdict.is_miss() { ("bad", Mark::Cross) } else { ("c0", Mark::Filled) };
        drawing.group(colour, if noted { &note } else { "" }, |drawing| {
            interval(drawing, x, (height(case.estimate.high), None, height(case.estimate.low)));
            mark.draw(drawing, (x, y));
        });
    }
}

/// Names the three worst misses where there is room.
fn name_misses(drawing: &mut Drawing, plot: &Plot, cases: &[(&CaseView, f64)], quantity: &Quantity) {
    let positions: Vec<Option<(f64, f64)>> =
        cases.iter().map(|(case, actual)| plot.point(*actual, case.estimate.value)).collect();
    let taken = positions.iter().flatten().map(|&point| Area::around(point, 5.0)).take(2000).collect();
    let Area { left, top, right, bottom } = plot.area;
    let names = [
        Area { left, top, right: left + 100.0, bottom: top + 20.0 },
        Area { left: right - 110.0, top: bottom - 24.0, right, bottom },
    ];
    let mut labels = Labels::new(plot.area, taken, names.into());
    let mut misses: Vec<(&CaseView, f64, (f64, f64))> = cases
        .iter()
        .zip(&positions)
        .filter(|((case, _), _)| case.verdict.is_miss())
        .filter_map(|((case, actual), position)| Some((*case, *actual, (*position)?)))
        .collect();
    let size = |case: &CaseView| case.error_percent.unwrap_or(0.0).abs();
    misses.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
    for (case, actual, point) in misses.into_iter().take(3) {
        let text = format!("{}: actual {}", shorten(&case.label(), 28), quantity.format(actual));
        if let Some(at) = labels.place(point, (6.0, 20.0), &text, 11.0) {
            drawing.text("small halo", at, Anchor::Start, &text);
        }
    }
}

/// To the right of the square, if there is room.
fn draw_notes(drawing: &mut Drawing, canvas: &Canvas, plot: &Plot, notes: &[(String, String)]) {
    let left = plot.area.right + 28.0;
    let room = canvas.width - EDGE - left;
    let widest = notes.iter().map(|(_, meaning)| text_width(meaning, 12.0)).fold(0.0, f64::max);
    if room < widest.min(150.0) {
        return;
    }
    let mut y = plot.area.top + LINE;
    for (value, meaning) in notes {
        drawing.text("title", (left, y), Anchor::Start, &cut(value, 16.0, room));
        for line in super::lettering::wrapped(meaning, 12.0, room, 2) {
            y += LINE + 1.0;
            drawing.text("muted", (left, y), Anchor::Start, &line);
        }
        y += 2.0 * LINE;
    }
}
