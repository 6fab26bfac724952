//! From ONNX operators to layers.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Activation, Graph, ModelError, Network, Operation, Tensor, Window};

use super::{Node, Parsed};

/// Operators that only carry values along.
const PASSING: [&str; 4] = ["Identity", "Cast", "Constant", "Shape"];

pub(super) fn network(parsed: &Parsed, file: &str, input: Option<&[u64]>) -> Result<Network, ModelError> {
    let fed: Vec<_> = parsed.inputs.iter().filter(|(name, _)| !parsed.stored.contains_key(name)).collect();
    let [(name, shape)] = fed.as_slice() else {
        let reason = format!("has {} inputs; one sample must be one tensor", fed.len());
        return Err(ModelError::new("graph.input", reason));
    };
    let sample = match input {
        Some(given) => given.to_vec(),
        None => sample_of(name, shape)?,
    };
    let mut graph = Graph::new(&sample)?;
    let mut results = BTreeMap::from([(name.clone(), 0)]);
    let mut counted = BTreeSet::new();
    for (index, node) in parsed.nodes.iter().enumerate() {
        let place = if node.name.is_empty() { format!("node[{index}]") } else { node.name.clone() };
        let inputs: Vec<usize> = node.inputs.iter().filter_map(|name| results.get(name).copied()).collect();
        if PASSING.contains(&node.operator.as_str()) || inputs.is_empty() {
            if let (Some(&result), Some(output)) = (inputs.first(), node.outputs.first()) {
                results.insert(output.clone(), result);
            }
            continue;
        }
        let within = |mut error: ModelError| {
            error.field = format!("{place}.{}", error.field);
            error
        };
        let operation = operation(parsed, node, graph.shape(inputs[0]), &place).map_err(within)?;
        let result = graph.add(&place, &node.operator, &operation, &inputs).map_err(within)?;
        let mut tensors = Vec::new();
        for (position, name) in node.inputs.iter().enumerate() {
            // The running mean and variance of a norm are not trained.
            let buffer = node.operator == "BatchNormalization" && position >= 3;
            if let Some(tensor) = weight(parsed, name)
                && !buffer
                && counted.insert(name.clone())
            {
                tensors.push(tensor.clone());
            }
        }
        graph.replace_tensors(tensors);
        if let Some(output) = node.outputs.first() {
            results.insert(output.clone(), result);
        }
    }
    let name = if parsed.name.is_empty() { file } else { &parsed.name };
    graph.finish(name, &format!("ONNX file {file}"))
}

fn weight<'a>(parsed: &'a Parsed, name: &str) -> Option<&'a Tensor> {
    parsed.stored.get(name).filter(|stored| stored.floating)?.tensor.as_ref()
}

/// The shape without its first dimension, which is the batch.
fn sample_of(name: &str, shape: &[Option<u64>]) -> Result<Vec<u64>, ModelError> {
    let sizes: Option<Vec<u64>> = shape.iter().skip(1).copied().collect();
    sizes.filter(|sizes| !sizes.is_empty()).ok_or_else(|| {
        ModelError::new(format!("input {name}"), "has no fixed shape").hint("give it with --input 3x224x224")
    })
}

