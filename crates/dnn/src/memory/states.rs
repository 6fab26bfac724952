//! Bytes of parameters, gradients and optimizer states, on the GPU and on the host.
//!
//! Mixed precision with Adam takes 16 bytes a parameter: 2 for it, 2 for its gradient, 12 for the
//! optimizer (a copy in 32 bits and two moments). ZeRO shares the 12, the 14 or all 16 between N
//! data-parallel GPUs (Rajbhandari et al., ZeRO, SC'20, figure 1). DeepSpeed needs somewhat more; its
//! figures are those of `estimate_zero2_model_states_mem_needs` and
//! `estimate_zero3_model_states_mem_needs` in deepspeed/runtime/zero.

use crate::{Optimizer, Precision, Training, Zero};

use super::{Count, Share};

/// DeepSpeed's `additional_buffer_factor` for what a host holds.
pub const HOST_BUFFERS: f64 = 1.5;
/// Numbers in one block that 8-bit Adam scales together; it keeps two scales of 32 bits for each
/// (bitsandbytes, block size 256).
const BLOCK_8BIT: f64 = 256.0;

/// Bytes of the optimizer's own states, without the copy of the weights.
pub fn optimizer_bytes(optimizer: Optimizer, count: &Count) -> f64 {
    match optimizer {
        Optimizer::Sgd => 0.0,
        Optimizer::Momentum | Optimizer::Lion => 4.0 * count.trained,
        Optimizer::Adam => 8.0 * count.trained,
        Optimizer::Adafactor => 4.0 * count.factored,
        Optimizer::Adam8bit => 2.0 * count.trained * (1.0 + 4.0 / BLOCK_8BIT),
    }
}

/// Bytes on one GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct States {
    /// The weights used in the computation.
    pub parameters: f64,
    /// Their gradients.
    pub gradients: f64,
    /// The copy in 32 bits and the optimizer's states.
    pub optimizer: f64,
    /// What sharing them takes beside: gathered layers, gradients on their way.
    pub buffers: f64,
}

impl States {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.parameters + self.gradients + self.optimizer + self.buffers
    }
}

/// Bytes on one GPU for its share of a network.
pub fn state_bytes(share: &Share, training: &Training) -> States {
    let shared = training.parallel.data() as f64;
    let precision = training.precision;
    let count = &share.count;
    let mixed = precision != Precision::Fp32;
    let by = |from: Zero| if training.zero >= from { shared } else { 1.0 };
    let optimizer = precision.master_bytes() * count.trained + optimizer_bytes(training.optimizer, count);
    let mut states = States {
        parameters: precision.weight_bytes() * count.total() / by(Zero::Stage3),
        gradients: precision.gradient_bytes() * count.trained / by(Zero::Stage2),
        optimizer: optimizer / by(Zero::Stage1),
        buffers: 0.0,
    };
    if training.zero == Zero::Stage0 && shared > 1.0 {
        // DistributedDataParallel copies gradients into buckets (PyTorch, gradient_as_bucket_view).
        states.buffers = precision.gradient_bytes() * count.trained;
    }
    if mixed && matches!(training.zero, Zero::Stage1 | Zero::Stage2) {
        states.buffers = 4.0 * count.trained / shared; // gradients in 32 bits: 2Ψ + 18Ψ/N in all
    }
    if training.zero == Zero::Stage3 {
        let extra = if mixed { 2.0 * count.trained / shared } else { 0.0 }; // 18Ψ/N in all
        states.buffers = extra + 2.0 * precision.weight_bytes() * share.largest;
    }
    if training.offload.optimizer.is_some() {
        states.gradients = 0.0;
        states.optimizer = 0.0;
        states.buffers = match training.zero {
            Zero::Stage3 => 2.0 * precision.weight_bytes() * share.largest,
            _ => 0.0,
        };
    }
    if training.offload.parameters.is_some() {
        states.parameters = 0.0;
    }
    states
}

/// Bytes on one node's host and on its disk.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostStates {
    /// What stays there during training.
    pub states: f64,
    /// Buffers around it (DeepSpeed counts half as much again).
    pub buffers: f64,
    /// What is needed only while the model is made.
    pub start: f64,
    /// What lies on the disk.
    pub disk: f64,
}

/// Bytes on the host of one node.
pub fn host_bytes(share: &Share, training: &Training) -> HostStates {
    let parallel = &training.parallel;
    let per_node = parallel.gpus_per_node.min(parallel.gpus) as f64;
    let nodes = parallel.nodes() as f64;
    let split = (parallel.tensor * parallel.pipeline) as f64;
    // Every model-parallel GPU brings its own share.
    let count = share.count;
    let whole = count.total() * split;
    let trained = count.trained * split;
    let made = 4.0 * per_node * count.total();
    let Some(target) = training.offload.optimizer else {
        let start = match training.zero {
            Zero::Stage3 if training.zero_init => 4.0 * per_node * share.largest,
            _ => made,
        };
        return HostStates { start: start * HOST_BUFFERS, ..HostStates::default() };
    };
    let kept = 8.0 * trained + optimizer_bytes(training.optimizer, &count) * split; // copy and gradients in 32 bits
    let weights = training.precision.weight_bytes() * whole;
    let (on_disk, mut on_host) = match target {
        crate::OffloadTarget::Nvme => (kept / nodes, 0.0),
        crate::OffloadTarget::Cpu => (0.0, kept),
    };
    let mut disk = on_disk;
    match training.offload.parameters {
        Some(crate::OffloadTarget::Cpu) => on_host += weights,
        Some(crate::OffloadTarget::Nvme) => disk += weights / nodes,
        None => {}
    }
    let at_least = if training.zero == Zero::Stage3 && training.zero_init { 0.0 } else { made };
    let nodes_sharing = if training.zero == Zero::Stage3 { nodes } else { 1.0 };
    let states = on_host / nodes_sharing;
    let most = states.max(at_least);
    let moving = swap_buffers(share, training, per_node);
    HostStates { states, buffers: most * HOST_BUFFERS - states + moving, start: 0.0, disk }
}

/// Pinned memory through which a disk is read and written: DeepSpeed's defaults are four buffers of
/// the largest group of optimizer states (`sub_group_size` 1e9) and five of 1e8 parameters.
fn swap_buffers(share: &Share, training: &Training, per_node: f64) -> f64 {
    let own = share.count.trained / training.parallel.data() as f64;
    let mut bytes = 0.0;
    if training.offload.optimizer == Some(crate::OffloadTarget::Nvme) {
        bytes += 4.0 * 4.0 * own.min(1e9);
    }
    if training.offload.parameters == Some(crate::OffloadTarget::Nvme) {
        bytes += 5.0 * training.precision.weight_bytes() * 1e8_f64.min(share.count.total());
    }
    bytes * per_node
}
