//! A network as far as its memory and its time depend on it: tensors, what a training step keeps, and
//! arithmetic, layer by layer.

mod describe;
mod graph;
mod operation;
mod transformer;

pub use describe::{Layer, Network, Place, Saved, Tensor};
pub use graph::Graph;
pub use operation::{Activation, Operation, Window};
pub use transformer::Transformer;
