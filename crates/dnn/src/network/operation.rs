//! What one layer of a layered network does: its weights, the shape of its result, what it keeps, and
//! its arithmetic. Shapes are those of one sample, channels first.

use crate::ModelError;

use super::{Saved, Tensor};

/// A window that moves over an image: of a convolution or of pooling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its size in each direction.
    pub size: Vec<u64>,
    /// How far it moves.
    pub stride: Vec<u64>,
    /// What is added around the image on either side.
    pub padding: Vec<u64>,
    /// Distance between the points it looks at.
    pub dilation: Vec<u64>,
    /// Whether a last window that reaches beyond the image counts.
    pub ceiling: bool,
}

impl Window {
    /// A window of one size in all directions.
    pub fn square(directions: usize, size: u64, stride: u64, padding: u64) -> Window {
        Window {
            size: vec![size; directions],
            stride: vec![stride; directions],
            padding: vec![padding; directions],
            dilation: vec![1; directions],
            ceiling: false,
        }
    }

    fn slide(&self, image: &[u64]) -> Result<Vec<u64>, ModelError> {
        if image.len() != self.size.len() {
            let reason = format!("has {} directions, the image has {}", self.size.len(), image.len());
            return Err(ModelError::new("kernel", reason));
        }
        let mut out = Vec::new();
        for (axis, &length) in image.iter().enumerate() {
            let (size, stride) = (self.size[axis], self.stride[axis]);
            if size == 0 || stride == 0 {
                return Err(ModelError::new("kernel", "and stride must be above 0"));
            }
            let reach = self.dilation[axis].max(1).saturating_mul(size - 1).saturating_add(1);
            let padded = length.saturating_add(self.padding[axis].saturating_mul(2));
            let Some(room) = padded.checked_sub(reach) else {
                let reason = format!("reaches over {reach} points, the padded image has {padded}");
                return Err(ModelError::new("kernel", reason));
            };
            out.push(if self.ceiling { room.div_ceil(stride) } else { room / stride } + 1);
        }
        Ok(out)
    }
}

/// Functions applied to every number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// In place: only its result is kept.
    InPlace,
    /// Needs its input for the gradient: GELU, SiLU.
    KeepsInput,
    /// Needs its result: tanh, sigmoid, softmax.
    KeepsOutput,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Fully connected: on the last dimension, or on everything after flattening.
    Dense {
        /// Numbers in the result.
        units: u64,
        /// Whether there is a bias.
        bias: bool,
    },
    /// A convolution.
    Convolution {
        /// Channels of the result.
        channels: u64,
        /// The window.
        window: Window,
        /// Groups of channels kept apart; 0 is as many as there are channels (depthwise).
        groups: u64,
        /// Whether there is a bias.
        bias: bool,
    },
    /// The largest of a window.
    MaxPool(Window),
    /// The mean of a window.
    AveragePool(Window),
    /// The mean of all, or of so many parts a direction.
    AdaptivePool(u64),
    /// Normalisation with a scale and a shift a channel.
    BatchNorm,
    /// Normalisation with a scale and a shift a number of the last dimension.
    LayerNorm,
    /// A function of every number.
    Activate(Activation),
    /// Numbers left out by chance.
    Dropout,
    /// All in one row.
    Flatten,
    /// A sum of several results.
    Add,
    /// Several results behind each other, by channel.
    Concatenate,
    /// A table of vectors.
    Embedding {
        /// Rows.
        entries: u64,
        /// Numbers a row.
        width: u64,
    },
    /// Anything else, as a summary states it: its weights counted, the shape of its result.
    Stated {
        /// Weights.
        parameters: u64,
        /// The shape of the result.
        output: Vec<u64>,
    },
    /// Long short-term memory over a sequence.
    Lstm {
        /// Numbers of its state.
        units: u64,
        /// Whether every step's state is its result, or the last one only.
        sequences: bool,
    },
}

/// What an operation does to a shape.
pub(super) struct Effect {
    pub output: Vec<u64>,
    pub tensors: Vec<Tensor>,
    pub keeps_inputs: bool,
    pub keeps_output: bool,
    pub more: Saved,
    pub flops: f64,
}

/// The product of dimensions.
pub(super) fn volume(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product: u64, &dimension| product.saturating_mul(dimension))
}

