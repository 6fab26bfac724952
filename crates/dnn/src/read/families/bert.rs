//! BERT and RoBERTa: an encoder with a pooler, as `BertModel` (Devlin et al., 2019).

use crate::{Place, Transformer};

use super::super::fields::Fields;
use super::{Described, drops, head_width, layer, linear, norm, plain, repeat};

pub(crate) fn bert(fields: &Fields<'_>) -> Described {
    let hidden = fields.size("hidden_size")?;
    let heads = fields.size("num_attention_heads")?;
    head_width(fields, hidden, heads)?;
    let inner = fields.size("intermediate_size")?;
    let vocabulary = fields.size("vocab_size")?;
    let positions = fields.size("max_position_embeddings")?;
    let kinds = fields.optional_size("type_vocab_size")?.unwrap_or(2);
    let count = fields.size("num_hidden_layers")?;
    let mut embeddings = linear("word_embeddings", hidden, vocabulary, false);
    embeddings.extend(linear("position_embeddings", hidden, positions, false));
    embeddings.extend(linear("token_type_embeddings", hidden, kinds, false));
    embeddings.extend(norm("LayerNorm", hidden));
    let mut block = Vec::new();
    for name in ["attention.query", "attention.key", "attention.value", "attention.output"] {
        block.extend(linear(name, hidden, hidden, true));
    }
    block.extend(norm("attention.LayerNorm", hidden));
    block.extend(linear("intermediate", hidden, inner, true));
    block.extend(linear("output", inner, hidden, true));
    block.extend(norm("LayerNorm", hidden));
    let mut layers = vec![layer("embeddings", "embedding", Place::First, embeddings)];
    layers.extend(repeat("encoder", count, &block)?);
    layers.push(layer("pooler", "dense", Place::Last, linear("dense", hidden, hidden, true)));
    let transformer = Transformer {
        dropout: drops(fields, "hidden_dropout_prob"),
        longest: Some(positions),
        scores: false,
        ..plain(count, hidden, heads, inner, vocabulary)
    };
    Ok((layers, transformer))
}
