//! Lines over a common axis.

use super::Canvas;
use super::axis::Axis;
use super::colour::{SERIES, series_class};
use super::frame::{Key, Plot, header};
use super::marks::Mark;
use super::svg::Drawing;
use crate::text::{join_words, plural};
use crate::view::{LineSeries, LinesView};

/// Most points a line is drawn with.
const MOST_POINTS: usize = 1000;

/// Draws distributions, or something over time: a line a series, told apart in the key.
pub fn lines_chart(view: &LinesView, canvas: &Canvas) -> String {
    let mut drawing = Drawing::default();
    let named = view.series.len() > 1;
    let key = |(index, series): (usize, &LineSeries)| {
        let mark = if index < SERIES { Mark::Line } else { Mark::DashedLine };
        Key::new(series_class(index), mark, series.name.clone())
    };
    let keys: Vec<Key> = if named { view.series.iter().enumerate().map(key).collect() } else { Vec::new() };
    let top = header(&mut drawing, canvas, &view.title, &view.subtitle, &keys);
    let points = || view.series.iter().flat_map(|series| &series.points);
    let x = Axis::over(&view.x, points().map(|point| point.0));
    let y = Axis::over(&view.y, points().map(|point| point.1));
    let plot = Plot::new(canvas, top, 10.0, x, y);
    plot.draw(&mut drawing);
    if points().next().is_none() {
        plot.draw_empty(&mut drawing);
    }
    plot.clipped(&mut drawing, canvas, |drawing| {
        for (index, series) in view.series.iter().enumerate() {
            let stride = series.points.len().div_ceil(MOST_POINTS).max(1);
            let last = series.points.len().saturating_sub(1);
            let kept = series.points.iter().enumerate();
            let kept = kept.filter(|(place, _)| place % stride == 0 || *place == last);
            let drawn: Vec<(f64, f64)> = kept.filter_map(|(_, &(x, y))| plot.point(x, y)).collect();
            let class = if index < SERIES { "line" } else { "line dashed" };
            drawing.group(series_class(index), &series.name, |drawing| drawing.path(class, &drawn, false));
        }
    });
    let names: Vec<&str> = view.series.iter().map(|series| series.name.as_str()).collect();
    let description = format!(
        "{} over {}; {}: {}.",
        view.y.name,
        view.x.name,
        plural(view.series.len(), "line"),
        join_words(&names)
    );
    drawing.finish(canvas, &view.title, &description)
}
