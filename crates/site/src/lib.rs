//! What a computing site offers and what it charges: node types, partitions, limits, prices.
//!
//! Everything here works on text and numbers: it opens no file, asks no scheduler and reads no
//! clock. A fact that is not known stays unset; a price that depends on it is refused, never guessed.

mod admit;
mod catalogue;
mod charge;
mod check;
mod discover;
mod error;
mod node;
mod partition;
mod site;
mod write;
mod written;

pub use admit::{Admission, Placement, Refusal, RefusalReason};
pub use catalogue::{FindError, embedded, find};
pub use charge::{Billing, Charge, Combine, PriceUnknown, Rule, Weights};
pub use discover::DiscoverError;
pub use error::SiteError;
pub use node::{GpuType, NodeType};
pub use partition::Partition;
pub use site::{MemoryOption, Scheduler, Site, format_amount};

/// Lines of a job script that load modules.
pub use harp_slurm::load as load_modules;
