//! What a GPU and its host must hold while a network is trained.

mod activations;
mod calibrate;
mod estimate;
mod fit;
mod share;
mod states;

pub use crate::training::LARGEST_BATCH;
pub use activations::{Kept, block_bytes};
pub use calibrate::{Calibration, Measured, calibrate};
pub use estimate::{Memory, Overhead, Part, PartName, estimate};
pub use fit::{largest_batch, smallest_gpus};
pub use share::{Count, Share};
pub use states::{HOST_BUFFERS, host_bytes, optimizer_bytes, state_bytes};
