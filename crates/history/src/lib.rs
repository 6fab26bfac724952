//! What happened: the store of runs on disk, and the tables learners are given.
//!
//! A recorded run is durable before [`Store::record`] returns. Nothing here decides what to run,
//! learns or prints.

mod dataset;
mod ended;
mod error;
mod filesystem;
pub mod import;
mod machines;
mod schema;
mod separator;
mod store;
mod submissions;
mod sweep;
mod table;

pub use dataset::{Skipped, dataset, dataset_with};
pub use error::HistoryError;
pub use store::{Recorded, Store, Superseded};
pub use submissions::{OpenSubmission, Submission};
pub use sweep::{Sweep, SweepColumns, read_sweep};
pub use table::{read_cases, write_runs};
