//! Llama and its relatives: grouped queries, a gate, scales without shifts (Touvron et al., 2023).

use crate::{ModelError, Place, Tensor, Transformer};

use super::super::fields::Fields;
use super::{Described, embedding, head_width, layer, linear, repeat, scale};

pub(crate) fn llama(fields: &Fields<'_>, family: &str) -> Described {
    let hidden = fields.size("hidden_size")?;
    let heads = fields.size("num_attention_heads")?;
    let width = head_width(fields, hidden, heads)?;
    let groups = fields.optional_size("num_key_value_heads")?.unwrap_or(heads);
    if !heads.is_multiple_of(groups) {
        let reason = format!("= {groups} does not divide the {heads} attention heads");
        return Err(ModelError::new("num_key_value_heads", reason));
    }
    let (query, key) = (heads.saturating_mul(width), groups.saturating_mul(width));
    let inner = fields.size("intermediate_size")?;
    let vocabulary = fields.size("vocab_size")?;
    let count = fields.size("num_hidden_layers")?;
    let tied = fields.truth("tie_word_embeddings", family == "gemma")?;
    let bias = fields.truth("attention_bias", false)?;
    let input_bias = bias || family == "qwen2";
    let mlp_bias = fields.truth("mlp_bias", false)?;
    let mut block = linear("self_attn.q_proj", hidden, query, input_bias);
    block.extend(linear("self_attn.k_proj", hidden, key, input_bias));
    block.extend(linear("self_attn.v_proj", hidden, key, input_bias));
    block.extend(linear("self_attn.o_proj", query, hidden, bias));
    if family == "qwen3" {
        block.extend(scale("self_attn.q_norm", width));
        block.extend(scale("self_attn.k_norm", width));
    }
    block.extend(linear("mlp.gate_proj", hidden, inner, mlp_bias));
    block.extend(linear("mlp.up_proj", hidden, inner, mlp_bias));
    block.extend(linear("mlp.down_proj", inner, hidden, mlp_bias));
    block.extend(scale("input_layernorm", hidden));
    block.extend(scale("post_attention_layernorm", hidden));
    let mut layers = vec![embedding("embed_tokens", vocabulary, hidden)];
    layers.extend(repeat("layers", count, &block)?);
    layers.push(layer("norm", "norm", Place::Last, scale("norm", hidden)));
    if !tied {
        let head = vec![Tensor::new("weight", [vocabulary, hidden])];
        layers.push(layer("lm_head", "dense", Place::Last, head));
    }
    let transformer = Transformer {
        layers: count,
        hidden,
        heads,
        query_width: query,
        key_width: key,
        intermediate: inner,
        gated: true,
        dropout: fields.is_positive("attention_dropout"),
        cross_attention: 0,
        vocabulary,
        longest: fields.optional_size("max_position_embeddings")?,
        scores: true,
    };
    Ok((layers, transformer))
}
