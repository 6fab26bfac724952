//! Descriptions of networks, good, broken and hostile.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use std::io::{self, Read};

use harp_dnn::memory::{Overhead, PartName, estimate, largest_batch, smallest_gpus};
use harp_dnn::read::{huggingface, onnx, preset, safetensors, summary_json, summary_toml, with_tensors};
use harp_dnn::time::work;
use harp_dnn::{Freeze, ModelError, Network, Optimizer, Precision, Training, Zero, lora};
use proptest::prelude::*;

const LLAMA: &str = r#"{"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4096,
  "intermediate_size":11008,"num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,
  "vocab_size":32000,"max_position_embeddings":4096,"tie_word_embeddings":false}"#;

#[test]
fn a_configuration_is_counted_and_a_wrong_field_is_named() {
    assert_eq!(huggingface("config.json", LLAMA).unwrap().parameters(), 6_738_415_616);
    let wrong = |from: &str, to: &str| huggingface("config.json", &LLAMA.replace(from, to)).unwrap_err();
    for (from, to, field, words) in [
        ("\"hidden_size\":4096", "\"hidden_size\":-4096", "hidden_size", "above 0, not -4096"),
        ("\"hidden_size\":4096", "\"hidden_size\":4097", "hidden_size", "multiple of the 32 attention heads"),
        ("\"hidden_size\":4096", "\"hidden_size\":1e99", "hidden_size", "whole number"),
        ("\"vocab_size\":32000,", "", "vocab_size", "is missing"),
        ("\"llama\"", "\"wavenet\"", "model_type", "`wavenet` is a kind of network that is not known"),
        ("\"num_hidden_layers\":32", "\"num_hidden_layers\":999999999", "num_hidden_layers", "more than any"),
    ] {
        let error = wrong(from, to);
        assert_eq!((error.file.as_str(), error.field.as_str()), ("config.json", field));
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(huggingface("config.json", "{").unwrap_err().to_string().contains("line 1"));
    assert!(huggingface("config.json", "[]").is_err());
}

fn tensors(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(vec![0; data]);
    bytes
}

const HEADER: &str = r#"{"__metadata__":{"format":"pt"},
  "model.layers.0.q.weight":{"dtype":"F32","shape":[4,4],"data_offsets":[0,64]},
  "model.layers.0.ids":{"dtype":"I64","shape":[2],"data_offsets":[64,80]},
  "lm_head.weight":{"dtype":"BF16","shape":[3,4],"data_offsets":[80,104]}}"#;

#[test]
fn a_safetensors_header_is_read_without_its_numbers() {
    let bytes = tensors(HEADER, 104);
    let found = safetensors("m.safetensors", bytes.as_slice(), Some(bytes.len() as u64)).unwrap();
    assert_eq!(found.bytes, 104);
    let network = with_tensors(found.tensors, "m", None).unwrap();
    assert_eq!(network.parameters(), 16 + 12);
    assert!(!network.activations_known);
    let memory = estimate(&network, &Training::default(), &Overhead::default()).unwrap();
    assert!(!memory.complete && memory.part(PartName::Activations).is_none());
}

/// A source that would give bytes for ever and counts how many were asked for.
struct Endless(u64);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0 += buffer.len() as u64;
        buffer.fill(b' ');
        Ok(buffer.len())
    }
}

#[test]
fn hostile_safetensors_are_refused_before_anything_is_allocated() {
    let claim = |length: u64| length.to_le_bytes().to_vec();
    let mut rest = Endless(0);
    let ten_gigabytes = claim(10_000_000_000);
    let error = safetensors("m", ten_gigabytes.as_slice().chain(&mut rest), None).unwrap_err();
    assert!(error.field == "header length" && error.reason.contains("10000000000 bytes"), "{error}");
    assert_eq!(rest.0, 0, "nothing was read after the length");
    let refused = |bytes: &[u8], field: &str| {
        let error = safetensors("m", bytes, Some(bytes.len() as u64)).unwrap_err();
        assert!(error.field.contains(field), "{error}");
    };
    refused(&[1, 2, 3], "header length");
    refused(&tensors(HEADER, 104)[..60], "header");
    refused(&tensors(HEADER, 50), "data_offsets");
    refused(&tensors(&HEADER.replace("[4,4]", "[-4,4]"), 104), "shape");
    refused(&tensors(&HEADER.replace("[4,4]", "[9223372036854775807,4]"), 104), "data_offsets");
    refused(&tensors(&HEADER.replace("\"F32\"", "\"F33\""), 104), "dtype");
}

