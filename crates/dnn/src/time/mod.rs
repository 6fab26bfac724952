//! How long a training takes: arithmetic and memory traffic against a GPU's descriptors, exchange
//! between GPUs, loading on cores, steps and epochs.

mod communicate;
mod efficiency;
mod estimate;
mod work;

pub use communicate::{Exchange, Network as Interconnect, exchange};
pub use efficiency::{Efficiency, MeasuredStep, learned, usual};
pub use estimate::{Epochs, Plan, Step, Time, estimate};
pub use work::{Work, work};
