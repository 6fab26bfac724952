//! Networks known by name: fully connected ones from their widths, VGG and ResNet layer by layer,
//! transformers from the configurations their authors published.

use crate::{Activation, Graph, ModelError, Network, Operation, Window};

use super::huggingface;

/// Transformers: name and the sizes of their published `config.json`.
const TRANSFORMERS: [(&str, &str); 20] = [
    (
        "bert-base",
        r#"{"model_type":"bert","hidden_size":768,"num_attention_heads":12,"intermediate_size":3072,"num_hidden_layers":12,"vocab_size":30522,"max_position_embeddings":512,"type_vocab_size":2}"#,
    ),
    (
        "bert-base-cased",
        r#"{"model_type":"bert","hidden_size":768,"num_attention_heads":12,"intermediate_size":3072,"num_hidden_layers":12,"vocab_size":28996,"max_position_embeddings":512,"type_vocab_size":2}"#,
    ),
    (
        "bert-large",
        r#"{"model_type":"bert","hidden_size":1024,"num_attention_heads":16,"intermediate_size":4096,"num_hidden_layers":24,"vocab_size":30522,"max_position_embeddings":512,"type_vocab_size":2}"#,
    ),
    (
        "roberta-base",
        r#"{"model_type":"roberta","hidden_size":768,"num_attention_heads":12,"intermediate_size":3072,"num_hidden_layers":12,"vocab_size":50265,"max_position_embeddings":514,"type_vocab_size":1}"#,
    ),
    (
        "gpt2",
        r#"{"model_type":"gpt2","n_embd":768,"n_head":12,"n_layer":12,"n_positions":1024,"vocab_size":50257}"#,
    ),
    (
        "gpt2-medium",
        r#"{"model_type":"gpt2","n_embd":1024,"n_head":16,"n_layer":24,"n_positions":1024,"vocab_size":50257}"#,
    ),
    (
        "gpt2-large",
        r#"{"model_type":"gpt2","n_embd":1280,"n_head":20,"n_layer":36,"n_positions":1024,"vocab_size":50257}"#,
    ),
    (
        "gpt2-xl",
        r#"{"model_type":"gpt2","n_embd":1600,"n_head":25,"n_layer":48,"n_positions":1024,"vocab_size":50257}"#,
    ),
    (
        "gpt3-175b",
        r#"{"model_type":"gpt2","n_embd":12288,"n_head":96,"n_layer":96,"n_positions":2048,"vocab_size":50257}"#,
    ),
    (
        "opt-125m",
        r#"{"model_type":"opt","hidden_size":768,"num_attention_heads":12,"ffn_dim":3072,"num_hidden_layers":12,"vocab_size":50272,"max_position_embeddings":2048}"#,
    ),
    (
        "t5-small",
        r#"{"model_type":"t5","d_model":512,"num_heads":8,"d_kv":64,"d_ff":2048,"num_layers":6,"vocab_size":32128,"n_positions":512}"#,
    ),
    (
        "t5-large",
        r#"{"model_type":"t5","d_model":1024,"num_heads":16,"d_kv":64,"d_ff":4096,"num_layers":24,"vocab_size":32128,"n_positions":512}"#,
    ),
    (
        "t5-3b",
        r#"{"model_type":"t5","d_model":1024,"num_heads":32,"d_kv":128,"d_ff":16384,"num_layers":24,"vocab_size":32128,"n_positions":512}"#,
    ),
    (
        "llama-2-7b",
        r#"{"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"intermediate_size":11008,"num_hidden_layers":32,"vocab_size":32000,"max_position_embeddings":4096}"#,
    ),
    (
        "llama-2-13b",
        r#"{"model_type":"llama","hidden_size":5120,"num_attention_heads":40,"intermediate_size":13824,"num_hidden_layers":40,"vocab_size":32000,"max_position_embeddings":4096}"#,
    ),
    (
        "llama-2-70b",
        r#"{"model_type":"llama","hidden_size":8192,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"num_hidden_layers":80,"vocab_size":32000,"max_position_embeddings":4096}"#,
    ),
    (
        "llama-3-8b",
        r#"{"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"num_hidden_layers":32,"vocab_size":128256,"max_position_embeddings":8192}"#,
    ),
    (
        "llama-3-70b",
        r#"{"model_type":"llama","hidden_size":8192,"num_attention_heads":64,"num_key_value_heads":8,"intermediate_size":28672,"num_hidden_layers":80,"vocab_size":128256,"max_position_embeddings":8192}"#,
    ),
    (
        "llama-3-405b",
        r#"{"model_type":"llama","hidden_size":16384,"num_attention_heads":128,"num_key_value_heads":8,"intermediate_size":53248,"num_hidden_layers":126,"vocab_size":128256,"max_position_embeddings":131072}"#,
    ),
    (
        "mistral-7b",
        r#"{"model_type":"mistral","hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"num_hidden_layers":32,"vocab_size":32000,"max_position_embeddings":32768}"#,
    ),
];