const SUMMARY: &str = r#"
name = "small"
input = [1, 28, 28]
layers = [
  { kind = "Conv2d", name = "first", channels = 8, kernel = 3, padding = "same" },
  { kind = "ReLU" },
  { kind = "MaxPool2d", kernel = 2 },
  { kind = "Flatten" },
  { kind = "Linear", units = 10 },
]
"#;

#[test]
fn a_summary_is_counted_layer_by_layer() {
    let network = summary_toml("small.toml", SUMMARY).unwrap();
    assert_eq!(network.parameters(), 8 * 9 + 8 + 10 * 8 * 14 * 14 + 10);
    // Kept for one sample: the ReLU's result (which the pooling needs), the pooling's (which the dense
    // layer needs), and an index of 8 bytes for each of those.
    let kept: f64 = network.layers.iter().map(|layer| layer.saved.values).sum();
    assert_eq!(kept, (8 * 28 * 28 + 8 * 14 * 14) as f64);
    let indices: f64 = network.layers.iter().map(|layer| layer.saved.bytes).sum();
    assert_eq!(indices, 8.0 * (8 * 14 * 14) as f64);
    let json = r#"{"input":[4],"layers":[{"kind":"dense","units":3},{"kind":"dense","units":2}]}"#;
    assert_eq!(summary_json("s.json", json).unwrap().parameters(), 15 + 8);
}

#[test]
fn a_wrong_summary_names_the_field() {
    for (from, to, field, words) in [
        ("\"ReLU\"", "\"Quantum\"", "layers[1].kind", "`Quantum` is a kind of layer that is not known"),
        ("units = 10", "units = -10", "layers[4].units", "above 0, not -10"),
        ("input = [1, 28, 28]", "input = [1, -28, 28]", "input[1]", "above 0, not -28"),
        ("input = [1, 28, 28]", "", "input", "is missing"),
        ("kernel = 3, padding = \"same\"", "kernel = 300", "layers[0].kernel", "300 points"),
        ("kernel = 2", "stride = 2", "layers[2].kernel", "is missing"),
        ("units = 10", "units = 999999999999", "layers", "no machine could hold"),
        (
            "kind = \"Flatten\"",
            "kind = \"Add\", inputs = [\"first\", \"nobody\"]",
            "layers[3].inputs",
            "nobody",
        ),
    ] {
        let error = summary_toml("small.toml", &SUMMARY.replace(from, to)).unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

/// The fields of an ONNX file, written by hand.
mod write {
    pub fn varint(mut value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    }
    pub fn number(field: u64, value: u64) -> Vec<u8> {
        [varint(field << 3), varint(value)].concat()
    }
    pub fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
        [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
    }
    pub fn tensor(name: &str, shape: &[u64]) -> Vec<u8> {
        let packed: Vec<u8> = shape.iter().flat_map(|&size| varint(size)).collect();
        let data = vec![0; shape.iter().product::<u64>() as usize * 4];
        bytes(5, &[bytes(1, &packed), number(2, 1), bytes(8, name.as_bytes()), bytes(9, &data)].concat())
    }
    pub fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, &[u64])]) -> Vec<u8> {
        let mut node: Vec<u8> = inputs.iter().flat_map(|input| bytes(1, input.as_bytes())).collect();
        node.extend(bytes(2, output.as_bytes()));
        node.extend(bytes(3, output.as_bytes()));
        node.extend(bytes(4, operator.as_bytes()));
        for (name, values) in attributes {
            let packed: Vec<u8> = values.iter().flat_map(|&value| varint(value)).collect();
            let inner = match values {
                [one] => [bytes(1, name.as_bytes()), number(3, *one)].concat(),
                _ => [bytes(1, name.as_bytes()), bytes(8, &packed)].concat(),
            };
            node.extend(bytes(5, &inner));
        }
        bytes(1, &node)
    }
    pub fn input(name: &str, shape: &[Option<u64>]) -> Vec<u8> {
        let dimension =
            |size: &Option<u64>| bytes(1, &size.map_or_else(|| bytes(2, b"N"), |size| number(1, size)));
        let shape: Vec<u8> = shape.iter().flat_map(dimension).collect();
        let kind = bytes(2, &bytes(1, &[number(1, 1), bytes(2, &shape)].concat()));
        bytes(11, &[bytes(1, name.as_bytes()), kind].concat())
    }
    pub fn model(parts: &[Vec<u8>]) -> Vec<u8> {
        [number(1, 8), bytes(7, &[bytes(2, b"net"), parts.concat()].concat())].concat()
    }
}

