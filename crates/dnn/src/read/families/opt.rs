//! OPT: GPT-3's shape with learned positions, two of them spare (Zhang et al., 2022).

use crate::{Place, Transformer};

use super::super::fields::Fields;
use super::{Described, drops, embedding, head_width, layer, linear, norm, plain, repeat};

pub(crate) fn opt(fields: &Fields<'_>) -> Described {
    let hidden = fields.size("hidden_size")?;
    let heads = fields.size("num_attention_heads")?;
    head_width(fields, hidden, heads)?;
    let count = fields.size("num_hidden_layers")?;
    let inner = fields.size("ffn_dim")?;
    let vocabulary = fields.size("vocab_size")?;
    let positions = fields.size("max_position_embeddings")?;
    let narrow = fields.optional_size("word_embed_proj_dim")?.unwrap_or(hidden);
    let mut block = Vec::new();
    for name in ["self_attn.k_proj", "self_attn.v_proj", "self_attn.q_proj", "self_attn.out_proj"] {
        block.extend(linear(name, hidden, hidden, true));
    }
    block.extend(norm("self_attn_layer_norm", hidden));
    block.extend(linear("fc1", hidden, inner, true));
    block.extend(linear("fc2", inner, hidden, true));
    block.extend(norm("final_layer_norm", hidden));
    let mut layers = vec![
        embedding("embed_tokens", vocabulary, narrow),
        // The library counts positions from 2.
        embedding("embed_positions", positions.saturating_add(2), hidden),
    ];
    if narrow != hidden {
        layers.push(layer("project_in", "dense", Place::First, linear("project_in", narrow, hidden, false)));
        layers.push(layer("project_out", "dense", Place::Last, linear("project_out", hidden, narrow, false)));
    }
    layers.extend(repeat("layers", count, &block)?);
    if fields.truth("do_layer_norm_before", true)? && !fields.truth("_remove_final_layer_norm", false)? {
        layers.push(layer("final_layer_norm", "norm", Place::Last, norm("norm", hidden)));
    }
    let transformer = Transformer {
        dropout: drops(fields, "dropout"),
        longest: Some(positions),
        ..plain(count, hidden, heads, inner, vocabulary)
    };
    Ok((layers, transformer))
}
