//! Hugging Face `config.json`: which family a network is of and how large it is.

use serde_json::Value;

use crate::{ModelError, Network};

use super::families;
use super::fields::Fields;

/// The families that are known, by their `model_type`.
pub(crate) const FAMILIES: [&str; 12] = [
    "bert", "roberta", "gpt2", "gpt_neox", "opt", "llama", "mistral", "qwen2", "qwen3", "gemma", "t5", "mt5",
];

/// Reads a configuration. Encoders are counted without a head for a task, causal models with the
/// head that scores tokens.
pub fn huggingface(file: &str, text: &str) -> Result<Network, ModelError> {
    let broken = |error: serde_json::Error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        ModelError::new("the file", format!("is not JSON ({place}: {error})")).within(file)
    };
    let value: Value = serde_json::from_str(text).map_err(broken)?;
    read(&value, file).map_err(|error| error.within(file))
}

fn read(value: &Value, file: &str) -> Result<Network, ModelError> {
    let fields = Fields::of(value, "")?;
    let Some(family) = fields.text("model_type")? else {
        return Err(ModelError::new("model_type", "is missing: this is no Hugging Face configuration")
            .hint("a layer summary has `input` and `layers` instead; docs/dnn.md shows one"));
    };
    let (layers, transformer) = match family {
        "bert" | "roberta" => families::bert(&fields)?,
        "gpt2" => families::gpt2(&fields)?,
        "gpt_neox" => families::neox(&fields)?,
        "opt" => families::opt(&fields)?,
        "llama" | "mistral" | "qwen2" | "qwen3" | "gemma" => families::llama(&fields, family)?,
        "t5" | "mt5" => families::t5(&fields)?,
        other => {
            return Err(ModelError::new(
                "model_type",
                format!("`{other}` is a kind of network that is not known"),
            )
            .hint(format!(
                "known are {}; a layer summary or ONNX describes any other (docs/dnn.md)",
                FAMILIES.join(", ")
            )));
        }
    };
    let named = fields.text("_name_or_path")?.filter(|name| !name.is_empty());
    let network = Network {
        name: named.unwrap_or(family).to_owned(),
        origin: format!("Hugging Face configuration {file}"),
        layers,
        transformer: Some(transformer),
        sample: None,
        activations_known: true,
    };
    network.checked()
}
