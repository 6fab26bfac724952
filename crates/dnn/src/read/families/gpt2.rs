//! GPT-2: a decoder whose scores use the embedding again (Radford et al., 2019).

use crate::{Place, Transformer};

use super::super::fields::Fields;
use super::{Described, drops, embedding, head_width, layer, linear, norm, plain, repeat};

pub(crate) fn gpt2(fields: &Fields<'_>) -> Described {
    let hidden = fields.size_of(&["n_embd", "hidden_size"])?;
    let heads = fields.size_of(&["n_head", "num_attention_heads"])?;
    head_width(fields, hidden, heads)?;
    let count = fields.size_of(&["n_layer", "num_hidden_layers"])?;
    let positions = fields.size_of(&["n_positions", "max_position_embeddings", "n_ctx"])?;
    let vocabulary = fields.size("vocab_size")?;
    let inner = fields.optional_size("n_inner")?.unwrap_or(hidden.saturating_mul(4));
    let mut block = norm("ln_1", hidden);
    block.extend(linear("attn.c_attn", hidden, hidden.saturating_mul(3), true));
    block.extend(linear("attn.c_proj", hidden, hidden, true));
    block.extend(norm("ln_2", hidden));
    block.extend(linear("mlp.c_fc", hidden, inner, true));
    block.extend(linear("mlp.c_proj", inner, hidden, true));
    let mut layers = vec![embedding("wte", vocabulary, hidden), embedding("wpe", positions, hidden)];
    layers.extend(repeat("h", count, &block)?);
    layers.push(layer("ln_f", "norm", Place::Last, norm("ln_f", hidden)));
    let transformer = Transformer {
        dropout: drops(fields, "resid_pdrop"),
        longest: Some(positions),
        ..plain(count, hidden, heads, inner, vocabulary)
    };
    Ok((layers, transformer))
}
