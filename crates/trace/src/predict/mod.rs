//! Predicting a job's run time from its user's past, before it starts and while it runs.
//!
//! Learns only from jobs that have ended by the moment of the prediction; never looks at the job's own
//! run time.

mod boost;
mod evaluate;
mod features;
mod history;
mod linear;

pub use boost::{BoostOptions, Boosted};
pub use evaluate::{ElapsedResult, Evaluation, MethodResult, PredictOptions, PredictResult, evaluate};
pub use features::{FEATURES, features};
pub use history::{History, PastRun, Query};
pub use linear::Linear;
