//! Exchange between GPUs.

use serde::Serialize;

use crate::gpu::Gpu;
use crate::memory::Share;
use crate::{ModelError, Network as Model, Training, Zero};

/// What connects nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Network {
    /// Bandwidth of one node to the others, in 10⁹ bytes a second.
    pub bandwidth: f64,
    /// Seconds until a message begins to arrive.
    pub latency: f64,
}

impl Default for Network {
    /// One link of 200 Gbit/s.
    fn default() -> Self {
        Network { bandwidth: 25.0, latency: 5e-6 }
    }
}

/// Seconds of exchange in one optimizer step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Exchange {
    /// Gradients (and, with ZeRO 3, parameters) between data-parallel GPUs; overlaps with the backward
    /// pass.
    pub gradients: f64,
    /// Between GPUs that share matrices; nothing overlaps with it.
    pub activations: f64,
}

/// A share of the bandwidth that messages reach in practice.
const REACHED: f64 = 0.8;

/// The time of the exchange. A ring moves 2(N − 1)/N of the data through every GPU (Patarasuk & Yuan,
/// 2009); ZeRO 3 moves half as much again (ZeRO, section 7.2); tensor parallelism sums four times a
/// block (Shoeybi et al., Megatron-LM, 2019).
pub fn exchange(
    model: &Model,
    training: &Training,
    gpu: &Gpu,
    network: &Network,
) -> Result<Exchange, ModelError> {
    let parallel = &training.parallel;
    let share = Share::of(model, training);
    let copies = parallel.data() as f64;
    let spans_nodes = parallel.gpus > parallel.gpus_per_node;
    // Within a node over its links; between nodes all GPUs of a node share its network.
    let within = gpu.link * 1e9 * REACHED;
    let between = network.bandwidth * 1e9 * REACHED / parallel.gpus_per_node.min(parallel.gpus) as f64;
    let pace = if spans_nodes { within.min(between) } else { within };
    let latency = if spans_nodes { network.latency } else { 1e-6 };
    let bytes = training.precision.gradient_bytes() * share.count.trained;
    let volume = if training.zero == Zero::Stage3 { 1.5 } else { 1.0 };
    let gradients = match copies > 1.0 {
        true => 2.0 * (copies - 1.0) / copies * bytes * volume / pace + 2.0 * (copies - 1.0) * latency,
        false => 0.0,
    };
    let activations = match (&model.transformer, parallel.tensor) {
        (Some(transformer), tensor @ 2..) => {
            let tokens = training.sequence_of(model)? as f64 * training.batch as f64;
            let message = training.precision.activation_bytes() * tokens * transformer.hidden as f64;
            let shared = (tensor - 1) as f64 / tensor as f64;
            let pace = if tensor > parallel.gpus_per_node { between } else { within };
            let blocks = share.blocks as f64;
            blocks * 4.0 * (2.0 * shared * message / pace + 2.0 * tensor as f64 * latency)
        }
        _ => 0.0,
    };
    Ok(Exchange { gradients, activations: activations * training.accumulate as f64 })
}
