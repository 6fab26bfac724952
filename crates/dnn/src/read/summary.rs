//! A layer summary in TOML or JSON: the shape of a sample, and the layers as Keras or PyTorch name
//! them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Activation, Graph, ModelError, Network, Operation, Window};

use super::fields::{Fields, size, sizes};

/// The kinds of layer that are known, by the first of their names.
const KINDS: [(&str, &[&str]); 19] = [
    ("dense", &["linear", "fullyconnected", "fc"]),
    ("convolution", &["conv", "conv1d", "conv2d", "conv3d"]),
    ("depthwise", &["depthwiseconv2d"]),
    ("max_pool", &["maxpool", "maxpool1d", "maxpool2d", "maxpooling1d", "maxpooling2d"]),
    ("average_pool", &["avgpool", "avgpool2d", "averagepool", "averagepooling2d"]),
    ("global_pool", &["globalaveragepooling2d", "globalavgpool", "adaptiveavgpool2d", "globalaveragepool"]),
    ("batch_norm", &["batchnorm", "batchnorm1d", "batchnorm2d", "batchnormalization"]),
    ("layer_norm", &["layernorm", "layernormalization"]),
    ("relu", &["relu6", "leakyrelu", "prelu"]),
    ("gelu", &["silu", "swish", "elu", "mish", "hardswish"]),
    ("tanh", &["sigmoid", "softmax", "logsoftmax"]),
    ("dropout", &["dropout2d", "spatialdropout2d"]),
    ("flatten", &["reshape"]),
    ("add", &["residual"]),
    ("concatenate", &["concat", "cat"]),
    ("embedding", &[]),
    ("lstm", &[]),
    ("activation", &[]),
    ("stated", &["other"]),
];

/// Reads a summary in JSON.
pub fn summary_json(file: &str, text: &str) -> Result<Network, ModelError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ModelError::new("the file", format!("is not JSON: {error}")).within(file))?;
    read(&value, file).map_err(|error| error.within(file))
}

/// Reads a summary in TOML.
pub fn summary_toml(file: &str, text: &str) -> Result<Network, ModelError> {
    let value: Value = toml::from_str(text).map_err(|error| {
        let reason = format!("is not TOML: {}", error.to_string().lines().collect::<Vec<_>>().join(" "));
        ModelError::new("the file", reason).within(file)
    })?;
    read(&value, file).map_err(|error| error.within(file))
}

fn read(value: &Value, file: &str) -> Result<Network, ModelError> {
    let fields = Fields::of(value, "")?;
    fields.only("a layer summary", &["name", "input", "layers"])?;
    let Some(input) = fields.raw("input") else {
        return Err(ModelError::new("input", "is missing: the shape of one sample, channels first")
            .hint("for example input = [3, 224, 224]"));
    };
    let Some(Value::Array(written)) = fields.raw("layers") else {
        return Err(ModelError::new("layers", "is missing: a list of layers").hint("docs/dnn.md shows one"));
    };
    let mut graph = Graph::new(&sizes(input, "input", 1)?)?;
    let mut named: BTreeMap<String, usize> = BTreeMap::from([("input".to_owned(), 0)]);
    let mut last = 0;
    for (index, layer) in written.iter().enumerate() {
        let path = format!("layers[{index}]");
        let layer = Fields::of(layer, &path)?;
        let kind = kind_of(&layer)?;
        let name = layer.text("name")?.map_or_else(|| format!("{kind}_{}", index + 1), str::to_owned);
        let inputs = inputs(&layer, &named, last)?;
        let directions = graph.shape(inputs[0]).len().saturating_sub(1);
        let window: &[&str] = if has_window(kind) { &WINDOW_FIELDS } else { &[] };
        let known = [&["kind", "name", "inputs"], fields_of(kind), window].concat();
        layer.only(&format!("a layer of kind {kind}"), &known)?;
        let operation = operation(&layer, kind, directions, graph.shape(inputs[0]))?;
        let within = |mut error: ModelError| {
            error.field = layer.path(&error.field);
            error
        };
        last = graph.add(&name, kind, &operation, &inputs).map_err(within)?;
        named.insert(name, last);
    }
    let name = fields.text("name")?.unwrap_or(file);
    graph.finish(name, &format!("layer summary {file}"))
}

