//! The scaling curve in a terminal: braille dots for the model, signs for runs and tests; and a row
//! of bars for a few numbers. Plain ASCII where the terminal has nothing better.

use harp_core::{Observed, Scale};

use unicode_width::UnicodeWidthStr;

use super::axis::Axis;
use super::grid::{Grid, Sign};
use crate::prose::wrapped;
use crate::style::{Style, Tone, to_ascii};
use crate::text::printable;
use crate::view::ScalingView;

/// Smallest plot that says anything.
const NARROWEST: usize = 12;
const LOWEST: usize = 4;

/// Values as a row of bars, one terminal cell each; what is not a number is a gap.
pub fn sparkline(values: &[f64], style: &Style) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const LETTERS: [char; 8] = ['_', '.', ',', '-', '=', '+', '*', '#'];
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let signs = if style.unicode { BARS } else { LETTERS };
    let sign = |value: &f64| {
        if !value.is_finite() {
            return ' ';
        }
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        signs[((share * 7.0).round() as usize).min(7)]
    };
    values.iter().map(sign).collect()
}

/// The scaling curve in at most `columns` by `lines` terminal cells, axes included; what is held is said
/// above them and what the signs mean below. The model is drawn as dots, runs and tests as they came out;
/// a letter at the end of its curve tells a series.
pub fn scaling_miniature(view: &ScalingView, columns: usize, lines: usize, style: &Style) -> String {
    let measured = || view.series.iter().flat_map(|series| &series.measured);
    let curve = || view.series.iter().flat_map(|series| &series.curve);
    let tests = || view.series.iter().flat_map(|series| &series.tests);
    let xs = measured().map(|run| run.x).chain(curve().map(|p| p.x)).chain(tests().map(|test| test.x));
    let ys = measured().map(|run| run.y.value()).chain(curve().map(|point| point.y.value)).chain(
        tests().flat_map(|test| {
            [Some(test.predicted.value), test.actual.map(Observed::value)].into_iter().flatten()
        }),
    );
    let (x, y) = (Axis::over(&view.x, xs), Axis::over(&view.y, ys));
    let height = lines.saturating_sub(3).max(LOWEST);
    let y = y.placed((height * 4 - 1) as f64, 0.0);
    let y_ticks = y.ticks(12.0);
    let labels = y_ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    let width = columns.saturating_sub(labels + 3).max(NARROWEST);
    let x = x.placed(0.0, (width * 2 - 1) as f64);

    let mut grid = Grid::new(width, height);
    let at = |value_x: f64, value_y: f64| {
        (x.shows(value_x) && y.shows(value_y)).then(|| (x.position(value_x), y.position(value_y)))
    };
    for series in &view.series {
        let mut points: Vec<(f64, f64)> =
            series.curve.iter().filter_map(|point| at(point.x, point.y.value)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in points.windows(2) {
            grid.line(pair[0], pair[1]);
        }
    }
    for run in measured() {
        let sign = match (run.y, run.scale) {
            (Observed::AtLeast(_), _) => Sign::AtLeast,
            _ if run.moved => Sign::Moved,
            (_, Scale::Sd) => Sign::Small,
            _ => Sign::Large,
        };
        grid.sign(at(run.x, run.y.value()), sign);
    }
    for test in tests() {
        let sign = match test.actual {
            None => Sign::Predicted,
            Some(Observed::AtLeast(bound)) if bound <= test.predicted.high => Sign::AtLeast,
            Some(actual) if test.predicted.holds(actual.value()) => Sign::Hit,
            Some(_) => Sign::Miss,
        };
        grid.sign(at(test.x, test.actual.map_or(test.predicted.value, Observed::value)), sign);
    }
    let named = view.series.iter().filter(|series| !series.name.is_empty()).count() > 1;
    for (series, letter) in view.series.iter().zip('a'..='z').filter(|_| named) {
        let ends = series.curve.iter().filter_map(|point| at(point.x, point.y.value));
        if let Some(end) = ends.max_by(|left, right| left.0.total_cmp(&right.0)) {
            grid.label(end, letter);
        }
    }
    assemble(view, &grid, (&x, &y), &y_ticks, (labels, columns), style)
}

/// Puts axes, labels and the key around the grid.
fn assemble(
    view: &ScalingView,
    grid: &Grid,
    (x, y): (&Axis, &Axis),
    y_ticks: &[(f64, String)],
    (labels, columns): (usize, usize),
    style: &Style,
) -> String {
    let plain = |text: &str| if style.unicode { printable(text) } else { to_ascii(&printable(text)) };
    let mut rows = vec![String::new(); grid.height];
    for (value, label) in y_ticks {
        let row = (y.position(*value) / 4.0).floor().clamp(0.0, (grid.height - 1) as f64) as usize;
        rows[row] = plain(label);
    }
    let mut out = String::new();
    let held = plain(&view.subtitle);
    if !held.is_empty() {
        out.push_str(
            &style.paint(Tone::Faint, &wrapped(&format!("{}, {held}", plain(&view.y.name)), columns)),
        );
        out.push('\n');
    }
    for (row, label) in rows.iter().enumerate() {
        let joint = if label.is_empty() { style.choose("│", "|") } else { style.choose("┤", "+") };
        let head = format!("{label:>labels$} {joint}");
        out.push_str(&style.paint(Tone::Faint, &head));
        out.push_str(grid.row(row, style).trim_end());
        out.push('\n');
    }
    let base =
        format!("{:labels$} {}{}", "", style.choose("└", "+"), style.choose("─", "-").repeat(grid.width));
    out.push_str(&style.paint(Tone::Faint, &base));
    out.push('\n');
    let axis_line = x_labels(x, grid.width, &plain(&view.x.name), &plain);
    out.push_str(&style.paint(Tone::Faint, &format!("{:labels$}  {}", "", axis_line.trim_end())));
    out.push('\n');
    let mut key: Vec<(Tone, String, String)> = grid
        .used()
        .into_iter()
        .map(|sign| (sign.tone(), sign.text(style).to_owned(), sign.meaning().to_owned()))
        .collect();
    let series =
        view.series.iter().zip('a'..='z').filter(|(_, letter)| grid.letters.contains(&Some(*letter)));
    key.extend(series.map(|(series, letter)| (Tone::Strong, letter.to_string(), plain(&series.name))));
    out.push_str(&key_lines(&key, labels + 2, columns, style));
    out
}

/// What the signs mean, over as many lines as it takes.
fn key_lines(key: &[(Tone, String, String)], indent: usize, columns: usize, style: &Style) -> String {
    let mut out = String::new();
    let mut used = 0;
    for (tone, sign, meaning) in key {
        let width = sign.width() + 1 + meaning.width();
        let starts_line = used == 0 || used + 2 + width > columns;
        if starts_line {
            out.push_str(if used == 0 { "" } else { "\n" });
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else {
            out.push_str("  ");
            used += 2;
        }
        out.push_str(&format!("{} {meaning}", style.paint(*tone, sign)));
        used += width;
    }
    if out.is_empty() { out } else { out + "\n" }
}

/// Tick labels under the axis where they do not touch, then the axis's name.
fn x_labels(x: &Axis, width: usize, name: &str, plain: &dyn Fn(&str) -> String) -> String {
    let mut line: Vec<char> = vec![' '; width];
    let name: Vec<char> = name.chars().take(width / 3).collect();
    let name_from = width - name.len();
    line[name_from..].copy_from_slice(&name);
    let mut free_from = 0;
    for (value, label) in x.ticks(28.0) {
        let label: Vec<char> = plain(&label).chars().collect();
        let middle = (x.position(value) / 2.0).round().max(0.0) as usize;
        let from = middle.saturating_sub(label.len() / 2);
        if from >= free_from && from + label.len() < name_from {
            line[from..from + label.len()].copy_from_slice(&label);
            free_from = from + label.len() + 1;
        }
    }
    line.into_iter().collect()
}
