//! Time against price: every allocation, the front nothing beats, the choice and the default.

use super::Canvas;
use super::axis::Axis;
use super::frame::{Key, Plot, header, thinned};
use super::lettering::{Area, Labels, text_width};
use super::marks::Mark;
use super::svg::{Anchor, Drawing};
use crate::Quantity;
use crate::text::{plural, shorten};
use crate::view::{AxisView, OptionView, PlanView};

/// Draws the predicted time and price of each allocation; limits are lines, beyond them is tinted.
pub fn pareto_chart(view: &PlanView, canvas: &Canvas) -> String {
    let money = Quantity::Money(view.money_unit.clone());
    let options: Vec<&OptionView> = view
        .options
        .iter()
        .filter(|option| {
            option.walltime.value.is_finite() && option.walltime.value >= 0.0 && option.price.0.is_finite()
        })
        .collect();
    let mut drawing = Drawing::default();
    let (title, subtitle) = (title(view), subtitle(view));
    let top = header(&mut drawing, canvas, &title, &subtitle, &keys(&options));
    let ends = |option: &&OptionView| [option.walltime.low, option.walltime.value, option.walltime.high];
    let times = options.iter().flat_map(ends).chain(view.max_time.map(|time| time.0));
    let all: Vec<f64> =
        options.iter().map(|option| option.price.0).chain(view.max_cost.map(|cost| cost.0)).collect();
    let (low, high) = all.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &p| (low.min(p), high.max(p)));
    // Room above the dearest option, which is often the default, for its name.
    let headroom = if low > 0.0 && low < high { high * (high / low).powf(0.08) } else { high };
    let prices = all.into_iter().chain((headroom > 0.0).then_some(headroom));
    let x = Axis::over(&AxisView::logarithmic("predicted walltime", Quantity::Seconds), times);
    let y = Axis::over(&AxisView::logarithmic("expected price", money), prices);
    let plot = Plot::new(canvas, top, 10.0, x, y);
    draw_limit_zones(&mut drawing, &plot, view);
    plot.draw(&mut drawing);
    draw_limit_lines(&mut drawing, &plot, view);
    if options.is_empty() {
        plot.draw_empty(&mut drawing);
    }
    let stairs = stairs(&plot, &options);
    if stairs.len() > 1 {
        drawing.group("c0", "", |drawing| drawing.path("thin", &stairs, false));
    }
    let points = draw_options(&mut drawing, &plot, &options, view);
    name_options(&mut drawing, &plot, &points, &stairs, view);
    drawing.finish(canvas, &title, &description(view, &options))
}

fn title(view: &PlanView) -> String {
    match view.chosen() {
        Some(chosen) => format!("Recommended: {}", chosen.allocation),
        None => "Time and price of each allocation".to_owned(),
    }
}

fn subtitle(view: &PlanView) -> String {
    let case = crate::view::features_label(&view.features);
    let count = plural(view.options.len(), "allocation");
    let parts = [shorten(&case, 120), view.site.clone(), count];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn description(view: &PlanView, options: &[&OptionView]) -> String {
    let front = options.iter().filter(|option| option.on_front).count();
    format!(
        "{} by predicted walltime and price; {front} on the front. {}",
        plural(options.len(), "allocation"),
        crate::narrative::plan_sentence(view)
    )
}

/// The sign of an option and its colour, by the most important thing about it.
fn sign(option: &OptionView) -> (&'static str, Mark) {
    if option.chosen {
        ("c1", Mark::Target)
    } else if option.default {
        ("ink", Mark::Square)
    } else if !option.fits() {
        ("muted", Mark::Excluded)
    } else if option.on_front {
        ("c0", Mark::Filled)
    } else {
        ("muted", Mark::Open)
    }
}

fn keys(options: &[&OptionView]) -> Vec<Key> {
    let known = [
        ("c1", Mark::Target, "recommended"),
        ("ink", Mark::Square, "full node"),
        ("c0", Mark::Filled, "on the front"),
        ("muted", Mark::Open, "slower and dearer"),
        ("muted", Mark::Excluded, "does not fit the limits"),
    ];
    let mut keys: Vec<Key> = known
        .into_iter()
        .filter(|(colour, mark, _)| options.iter().any(|option| sign(option) == (*colour, *mark)))
        .map(|(colour, mark, text)| Key::new(colour, mark, text))
        .collect();
    if options.iter().any(|option| option.knee && !option.chosen) {
        keys.push(Key::new("c0", Mark::Ring, "knee"));
    }
    keys
}

fn draw_limit_zones(drawing: &mut Drawing, plot: &Plot, view: &PlanView) {
    let Area { left, top, right, bottom } = plot.area;
    if let Some(time) = view.max_time.filter(|time| plot.x.shows(time.0)) {
        let x = plot.x.position(time.0).clamp(left, right);
        drawing.rectangle("zone", (x, top), right - x, bottom - top);
    }
    if let Some(cost) = view.max_cost.filter(|cost| plot.y.shows(cost.0)) {
        let y = plot.y.position(cost.0).clamp(top, bottom);
        drawing.rectangle("zone", (left, top), right - left, y - top);
    }
}

fn draw_limit_lines(drawing: &mut Drawing, plot: &Plot, view: &PlanView) {
    let Area { left, top, right, bottom } = plot.area;
    if let Some(time) = view.max_time.filter(|time| plot.x.shows(time.0)) {
        let x = plot.x.position(time.0).clamp(left, right);
        let text = format!("time limit {time}");
        drawing.line("rule dashed", (x, top), (x, bottom));
        let (at, anchor) = if x - left > text_width(&text, 11.0) + 10.0 {
            (x - 5.0, Anchor::End)
        } else {
            (x + 5.0, Anchor::Start)
        };
        drawing.text("small muted halo", (at, bottom - 8.0), anchor, &text);
    }
    if let Some(cost) = view.max_cost.filter(|cost| plot.y.shows(cost.0)) {
        let y = plot.y.position(cost.0).clamp(top, bottom);
        let money = Quantity::Money(view.money_unit.clone());
        drawing.line("rule dashed", (left, y), (right, y));
        let text = format!("cost limit {}", money.format(cost.0));
        drawing.text("small muted halo", (right - 5.0, y - 5.0), Anchor::End, &text);
    }
}

/// Stairs: between two points of the front nothing better is known.
fn stairs(plot: &Plot, options: &[&OptionView]) -> Vec<(f64, f64)> {
    let mut front: Vec<(f64, f64)> = options
        .iter()
        .filter(|option| option.on_front)
        .filter_map(|option| plot.point(option.walltime.value, option.price.0))
        .collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut stairs: Vec<(f64, f64)> = Vec::with_capacity(2 * front.len());
    for (point, ()) in thinned(front.into_iter().map(|point| (point, ())).collect()) {
        if let Some(&(_, y)) = stairs.last() {
            stairs.push((point.0, y));
        }
        stairs.push(point);
    }
    stairs
}

type Placed<'a> = ((f64, f64), &'a OptionView);

