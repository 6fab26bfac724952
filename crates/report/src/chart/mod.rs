//! Charts as SVG texts, drawn by a small kit of this room's own: scales with round ticks, axes, a
//! key, signs and labels. No chart needs a script, a font or a file beside it.

mod accuracy;
mod axis;
mod bars;
mod candidates;
pub(crate) mod colour;
mod frame;
mod gantt;
mod grid;
mod lettering;
mod lines;
mod marks;
mod miniature;
mod pareto;
mod scaling;
mod svg;
mod ticks;
mod waterfall;

pub use accuracy::accuracy_chart;
pub use bars::bars_chart;
pub use candidates::candidates_chart;
pub use gantt::gantt_chart;
pub use lines::lines_chart;
pub use miniature::{scaling_miniature, sparkline};
pub use pareto::pareto_chart;
pub use scaling::scaling_chart;
pub use waterfall::waterfall_chart;

/// Where a chart is put.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Embedding {
    /// A file of its own: brings its colours, its background and its fonts.
    #[default]
    Standalone,
    /// Inside an HTML page that has the colours.
    Inline,
}

/// How large a chart is and where it is put.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    /// Width in user units; ordinary text is 12 high.
    pub width: f64,
    /// Height in user units.
    pub height: f64,
    /// A name that no other chart of the page has.
    pub id: String,
    /// Where it is put.
    pub embedding: Embedding,
}

impl Canvas {
    /// A chart in a file of its own.
    pub fn standalone(width: f64, height: f64) -> Self {
        Canvas { width, height, id: "chart".to_owned(), embedding: Embedding::Standalone }
    }

    /// A chart inside a page.
    pub fn inline(id: impl Into<String>, width: f64, height: f64) -> Self {
        Canvas { width, height, id: id.into(), embedding: Embedding::Inline }
    }
}

impl Default for Canvas {
    fn default() -> Self {
        Canvas::standalone(720.0, 460.0)
    }
}