/// Layered networks by name.
const LAYERED: [&str; 7] = ["vgg16", "vgg19", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"];

/// The forms a preset is written in, for people.
pub const PRESETS: &str = "dense:784,512x3,10 (widths; x repeats one), vgg16, vgg19, resnet18/34/50/101/152, \
     bert-base, bert-large, roberta-base, gpt2, gpt2-medium/large/xl, gpt3-175b, opt-125m, t5-small/large/3b, \
     llama-2-7b/13b/70b, llama-3-8b/70b/405b, mistral-7b";

/// The network of that name; `None` where there is none. `input` replaces the shape of one sample.
pub fn preset(name: &str, input: Option<&[u64]>) -> Option<Result<Network, ModelError>> {
    let plain = name.to_ascii_lowercase();
    if let Some(widths) = plain.strip_prefix("dense:") {
        return Some(dense(name, widths));
    }
    if LAYERED.contains(&plain.as_str()) {
        let input = input.unwrap_or(&[3, 224, 224]);
        return Some(match plain.as_str() {
            "vgg16" => vgg(&plain, input, &[2, 2, 3, 3, 3]),
            "vgg19" => vgg(&plain, input, &[2, 2, 4, 4, 4]),
            "resnet18" => resnet(&plain, input, &[2, 2, 2, 2], false),
            "resnet34" => resnet(&plain, input, &[3, 4, 6, 3], false),
            "resnet101" => resnet(&plain, input, &[3, 4, 23, 3], true),
            "resnet152" => resnet(&plain, input, &[3, 8, 36, 3], true),
            _ => resnet(&plain, input, &[3, 4, 6, 3], true),
        });
    }
    let (name, configuration) = TRANSFORMERS.iter().find(|(known, _)| *known == plain)?;
    Some(huggingface(name, configuration).map(|network| Network {
        name: (*name).to_owned(),
        origin: "preset".to_owned(),
        ..network
    }))
}

/// `784,512x3,10`: widths from the input to the result, with an activation between.
fn dense(name: &str, widths: &str) -> Result<Network, ModelError> {
    const MOST_LAYERS: usize = 10_000;
    let wrong = |text: &str| {
        ModelError::new("dense", format!("`{text}` is no width")).hint("for example dense:784,512x3,10")
    };
    let number =
        |text: &str| text.trim().parse::<u64>().ok().filter(|&number| number > 0 && number < 1 << 32);
    let mut layers = Vec::new();
    for text in widths.split(',') {
        let (width, count) = text.split_once('x').unwrap_or((text, "1"));
        let width = number(width).ok_or_else(|| wrong(text))?;
        let count = number(count).ok_or_else(|| wrong(text))? as usize;
        if layers.len().saturating_add(count) > MOST_LAYERS {
            return Err(ModelError::new("dense", format!("has more than {MOST_LAYERS} layers")));
        }
        layers.extend(std::iter::repeat_n(width, count));
    }
    let [input, outputs @ ..] = layers.as_slice() else { return Err(wrong(widths)) };
    if outputs.is_empty() {
        return Err(wrong(widths).hint("a network has an input and a result: dense:784,10"));
    }
    let mut graph = Graph::new(&[*input])?;
    for (index, &units) in outputs.iter().enumerate() {
        graph.push(&format!("dense_{}", index + 1), "dense", &Operation::Dense { units, bias: true })?;
        if index + 1 < outputs.len() {
            graph.push(&format!("relu_{}", index + 1), "relu", &RELU)?;
        }
    }
    graph.finish(name, "preset")
}

const RELU: Operation = Operation::Activate(Activation::InPlace);

fn convolution(channels: u64, size: u64, stride: u64, bias: bool) -> Operation {
    let window = Window::square(2, size, stride, size / 2);
    Operation::Convolution { channels, window, groups: 1, bias }
}

/// Simonyan & Zisserman, 2015: blocks of 3×3 convolutions, then three dense layers.
fn vgg(name: &str, input: &[u64], blocks: &[u64; 5]) -> Result<Network, ModelError> {
    let mut graph = Graph::new(input)?;
    for (block, (&count, channels)) in blocks.iter().zip([64, 128, 256, 512, 512]).enumerate() {
        for index in 0..count {
            let name = format!("conv{}_{}", block + 1, index + 1);
            graph.push(&name, "convolution", &convolution(channels, 3, 1, true))?;
            graph.push(&format!("{name}.relu"), "relu", &RELU)?;
        }
        let pool = Operation::MaxPool(Window::square(2, 2, 2, 0));
        graph.push(&format!("pool{}", block + 1), "max_pool", &pool)?;
    }
    graph.push("average", "global_pool", &Operation::AdaptivePool(7))?;
    graph.push("flatten", "flatten", &Operation::Flatten)?;
    for (index, units) in [4096, 4096].into_iter().enumerate() {
        let name = format!("fc{}", index + 6);
        graph.push(&name, "dense", &Operation::Dense { units, bias: true })?;
        graph.push(&format!("{name}.relu"), "relu", &RELU)?;
        graph.push(&format!("{name}.dropout"), "dropout", &Operation::Dropout)?;
    }
    graph.push("fc8", "dense", &Operation::Dense { units: 1000, bias: true })?;
    graph.finish(name, "preset")
}

/// He et al., 2016, with the stride in the 3×3 convolution as PyTorch builds it.
fn resnet(name: &str, input: &[u64], stages: &[u64; 4], bottleneck: bool) -> Result<Network, ModelError> {
    let mut graph = Graph::new(input)?;
    graph.push("conv1", "convolution", &convolution(64, 7, 2, false))?;
    graph.push("bn1", "batch_norm", &Operation::BatchNorm)?;
    graph.push("relu", "relu", &RELU)?;
    let mut last = graph.push("maxpool", "max_pool", &Operation::MaxPool(Window::square(2, 3, 2, 1)))?;
    let mut before = 64;
    for (stage, &count) in stages.iter().enumerate() {
        let width = 64 << stage;
        let after = if bottleneck { width * 4 } else { width };
        for block in 0..count {
            let name = format!("layer{}.{block}", stage + 1);
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let steps: &[(u64, u64, u64)] = if bottleneck {
                &[(width, 1, 1), (width, 3, stride), (after, 1, 1)]
            } else {
                &[(width, 3, stride), (width, 3, 1)]
            };
            let mut inner = last;
            for (index, &(channels, size, stride)) in steps.iter().enumerate() {
                let part = format!("{name}.conv{}", index + 1);
                inner =
                    graph.add(&part, "convolution", &convolution(channels, size, stride, false), &[inner])?;
                inner = graph.add(&format!("{part}.bn"), "batch_norm", &Operation::BatchNorm, &[inner])?;
                if index + 1 < steps.len() {
                    inner = graph.add(&format!("{part}.relu"), "relu", &RELU, &[inner])?;
                }
            }
            if stride != 1 || before != after {
                let part = format!("{name}.downsample");
                last = graph.add(&part, "convolution", &convolution(after, 1, stride, false), &[last])?;
                last = graph.add(&format!("{part}.bn"), "batch_norm", &Operation::BatchNorm, &[last])?;
            }
            last = graph.add(&format!("{name}.add"), "add", &Operation::Add, &[inner, last])?;
            last = graph.add(&format!("{name}.relu"), "relu", &RELU, &[last])?;
            before = after;
        }
    }
    graph.push("average", "global_pool", &Operation::AdaptivePool(1))?;
    graph.push("flatten", "flatten", &Operation::Flatten)?;
    graph.push("fc", "dense", &Operation::Dense { units: 1000, bias: true })?;
    graph.finish(name, "preset")
}
