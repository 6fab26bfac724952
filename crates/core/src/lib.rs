//! The vocabulary every room of harp speaks: units, configurations, runs, datasets, predictions.
//!
//! Nothing here reads a file, a clock or the environment; everything is plain data with the few
//! rules that belong to it. Missing is `None`, never 0; killed at a limit is a lower bound, never a
//! measurement.

mod allocation;
mod configuration;
mod count;
mod dataset;
mod descriptors;
mod distribution;
mod host;
mod loss;
mod median;
mod metric;
mod outcome;
mod parameter;
mod policy;
mod prediction;
mod reexecution;
mod run;
mod scale;
mod score;
mod units;
mod usage;

pub use allocation::Allocation;
pub use configuration::{Configuration, ConfigurationKey};
pub use count::counted;
pub use dataset::{Column, Dataset, DatasetError, Observed, Row, Target};
pub use descriptors::Descriptors;
pub use distribution::{Distribution, DistributionError};
pub use host::{Cache, Gpu, Host};
pub use loss::Loss;
pub use median::median;
pub use metric::Metrics;
pub use outcome::{Interruption, Outcome};
pub use parameter::{Parameters, Value};
pub use policy::Policy;
pub use prediction::{Evidence, OutOfRange, Prediction};
pub use reexecution::Reexecution;
pub use run::{Run, Timestamp};
pub use scale::Scale;
pub use score::Scores;
pub use units::{Bytes, Money, ParseUnitError, Seconds};
pub use usage::{MemorySource, Usage};
