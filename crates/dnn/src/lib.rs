//! What training a neural network needs, from its description: parameters, memory on GPU and host, and
//! time.
//!
//! A [`Network`] comes from a Hugging Face configuration, a safetensors header, an ONNX file, a layer
//! summary or a preset ([`read`]). [`memory`] adds up what a GPU must hold; `time` what a step takes.
//! Every formula names its source. This room opens no file and asks no GPU: callers hand it texts and
//! readers.

mod error;
pub mod gpu;
pub mod memory;
mod network;
pub mod read;
pub mod time;
mod training;

pub use error::ModelError;
pub use network::{Activation, Graph, Layer, Network, Operation, Place, Saved, Tensor, Transformer, Window};
pub use training::{
    Freeze, Offload, OffloadTarget, Optimizer, Parallel, Precision, Recompute, Training, Zero, lora,
};
