//! Learning from a related application's runs and a few of one's own (the DNN study, PEARC'23): a model
//! of the source, whose rows count by how similar they are, corrected by what the target's few runs
//! say; compared with the target's runs alone, and refused where it hurts.

mod build;
mod correct;
mod essential;
mod few;
mod piece;
mod similar;

pub use build::{Reuse, Reused, SourceUse, build_from};
pub use correct::Correction;
pub use few::few_runs;
