//! All of it added up, by name.

use harp_core::Bytes;
use serde::Serialize;

use crate::{ModelError, Network, Training};

use super::activations::kept;
use super::{Share, host_bytes, state_bytes};

/// What takes memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartName {
    /// The weights used in the computation.
    Parameters,
    /// Their gradients.
    Gradients,
    /// The copy of the weights in 32 bits and the optimizer's states.
    OptimizerStates,
    /// What is kept until gradients are computed.
    Activations,
    /// Gathered layers, gradients on their way, scores.
    TemporaryBuffers,
    /// The driver's context, libraries' workspaces, what the allocator cannot use.
    FrameworkOverhead,
}

impl PartName {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            PartName::Parameters => "parameters",
            PartName::Gradients => "gradients",
            PartName::OptimizerStates => "optimizer states",
            PartName::Activations => "activations",
            PartName::TemporaryBuffers => "temporary buffers",
            PartName::FrameworkOverhead => "framework overhead",
        }
    }
}

/// One part of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Part {
    /// What it is.
    pub part: PartName,
    /// On one GPU; `None` where it is not known.
    pub gpu: Option<Bytes>,
    /// On the host of one node.
    pub host: Bytes,
}

/// What a framework takes beside the formula.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Overhead {
    /// Whatever the network.
    pub fixed: Bytes,
    /// What the formula is multiplied by: rounding and gaps of the allocator.
    pub factor: f64,
}

impl Default for Overhead {
    /// About what a CUDA context with cuBLAS and NCCL takes, and nothing on top; measured peaks say it
    /// better.
    fn default() -> Self {
        Overhead { fixed: Bytes(1 << 30), factor: 1.0 }
    }
}

/// What one GPU and one host must hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Memory {
    /// Weights of the whole network.
    pub parameters: u64,
    /// Those that learn.
    pub trained: u64,
    /// By part.
    pub parts: Vec<Part>,
    /// On one GPU together; a lower bound where a part is not known.
    pub gpu: Bytes,
    /// On the host of one node together, at its worst.
    pub host: Bytes,
    /// On a disk of one node.
    pub disk: Bytes,
    /// Whether every part is known.
    pub complete: bool,
}

/// Estimates the memory of a training.
pub fn estimate(network: &Network, training: &Training, overhead: &Overhead) -> Result<Memory, ModelError> {
    training.check(network)?;
    let share = Share::of(network, training);
    let states = state_bytes(&share, training);
    let host = host_bytes(&share, training);
    let kept = kept(network, training, share.blocks)?;
    let single = Training {
        parallel: crate::Parallel { gpus: 1, tensor: 1, pipeline: 1, ..training.parallel },
        ..training.clone()
    };
    let whole = Share::of(network, &single).count;
    let layers = kept.map(|kept| kept.layers);
    let around = kept.map_or(0.0, |kept| kept.around);
    let known = states.total() + layers.unwrap_or(0.0) + around;
    // Measured peaks may lie below the formula: then it is its parts that are smaller.
    let part = overhead.factor.min(1.0);
    let framework = overhead.fixed.as_f64() + (overhead.factor.max(1.0) - 1.0) * known;
    let offloaded = training.offload.optimizer.is_some();
    let parts = [
        (PartName::Parameters, Some(part * states.parameters), 0.0),
        (PartName::Gradients, Some(part * states.gradients), 0.0),
        (PartName::OptimizerStates, Some(part * states.optimizer), if offloaded { host.states } else { 0.0 }),
        (PartName::Activations, layers.map(|layers| part * layers), 0.0),
        (PartName::TemporaryBuffers, Some(part * (states.buffers + around)), host.buffers + host.start),
        (PartName::FrameworkOverhead, Some(framework), 0.0),
    ];
    let bytes = |number: f64| Bytes(number.max(0.0).round() as u64);
    Ok(Memory {
        parameters: whole.total().round() as u64,
        trained: whole.trained.round() as u64,
        parts: parts
            .iter()
            .map(|&(part, gpu, host)| Part { part, gpu: gpu.map(bytes), host: bytes(host) })
            .collect(),
        gpu: bytes(part * known + framework),
        host: bytes(host.states + host.buffers + host.start),
        disk: bytes(host.disk),
        complete: kept.is_some(),
    })
}

impl Memory {
    /// Bytes of one part on the GPU.
    pub fn part(&self, name: PartName) -> Option<Bytes> {
        self.parts.iter().find(|part| part.part == name)?.gpu
    }

    /// What the formula gives without the framework.
    pub fn formula(&self) -> f64 {
        let parts = self.parts.iter().filter(|part| part.part != PartName::FrameworkOverhead);
        parts.filter_map(|part| part.gpu).map(Bytes::as_f64).sum()
    }
}
