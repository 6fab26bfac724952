//! What a person is shown, as plain data: filled by the command line, drawn by the rest of this
//! room, and written as it is by `--json`. Views compute nothing but what a reader would compute
//! from the same row (inside or outside, error in percent); they know no learner and no site.

mod candidate;
mod case;
mod document;
mod estimate;
mod plan;
mod run;
mod scaling;
mod score;
mod series;
mod target;

pub use candidate::{CandidateView, CandidatesView};
pub(crate) use case::features_label;
pub use case::{CaseView, Verdict};
pub use document::{DocumentView, Part, SectionView};
pub use estimate::Estimate;
pub use plan::{OptionView, PlanView};
pub use run::{Provenance, RunView, SweepView};
pub use scaling::{AxisView, CurvePoint, MeasuredPoint, ScalingSeries, ScalingView, TestPoint};
pub use score::{JudgedOn, ScoreView};
pub use series::{BarGroup, BarsView, GanttBar, GanttView, LineSeries, LinesView, WaterfallView};
pub use target::TargetView;
