//! The scaling curve: what was measured, what the model makes of it, and how the tests came out.

use harp_core::{Observed, Scale};

use super::Canvas;
use super::axis::Axis;
use super::colour::series_class;
use super::frame::{EDGE, Key, Plot, header, thinned};
use super::lettering::{LINE, cut, spread, text_width};
use super::marks::{Mark, interval};
use super::svg::{Anchor, Drawing};
use crate::text::{plural, share};
use crate::view::{CurvePoint, Estimate, ScalingSeries, ScalingView, TestPoint};

/// Most points a curve is drawn with.
const CURVE_POINTS: usize = 200;

/// Draws how a target grows with a parameter: runs as points, the model as a line with its band, the
/// tests as intervals with what happened. Dashed, on tinted ground, is extrapolation.
pub fn scaling_chart(view: &ScalingView, canvas: &Canvas) -> String {
    let mut drawing = Drawing::default();
    let top = header(&mut drawing, canvas, &view.title, &view.subtitle, &keys(view));
    let xs = view.series.iter().flat_map(series_xs).chain(view.measured_up_to);
    let ys = view.series.iter().flat_map(series_ys);
    let named = view.series.iter().any(|series| !series.name.is_empty());
    let widest = view.series.iter().map(|series| text_width(&series.name, 12.0)).fold(0.0, f64::max);
    let right = if named { (widest + 12.0).min(canvas.width * 0.28) } else { 10.0 };
    let plot = Plot::new(canvas, top, right, Axis::over(&view.x, xs), Axis::over(&view.y, ys));
    draw_zone(&mut drawing, &plot, view);
    plot.draw(&mut drawing);
    if view.series.iter().all(|series| series_ys(series).next().is_none()) {
        plot.draw_empty(&mut drawing);
    }
    plot.clipped(&mut drawing, canvas, |drawing| {
        for (index, series) in view.series.iter().enumerate() {
            drawing.group(series_class(index), "", |drawing| draw_model(drawing, &plot, view, series));
        }
        for (index, series) in view.series.iter().enumerate() {
            drawing.group(series_class(index), "", |drawing| draw_runs(drawing, &plot, series));
        }
    });
    for (index, series) in view.series.iter().enumerate() {
        draw_tests(&mut drawing, &plot, view, series, series_class(index));
    }
    if named {
        draw_names(&mut drawing, canvas, &plot, view);
    }
    drawing.finish(canvas, &view.title, &description(view))
}

fn series_xs(series: &ScalingSeries) -> impl Iterator<Item = f64> {
    let measured = series.measured.iter().map(|point| point.x);
    measured.chain(series.curve.iter().map(|point| point.x)).chain(series.tests.iter().map(|test| test.x))
}

/// Everything drawn but the ends of the band, which may be far away.
fn series_ys(series: &ScalingSeries) -> impl Iterator<Item = f64> {
    let measured = series.measured.iter().map(|point| point.y.value());
    let curve = series.curve.iter().map(|point| point.y.value);
    let tests = series.tests.iter().flat_map(|test| {
        [Some(test.predicted.low), Some(test.predicted.high), test.actual.map(Observed::value)]
    });
    measured.chain(curve).chain(tests.flatten())
}

fn keys(view: &ScalingView) -> Vec<Key> {
    let measured = || view.series.iter().flat_map(|series| &series.measured);
    let tests = || view.series.iter().flat_map(|series| &series.tests);
    let colour = if view.series.len() == 1 { "c0" } else { "muted" };
    let has_run =
        |scale: Scale| measured().any(|run| run.scale == scale && !run.moved && run.y.exact().is_some());
    let interval = format!("{} interval", share(view.coverage));
    let entries = [
        (has_run(Scale::Sd), Key::new(colour, Mark::Open, "scaled-down run")),
        (has_run(Scale::Fs), Key::new(colour, Mark::Filled, "full-scale run")),
        (
            measured().any(|run| run.moved && run.y.exact().is_some()),
            Key::new(colour, Mark::Moved, "run at other values, scaled by the model"),
        ),
        (measured().any(|run| run.y.exact().is_none()), Key::new(colour, Mark::AtLeast, "killed: at least")),
        (
            view.series.iter().any(|series| !series.curve.is_empty()),
            Key::new(colour, Mark::Curve, format!("model and {interval}")),
        ),
        (tests().next().is_some(), Key::new(colour, Mark::Interval, "predicted test case")),
        (tests().any(|test| is_hit(test) == Some(true)), Key::new("ink", Mark::Diamond, "actual, inside")),
        (tests().any(|test| is_hit(test) == Some(false)), Key::new("bad", Mark::Cross, "actual, outside")),
    ];
    entries.into_iter().filter(|(used, _)| *used).map(|(_, key)| key).collect()
}