/// Draws the signs, the important ones on top; says where they are.
fn draw_options<'a>(
    drawing: &mut Drawing,
    plot: &Plot,
    options: &[&'a OptionView],
    view: &PlanView,
) -> Vec<Placed<'a>> {
    let importance =
        |option: &OptionView| (option.chosen, option.default, option.knee, option.on_front, option.fits());
    let mut points: Vec<Placed<'a>> = options
        .iter()
        .filter_map(|option| Some((plot.point(option.walltime.value, option.price.0)?, *option)))
        .collect();
    points.sort_by_key(|(_, option)| std::cmp::Reverse(importance(option)));
    let noted = points.len() <= 200;
    let points = thinned(points);
    let money = Quantity::Money(view.money_unit.clone());
    for &((x, y), option) in points.iter().rev() {
        let (colour, mark) = sign(option);
        let note = format!(
            "{}: {}, {}",
            option.allocation,
            Quantity::Seconds.format(option.walltime.value),
            money.format(option.price.0)
        );
        drawing.group(colour, if noted { &note } else { "" }, |drawing| {
            if option.chosen || option.default {
                let at = |value: f64| {
                    plot.x.position(if plot.x.shows(value) { value } else { option.walltime.value })
                };
                let clamp = |x: f64| x.clamp(plot.area.left, plot.area.right);
                drawing.line(
                    "thin",
                    (clamp(at(option.walltime.low)), y),
                    (clamp(at(option.walltime.high)), y),
                );
            }
            mark.draw(drawing, (x, y));
        });
        if option.knee && !option.chosen {
            drawing.group("c0", "", |drawing| Mark::Ring.draw(drawing, (x, y)));
        }
    }
    points
}

/// Names the recommendation, the default and the knee; then what of the front has room.
fn name_options(
    drawing: &mut Drawing,
    plot: &Plot,
    points: &[Placed<'_>],
    stairs: &[(f64, f64)],
    view: &PlanView,
) {
    let money = Quantity::Money(view.money_unit.clone());
    let reach = |option: &OptionView| if option.chosen { 9.0 } else { 5.0 };
    let signs = points.iter().map(|(point, option)| Area::around(*point, reach(option)));
    let steps = stairs.windows(2).map(|pair| Area::between(pair[0], pair[1]));
    let Area { left, top, right, bottom } = plot.area;
    let bounds = Area { left, top: top - 4.0, right: right + 10.0, bottom: bottom - 20.0 };
    let mut labels = Labels::new(bounds, signs.collect(), steps.collect());
    let narrow = right - left < 400.0;
    let mut homeless = Vec::new();
    for &(point, option) in points.iter().take(40) {
        let figures = || {
            let time = Quantity::Seconds.format(option.walltime.value);
            if narrow { String::new() } else { format!(": {time}, {}", money.format(option.price.0)) }
        };
        let resources = || shorten(&option.allocation.to_string(), 32);
        let (class, text) = match option {
            OptionView { chosen: true, .. } => ("strong halo", format!("recommended{}", figures())),
            OptionView { default: true, .. } => ("halo", format!("full node{}", figures())),
            OptionView { on_front: true, knee: true, .. } => ("small halo", format!("knee: {}", resources())),
            OptionView { on_front: true, .. } if option.fits() && !narrow => {
                ("small muted halo", resources())
            }
            _ => continue,
        };
        let important = option.chosen || option.default;
        let (size, farthest) = if important { (12.5, 30.0) } else { (11.0, 4.0) };
        match labels.place(point, (reach(option), farthest), &text, size) {
            Some(at) => drawing.text(class, at, Anchor::Start, &text),
            None if important => homeless.push((point, option, class, text)),
            None => {}
        }
    }
    labels.ignore_lines();
    for (point, option, class, text) in homeless {
        if let Some(at) = labels.place(point, (reach(option), 30.0), &text, 12.5) {
            drawing.text(class, at, Anchor::Start, &text);
        }
    }
}
