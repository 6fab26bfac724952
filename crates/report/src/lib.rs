//! Turns results into tables, charts, pages and JSON.
//!
//! Views ([`RunView`], [`TargetView`], [`PlanView`], …) go in, strings come out. This room never
//! prints, reads no file, no clock and no environment, and knows no room but the vocabulary: what a
//! view holds was computed elsewhere. Every text it is given is escaped for where it is put.

mod chart;
mod narrative;
mod page;
mod prose;
mod quantity;
mod style;
mod table;
pub mod text;
mod view;

pub use chart::{
    Canvas, Embedding, accuracy_chart, bars_chart, candidates_chart, gantt_chart, lines_chart, pareto_chart,
    scaling_chart, scaling_miniature, sparkline, waterfall_chart,
};
pub use narrative::{plan_sentence, score_sentence, target_sentence, verdict_sentence};
pub use page::{document_page, run_page};
pub use prose::wrapped;
pub use quantity::Quantity;
pub use style::{Style, Tone, to_ascii};
pub use table::{
    Align, Cell, Column, Table, candidates_table, cases_table, common_features, host_table, plan_table,
    sweep_table,
};
pub use view::{
    AxisView, BarGroup, BarsView, CandidateView, CandidatesView, CaseView, CurvePoint, DocumentView,
    Estimate, GanttBar, GanttView, JudgedOn, LineSeries, LinesView, MeasuredPoint, OptionView, Part,
    PlanView, Provenance, RunView, ScalingSeries, ScalingView, ScoreView, SectionView, SweepView, TargetView,
    TestPoint, Verdict, WaterfallView,
};

/// A view as indented JSON with a line break at its end: what `--json` prints.
pub fn to_json<T: serde::Serialize>(view: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(view).map(|json| json + "\n")
}
