//! Runs configurations on this machine and measures what they use.
//!
//! Two layers. [`execute`] runs one program with everything it starts, holds it to its limits and
//! returns what it used. [`Sweep`] runs the planned runs of an experiment one after another, or
//! packed by cores, and hands each finished run to a recorder before the next one starts.
//!
//! [`slurm`] asks a cluster's scheduler what it has and what its jobs used, and runs sweeps as its jobs.
//!
//! This room never decides what to run (that is `experiment`), never keeps runs (that is
//! `history`), never prints, and leaves nothing running when it returns.

mod bench;
mod cgroup;
mod energy;
mod error;
mod execute;
mod gpu;
mod host;
mod mark;
mod memory;
mod pressure;
mod processes;
mod procfs;
mod sampler;
mod sharing;
pub mod slurm;
mod stop;
mod sweep;
mod system;
mod task;
mod transfers;
mod used;
mod wait;

pub use bench::bench;
pub use error::ExecuteError;
pub use execute::{Measured, execute};
pub use host::{available_cores, host};
pub use pressure::Pressure;
pub use stop::Stop;
pub use sweep::{Observer, Price, Recorder, Spent, Summary, Sweep, SweepEnd, SweepError};
pub use task::{MemoryMethod, Program, Task};

/// The moment this is called.
pub(crate) fn now() -> harp_core::Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    harp_core::Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
