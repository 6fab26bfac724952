//! The signs charts are made of. What a sign means is told by its shape; colour only tells series
//! apart.

use super::svg::{Drawing, coordinate};

/// A sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A small open circle: a scaled-down run, a dominated allocation.
    Open,
    /// A small dot: a run measured elsewhere, moved here along the model.
    Moved,
    /// A filled circle: a full-scale run, a prediction that held.
    Filled,
    /// An open triangle pointing up: the truth is at least this.
    AtLeast,
    /// A filled diamond: an actual value inside its interval.
    Diamond,
    /// A cross: an actual value outside its interval.
    Cross,
    /// A filled square: the default.
    Square,
    /// A filled circle in a ring: the recommendation.
    Target,
    /// A ring: the knee.
    Ring,
    /// A small faint cross: not allowed.
    Excluded,
    /// A vertical bar with ends and a middle: an interval.
    Interval,
    /// A short line over a band.
    Curve,
    /// A short line.
    Line,
    /// A short broken line.
    DashedLine,
}

impl Mark {
    /// Draws the sign, in the colour of the group it is in.
    pub(super) fn draw(self, drawing: &mut Drawing, (x, y): (f64, f64)) {
        match self {
            Mark::Open => drawing.circle("open", (x, y), 2.9),
            Mark::Moved => drawing.circle("solid", (x, y), 1.6),
            Mark::Filled => drawing.circle("solid", (x, y), 4.2),
            Mark::AtLeast => {
                drawing.path("open", &[(x - 4.0, y + 3.0), (x + 4.0, y + 3.0), (x, y - 4.5)], true);
            }
            Mark::Diamond => {
                let points = [(x, y - 4.6), (x + 4.0, y), (x, y + 4.6), (x - 4.0, y)];
                drawing.path("solid", &points, true);
            }
            Mark::Cross => {
                drawing.shape("halo thick", &cross((x, y), 4.2));
                drawing.shape("thick", &cross((x, y), 4.2));
            }
            Mark::Excluded => drawing.shape("thin", &cross((x, y), 2.6)),
            Mark::Square => drawing.rectangle("solid", (x - 4.5, y - 4.5), 9.0, 9.0),
            Mark::Ring => drawing.circle("thin", (x, y), 7.0),
            Mark::Target => {
                drawing.circle("thick", (x, y), 8.0);
                drawing.circle("solid", (x, y), 4.6);
            }
            Mark::Interval => interval(drawing, x, (y - 6.0, Some(y), y + 6.0)),
            Mark::Line => drawing.line("line", (x - 9.0, y), (x + 9.0, y)),
            Mark::DashedLine => drawing.line("line dashed", (x - 9.0, y), (x + 9.0, y)),
            Mark::Curve => {
                drawing.rectangle("band", (x - 9.0, y - 5.0), 18.0, 10.0);
                drawing.line("line", (x - 9.0, y), (x + 9.0, y));
            }
        }
    }

    /// Half its width, for keys.
    pub(super) fn reach(self) -> f64 {
        match self {
            Mark::Curve | Mark::Line | Mark::DashedLine => 9.0,
            Mark::Target => 8.5,
            Mark::Ring => 7.5,
            _ => 5.0,
        }
    }
}

fn cross((x, y): (f64, f64), reach: f64) -> String {
    let (left, right) = (coordinate(x - reach), coordinate(x + reach));
    let (top, bottom) = (coordinate(y - reach), coordinate(y + reach));
    format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}")
}

/// A vertical interval: a bar with short ends, and a stroke at the estimate unless a sign stands
/// there. Heights from top to bottom.
pub(super) fn interval(drawing: &mut Drawing, x: f64, (top, middle, bottom): (f64, Option<f64>, f64)) {
    let (left, right) = (coordinate(x - 5.5), coordinate(x + 5.5));
    let mut data = String::new();
    for height in [Some(top), middle, Some(bottom)].into_iter().flatten() {
        data.push_str(&format!("M{left} {}H{right}", coordinate(height)));
    }
    data.push_str(&format!("M{} {}V{}", coordinate(x), coordinate(top), coordinate(bottom)));
    drawing.shape("thin", &data);
}
