//! The description every source ends in: layers with their tensors.

use crate::ModelError;

use super::Transformer;

/// More parameters than this are a mistake in the description: a thousand times the largest network
/// ever trained.
const MOST_PARAMETERS: u64 = 1_000_000_000_000_000;

/// A named array of weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Its name within the layer.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<u64>,
}

impl Tensor {
    /// A tensor of that shape.
    pub fn new(name: impl Into<String>, shape: impl Into<Vec<u64>>) -> Self {
        Tensor { name: name.into(), shape: shape.into() }
    }

    /// The product of its dimensions; as large as can be where that overflows.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |product: u64, &dimension| product.saturating_mul(dimension))
    }

    /// Whether tensor parallelism divides it; biases and norms stay whole (Megatron-LM replicates
    /// norms; biases are too small to matter).
    pub fn is_matrix(&self) -> bool {
        self.shape.len() >= 2
    }
}

/// What a training step keeps of a layer until the gradient has been computed, for one sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Saved {
    /// Numbers kept in the precision of the computation.
    pub values: f64,
    /// Bytes kept whatever the precision: masks and indices.
    pub bytes: f64,
}

/// Where a layer lies when a transformer is cut into pipeline stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the first stage.
    First,
    /// One of the equal blocks in the middle.
    Block,
    /// On the last stage.
    Last,
}

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its name in the description.
    pub name: String,
    /// What it does, in the description's words.
    pub kind: String,
    /// Its weights.
    pub tensors: Vec<Tensor>,
    /// What is kept of it for one sample; transformers' blocks are counted by their formula instead.
    pub saved: Saved,
    /// Numbers in its result for one sample; 0 where that depends on the sequence.
    pub output: f64,
    /// Multiplications and additions of the forward pass for one sample; transformers' layers are
    /// counted by the token instead.
    pub flops: f64,
    /// Where it lies in a pipeline.
    pub place: Place,
}

impl Layer {
    /// Its weights counted.
    pub fn parameters(&self) -> u64 {
        self.tensors.iter().fold(0, |sum: u64, tensor| sum.saturating_add(tensor.elements()))
    }
}

/// A network.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Where the description came from, in words.
    pub origin: String,
    /// The layers in order.
    pub layers: Vec<Layer>,
    /// The shape of a transformer, where it is one.
    pub transformer: Option<Transformer>,
    /// Numbers in one input sample; `None` where it is a sequence or unknown.
    pub sample: Option<u64>,
    /// Whether what a step keeps is known; a list of tensors alone does not tell.
    pub activations_known: bool,
}

impl Network {
    /// Every weight counted once.
    pub fn parameters(&self) -> u64 {
        self.layers.iter().fold(0, |sum: u64, layer| sum.saturating_add(layer.parameters()))
    }

    /// The most weights in one part that is computed at once: a single tensor with its bias. It must be
    /// whole on one GPU when parameters are sharded (DeepSpeed, `largest_layer_params`).
    pub fn largest_part(&self) -> u64 {
        let mut largest = 0;
        for layer in &self.layers {
            for tensor in layer.tensors.iter().filter(|tensor| tensor.is_matrix()) {
                let bias = layer.tensors.iter().find(|other| is_bias_of(other, tensor));
                largest = largest.max(tensor.elements() + bias.map_or(0, Tensor::elements));
            }
        }
        largest
            .max(self.layers.iter().flat_map(|layer| &layer.tensors).map(Tensor::elements).max().unwrap_or(0))
    }

    /// Refuses what cannot be a network.
    pub fn checked(self) -> Result<Network, ModelError> {
        if self.parameters() == 0 {
            return Err(ModelError::new("layers", "hold no parameters: there is nothing to train"));
        }
        if self.parameters() > MOST_PARAMETERS {
            let reason = format!("add up to {} parameters, which no machine could hold", self.parameters());
            return Err(ModelError::new("layers", reason).hint("look for a size with too many digits"));
        }
        Ok(self)
    }
}

fn is_bias_of(bias: &Tensor, weight: &Tensor) -> bool {
    bias.shape.len() == 1 && bias.name.strip_suffix("bias") == weight.name.strip_suffix("weight")
}
