//! A drawing under way: shapes go in, SVG comes out. All texts are escaped here and nowhere else.

use super::colour::standalone_sheet;
use super::{Canvas, Embedding};
use crate::text::escape;

/// Where a text's point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Shapes drawn so far.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    body: String,
}

/// A coordinate with at most one digit after the point; never `NaN`.
pub(super) fn coordinate(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{:.1}", value.clamp(-1e5, 1e5));
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

impl Drawing {
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.path(class, &[from, to], false);
    }

    /// A line through points, or an area between them.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)], closed: bool) {
        if points.is_empty() {
            return;
        }
        let mut data = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            data.push(if index == 0 { 'M' } else { 'L' });
            data.push_str(&coordinate(x));
            data.push(' ');
            data.push_str(&coordinate(y));
        }
        if closed {
            data.push('Z');
        }
        self.shape(class, &data);
    }

    /// A path from data made by this room.
    pub(super) fn shape(&mut self, class: &str, data: &str) {
        self.body.push_str(&format!("<path class=\"{class}\" d=\"{data}\"/>\n"));
    }

    pub(super) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let (x, y, radius) = (coordinate(x), coordinate(y), coordinate(radius));
        self.body.push_str(&format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"));
    }

    pub(super) fn rectangle(&mut self, class: &str, (x, y): (f64, f64), width: f64, height: f64) {
        let (x, y) = (coordinate(x), coordinate(y));
        let (width, height) = (coordinate(width.max(0.0)), coordinate(height.max(0.0)));
        self.body.push_str(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n"
        ));
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let (x, y) = (coordinate(x), coordinate(y));
        self.body.push_str(&format!("<text{class} x=\"{x}\" y=\"{y}\"{anchor}>{}</text>\n", escape(text)));
    }

    /// Shapes that belong together and, pointed at, show a note; an empty note shows nothing.
    pub(super) fn group(&mut self, class: &str, note: &str, draw: impl FnOnce(&mut Drawing)) {
        self.body.push_str(&format!("<g class=\"{class}\">"));
        if !note.is_empty() {
            self.body.push_str(&format!("<title>{}</title>", escape(note)));
        }
        self.body.push('\n');
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// Shapes cut off at a rectangle.
    pub(super) fn clipped(
        &mut self,
        id: &str,
        (x, y): (f64, f64),
        width: f64,
        height: f64,
        draw: impl FnOnce(&mut Drawing),
    ) {
        let id = format!("{}-clip", identifier(id));
        self.body.push_str(&format!("<clipPath id=\"{id}\">"));
        self.rectangle("", (x, y), width, height);
        self.body.push_str(&format!("</clipPath>\n<g clip-path=\"url(#{id})\">\n"));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// The finished chart with what a screen reader says.
    pub(super) fn finish(self, canvas: &Canvas, title: &str, description: &str) -> String {
        let (width, height) = (coordinate(canvas.width), coordinate(canvas.height));
        let id = identifier(&canvas.id);
        let standalone = canvas.embedding == Embedding::Standalone;
        let size = if standalone { format!(" width=\"{width}\" height=\"{height}\"") } else { String::new() };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"harp-chart\" viewBox=\"0 0 {width} {height}\"{size} \
             role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n\
             <desc id=\"{id}-desc\">{}</desc>\n",
            escape(title),
            escape(description)
        );
        if standalone {
            out.push_str(&format!("<style>\n{}\n</style>\n", standalone_sheet()));
            out.push_str(&format!("<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"));
        }
        out.push_str(&self.body);
        out.push_str("</svg>\n");
        out
    }
}

/// Only letters, digits and hyphens, so that it is safe as an attribute and in `url(#…)`.
fn identifier(id: &str) -> String {
    let safe: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if safe.starts_with(|c: char| c.is_ascii_alphabetic()) { safe } else { format!("chart-{safe}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_always_numbers() {
        assert_eq!(coordinate(1.0), "1");
        assert_eq!(coordinate(-0.01), "0");
        assert_eq!(coordinate(12.345), "12.3");
        assert_eq!(coordinate(f64::NAN), "0");
        assert_eq!(coordinate(1e300), "100000");
    }

    #[test]
    fn texts_and_names_are_made_safe() {
        let mut drawing = Drawing::default();
        drawing.text("", (0.0, 0.0), Anchor::Start, "<script>alert(1)</script>");
        let canvas = Canvas { id: "\"><script>".to_owned(), ..Canvas::default() };
        let svg = drawing.finish(&canvas, "</title><script>", "]]>\u{0}");
        assert!(!svg.contains("<script"));
        assert!(svg.contains("&lt;script&gt;alert(1)"));
        assert!(!svg.contains('\u{0}'));
    }
}
