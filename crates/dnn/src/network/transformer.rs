//! The shape of a transformer, from which the memory of its activations and its arithmetic follow.

use serde::Serialize;

/// Sizes of a transformer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transformer {
    /// Blocks, encoder and decoder together.
    pub layers: u64,
    /// Width of the residual stream, h.
    pub hidden: u64,
    /// Attention heads, a.
    pub heads: u64,
    /// Width of all queries together; h in most.
    pub query_width: u64,
    /// Width of all keys together, and of all values; less than h with grouped queries.
    pub key_width: u64,
    /// Width inside the feed-forward part.
    pub intermediate: u64,
    /// Whether the feed-forward part has a gate (SwiGLU): two projections up instead of one.
    pub gated: bool,
    /// Whether numbers are dropped by chance while training, which keeps masks.
    pub dropout: bool,
    /// Blocks that also look at the encoder.
    pub cross_attention: u64,
    /// Tokens in the vocabulary, v.
    pub vocabulary: u64,
    /// The longest sequence it was made for, where that is known.
    pub longest: Option<u64>,
    /// Whether every token's score is computed (language models), which keeps scores of the size of
    /// the vocabulary.
    pub scores: bool,
}
