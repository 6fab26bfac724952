//! What a training step keeps until the gradients are computed.
//!
//! A transformer's block keeps sbh(34 + 5as/h) bytes in 16 bits (Korthikanti et al., "Reducing
//! Activation Recomputation in Large Transformer Models", 2022, equation 1 and table 2). The terms are
//! written out one by one here, so that blocks of another shape (grouped queries, a gate, no dropout)
//! follow from the same counting: with GPT's shape they add up to the paper's formula.

use crate::{ModelError, Network, Place, Precision, Recompute, Training, Transformer};

/// Bytes kept on one GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Kept {
    /// In the blocks, or in all layers of a layered network.
    pub layers: f64,
    /// Before and after the blocks: the embedding's dropout, the last norm, scores of the vocabulary.
    pub around: f64,
}

/// Bytes one block keeps for a micro-batch of `batch` samples of `sequence` tokens.
pub fn block_bytes(transformer: &Transformer, training: &Training, sequence: f64, cross: bool) -> f64 {
    let tensor = training.parallel.tensor as f64;
    let precision = training.precision;
    let tokens = sequence * training.batch as f64;
    let (hidden, query) = (transformer.hidden as f64, transformer.query_width as f64);
    let (key, inner) = (transformer.key_width as f64, transformer.intermediate as f64);
    let (wide, product) = (precision.activation_bytes(), precision.product_bytes());
    if training.recompute == Recompute::Full {
        // Only the input of each block: 2sbh, in pieces where the sequence is cut.
        let pieces = if training.parallel.sequence { tensor } else { 1.0 };
        return wide * tokens * hidden / pieces;
    }
    let mask = f64::from(u8::from(transformer.dropout));
    let attentions = if cross { 2.0 } else { 1.0 };
    // Whole on every GPU of the tensor group: inputs of projections, masks, norms.
    let whole = attentions * (product + mask + wide) * hidden + (product + mask + wide) * hidden;
    // Divided: queries, keys, values, the input of the projection behind them, the feed-forward part.
    let feed = if transformer.gated { 3.0 * wide + product } else { wide + product };
    let divided = attentions * (wide * (query + 2.0 * key) + product * query) + feed * inner;
    let whole = if training.parallel.sequence { whole / tensor } else { whole };
    let scores = score_bytes(transformer, training, sequence) * attentions;
    tokens * (whole + divided / tensor) + scores / tensor
}

/// Bytes of the scores between tokens: softmax, its dropout's mask and result. Recomputed or never
/// stored they vanish; FlashAttention keeps one number of 32 bits a head and token (Dao et al., 2022).
fn score_bytes(transformer: &Transformer, training: &Training, sequence: f64) -> f64 {
    let heads = transformer.heads as f64 * training.batch as f64;
    if training.flash {
        return 4.0 * heads * sequence;
    }
    if training.recompute == Recompute::Selective {
        return 0.0;
    }
    let wide = training.precision.activation_bytes();
    let each = if transformer.dropout { 2.0 * wide + 1.0 } else { wide };
    each * heads * sequence * sequence
}

/// Bytes kept on the GPU that keeps most; `None` where the description does not tell.
pub fn kept(network: &Network, training: &Training, blocks: u64) -> Result<Option<Kept>, ModelError> {
    if !network.activations_known {
        return Ok(None);
    }
    let Some(transformer) = &network.transformer else { return Ok(Some(layered(network, training))) };
    let sequence = training.sequence_of(network)? as f64;
    let parallel = &training.parallel;
    let stages = parallel.pipeline as f64;
    // The first stage holds as many micro-batches as there are stages before the first gradient comes
    // back (1F1B), so that its blocks count as the whole network's; interleaved stages hold
    // 1 + (p − 1)/(pm) times as much (section 4.2.3).
    let in_flight = stages.min(training.accumulate.max(parallel.pipeline) as f64);
    let interleaved = match parallel.chunks {
        0 | 1 => 1.0,
        chunks => 1.0 + (stages - 1.0) / (stages * chunks as f64),
    };
    let cross = transformer.cross_attention.min(transformer.layers);
    let plain_share = (transformer.layers - cross) as f64 / transformer.layers.max(1) as f64;
    let one = plain_share * block_bytes(transformer, training, sequence, false)
        + (1.0 - plain_share) * block_bytes(transformer, training, sequence, true);
    let before = &network.layers[..training.freeze.first_learning(network)];
    let frozen = before.iter().filter(|layer| layer.place == Place::Block).count() as u64;
    // Cut into stages, the last one holds blocks that all learn.
    let blocks = if parallel.pipeline == 1 { blocks.saturating_sub(frozen) } else { blocks };
    let layers = one * blocks as f64 * in_flight * interleaved;
    // Section 4.3: sbhp/t for the embedding's dropout; with one stage also 4sbh/t (1 + v/h) for the last
    // norm, the projection and the scores in 32 bits.
    let tokens = sequence * training.batch as f64;
    let cut = if parallel.sequence { parallel.tensor as f64 } else { 1.0 };
    let hidden = transformer.hidden as f64;
    let mut around = tokens * hidden * in_flight / cut;
    if parallel.pipeline == 1 {
        let wide = training.precision.activation_bytes();
        around += 2.0 * wide * tokens * hidden / cut;
        if transformer.scores {
            around += 4.0 * tokens * transformer.vocabulary as f64 / parallel.tensor as f64;
        }
    }
    around += again(transformer, training, sequence);
    Ok(Some(Kept { layers, around }))
}

/// What is computed again is there while it is: everything of one block, or its scores.
fn again(transformer: &Transformer, training: &Training, sequence: f64) -> f64 {
    let kept = Training { recompute: Recompute::None, ..training.clone() };
    match training.recompute {
        Recompute::None => 0.0,
        Recompute::Selective => score_bytes(transformer, &kept, sequence) / training.parallel.tensor as f64,
        Recompute::Full => block_bytes(transformer, &kept, sequence, transformer.cross_attention > 0),
    }
}

fn layered(network: &Network, training: &Training) -> Kept {
    let wide = training.precision.activation_bytes();
    let batch = training.batch as f64;
    let bytes = |layer: &crate::Layer| layer.saved.values * wide + layer.saved.bytes;
    let learning = &network.layers[training.freeze.first_learning(network)..];
    let layers: f64 = match training.recompute {
        Recompute::Full => checkpointed(learning, &bytes),
        _ => learning.iter().map(bytes).sum(),
    };
    // The data itself and the last result, whose gradient is the first to be computed.
    let sample = network.sample.unwrap_or(0) as f64;
    let result = network.layers.last().map_or(0.0, |layer| layer.output);
    let data = if training.precision == Precision::Fp32 { 4.0 } else { wide };
    Kept { layers: layers * batch, around: batch * (sample * data + 2.0 * result * wide) }
}

/// √n segments: their ends are kept, one segment is computed again at a time (Chen et al., 2016).
fn checkpointed(layers: &[crate::Layer], bytes: &dyn Fn(&crate::Layer) -> f64) -> f64 {
    let size = (layers.len() as f64).sqrt().ceil().max(1.0) as usize;
    let segments: Vec<&[crate::Layer]> = layers.chunks(size).collect();
    let ends: f64 =
        segments.iter().filter_map(|segment| segment.last()).map(|layer| layer.output * 2.0).sum();
    let largest = segments.iter().map(|segment| segment.iter().map(bytes).sum::<f64>()).fold(0.0, f64::max);
    let plain: f64 = layers.iter().map(bytes).sum();
    (ends + largest).min(plain)
}
