//! What happened: the store of runs on disk, and the tables learners are given.
//!
//! A recorded run is durable before [`Store::record`] returns. Nothing here decides what to run,
//! learns or prints.

mod dataset;
mod error;
mod filesystem;
pub mod import;
mod schema;
mod store;
mod sweep;
mod table;

pub use dataset::{Skipped, dataset};
pub use error::HistoryError;
pub use store::{Recorded, Store};
pub use sweep::{SweepColumns, read_sweep};
pub use table::{read_cases, write_runs};