fn onnx_parts() -> Vec<Vec<u8>> {
    vec![
        write::node("Conv", &["x", "w", "b"], "c", &[("pads", &[1, 1, 1, 1]), ("kernel_shape", &[3, 3])]),
        write::node("BatchNormalization", &["c", "g", "o", "m", "v"], "n", &[]),
        write::node("Relu", &["n"], "r", &[]),
        write::node("MaxPool", &["r"], "p", &[("kernel_shape", &[2, 2]), ("strides", &[2, 2])]),
        write::node("Flatten", &["p"], "f", &[]),
        write::node("Gemm", &["f", "d", "e"], "y", &[("transB", &[1])]),
        write::tensor("w", &[8, 1, 3, 3]),
        write::tensor("b", &[8]),
        write::tensor("g", &[8]),
        write::tensor("o", &[8]),
        write::tensor("m", &[8]),
        write::tensor("v", &[8]),
        write::tensor("d", &[10, 1568]),
        write::tensor("e", &[10]),
        write::input("x", &[None, Some(1), Some(28), Some(28)]),
    ]
}

#[test]
fn an_onnx_graph_is_counted_without_its_running_means() {
    let network = onnx("net.onnx", &write::model(&onnx_parts()), None).unwrap();
    assert_eq!(network.parameters(), 72 + 8 + 16 + 15_680 + 10);
    assert_eq!(network.sample, Some(784));
    // The same layers in a summary keep the same.
    let text =
        SUMMARY.replace("  { kind = \"ReLU\" },", "  { kind = \"BatchNorm2d\" },\n  { kind = \"ReLU\" },");
    let summary = summary_toml("small.toml", &text).unwrap();
    let kept = |network: &Network| network.layers.iter().map(|layer| layer.saved.values).sum::<f64>();
    assert_eq!(kept(&network), kept(&summary));
    assert_eq!(network.parameters(), summary.parameters());
}

#[test]
fn a_wrong_onnx_file_names_the_place() {
    let with = |index: usize, part: Vec<u8>| {
        let mut parts = onnx_parts();
        parts[index] = part;
        onnx("net.onnx", &write::model(&parts), None).unwrap_err()
    };
    let error = with(2, write::node("Quantum", &["n"], "r", &[]));
    assert!(error.field == "r.op_type" && error.reason.contains("`Quantum`"), "{error}");
    let error = with(14, write::input("x", &[None, Some(1), None, None]));
    assert!(error.hint.unwrap().contains("--input"));
    let error = with(6, write::bytes(5, &[write::number(1, u64::MAX), write::bytes(8, b"w")].concat()));
    assert!(error.field == "initializer w" && error.reason.contains("negative size -1"), "{error}");
    let whole = write::model(&onnx_parts());
    assert!(onnx("net.onnx", &whole[..whole.len() / 2], None).unwrap_err().reason.contains("truncated"));
    let open = |part| {
        let mut parts = onnx_parts();
        parts[14] = part;
        onnx("net.onnx", &write::model(&parts), Some(&[1, 28, 28])).unwrap().parameters()
    };
    assert_eq!(open(write::input("x", &[None, Some(1), None, None])), 15_786);
}

#[test]
fn adapters_and_frozen_layers_learn_less() {
    let network = preset("llama-2-7b", None).unwrap().unwrap();
    let (adapted, count) = lora::adapt(network.clone(), 8, &[]).unwrap();
    assert_eq!(count, 64);
    let training = Training { freeze: Freeze::Everything, ..Training::default() };
    let memory = estimate(&adapted, &training, &Overhead::default()).unwrap();
    // Hu et al., 2022: r(d + k) for every adapted matrix.
    assert_eq!(memory.trained, 64 * 8 * (4096 + 4096));
    assert_eq!(memory.part(PartName::Gradients).unwrap().0, 2 * memory.trained);
    let frozen = Training { freeze: Freeze::Named("embed".into()), ..Training::default() };
    let memory = estimate(&network, &frozen, &Overhead::default()).unwrap();
    assert_eq!(memory.parameters - memory.trained, 32_000 * 4096);
    assert!(lora::adapt(network, 8, &["nobody".into()]).is_err());
}