impl Operation {
    /// What is done to inputs of these shapes.
    pub(super) fn apply(&self, inputs: &[Vec<u64>]) -> Result<Effect, ModelError> {
        let shape = inputs.first().ok_or_else(|| ModelError::new("inputs", "are missing"))?;
        let elements = volume(shape) as f64;
        let plain = |output: Vec<u64>| Effect {
            output,
            tensors: Vec::new(),
            keeps_inputs: false,
            keeps_output: false,
            more: Saved::default(),
            flops: elements,
        };
        match self {
            Operation::Dense { units, bias } => dense(shape, *units, *bias),
            Operation::Convolution { channels, window, groups, bias } => {
                convolution(shape, *channels, window, *groups, *bias)
            }
            Operation::MaxPool(window) => {
                let output = pooled(shape, window)?;
                // PyTorch keeps where each largest number was, as a 64-bit index.
                let more = Saved { values: 0.0, bytes: 8.0 * volume(&output) as f64 };
                Ok(Effect { keeps_inputs: true, more, ..plain(output) })
            }
            Operation::AveragePool(window) => {
                let output = pooled(shape, window)?;
                Ok(Effect { keeps_inputs: true, ..plain(output) })
            }
            Operation::AdaptivePool(parts) => {
                let mut output = vec![*parts; shape.len()];
                output[0] = channels_of(shape)?;
                Ok(plain(output))
            }
            Operation::BatchNorm => {
                let tensors = scale_and_shift(channels_of(shape)?);
                Ok(Effect { tensors, keeps_inputs: true, ..plain(shape.clone()) })
            }
            Operation::LayerNorm => {
                let width = shape.last().copied().unwrap_or(1);
                Ok(Effect { tensors: scale_and_shift(width), keeps_inputs: true, ..plain(shape.clone()) })
            }
            Operation::Activate(kind) => Ok(Effect {
                keeps_inputs: *kind == Activation::KeepsInput,
                keeps_output: *kind != Activation::KeepsInput,
                ..plain(shape.clone())
            }),
            Operation::Dropout => {
                let more = Saved { values: 0.0, bytes: elements };
                Ok(Effect { more, ..plain(shape.clone()) })
            }
            Operation::Flatten => Ok(Effect { flops: 0.0, ..plain(vec![volume(shape)]) }),
            Operation::Add => match inputs.iter().find(|other| volume(other) != volume(shape)) {
                Some(other) => {
                    let reason = format!("of an addition have different shapes, {shape:?} and {other:?}");
                    Err(ModelError::new("inputs", reason))
                }
                None => Ok(plain(shape.clone())),
            },
            Operation::Concatenate => {
                let mut output = shape.clone();
                output[0] = inputs.iter().map(|shape| shape.first().copied().unwrap_or(0)).sum();
                Ok(plain(output))
            }
            Operation::Embedding { entries, width } => {
                let mut output = shape.clone();
                output.push(*width);
                let tensors = vec![Tensor::new("weight", [*entries, *width])];
                // The indices of the tokens, 64 bits each.
                let more = Saved { values: 0.0, bytes: 8.0 * elements };
                Ok(Effect { tensors, more, flops: 0.0, ..plain(output) })
            }
            Operation::Stated { parameters, output } => {
                let tensors = (*parameters > 0).then(|| Tensor::new("weight", [*parameters]));
                // What it keeps is not known; its input is what nearly every layer needs.
                let tensors = tensors.into_iter().collect();
                Ok(Effect { tensors, keeps_inputs: true, ..plain(output.clone()) })
            }
            Operation::Lstm { units, sequences } => lstm(shape, *units, *sequences),
        }
    }
}

fn channels_of(shape: &[u64]) -> Result<u64, ModelError> {
    shape.first().copied().ok_or_else(|| ModelError::new("input", "has no channels"))
}

fn scale_and_shift(width: u64) -> Vec<Tensor> {
    vec![Tensor::new("weight", [width]), Tensor::new("bias", [width])]
}

fn pooled(shape: &[u64], window: &Window) -> Result<Vec<u64>, ModelError> {
    let mut output = vec![channels_of(shape)?];
    output.extend(window.slide(&shape[1..])?);
    Ok(output)
}

fn dense(shape: &[u64], units: u64, bias: bool) -> Result<Effect, ModelError> {
    let Some((&width, others)) = shape.split_last() else {
        return Err(ModelError::new("input", "of a dense layer has no dimension"));
    };
    let mut output = others.to_vec();
    output.push(units);
    let mut tensors = vec![Tensor::new("weight", [units, width])];
    tensors.extend(bias.then(|| Tensor::new("bias", [units])));
    let flops = 2.0 * width as f64 * volume(&output) as f64;
    Ok(Effect { output, tensors, keeps_inputs: true, keeps_output: false, more: Saved::default(), flops })
}

fn convolution(
    shape: &[u64],
    channels: u64,
    window: &Window,
    groups: u64,
    bias: bool,
) -> Result<Effect, ModelError> {
    let before = channels_of(shape)?;
    let groups = if groups == 0 { before } else { groups };
    if !before.is_multiple_of(groups) || !channels.is_multiple_of(groups) {
        let reason = format!("= {groups} does not divide {before} and {channels} channels");
        return Err(ModelError::new("groups", reason));
    }
    let mut output = vec![channels];
    output.extend(window.slide(&shape[1..])?);
    let mut weight = vec![channels, before / groups];
    weight.extend(&window.size);
    let flops = 2.0 * volume(&weight[1..]) as f64 * volume(&output) as f64;
    let mut tensors = vec![Tensor::new("weight", weight)];
    tensors.extend(bias.then(|| Tensor::new("bias", [channels])));
    Ok(Effect { output, tensors, keeps_inputs: true, keeps_output: false, more: Saved::default(), flops })
}

/// Four gates, each with weights for the input and for the state, and two biases as in cuDNN.
fn lstm(shape: &[u64], units: u64, sequences: bool) -> Result<Effect, ModelError> {
    let &[steps, width] = shape else {
        return Err(ModelError::new("input", "of an LSTM must be steps and width, as in [128, 64]"));
    };
    let gates = units.saturating_mul(4);
    let tensors = vec![
        Tensor::new("weight_ih", [gates, width]),
        Tensor::new("weight_hh", [gates, units]),
        Tensor::new("bias_ih", [gates]),
        Tensor::new("bias_hh", [gates]),
    ];
    let kept = steps as f64 * units as f64 * 6.0; // four gates, the cell and the state of every step
    let flops = 2.0 * steps as f64 * gates as f64 * (width as f64 + units as f64);
    let output = if sequences { vec![steps, units] } else { vec![units] };
    let more = Saved { values: kept, bytes: 0.0 };
    Ok(Effect { output, tensors, keeps_inputs: true, keeps_output: false, more, flops })
}
