//! Families of transformers: which tensors their blocks have. Names and shapes are those of the
//! `transformers` library, so that counts agree with it to the last parameter.

mod bert;
mod gpt2;
mod llama;
mod neox;
mod opt;
mod t5;

pub(crate) use bert::bert;
pub(crate) use gpt2::gpt2;
pub(crate) use llama::llama;
pub(crate) use neox::neox;
pub(crate) use opt::opt;
pub(crate) use t5::t5;

use crate::{Layer, ModelError, Place, Saved, Tensor, Transformer};

use super::fields::Fields;

/// What a family gives.
type Described = Result<(Vec<Layer>, Transformer), ModelError>;

fn layer(name: impl Into<String>, kind: &str, place: Place, tensors: Vec<Tensor>) -> Layer {
    Layer {
        name: name.into(),
        kind: kind.to_owned(),
        tensors,
        saved: Saved::default(),
        output: 0.0,
        flops: 0.0,
        place,
    }
}

fn embedding(name: &str, entries: u64, width: u64) -> Layer {
    layer(name, "embedding", Place::First, vec![Tensor::new("weight", [entries, width])])
}

/// A projection, with a bias or without.
fn linear(name: &str, from: u64, to: u64, bias: bool) -> Vec<Tensor> {
    let mut tensors = vec![Tensor::new(format!("{name}.weight"), [to, from])];
    tensors.extend(bias.then(|| Tensor::new(format!("{name}.bias"), [to])));
    tensors
}

/// A norm with a scale and a shift.
fn norm(name: &str, width: u64) -> Vec<Tensor> {
    vec![Tensor::new(format!("{name}.weight"), [width]), Tensor::new(format!("{name}.bias"), [width])]
}

/// A norm with a scale alone.
fn scale(name: &str, width: u64) -> Vec<Tensor> {
    vec![Tensor::new(format!("{name}.weight"), [width])]
}

/// A decoder as GPT-2 is one: every head has keys and values of its own, nothing is gated or dropped, and
/// it ends in scores of the vocabulary.
fn plain(layers: u64, hidden: u64, heads: u64, intermediate: u64, vocabulary: u64) -> Transformer {
    Transformer {
        layers,
        hidden,
        heads,
        query_width: hidden,
        key_width: hidden,
        intermediate,
        gated: false,
        dropout: false,
        cross_attention: 0,
        vocabulary,
        longest: None,
        scores: true,
    }
}

/// Whether a rate of dropout is above 0; the library drops where none is given.
fn drops(fields: &Fields<'_>, rate: &str) -> bool {
    fields.raw(rate).is_none() || fields.is_positive(rate)
}

/// The same block so many times.
fn repeat(prefix: &str, count: u64, block: &[Tensor]) -> Result<Vec<Layer>, ModelError> {
    const MOST_BLOCKS: u64 = 100_000;
    if count > MOST_BLOCKS {
        let reason = format!("= {count} is more than any network has");
        return Err(ModelError::new("num_hidden_layers", reason));
    }
    Ok((0..count)
        .map(|index| layer(format!("{prefix}.{index}"), "block", Place::Block, block.to_vec()))
        .collect())
}

/// The width of one head, which must come out even.
fn head_width(fields: &Fields<'_>, hidden: u64, heads: u64) -> Result<u64, ModelError> {
    if let Some(stated) = fields.optional_size("head_dim")? {
        return Ok(stated);
    }
    if !hidden.is_multiple_of(heads) {
        let reason = format!("= {hidden} is not a multiple of the {heads} attention heads");
        return Err(ModelError::new("hidden_size", reason));
    }
    Ok(hidden / heads)
}