/// Whether the truth lies in the interval, where it is known.
fn is_hit(test: &TestPoint) -> Option<bool> {
    match test.actual? {
        Observed::Exact(actual) => Some(test.predicted.holds(actual)),
        Observed::AtLeast(bound) if bound > test.predicted.high => Some(false),
        Observed::AtLeast(_) => None,
    }
}

/// Tints what lies beyond the measured range, and names both sides of its edge.
fn draw_zone(drawing: &mut Drawing, plot: &Plot, view: &ScalingView) {
    let Some(edge) = view.measured_up_to.filter(|&edge| plot.x.shows(edge)) else {
        return;
    };
    let area = plot.area;
    let x = plot.x.position(edge).clamp(area.left, area.right);
    if area.right - x < 8.0 || plot.x.domain().1 <= edge {
        return;
    }
    drawing.rectangle("zone", (x, area.top), area.right - x, area.bottom - area.top);
    drawing.line("rule dotted", (x, area.top), (x, area.bottom));
    // Above the plot, where no curve can run through them.
    let name_end = EDGE + text_width(&view.y.name, 12.0) + 12.0;
    for (text, at, anchor, free) in [
        ("← measured", x - 6.0, Anchor::End, x - name_end),
        ("extrapolated →", x + 6.0, Anchor::Start, area.right - x),
    ] {
        if text_width(text, 11.0) + 6.0 < free {
            drawing.text("small muted", (at, area.top - 8.0), anchor, text);
        }
    }
    drawing.line("rule", (x, area.top - 18.0), (x, area.top));
}

/// The curve and its band, solid where measured and dashed beyond.
fn draw_model(drawing: &mut Drawing, plot: &Plot, view: &ScalingView, series: &ScalingSeries) {
    let mut curve: Vec<CurvePoint> = series
        .curve
        .iter()
        .filter(|point| plot.point(point.x, point.y.value).is_some() && point.y.is_finite())
        .copied()
        .collect();
    curve.sort_by(|a, b| a.x.total_cmp(&b.x));
    let stride = curve.len().div_ceil(CURVE_POINTS).max(1);
    let last = curve.len().saturating_sub(1);
    let curve: Vec<CurvePoint> = curve
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % stride == 0 || *i == last)
        .map(|(_, p)| p)
        .collect();
    let y = |value: f64| plot.y.position(if plot.y.shows(value) { value } else { plot.y.domain().0 });
    let along = |get: fn(&Estimate) -> f64, points: &[CurvePoint]| -> Vec<(f64, f64)> {
        points.iter().map(|point| (plot.x.position(point.x), y(get(&point.y)))).collect()
    };
    let mut band = along(|estimate| estimate.high, &curve);
    band.extend(along(|estimate| estimate.low, &curve).into_iter().rev());
    drawing.path("band", &band, true);
    let (inside, outside) = split(plot, &curve, view.measured_up_to.unwrap_or(f64::INFINITY));
    drawing.path("line", &along(|estimate| estimate.value, &inside), false);
    drawing.path("line dashed", &along(|estimate| estimate.value, &outside), false);
}

/// Cuts a curve at a value of the parameter; both parts share the point where it is cut.
fn split(plot: &Plot, curve: &[CurvePoint], edge: f64) -> (Vec<CurvePoint>, Vec<CurvePoint>) {
    let cut = curve.partition_point(|point| point.x <= edge);
    let (mut inside, mut outside) = (curve[..cut].to_vec(), curve[cut..].to_vec());
    if let (Some(from), Some(to)) = (inside.last().copied(), outside.first().copied()) {
        let share = plot.x.share(from.x, to.x, edge);
        let between = |a: f64, b: f64| plot.y.between(a, b, share);
        let (a, b) = (from.y, to.y);
        let y = Estimate::new(between(a.value, b.value), between(a.low, b.low), between(a.high, b.high));
        inside.push(CurvePoint { x: edge, y });
        outside.insert(0, CurvePoint { x: edge, y });
    }
    (inside, outside)
}

fn draw_runs(drawing: &mut Drawing, plot: &Plot, series: &ScalingSeries) {
    let points = series.measured.iter().filter_map(|run| {
        let mark = match (run.y, run.scale) {
            (Observed::AtLeast(_), _) => Mark::AtLeast,
            _ if run.moved => Mark::Moved,
            (_, Scale::Sd) => Mark::Open,
            (_, Scale::Fs | Scale::Test) => Mark::Filled,
        };
        Some((plot.point(run.x, run.y.value())?, mark))
    });
    for (point, mark) in thinned(points.collect()) {
        mark.draw(drawing, point);
    }
}

