//! Arithmetic and memory traffic of one step on one GPU.

use serde::Serialize;

use crate::memory::Share;
use crate::{ModelError, Network, Place, Precision, Recompute, Training};

/// What one micro-batch takes on one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Work {
    /// Multiplications and additions, forward and backward.
    pub operations: f64,
    /// Bytes moved between the GPU and its memory, at least.
    pub traffic: f64,
}

/// Counts the work of a micro-batch. The backward pass takes twice the forward pass, once for the gradients
/// of weights, which frozen ones have none of, and once for those of what a layer saw, which nothing needs
/// before the first that learns; what is computed again comes on top (Narayanan et al., "Efficient
/// Large-Scale Language Model Training", SC'21, appendix: 8/6 with full recomputation).
pub fn work(network: &Network, training: &Training) -> Result<Work, ModelError> {
    let split = (training.parallel.tensor * training.parallel.pipeline) as f64;
    let batch = training.batch as f64;
    let share = Share::of(network, training);
    let kept = crate::memory::estimate(network, training, &crate::memory::Overhead::default())?;
    let activations = kept.part(crate::memory::PartName::Activations).map_or(0.0, |bytes| bytes.as_f64());
    let forward = match &network.transformer {
        Some(transformer) => {
            let sequence = training.sequence_of(network)? as f64;
            // Two operations a weight and token; scores and their sum with the values 4·s·width a token.
            let dense: f64 = network
                .layers
                .iter()
                .filter(|layer| layer.place != Place::First)
                .flat_map(|layer| &layer.tensors)
                .filter(|tensor| tensor.is_matrix())
                .map(|tensor| tensor.elements() as f64)
                .sum();
            let head =
                network.layers.iter().any(|layer| layer.name == "lm_head" || layer.name == "embed_out");
            let tied = match transformer.scores && !head {
                true => transformer.vocabulary as f64 * transformer.hidden as f64,
                false => 0.0,
            };
            let attention = 4.0 * sequence * transformer.query_width as f64 * transformer.layers as f64;
            batch * sequence * (2.0 * (dense + tied) + attention)
        }
        None => batch * network.layers.iter().map(|layer| layer.flops).sum::<f64>(),
    };
    let again = if training.recompute == Recompute::Full { 1.0 } else { 0.0 };
    let passes = 1.0 + backward(network, training) * (2.0 + again) / 2.0;
    // Weights are read forward and backward and written once; what is kept is written and read.
    let weights = share.count.total() * training.precision.weight_bytes();
    let states = share.count.trained * (training.precision.master_bytes() + 8.0) * 2.0;
    let updates = states / training.accumulate as f64;
    Ok(Work { operations: passes * forward / split, traffic: 3.0 * weights + 2.0 * activations + updates })
}

/// The backward pass in forward passes: 2 where everything learns.
fn backward(network: &Network, training: &Training) -> f64 {
    let (mut all, mut needed) = (0.0, 0.0);
    let first = training.freeze.first_learning(network);
    for (index, layer) in network.layers.iter().enumerate() {
        // Transformers' layers are counted by their weights, each used once a token.
        let size = match network.transformer.is_some() {
            true if layer.place == Place::First => 0.0,
            true => layer.parameters() as f64,
            false => layer.flops,
        };
        let of_weights = if training.freeze.learns(layer, index) { 1.0 } else { 0.0 };
        let of_inputs = if index < first { 0.0 } else { 1.0 };
        all += size;
        needed += size * (of_weights + of_inputs);
    }
    if all > 0.0 { needed / all } else { 2.0 }
}

impl Work {
    /// The least seconds this takes on a GPU: the slower of arithmetic and memory (Williams et al., the
    /// roofline model, 2009).
    pub fn least_seconds(&self, gpu: &crate::gpu::Gpu, precision: Precision) -> f64 {
        let peak = match precision {
            Precision::Fp32 => gpu.fp32,
            Precision::Fp8 if gpu.fp8 > 0.0 => gpu.fp8,
            Precision::Bf16 | Precision::Fp16 | Precision::Fp8 => gpu.fp16,
        };
        (self.operations / (peak * 1e12)).max(self.traffic / (gpu.bandwidth * 1e9))
    }
}
