//! Parts that add up: each bar begins where the one before it ended, the last one is their sum.

use super::Canvas;
use super::axis::Axis;
use super::colour::series_class;
use super::frame::{Plot, header};
use super::svg::{Anchor, Drawing};
use crate::view::{AxisView, WaterfallView};

/// Most parts that are drawn.
const MOST_PARTS: usize = 40;

/// Draws the parts, their sum and the limits they are compared with.
pub fn waterfall_chart(view: &WaterfallView, canvas: &Canvas) -> String {
    let mut drawing = Drawing::default();
    let top = header(&mut drawing, canvas, &view.title, &view.subtitle, &[]);
    let finite = |value: &&(String, f64)| value.1.is_finite() && value.1 >= 0.0;
    let parts: Vec<&(String, f64)> = view.parts.iter().filter(finite).take(MOST_PARTS).collect();
    let limits: Vec<&(String, f64)> = view.limits.iter().filter(finite).collect();
    let total: f64 = parts.iter().map(|part| part.1).sum();
    let y = Axis::over(&view.y, limits.iter().map(|limit| limit.1).chain([0.0, total]));
    let count = (parts.len() + 1) as f64;
    let x = Axis::over(&AxisView::linear("", crate::Quantity::Number), [0.0, count]);
    let plot = Plot::new(canvas, top, 0.0, x, y);
    plot.draw_side(&mut drawing);
    if parts.is_empty() {
        plot.draw_empty(&mut drawing);
    }
    let width = (plot.area.right - plot.area.left) / count;
    // Limits lie below the bars' figures: a line through a figure makes it hard to read.
    for (name, value) in &limits {
        let height = plot.y.position(*value);
        drawing.group("bad", name, |drawing| {
            drawing.line("thin dashed", (plot.area.left, height), (plot.area.right, height));
        });
        let text = format!("{name}, {}", view.y.quantity.format(*value));
        drawing.text("small muted halo", (plot.area.left + 4.0, height - 4.0), Anchor::Start, &text);
    }
    let mut bar = |index: usize, name: &str, from: f64, to: f64, class: &'static str| {
        let left = plot.area.left + index as f64 * width;
        let (low, high) = (plot.y.position(from), plot.y.position(to));
        let figure = view.y.quantity.format(to - from);
        drawing.group(class, &format!("{name}: {figure}"), |drawing| {
            drawing.rectangle("fill", (left + 0.12 * width, high), 0.76 * width, (low - high).max(0.8));
        });
        let middle = left + width / 2.0;
        drawing.text("small halo", (middle, high - 5.0), Anchor::Middle, &figure);
        // Two words stand below each other, so that names do not touch.
        for (line, word) in name.split(' ').enumerate() {
            let below = (middle, plot.area.bottom + 15.0 + 13.0 * line as f64);
            drawing.text("small muted", below, Anchor::Middle, word);
        }
    };
    let mut sum = 0.0;
    for (index, (name, value)) in parts.iter().enumerate() {
        bar(index, name, sum, sum + value, series_class(index));
        sum += value;
    }
    bar(parts.len(), &view.total, 0.0, sum, "ink");
    let says = format!("{} in {} parts that add up.", view.y.name, parts.len());
    drawing.finish(canvas, &view.title, &says)
}