fn operation(parsed: &Parsed, node: &Node, shape: &[u64], place: &str) -> Result<Operation, ModelError> {
    let second = node.inputs.get(1).and_then(|name| weight(parsed, name));
    let has_bias = node.inputs.len() > 2;
    let needed = || second.ok_or_else(|| ModelError::new("weight", "is not stored in the file"));
    Ok(match node.operator.as_str() {
        "Conv" => {
            let weight = needed()?;
            if weight.shape.len() < 3 {
                return Err(ModelError::new("weight", format!("has the shape {:?}", weight.shape)));
            }
            Operation::Convolution {
                channels: weight.shape[0],
                window: window(node, &weight.shape[2..])?,
                groups: integer(node, "group").unwrap_or(1),
                bias: has_bias,
            }
        }
        "Gemm" => {
            let weight = needed()?;
            let &[rows, columns] = weight.shape.as_slice() else {
                return Err(ModelError::new("weight", format!("has the shape {:?}", weight.shape)));
            };
            let units = if integer(node, "transB") == Some(1) { rows } else { columns };
            Operation::Dense { units, bias: has_bias }
        }
        "MatMul" => {
            let units = needed()?.shape.last().copied().unwrap_or(0);
            Operation::Dense { units, bias: false }
        }
        "MaxPool" => Operation::MaxPool(pool(node)?),
        "AveragePool" => Operation::AveragePool(pool(node)?),
        "GlobalAveragePool" | "GlobalMaxPool" => Operation::AdaptivePool(1),
        "ReduceMean" if shape.len() == 3 => Operation::AdaptivePool(1),
        "BatchNormalization" => Operation::BatchNorm,
        "LayerNormalization" => Operation::LayerNorm,
        "Relu" | "LeakyRelu" | "PRelu" | "Clip" => Operation::Activate(Activation::InPlace),
        "Sigmoid" | "Tanh" | "Softmax" | "LogSoftmax" => Operation::Activate(Activation::KeepsOutput),
        "Gelu" | "Elu" | "HardSwish" | "Mish" | "Erf" => Operation::Activate(Activation::KeepsInput),
        "Flatten" | "Squeeze" => Operation::Flatten,
        "Reshape" => reshape(parsed, node, shape)?,
        "Dropout" => Operation::Dropout,
        "Add" | "Sum" => Operation::Add,
        "Concat" => Operation::Concatenate,
        other => {
            return Err(ModelError::new(
                "op_type",
                format!("`{other}` is a kind of layer that is not known"),
            )
            .hint(format!("describe `{place}` and the others in a layer summary (docs/dnn.md)")));
        }
    })
}

fn reshape(parsed: &Parsed, node: &Node, shape: &[u64]) -> Result<Operation, ModelError> {
    let wanted = node.inputs.get(1).and_then(|name| parsed.stored.get(name)).map(|stored| &stored.whole[..]);
    match wanted {
        Some([_, _]) | None => Ok(Operation::Flatten),
        Some(sizes) if sizes.len() > 2 && sizes[1..].iter().all(|&size| size > 0) => {
            let output = sizes[1..].iter().map(|&size| size as u64).collect();
            Ok(Operation::Stated { parameters: 0, output })
        }
        Some(sizes) => {
            Err(ModelError::new("shape", format!("{sizes:?} of a sample of {shape:?} is not understood")))
        }
    }
}

fn integer(node: &Node, name: &str) -> Option<u64> {
    node.integers.get(name).and_then(|numbers| numbers.first().copied())
}

fn pool(node: &Node) -> Result<Window, ModelError> {
    let kernel = node.integers.get("kernel_shape").cloned();
    window(node, &kernel.ok_or_else(|| ModelError::new("kernel_shape", "is missing"))?)
}

fn window(node: &Node, kernel: &[u64]) -> Result<Window, ModelError> {
    let directions = kernel.len();
    let list = |name: &str, length: usize, usual: u64| match node.integers.get(name) {
        Some(found) if found.len() == length => Ok(found.clone()),
        Some(found) if !found.is_empty() => {
            Err(ModelError::new(name, format!("has {} numbers instead of {length}", found.len())))
        }
        _ => Ok(vec![usual; length]),
    };
    // Begin and end of each direction; what matters is their sum.
    let pads = list("pads", 2 * directions, 0)?;
    let mut padding: Vec<u64> =
        (0..directions).map(|axis| pads[axis].saturating_add(pads[axis + directions]).div_ceil(2)).collect();
    if node.texts.get("auto_pad").is_some_and(|word| word.starts_with("SAME")) {
        padding = kernel.iter().map(|size| size / 2).collect();
    }
    Ok(Window {
        size: kernel.to_vec(),
        stride: list("strides", directions, 1)?,
        padding,
        dilation: list("dilations", directions, 1)?,
        ceiling: integer(node, "ceil_mode") == Some(1),
    })
}
