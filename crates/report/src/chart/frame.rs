//! What every chart has around its data: title, subtitle, key, grid and axes.

use super::Canvas;
use super::axis::Axis;
use super::lettering::{Area, LINE, cut, text_width, wrapped};
use super::marks::Mark;
use super::svg::{Anchor, Drawing};

/// Distance of everything from the edge of the canvas.
pub(super) const EDGE: f64 = 16.0;

/// One entry of the key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    /// The class of its colour.
    pub(super) colour: &'static str,
    /// The sign.
    pub(super) mark: Mark,
    /// What it means.
    pub(super) text: String,
}

impl Key {
    pub(super) fn new(colour: &'static str, mark: Mark, text: impl Into<String>) -> Self {
        Key { colour, mark, text: text.into() }
    }
}

/// Draws title, subtitle and key; says below which height the chart may go on.
pub(super) fn header(
    drawing: &mut Drawing,
    canvas: &Canvas,
    title: &str,
    subtitle: &str,
    keys: &[Key],
) -> f64 {
    let width = canvas.width - 2.0 * EDGE;
    let mut y = EDGE - 4.0;
    for line in wrapped(title, 16.5, width, 3) {
        y += 20.0;
        drawing.text("title", (EDGE, y), Anchor::Start, &line);
    }
    y += 1.0;
    for line in wrapped(subtitle, 12.0, width, 3) {
        y += LINE + 1.0;
        drawing.text("muted", (EDGE, y), Anchor::Start, &line);
    }
    if !keys.is_empty() {
        y += 22.0;
        let mut x = EDGE;
        for key in keys {
            let text = cut(&key.text, 11.5, width - 30.0);
            let needed = 2.0 * key.mark.reach() + 6.0 + text_width(&text, 11.0);
            if x > EDGE && x + needed > canvas.width - EDGE {
                x = EDGE;
                y += 19.0;
            }
            drawing.group(key.colour, "", |drawing| key.mark.draw(drawing, (x + key.mark.reach(), y - 4.0)));
            drawing.text("small muted", (x + 2.0 * key.mark.reach() + 6.0, y), Anchor::Start, &text);
            x += needed + 16.0;
        }
    }
    y + 10.0
}

/// Two axes and the area between them.
#[derive(Debug)]
pub(super) struct Plot {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) area: Area,
    /// Least distance of ticks along each axis.
    spacing: (f64, f64),
}

impl Plot {
    /// Places the axes below `top`, leaving `right` free for labels.
    pub(super) fn new(canvas: &Canvas, top: f64, right: f64, x: Axis, y: Axis) -> Self {
        let (top, bottom) = (top + 22.0, (canvas.height - 46.0).max(top + 80.0));
        let y = y.placed(bottom, top);
        let widest = y.ticks(55.0).iter().map(|(_, label)| text_width(label, 11.5)).fold(0.0, f64::max);
        let left = EDGE + widest + 8.0;
        let right = (canvas.width - EDGE - right).max(left + 60.0);
        Plot { x: x.placed(left, right), y, area: Area { left, top, right, bottom }, spacing: (90.0, 55.0) }
    }

    /// The same plot as a square as large as fits, both axes with the same ticks.
    pub(super) fn squared(self) -> Self {
        let Area { left, top, right, bottom } = self.area;
        let side = (right - left).min(bottom - top);
        let bottom = top + side;
        let right = left + side;
        Plot {
            x: self.x.placed(left, right),
            y: self.y.placed(bottom, top),
            area: Area { left, top, right, bottom },
            spacing: (75.0, 75.0),
        }
    }

    /// Draws grid, ticks and names.
    pub(super) fn draw(&self, drawing: &mut Drawing) {
        let Area { left, top, right, bottom } = self.area;
        self.draw_side_ticks(drawing);
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in self.x.ticks(self.spacing.0) {
            let x = self.x.position(value);
            drawing.line("grid", (x, top), (x, bottom));
            let half = text_width(&label, 11.0) / 2.0;
            if x - half >= free_from {
                drawing.text("small muted", (x, bottom + 17.0), Anchor::Middle, &label);
                free_from = x + half + 6.0;
            }
        }
        drawing.line("rule", (left, bottom), (right, bottom));
        self.draw_side_name(drawing);
        let room = right - EDGE;
        drawing.text("", (right, bottom + 36.0), Anchor::End, &cut(self.x.name(), 12.0, room));
    }

    /// Draws only what belongs to the axis along the side, and the ground: for bars, which name their
    /// groups themselves.
    pub(super) fn draw_side(&self, drawing: &mut Drawing) {
        let Area { left, right, bottom, .. } = self.area;
        self.draw_side_ticks(drawing);
        self.draw_side_name(drawing);
        drawing.line("rule", (left, bottom), (right, bottom));
    }

    fn draw_side_ticks(&self, drawing: &mut Drawing) {
        let Area { left, right, .. } = self.area;
        for (value, label) in self.y.ticks(self.spacing.1) {
            let y = self.y.position(value);
            drawing.line("grid", (left, y), (right, y));
            drawing.text("small muted", (left - 8.0, y + 4.0), Anchor::End, &label);
        }
    }

    fn draw_side_name(&self, drawing: &mut Drawing) {
        let Area { top, right, .. } = self.area;
        let name = cut(self.y.name(), 12.0, right - EDGE);
        drawing.text("", (EDGE, top - 10.0), Anchor::Start, &name);
    }

    /// A point of the plot, or none where it cannot be shown.
    pub(super) fn point(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        (self.x.shows(x) && self.y.shows(y)).then(|| (self.x.position(x), self.y.position(y)))
    }

    /// Draws inside the area only.
    pub(super) fn clipped(&self, drawing: &mut Drawing, canvas: &Canvas, draw: impl FnOnce(&mut Drawing)) {
        let Area { left, top, right, bottom } = self.area;
        drawing.clipped(&canvas.id, (left, top - 6.0), right - left + 6.0, bottom - top + 12.0, draw);
    }

    /// Says in the middle that there is nothing to show.
    pub(super) fn draw_empty(&self, drawing: &mut Drawing) {
        let middle = ((self.area.left + self.area.right) / 2.0, (self.area.top + self.area.bottom) / 2.0);
        drawing.text("muted halo", middle, Anchor::Middle, "no data to show");
    }
}

/// At most one point a cell of three by three units: what a reader could tell apart anyway. Keeps
/// the picture's size bounded however many points there are.
pub(super) fn thinned<T>(points: Vec<((f64, f64), T)>) -> Vec<((f64, f64), T)> {
    if points.len() <= 400 {
        return points;
    }
    let cell = if points.len() > 4000 { 5.0 } else { 3.0 };
    let mut seen = std::collections::BTreeSet::new();
    points
        .into_iter()
        .filter(|((x, y), _)| seen.insert(((x / cell).round() as i64, (y / cell).round() as i64)))
        .take(3000)
        .collect()
}