fn kind_of(layer: &Fields<'_>) -> Result<&'static str, ModelError> {
    let Some(written) = layer.text("kind")? else {
        return Err(ModelError::new(layer.path("kind"), "is missing"));
    };
    let plain: String = written.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let is_meant = |(kind, others): &&(&str, &[&str])| {
        kind.replace('_', "") == plain || others.contains(&plain.as_str())
    };
    match KINDS.iter().find(is_meant) {
        Some((kind, _)) => Ok(kind),
        None => {
            let known: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
            let reason = format!("`{written}` is a kind of layer that is not known");
            Err(ModelError::new(layer.path("kind"), reason).hint(format!(
                "known are {}; kind = \"stated\" with `parameters` and `output` describes any other",
                known.join(", ")
            )))
        }
    }
}

/// The fields of a window.
const WINDOW_FIELDS: [&str; 8] =
    ["kernel", "kernel_size", "pool_size", "size", "stride", "strides", "padding", "dilation"];

fn has_window(kind: &str) -> bool {
    ["convolution", "depthwise", "max_pool", "average_pool"].contains(&kind)
}

/// The fields of a kind of layer beside those all have and those of its window. Those that change neither
/// weights nor what is kept are known, too, as summaries of frameworks hold them.
fn fields_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "dense" => &["units", "out_features", "in_features", "bias"],
        "convolution" => &["channels", "filters", "out_channels", "in_channels", "groups", "bias"],
        "depthwise" => &["channels", "in_channels", "bias"],
        "global_pool" => &["size"],
        "batch_norm" => &["num_features", "momentum", "eps"],
        "layer_norm" => &["normalized_shape", "eps"],
        "relu" | "gelu" | "tanh" | "activation" => &["function", "inplace", "negative_slope", "dim"],
        "dropout" => &["rate", "p"],
        "embedding" => &["entries", "num_embeddings", "input_dim", "width", "embedding_dim", "output_dim"],
        "lstm" => &["units", "hidden_size", "input_size", "return_sequences"],
        "stated" => &["parameters", "output"],
        _ => &[],
    }
}

/// Refuses a stated size of the input that is not the one there is.
fn agrees(layer: &Fields<'_>, name: &str, there: u64) -> Result<(), ModelError> {
    match layer.optional_size(name)? {
        Some(stated) if stated != there => Err(ModelError::new(
            layer.path(name),
            format!("= {stated}, but {there} come from the layer before"),
        )),
        _ => Ok(()),
    }
}

fn inputs(
    layer: &Fields<'_>,
    named: &BTreeMap<String, usize>,
    last: usize,
) -> Result<Vec<usize>, ModelError> {
    let Some(written) = layer.raw("inputs") else { return Ok(vec![last]) };
    let path = layer.path("inputs");
    let names: Vec<&Value> = written.as_array().map_or_else(|| vec![written], |names| names.iter().collect());
    if names.is_empty() {
        return Err(ModelError::new(path, "is empty"));
    }
    let one = |name: &&Value| {
        let found = name.as_str().and_then(|name| named.get(name).copied());
        found.ok_or_else(|| {
            ModelError::new(path.clone(), format!("names {name}, which is no layer before it"))
        })
    };
    names.iter().map(one).collect()
}