#[test]
fn optimizers_and_precisions_take_what_their_papers_say() {
    let network = preset("dense:1000,2000,10", None).unwrap().unwrap();
    let weights = network.parameters() as f64;
    let bytes = |optimizer, precision| {
        let training = Training { optimizer, precision, ..Training::default() };
        let memory = estimate(&network, &training, &Overhead::default()).unwrap();
        let states = [PartName::Parameters, PartName::Gradients, PartName::OptimizerStates];
        states.iter().map(|part| memory.part(*part).unwrap().as_f64()).sum::<f64>()
    };
    for (optimizer, each) in
        [(Optimizer::Sgd, 8.0), (Optimizer::Momentum, 12.0), (Optimizer::Adam, 16.0), (Optimizer::Lion, 12.0)]
    {
        assert_eq!(bytes(optimizer, Precision::Bf16), each * weights, "{optimizer}");
        assert_eq!(bytes(optimizer, Precision::Fp32), each * weights, "{optimizer}");
    }
    assert!((bytes(Optimizer::Adam8bit, Precision::Bf16) - (10.0 + 8.0 / 256.0) * weights).abs() < 2.0);
    // Adafactor: a row and a column of each matrix, vectors whole.
    let factors = (1000.0 + 2000.0) + 2000.0 + (2000.0 + 10.0) + 10.0;
    assert_eq!(bytes(Optimizer::Adafactor, Precision::Bf16), 8.0 * weights + 4.0 * factors);
}

#[test]
fn the_largest_batch_and_the_fewest_gpus_are_just_enough() {
    let network = preset("gpt2", None).unwrap().unwrap();
    let training = Training { zero: Zero::Stage3, ..Training::default() };
    let overhead = Overhead::default();
    let memory = harp_core::Bytes(24 << 30);
    let fits = |training: &Training| estimate(&network, training, &overhead).unwrap().gpu <= memory;
    let batch = largest_batch(&network, &training, &overhead, memory).unwrap().unwrap();
    assert!(fits(&Training { batch, ..training.clone() }));
    assert!(!fits(&Training { batch: batch + 1, ..training.clone() }));
    // A small network takes millions of samples at once.
    let small = preset("dense:784,64,10", None).unwrap().unwrap();
    let most = largest_batch(&small, &training, &overhead, memory).unwrap().unwrap();
    let with = |batch| {
        let training = Training { batch, ..training.clone() };
        estimate(&small, &training, &overhead).unwrap().gpu <= memory
    };
    assert!(most > 1 << 20 && with(most) && !with(most + 1), "{most}");
    let large = preset("llama-2-7b", None).unwrap().unwrap();
    let training = Training { sequence: Some(512), flash: true, ..training };
    let fewest = smallest_gpus(&large, &training, &overhead, memory).unwrap().unwrap();
    let with = |gpus| {
        let parallel = harp_dnn::Parallel { gpus, ..training.parallel };
        estimate(&large, &Training { parallel, ..training.clone() }, &overhead).unwrap().gpu <= memory
    };
    assert!(with(fewest) && !with(fewest - 1), "{fewest}");
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    let network = preset("gpt2", None).unwrap().unwrap();
    let refused = |training: Training| -> ModelError {
        estimate(&network, &training, &Overhead::default()).unwrap_err()
    };
    let base = Training::default;
    assert_eq!(refused(Training { batch: 0, ..base() }).field, "batch");
    assert_eq!(refused(Training { batch: u64::MAX, ..base() }).field, "batch");
    assert_eq!(refused(Training { sequence: Some(u64::MAX), ..base() }).field, "sequence");
    let split = |tensor, pipeline, gpus| {
        let parallel = harp_dnn::Parallel { tensor, pipeline, gpus, ..base().parallel };
        refused(Training { parallel, ..base() }).field
    };
    assert_eq!(split(5, 1, 5), "tensor");
    assert_eq!(split(1, 13, 13), "pipeline");
    assert_eq!(split(2, 2, 6), "gpus");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = onnx("x", &bytes, None);
        let _ = safetensors("x", bytes.as_slice(), Some(bytes.len() as u64));
        let text = String::from_utf8_lossy(&bytes);
        let _ = huggingface("x", &text);
        let _ = summary_toml("x", &text);
    }

    #[test]
    fn any_damaged_onnx_file_is_read_or_refused(place in 0_usize..2000, byte: u8) {
        let mut bytes = write::model(&onnx_parts());
        let last = bytes.len() - 1;
        bytes[place.min(last)] = byte;
        let _ = onnx("x", &bytes, None);
    }

    #[test]
    fn any_sizes_are_counted_or_refused(
        hidden in any::<i64>(), heads in any::<i64>(), layers in -3_i64..2000, vocabulary in any::<i64>(),
        batch in any::<u64>(), gpus in 1_u64..1_000_000,
    ) {
        let text = format!(
            r#"{{"model_type":"gpt2","n_embd":{hidden},"n_head":{heads},"n_layer":{layers},
               "n_positions":1024,"vocab_size":{vocabulary}}}"#
        );
        if let Ok(network) = huggingface("x", &text) {
            let parallel = harp_dnn::Parallel { gpus, ..Training::default().parallel };
            let _ = estimate(&network, &Training { batch, parallel, ..Training::default() }, &Overhead::default());
        }
    }

    #[test]
    fn more_sharing_never_needs_more_states(parameters in 1_u64..1_000_000, gpus in 2_u64..512) {
        let network = preset(&format!("dense:10,{parameters},10"), None).unwrap().unwrap();
        let states = |zero| {
            let parallel = harp_dnn::Parallel { gpus, ..Training::default().parallel };
            let training = Training { zero, parallel, ..Training::default() };
            let memory = estimate(&network, &training, &Overhead::default()).unwrap();
            [PartName::Parameters, PartName::Gradients, PartName::OptimizerStates]
                .iter()
                .map(|part| memory.part(*part).unwrap().0)
                .sum::<u64>()
        };
        let all: Vec<u64> = Zero::ALL.iter().map(|zero| states(*zero)).collect();
        prop_assert!(all.windows(2).all(|pair| pair[0] >= pair[1]), "{all:?}");
    }
}

