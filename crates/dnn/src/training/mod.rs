//! How a network is trained: optimizer, precision, batch, and how the work is spread over GPUs.

mod check;
mod choice;
pub mod lora;

pub use check::LARGEST_BATCH;
pub use choice::{OffloadTarget, Optimizer, Precision, Recompute, Zero};

use serde::Serialize;

use crate::{Layer, Network};

/// What leaves the GPU's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Offload {
    /// Where optimizer states (and with them gradients) go.
    pub optimizer: Option<OffloadTarget>,
    /// Where parameters go; only with ZeRO 3.
    pub parameters: Option<OffloadTarget>,
}

/// How the work is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parallel {
    /// GPUs of all nodes.
    pub gpus: u64,
    /// GPUs of one node.
    pub gpus_per_node: u64,
    /// GPUs that share each matrix, t.
    pub tensor: u64,
    /// Stages the blocks are cut into, p.
    pub pipeline: u64,
    /// Chunks of blocks a stage has, where stages are interleaved; 1 is one.
    pub chunks: u64,
    /// Whether what tensor parallelism leaves whole is cut along the sequence.
    pub sequence: bool,
}

impl Parallel {
    /// GPUs that hold copies of the same weights, or share them under ZeRO.
    pub fn data(&self) -> u64 {
        self.gpus / (self.tensor * self.pipeline)
    }

    /// Nodes.
    pub fn nodes(&self) -> u64 {
        self.gpus.div_ceil(self.gpus_per_node)
    }
}

/// Which layers keep their weights as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Freeze {
    /// None.
    #[default]
    Nothing,
    /// The first so many layers.
    First(u64),
    /// Those whose name contains this.
    Named(String),
    /// All: only adapters learn.
    Everything,
}

impl Freeze {
    /// Whether a layer's own weights learn.
    pub(crate) fn learns(&self, layer: &Layer, index: usize) -> bool {
        match self {
            Freeze::Nothing => true,
            Freeze::First(count) => index as u64 >= *count,
            Freeze::Named(part) => !layer.name.contains(part.as_str()),
            Freeze::Everything => false,
        }
    }

    /// The first layer in which something learns. No gradient goes back beyond it, and nothing is kept for
    /// one.
    pub(crate) fn first_learning(&self, network: &Network) -> usize {
        let has_adapter = |layer: &Layer| layer.tensors.iter().any(lora::is_adapter);
        let learns = |(index, layer): (usize, &Layer)| {
            has_adapter(layer) || !layer.tensors.is_empty() && self.learns(layer, index)
        };
        match self {
            Freeze::Nothing => 0,
            _ => network.layers.iter().enumerate().position(learns).unwrap_or(network.layers.len()),
        }
    }
}

/// Everything about a training that its memory depends on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Training {
    /// Samples one GPU works on at once (the micro-batch), b.
    pub batch: u64,
    /// Tokens a sample; what the network was made for where not given.
    pub sequence: Option<u64>,
    /// Steps whose gradients are added before the weights change; also the micro-batches in a pipeline.
    pub accumulate: u64,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The precision.
    pub precision: Precision,
    /// What is shared between data-parallel GPUs.
    pub zero: Zero,
    /// What leaves the GPU.
    pub offload: Offload,
    /// How the work is spread.
    pub parallel: Parallel,
    /// What is computed again instead of kept.
    pub recompute: Recompute,
    /// Attention that never stores scores between tokens (FlashAttention).
    pub flash: bool,
    /// Which layers do not learn.
    pub freeze: Freeze,
    /// Whether weights are made in pieces (`zero.Init`), so that no host ever holds them all.
    pub zero_init: bool,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            batch: 1,
            sequence: None,
            accumulate: 1,
            optimizer: Optimizer::Adam,
            precision: Precision::Bf16,
            zero: Zero::Stage0,
            offload: Offload::default(),
            parallel: Parallel {
                gpus: 1,
                gpus_per_node: 8,
                tensor: 1,
                pipeline: 1,
                chunks: 1,
                sequence: false,
            },
            recompute: Recompute::None,
            flash: false,
            freeze: Freeze::Nothing,
            zero_init: true,
        }
    }
}