fn operation(
    layer: &Fields<'_>,
    kind: &str,
    directions: usize,
    shape: &[u64],
) -> Result<Operation, ModelError> {
    agrees(layer, "in_channels", shape.first().copied().unwrap_or(1))?;
    agrees(layer, "in_features", shape.last().copied().unwrap_or(1))?;
    agrees(layer, "input_size", shape.last().copied().unwrap_or(1))?;
    Ok(match kind {
        "dense" => Operation::Dense {
            units: layer.size_of(&["units", "out_features"])?,
            bias: layer.truth("bias", true)?,
        },
        "convolution" | "depthwise" => {
            let depthwise = kind == "depthwise";
            let before = shape.first().copied().unwrap_or(1);
            Operation::Convolution {
                channels: match depthwise {
                    true => layer.optional_size("channels")?.unwrap_or(before),
                    false => layer.size_of(&["channels", "filters", "out_channels"])?,
                },
                window: window(layer, directions, true)?,
                groups: if depthwise { 0 } else { layer.optional_size("groups")?.unwrap_or(1) },
                bias: layer.truth("bias", true)?,
            }
        }
        "max_pool" => Operation::MaxPool(window(layer, directions, false)?),
        "average_pool" => Operation::AveragePool(window(layer, directions, false)?),
        "global_pool" => Operation::AdaptivePool(layer.optional_size("size")?.unwrap_or(1)),
        "batch_norm" => Operation::BatchNorm,
        "layer_norm" => Operation::LayerNorm,
        "relu" => Operation::Activate(Activation::InPlace),
        "gelu" => Operation::Activate(Activation::KeepsInput),
        "tanh" | "activation" => Operation::Activate(Activation::KeepsOutput),
        "dropout" => Operation::Dropout,
        "flatten" => Operation::Flatten,
        "add" => Operation::Add,
        "concatenate" => Operation::Concatenate,
        "embedding" => Operation::Embedding {
            entries: layer.size_of(&["entries", "num_embeddings", "input_dim"])?,
            width: layer.size_of(&["width", "embedding_dim", "output_dim"])?,
        },
        "lstm" => Operation::Lstm {
            units: layer.size_of(&["units", "hidden_size"])?,
            sequences: layer.truth("return_sequences", true)?,
        },
        _ => Operation::Stated {
            parameters: match layer.raw("parameters") {
                Some(value) if value.as_u64() == Some(0) => 0,
                Some(value) => size(value, &layer.path("parameters"))?,
                None => return Err(ModelError::new(layer.path("parameters"), "is missing")),
            },
            output: match layer.raw("output") {
                Some(value) => sizes(value, &layer.path("output"), 1)?,
                None => return Err(ModelError::new(layer.path("output"), "is missing")),
            },
        },
    })
}

/// The window of a layer: one number counts in every direction. Pooling moves by its size and a
/// convolution by one where nothing else is said.
fn window(layer: &Fields<'_>, directions: usize, by_one: bool) -> Result<Window, ModelError> {
    let name =
        ["kernel", "kernel_size", "pool_size", "size"].into_iter().find(|name| layer.raw(name).is_some());
    let Some(name) = name else { return Err(ModelError::new(layer.path("kernel"), "is missing")) };
    let every = |name: &str, least: u64| -> Result<Option<Vec<u64>>, ModelError> {
        let Some(value) = layer.raw(name) else { return Ok(None) };
        let mut found = sizes(value, &layer.path(name), least)?;
        if found.len() == 1 {
            found = vec![found[0]; directions];
        }
        if found.len() != directions {
            let reason = format!("has {} numbers, the image has {directions} directions", found.len());
            return Err(ModelError::new(layer.path(name), reason));
        }
        Ok(Some(found))
    };
    let kernel = every(name, 1)?.unwrap_or_default();
    let stride = every(if layer.raw("stride").is_some() { "stride" } else { "strides" }, 1)?;
    let dilation = every("dilation", 1)?.unwrap_or_else(|| vec![1; directions]);
    let padding = match layer.raw("padding") {
        Some(Value::String(word)) if word == "same" => kernel.iter().map(|size| size / 2).collect(),
        Some(Value::String(word)) if word == "valid" => vec![0; directions],
        _ => every("padding", 0)?.unwrap_or_else(|| vec![0; directions]),
    };
    let usual = if by_one { vec![1; directions] } else { kernel.clone() };
    Ok(Window { stride: stride.unwrap_or(usual), size: kernel, padding, dilation, ceiling: false })
}
