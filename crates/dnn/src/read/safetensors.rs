//! The header of a safetensors file: names, shapes and kinds of tensors, without their numbers.
//!
//! The format (Hugging Face, safetensors): eight bytes with the header's length, little endian; the
//! header, JSON; then the numbers. The length is compared with a limit and with the file before
//! anything is allocated.

use std::io::Read;

use serde_json::Value;

use crate::{Layer, ModelError, Network, Place, Saved, Tensor};

use super::fields::{Fields, short};

/// The library's own limit for a header.
const LONGEST_HEADER: u64 = 100_000_000;
/// Most tensors in one file.
const MOST_TENSORS: usize = 1_000_000;
/// Parameters of a file over those its configuration describes: a head for a task may come on top or be
/// left out.
const ALIKE: std::ops::Range<f64> = 0.7..1.5;

/// What a header says.
#[derive(Debug, Clone, PartialEq)]
pub struct SafetensorsFile {
    /// The tensors that hold weights, by name.
    pub tensors: Vec<Tensor>,
    /// Bytes of all tensors.
    pub bytes: u64,
}

/// Reads the header. `length` is the file's, where it is known: what lies beyond it is missing.
pub fn safetensors(
    file: &str,
    mut source: impl Read,
    length: Option<u64>,
) -> Result<SafetensorsFile, ModelError> {
    read(&mut source, length).map_err(|error| error.within(file))
}

fn read(source: &mut impl Read, length: Option<u64>) -> Result<SafetensorsFile, ModelError> {
    let truncated = |what: &str| {
        ModelError::new(what, "ends too early: the file is truncated").hint("download or copy it again")
    };
    let mut first = [0; 8];
    source.read_exact(&mut first).map_err(|_| truncated("header length"))?;
    let header_length = u64::from_le_bytes(first);
    if header_length > LONGEST_HEADER {
        let reason = format!("is {header_length} bytes, more than the {LONGEST_HEADER} the format allows");
        return Err(ModelError::new("header length", reason).hint("this is no safetensors file"));
    }
    if length.is_some_and(|length| header_length.saturating_add(8) > length) {
        return Err(truncated("header"));
    }
    let mut header = Vec::new();
    // Grows as bytes arrive, never by what the length claims.
    let taken = source.take(header_length).read_to_end(&mut header);
    if taken.is_err() || header.len() as u64 != header_length {
        return Err(truncated("header"));
    }
    let value: Value = serde_json::from_slice(&header)
        .map_err(|error| ModelError::new("header", format!("is not JSON: {error}")))?;
    let found = tensors(&value)?;
    let needed = header_length.saturating_add(8).saturating_add(found.bytes);
    if length.is_some_and(|length| length < needed) {
        let reason = format!("need {needed} bytes, the file has {}", length.unwrap_or_default());
        return Err(ModelError::new("data_offsets", reason).hint("the file is truncated; copy it again"));
    }
    Ok(found)
}

fn tensors(value: &Value) -> Result<SafetensorsFile, ModelError> {
    let header = Fields::of(value, "")?;
    let mut found = SafetensorsFile { tensors: Vec::new(), bytes: 0 };
    for name in header.names().filter(|name| *name != "__metadata__") {
        if found.tensors.len() == MOST_TENSORS {
            return Err(ModelError::new("header", format!("names more than {MOST_TENSORS} tensors")));
        }
        let fields = Fields::of(header.raw(name).unwrap_or(&Value::Null), name)?;
        let width = width(&fields)?;
        let shape = shape(&fields)?;
        let tensor = Tensor::new(name.clone(), shape);
        let (begin, end) = offsets(&fields)?;
        let bits = tensor.elements().saturating_mul(width);
        if end.checked_sub(begin) != Some(bits.div_ceil(8)) {
            let reason = format!("say {begin} to {end}, the shape needs {} bytes", bits.div_ceil(8));
            return Err(ModelError::new(fields.path("data_offsets"), reason));
        }
        found.bytes = found.bytes.max(end);
        let integral = matches!(fields.text("dtype")?, Some("I64" | "I32" | "I16" | "BOOL" | "U8" | "I8"));
        // Buffers such as position numbers are no parameters.
        if !integral {
            found.tensors.push(tensor);
        }
    }
    Ok(found)
}

