//! Bars in groups.

use super::Canvas;
use super::axis::Axis;
use super::colour::series_class;
use super::frame::{Key, Plot, header};
use super::lettering::text_width;
use super::marks::Mark;
use super::svg::{Anchor, Drawing};
use crate::view::{AxisView, BarGroup, BarsView};

/// Most groups that are drawn.
const MOST_GROUPS: usize = 200;

/// Draws groups of bars from 0, a bar a series, told apart in the key.
pub fn bars_chart(view: &BarsView, canvas: &Canvas) -> String {
    let mut drawing = Drawing::default();
    let named = view.series.len() > 1;
    let key = |(index, name): (usize, &String)| Key::new(series_class(index), Mark::Square, name.clone());
    let keys: Vec<Key> = if named { view.series.iter().enumerate().map(key).collect() } else { Vec::new() };
    let top = header(&mut drawing, canvas, &view.title, &view.subtitle, &keys);
    let groups = &view.groups[..view.groups.len().min(MOST_GROUPS)];
    let values = || groups.iter().flat_map(|group| group.values.iter().flatten().copied());
    let y = Axis::over(&view.y, values().chain([0.0]));
    let x = Axis::over(&AxisView::linear("", crate::Quantity::Number), [0.0, groups.len() as f64]);
    let plot = Plot::new(canvas, top, 0.0, x, y);
    plot.draw_side(&mut drawing);
    if values().next().is_none() {
        plot.draw_empty(&mut drawing);
    }
    let width = (plot.area.right - plot.area.left) / groups.len().max(1) as f64;
    let step = label_step(groups, width);
    for (index, group) in groups.iter().enumerate() {
        let left = plot.area.left + index as f64 * width;
        draw_group(&mut drawing, &plot, view, group, left, width);
        if !group.name.is_empty() && index % step == 0 {
            let below = (left + width / 2.0, plot.area.bottom + 17.0);
            drawing.text("small muted", below, Anchor::Middle, &group.name);
        }
    }
    drawing.finish(canvas, &view.title, &format!("{} in {} groups of bars.", view.y.name, groups.len()))
}

/// Every how many groups a name is written, so that names do not touch and are evenly spaced.
fn label_step(groups: &[BarGroup], width: f64) -> usize {
    let widest = groups.iter().map(|group| text_width(&group.name, 11.0)).fold(0.0, f64::max);
    (((widest + 6.0) / width).ceil() as usize).max(1)
}

fn draw_group(drawing: &mut Drawing, plot: &Plot, view: &BarsView, group: &BarGroup, left: f64, width: f64) {
    let room = width * 0.76;
    let each = room / view.series.len().max(group.values.len()).max(1) as f64;
    let ground = plot.y.position(0.0);
    for (index, value) in group.values.iter().enumerate() {
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let series = view.series.get(index).map_or("", String::as_str);
        let note = format!("{} {series}: {}", group.name, view.y.quantity.format(value));
        let x = left + (width - room) / 2.0 + index as f64 * each;
        let y = plot.y.position(value);
        drawing.group(series_class(index), &note, |drawing| {
            drawing.rectangle("fill", (x, y.min(ground)), (each - 1.0).max(0.8), (ground - y).abs());
        });
    }
}
