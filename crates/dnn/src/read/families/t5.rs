//! T5: an encoder and a decoder that looks at it, relative positions in the first block of each
//! (Raffel et al., 2020).

use crate::{Place, Tensor, Transformer};

use super::super::fields::Fields;
use super::{Described, embedding, layer, linear, repeat, scale};

pub(crate) fn t5(fields: &Fields<'_>) -> Described {
    let hidden = fields.size("d_model")?;
    let heads = fields.size("num_heads")?;
    let inner = heads.saturating_mul(fields.size("d_kv")?);
    let wide = fields.size("d_ff")?;
    let vocabulary = fields.size("vocab_size")?;
    let encoders = fields.size("num_layers")?;
    let decoders = fields.optional_size("num_decoder_layers")?.unwrap_or(encoders);
    let buckets = fields.optional_size("relative_attention_num_buckets")?.unwrap_or(32);
    let gated = fields.text("feed_forward_proj")?.is_some_and(|name| name.starts_with("gated"));
    let attention = |name: &str| {
        let mut tensors = Vec::new();
        for part in ["q", "k", "v"] {
            tensors.extend(linear(&format!("{name}.{part}"), hidden, inner, false));
        }
        tensors.extend(linear(&format!("{name}.o"), inner, hidden, false));
        tensors.extend(scale(&format!("{name}.layer_norm"), hidden));
        tensors
    };
    let mut forward = linear("wi", hidden, wide, false);
    forward.extend(gated.then(|| linear("wi_1", hidden, wide, false)).into_iter().flatten());
    forward.extend(linear("wo", wide, hidden, false));
    forward.extend(scale("layer_norm", hidden));
    let encoder = [attention("SelfAttention"), forward.clone()].concat();
    let decoder = [attention("SelfAttention"), attention("EncDecAttention"), forward].concat();
    let relative = |name: &str| {
        layer(name, "embedding", Place::First, vec![Tensor::new("relative_attention_bias", [buckets, heads])])
    };
    let mut layers = vec![embedding("shared", vocabulary, hidden), relative("encoder.relative")];
    layers.extend(repeat("encoder", encoders, &encoder)?);
    layers.push(layer("encoder.final_layer_norm", "norm", Place::Last, scale("norm", hidden)));
    layers.push(relative("decoder.relative"));
    layers.extend(repeat("decoder", decoders, &decoder)?);
    layers.push(layer("decoder.final_layer_norm", "norm", Place::Last, scale("norm", hidden)));
    if !fields.truth("tie_word_embeddings", true)? {
        layers.push(layer("lm_head", "dense", Place::Last, linear("lm_head", hidden, vocabulary, false)));
    }
    let transformer = Transformer {
        layers: encoders.saturating_add(decoders),
        hidden,
        heads,
        query_width: inner,
        key_width: inner,
        intermediate: wide,
        gated,
        dropout: fields.raw("dropout_rate").is_none() || fields.is_positive("dropout_rate"),
        cross_attention: decoders,
        vocabulary,
        longest: fields.optional_size("n_positions")?,
        scores: true,
    };
    Ok((layers, transformer))
}
