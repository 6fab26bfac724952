//! Charts as SVG texts.

use crate::Style;
use crate::view::{CandidatesView, PlanView, ScalingView, TargetView};

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
    /// Width in user units; texts are 12 high.
    pub width: f64,
    /// Height in user units.
    pub height: f64,
    /// A name that no other chart of the page has.
    pub id: String,
    /// Where it is put.
    pub embedding: Embedding,
}

impl Default for Canvas {
    fn default() -> Self {
        Canvas { width: 720.0, height: 460.0, id: "chart".to_owned(), embedding: Embedding::Standalone }
    }
}

/// How a target grows with a parameter.
pub fn scaling_chart(_view: &ScalingView, _canvas: &Canvas) -> String {
    String::new()
}

/// Predicted against actual.
pub fn accuracy_chart(_view: &TargetView, _canvas: &Canvas) -> String {
    String::new()
}

/// Time against price of all allocations.
pub fn pareto_chart(_view: &PlanView, _canvas: &Canvas) -> String {
    String::new()
}

/// Validation error and share of under-predictions of each candidate.
pub fn candidates_chart(_view: &CandidatesView, _canvas: &Canvas) -> String {
    String::new()
}

/// The scaling curve in `columns` by `lines` terminal cells.
pub fn scaling_miniature(_view: &ScalingView, _columns: usize, _lines: usize, _style: &Style) -> String {
    String::new()
}

/// Values as a row of bars, one terminal cell each.
pub fn sparkline(_values: &[f64], _style: &Style) -> String {
    String::new()
}
