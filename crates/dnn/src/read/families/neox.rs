//! GPT-NeoX and Pythia: rotary positions, scores with weights of their own (Black et al., 2022).

use crate::{Place, Tensor, Transformer};

use super::super::fields::Fields;
use super::{Described, embedding, head_width, layer, linear, norm, plain, repeat};

pub(crate) fn neox(fields: &Fields<'_>) -> Described {
    let hidden = fields.size("hidden_size")?;
    let heads = fields.size("num_attention_heads")?;
    head_width(fields, hidden, heads)?;
    let count = fields.size("num_hidden_layers")?;
    let inner = fields.size("intermediate_size")?;
    let vocabulary = fields.size("vocab_size")?;
    let bias = fields.truth("attention_bias", true)?;
    let mut block = norm("input_layernorm", hidden);
    block.extend(norm("post_attention_layernorm", hidden));
    block.extend(linear("attention.query_key_value", hidden, hidden.saturating_mul(3), bias));
    block.extend(linear("attention.dense", hidden, hidden, bias));
    block.extend(linear("mlp.dense_h_to_4h", hidden, inner, true));
    block.extend(linear("mlp.dense_4h_to_h", inner, hidden, true));
    let mut layers = vec![embedding("embed_in", vocabulary, hidden)];
    layers.extend(repeat("layers", count, &block)?);
    layers.push(layer("final_layer_norm", "norm", Place::Last, norm("norm", hidden)));
    if !fields.truth("tie_word_embeddings", false)? {
        let head = vec![Tensor::new("weight", [vocabulary, hidden])];
        layers.push(layer("embed_out", "dense", Place::Last, head));
    }
    let transformer = Transformer {
        dropout: fields.is_positive("hidden_dropout"),
        longest: fields.optional_size("max_position_embeddings")?,
        ..plain(count, hidden, heads, inner, vocabulary)
    };
    Ok((layers, transformer))
}
