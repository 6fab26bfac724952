//! What would have happened: a job trace played again under another policy or with other estimates.
//!
//! Pure: no files, no clock, no hidden randomness. The same workload, policy and seed give the same
//! schedule, job by job. The rule for what happens in which order within one second is in
//! [`simulate`]'s module. Nothing here prints or draws.

mod compare;
mod conservative;
mod engine;
mod estimate;
mod figures;
mod metrics;
mod pass;
mod policy;
mod profile;
mod queue;
mod running;
mod schedule;
mod series;
mod statistics;
mod weeks;
mod workload;

pub use compare::{Difference, Interval, PolicyResult, SimulateOptions, SimulateResult, compare};
pub use engine::simulate;
pub use estimate::{
    Estimates, Estimator, FromModel, LastTwo, OnlineBoosted, ParseEstimatesError, Perfect, Requested, Source,
};
pub use figures::{ClassFigures, Figures};
pub use metrics::{ClassMetrics, Metrics, SLOWDOWN_BOUND, UserMetrics, bounded_slowdown};
pub use policy::{Backfill, DEFAULT_RELAXATION, Order, ParsePolicyError, Policy, Shape};
pub use schedule::{Schedule, ScheduledJob};
pub use series::{GanttJob, Moment, gantt, timeline, wait_percentiles};
pub use workload::{Changes, Oversized, SimJob, UNKNOWN_USER, Workload, WorkloadBuilder};
