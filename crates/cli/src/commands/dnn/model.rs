//! The network and the training that the arguments mean.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use harp_dnn::read::{self, PRESETS};
use harp_dnn::{Freeze, ModelError, Network, Offload, OffloadTarget, Parallel, Training, lora};

use crate::arguments::{DnnModel, DnnTraining, Offloaded};
use crate::failure::Failure;

/// ONNX files cannot be larger: Protocol Buffers end there.
const LARGEST_ONNX: u64 = 2 << 30;
/// A configuration or a summary is a short text.
const LARGEST_TEXT: u64 = 64 << 20;

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let failure = Failure::bad_input(error.to_string());
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// The network with its adapters, and how many matrices got one.
pub fn network(
    arguments: &DnnModel,
    values: &BTreeMap<String, String>,
) -> Result<(Network, Option<usize>), Failure> {
    let name = filled(&arguments.model, values)?;
    let network = load(&name, arguments.input.as_ref().map(|shape| shape.0.as_slice()))?;
    match arguments.lora {
        None => Ok((network, None)),
        Some(rank) => {
            let (network, adapted) = lora::adapt(network, rank, &arguments.lora_targets)?;
            Ok((network, Some(adapted)))
        }
    }
}

/// Options that were given and change nothing, each with why: a slip is better said than passed over.
pub fn without_effect(model: &DnnModel, training: &DnnTraining, network: &Network) -> Vec<String> {
    let is_transformer = network.transformer.is_some();
    let mut found: Vec<String> = [
        (training.sequence_parallel && training.tensor == 1, "--sequence-parallel without --tensor"),
        (training.chunks > 1 && training.pipeline == 1, "--chunks without --pipeline"),
        (training.sequence.is_some() && !is_transformer, "--sequence of a network that is no transformer"),
        (training.flash && !is_transformer, "--flash of a network that is no transformer"),
        (model.input.is_some() && is_transformer, "--input of a transformer"),
        (
            training.offload_to == OffloadTarget::Nvme && training.offload == Offloaded::None,
            "--offload-to without --offload",
        ),
    ]
    .iter()
    .filter(|(is_so, _)| *is_so)
    .map(|(_, what)| (*what).to_owned())
    .collect();
    let unused = model.settings.iter().filter(|(name, _)| !model.model.contains(&format!("{{{name}}}")));
    found.extend(unused.map(|(name, _)| format!("--set {name}, as there is no {{{name}}} in MODEL,")));
    found.into_iter().map(|what| format!("warning: {what} has no effect")).collect()
}

/// The values of `--set`.
pub fn settings(arguments: &DnnModel) -> BTreeMap<String, String> {
    arguments.settings.iter().cloned().collect()
}

/// A text with every {name} replaced by its value.
fn filled(text: &str, values: &BTreeMap<String, String>) -> Result<String, Failure> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        let Some(value) = values.get(name) else {
            return Err(Failure::bad_input(format!("`{{{name}}}` in `{text}` has no value"))
                .hint(format!("add --set {name}=…")));
        };
        out.push_str(before);
        out.push_str(value);
        rest = behind;
    }
    Ok(out + rest)
}

fn load(name: &str, input: Option<&[u64]>) -> Result<Network, Failure> {
    let path = Path::new(name);
    if path.is_dir() {
        return load(&path.join("config.json").display().to_string(), input);
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !path.is_file() {
        if let Some(network) = read::preset(name, input) {
            return Ok(network?);
        }
        let what = if extension.is_empty() { "preset" } else { "file" };
        return Err(Failure::bad_input(format!("there is no {what} `{name}`"))
            .hint(format!("give a config.json, .safetensors, .onnx, .toml or .json file, or {PRESETS}")));
    }
    match extension {
        "safetensors" => safetensors(path, name),
        "onnx" => {
            let length = length(path)?;
            if length > LARGEST_ONNX {
                return Err(Failure::bad_input(format!(
                    "{name} has {length} bytes; ONNX files end at 2 GiB"
                )));
            }
            let bytes = fs::read(path).map_err(|error| Failure::file("read", path, &error))?;
            Ok(read::onnx(name, &bytes, input)?)
        }
        "toml" => Ok(read::summary_toml(name, &text(path)?)?),
        "json" => {
            let text = text(path)?;
            // A layer summary has layers, a configuration the kind of network.
            match text.contains("\"layers\"") && !text.contains("\"model_type\"") {
                true => Ok(read::summary_json(name, &text)?),
                false => Ok(read::huggingface(name, &text)?),
            }
        }
        _ => Err(Failure::bad_input(format!("`{name}`: a file of this kind is not known"))
            .hint("it must end in .json, .toml, .safetensors or .onnx")),
    }
}

fn safetensors(path: &Path, name: &str) -> Result<Network, Failure> {
    let file = File::open(path).map_err(|error| Failure::file("read", path, &error))?;
    let found = read::safetensors(name, std::io::BufReader::new(file), Some(length(path)?))?;
    // The configuration beside it says what tensors do not: heads, positions, the kind of block.
    let beside = path.with_file_name("config.json");
    let described = match beside.is_file() {
        true => Some(read::huggingface(&beside.display().to_string(), &text(&beside)?)?),
        false => None,
    };
    Ok(read::with_tensors(found.tensors, name, described)?)
}

fn length(path: &Path) -> Result<u64, Failure> {
    Ok(fs::metadata(path).map_err(|error| Failure::file("read", path, &error))?.len())
}

fn text(path: &Path) -> Result<String, Failure> {
    if length(path)? > LARGEST_TEXT {
        return Err(Failure::bad_input(format!("{} is too large to be a description", path.display())));
    }
    fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))
}

/// The training the arguments mean.
pub fn training(model: &DnnModel, arguments: &DnnTraining) -> Training {
    let target = Some(arguments.offload_to);
    let offload = match arguments.offload {
        Offloaded::None => Offload::default(),
        Offloaded::Optimizer => Offload { optimizer: target, parameters: None },
        Offloaded::All => Offload { optimizer: target, parameters: target },
    };
    let freeze = match (&model.freeze, model.lora) {
        (None, None) => Freeze::Nothing,
        (None, Some(_)) => Freeze::Everything,
        (Some(text), _) => match text.parse() {
            Ok(count) => Freeze::First(count),
            Err(_) => Freeze::Named(text.clone()),
        },
    };
    Training {
        batch: arguments.batch,
        sequence: arguments.sequence,
        accumulate: arguments.accumulate,
        optimizer: arguments.optimizer,
        precision: arguments.precision,
        zero: arguments.zero,
        offload,
        parallel: Parallel {
            gpus: arguments.gpus,
            gpus_per_node: arguments.gpus_per_node,
            tensor: arguments.tensor,
            pipeline: arguments.pipeline,
            chunks: arguments.chunks,
            sequence: arguments.sequence_parallel,
        },
        recompute: arguments.recompute,
        flash: arguments.flash,
        freeze,
        zero_init: true,
    }
}