/// Intervals in the colour of the series, truths in ink.
fn draw_tests(drawing: &mut Drawing, plot: &Plot, view: &ScalingView, series: &ScalingSeries, colour: &str) {
    let drawable =
        |test: &&TestPoint| plot.point(test.x, test.predicted.value).is_some() && test.predicted.is_finite();
    let tests: Vec<((f64, f64), &TestPoint)> = series
        .tests
        .iter()
        .filter(drawable)
        .filter_map(|test| Some((plot.point(test.x, test.predicted.value)?, test)))
        .collect();
    let noted = tests.len() <= 200;
    for ((x, middle), test) in thinned(tests) {
        let format = |value: f64| view.y.quantity.format(value);
        let mut note = format!(
            "{} {}: predicted {} ({})",
            view.x.name,
            crate::text::number(test.x),
            format(test.predicted.value),
            view.y.quantity.range(test.predicted.low, test.predicted.high)
        );
        if let Some(actual) = test.actual {
            note.push_str(&format!(", actual {}", format(actual.value())));
        }
        let y = |value: f64| plot.y.position(if plot.y.shows(value) { value } else { plot.y.domain().0 });
        drawing.group(colour, if noted { &note } else { "" }, |drawing| {
            interval(drawing, x, (y(test.predicted.high), Some(middle), y(test.predicted.low)));
        });
        let Some(point) = test.actual.and_then(|actual| plot.point(test.x, actual.value())) else {
            continue;
        };
        let (colour, mark) = match (is_hit(test), test.actual) {
            (Some(true), _) => ("ink", Mark::Diamond),
            (Some(false), _) => ("bad", Mark::Cross),
            (None, _) => ("ink", Mark::AtLeast),
        };
        drawing.group(colour, if noted { &note } else { "" }, |drawing| mark.draw(drawing, point));
    }
}

/// Each series' name at the right end of its curve.
fn draw_names(drawing: &mut Drawing, canvas: &Canvas, plot: &Plot, view: &ScalingView) {
    let ends: Vec<Option<f64>> = view
        .series
        .iter()
        .map(|series| {
            let curve = series.curve.iter().map(|point| (point.x, point.y.value));
            let runs = series.measured.iter().map(|run| (run.x, run.y.value()));
            let last = |points: &mut dyn Iterator<Item = (f64, f64)>| {
                points.filter(|&(x, y)| plot.point(x, y).is_some()).max_by(|a, b| a.0.total_cmp(&b.0))
            };
            last(&mut curve.into_iter())
                .or_else(|| last(&mut runs.into_iter()))
                .map(|(_, y)| plot.y.position(y))
        })
        .collect();
    let wished: Vec<f64> = ends.iter().flatten().copied().collect();
    let mut heights = spread(&wished, LINE, plot.area.top + 6.0, plot.area.bottom).into_iter();
    for (index, (series, end)) in view.series.iter().zip(&ends).enumerate() {
        if end.is_none() {
            continue;
        }
        let Some(y) = heights.next() else { continue };
        let name = cut(&series.name, 12.0, canvas.width - EDGE - plot.area.right - 8.0 + 6.0);
        drawing.group(series_class(index), "", |drawing| {
            drawing.text("own strong", (plot.area.right + 8.0, y + 4.0), Anchor::Start, &name);
        });
    }
}

fn description(view: &ScalingView) -> String {
    let count = |of: fn(&ScalingSeries) -> usize| view.series.iter().map(of).sum::<usize>();
    let mut words = vec![format!(
        "{} against {}: {} measured, {} predicted with a {} interval.",
        view.y.name,
        view.x.name,
        plural(count(|series| series.measured.len()), "run"),
        plural(count(|series| series.tests.len()), "test case"),
        share(view.coverage)
    )];
    let known = view.series.iter().flat_map(|series| &series.tests).filter_map(is_hit).collect::<Vec<_>>();
    if !known.is_empty() {
        let hits = known.iter().filter(|&&hit| hit).count();
        words.push(format!("{hits} of {} actual values lie inside.", known.len()));
    }
    if let Some(edge) = view.measured_up_to.filter(|edge| edge.is_finite()) {
        words.push(format!("Beyond {} the model extrapolates.", view.x.quantity.format(edge)));
    }
    words.join(" ")
}
