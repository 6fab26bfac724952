//! From an experiment to the list of configurations to run, and to the order of the runs.
//!
//! The same file and seed give the same list on every machine. What only the caller can know — how
//! large a file is, how long a run is expected to take, what it would cost — comes in as closures.

mod budget;
mod chance;
mod choose;
mod derive;
mod latin;
mod plan;
mod range;
pub(crate) mod sobol;
mod space;
mod surroundings;

#[cfg(test)]
mod tests;

pub use plan::Plan;
pub(crate) use space::varied;
pub use surroundings::Surroundings;