/// Bits of one number.
fn width(fields: &Fields<'_>) -> Result<u64, ModelError> {
    Ok(match fields.text("dtype")? {
        Some("F64" | "I64" | "U64") => 64,
        Some("F32" | "I32" | "U32") => 32,
        Some("F16" | "BF16" | "I16" | "U16") => 16,
        Some("F8_E4M3" | "F8_E5M2" | "I8" | "U8" | "BOOL" | "F8_E8M0") => 8,
        Some("F4") => 4,
        Some(other) => {
            return Err(ModelError::new(fields.path("dtype"), format!("`{other}` is not known")));
        }
        None => return Err(ModelError::new(fields.path("dtype"), "is missing")),
    })
}

fn shape(fields: &Fields<'_>) -> Result<Vec<u64>, ModelError> {
    let Some(Value::Array(dimensions)) = fields.raw("shape") else {
        return Err(ModelError::new(fields.path("shape"), "must be a list of sizes"));
    };
    let one = |dimension: &Value| {
        dimension.as_u64().ok_or_else(|| {
            let reason = format!("holds {}, which is no size", short(dimension));
            ModelError::new(fields.path("shape"), reason)
        })
    };
    dimensions.iter().map(one).collect()
}

fn offsets(fields: &Fields<'_>) -> Result<(u64, u64), ModelError> {
    let offsets = fields.raw("data_offsets").and_then(Value::as_array);
    match offsets.map(|offsets| offsets.iter().filter_map(Value::as_u64).collect::<Vec<_>>()).as_deref() {
        Some(&[begin, end]) => Ok((begin, end)),
        _ => Err(ModelError::new(fields.path("data_offsets"), "must be two numbers, begin and end")),
    }
}

/// The network of these tensors: its parameters are exact, what a step keeps of it is known only where
/// a configuration describes it.
pub fn with_tensors(
    tensors: Vec<Tensor>,
    name: &str,
    described: Option<Network>,
) -> Result<Network, ModelError> {
    let mut layers: Vec<Layer> = Vec::new();
    for tensor in tensors {
        let (owner, place) = owner(&tensor.name);
        match layers.iter_mut().rev().take(64).find(|layer| layer.name == owner) {
            Some(layer) => layer.tensors.push(tensor),
            None => layers.push(Layer {
                name: owner,
                kind: "tensors".to_owned(),
                tensors: vec![tensor],
                saved: Saved::default(),
                output: 0.0,
                flops: 0.0,
                place,
            }),
        }
    }
    let meant = described.as_ref().map(Network::parameters);
    let transformer = described.and_then(|network| network.transformer);
    let network = Network {
        name: name.to_owned(),
        origin: format!("tensors of {name}"),
        layers,
        activations_known: transformer.is_some(),
        transformer,
        sample: None,
    };
    let network = network.checked()?;
    match meant {
        Some(meant) => same_network(network, meant),
        None => Ok(network),
    }
}

/// Refuses a file that is only a part of what the configuration beside it describes: the parameters of
/// the one with the activations of the other would be no network at all.
fn same_network(network: Network, meant: u64) -> Result<Network, ModelError> {
    let found = network.parameters();
    if ALIKE.contains(&(found as f64 / meant.max(1) as f64)) {
        return Ok(network);
    }
    let reason = format!("holds {found} parameters, the config.json beside it describes {meant}");
    let hint = "one of several files, or another network: give the config.json itself, or the file in a \
                folder of its own";
    Err(ModelError::new("header", reason).hint(hint).within(&network.name))
}

/// The block a tensor belongs to: everything up to the number in its name.
fn owner(name: &str) -> (String, Place) {
    let parts: Vec<&str> = name.split('.').collect();
    match parts.iter().position(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty()) {
        Some(number) => (parts[..=number].join("."), Place::Block),
        None => {
            let last = ["head", "norm", "ln_f", "classifier", "pooler", "embed_out"];
            let place = if last.iter().any(|word| name.contains(word)) { Place::Last } else { Place::First };
            (parts[..parts.len().saturating_sub(1).max(1)].join("."), place)
        }
    }
}