#[test]
fn a_field_that_is_not_known_is_named() {
    let summary = |layer: &str| {
        let conv = "kind = \"Conv2d\", channels = 16, kernel = 3";
        summary_toml("net.toml", &format!("input = [3, 32, 32]\nlayers = [{{ {conv}, {layer} }}]"))
    };
    assert!(summary("stride = 2, in_channels = 3").is_ok());
    let slip = summary("strid = 2").unwrap_err();
    assert_eq!(slip.field, "layers[0].strid");
    assert!(slip.hint.as_ref().is_some_and(|hint| hint.contains("stride")), "{slip:?}");
    let other = summary("in_channels = 5").unwrap_err();
    assert_eq!(other.field, "layers[0].in_channels");
    assert!(other.to_string().contains("3 come from"), "{other}");
}

/// Nothing is kept for layers before the first that learns, and a name that is in no layer is a slip.
#[test]
fn frozen_first_layers_keep_nothing_and_slips_are_named() {
    let network = preset("resnet50", None).unwrap().unwrap();
    let with = |freeze: Freeze| Training { freeze, batch: 64, ..Training::default() };
    let kept = |freeze: Freeze| {
        let found = estimate(&network, &with(freeze), &Overhead::default()).unwrap();
        found.part(PartName::Activations).unwrap().as_f64()
    };
    let layers = network.layers.len() as u64;
    let (all, half) = (kept(Freeze::Nothing), kept(Freeze::First(layers / 2)));
    assert!(half < 0.7 * all && kept(Freeze::First(layers - 1)) < 0.01 * all, "{all} {half}");
    let refused = |freeze: Freeze| estimate(&network, &with(freeze), &Overhead::default()).unwrap_err();
    assert_eq!(refused(Freeze::First(layers)).field, "freeze");
    assert!(refused(Freeze::Named("zzz".into())).to_string().contains("no layer"));
    // Frozen weights have no gradients: two passes of three are left.
    let llama = preset("llama-2-7b", None).unwrap().unwrap();
    let operations = |network: &Network, freeze: Freeze| {
        work(network, &Training { freeze, ..Training::default() }).unwrap().operations
    };
    let (adapted, _) = lora::adapt(llama.clone(), 8, &[]).unwrap();
    let full = operations(&llama, Freeze::Nothing);
    assert!((operations(&adapted, Freeze::Everything) / full - 2.0 / 3.0).abs() < 0.01);
    assert!(operations(&llama, Freeze::First(17)) < 0.7 * full);
}
