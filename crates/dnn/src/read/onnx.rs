//! ONNX: the graph of a network with its weights' shapes; the weights themselves are skipped.
//!
//! Field numbers are those of `onnx.proto3` (onnx/onnx).

use std::collections::BTreeMap;

use crate::{ModelError, Network, Tensor};

use super::protobuf::{Message, Wire, numbers};

mod build;

/// A node of the graph.
#[derive(Debug, Default)]
struct Node {
    name: String,
    operator: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    integers: BTreeMap<String, Vec<u64>>,
    texts: BTreeMap<String, String>,
}

/// A tensor stored in the file.
#[derive(Debug, Default)]
struct Stored {
    tensor: Option<Tensor>,
    /// Its numbers, where they are whole and few: shapes.
    whole: Vec<i64>,
    floating: bool,
}

#[derive(Debug, Default)]
struct Parsed {
    name: String,
    nodes: Vec<Node>,
    stored: BTreeMap<String, Stored>,
    inputs: Vec<(String, Vec<Option<u64>>)>,
}

/// Reads a network. `input` replaces the shape of one sample, where the file leaves it open.
pub fn onnx(file: &str, bytes: &[u8], input: Option<&[u64]>) -> Result<Network, ModelError> {
    let parse = || {
        let mut parsed = None;
        each(bytes, |number, wire| {
            if let (7, Wire::Bytes(graph)) = (number, wire) {
                parsed = Some(graph_of(graph)?);
            }
            Ok(())
        })?;
        parsed.ok_or_else(|| ModelError::new("graph", "is missing: this is no ONNX file"))
    };
    parse().and_then(|parsed| build::network(&parsed, file, input)).map_err(|error| error.within(file))
}

fn each<'a>(
    bytes: &'a [u8],
    mut field: impl FnMut(u64, Wire<'a>) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    let mut message = Message::new(bytes);
    while let Some((number, wire)) = message.next()? {
        field(number, wire)?;
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn graph_of(bytes: &[u8]) -> Result<Parsed, ModelError> {
    let mut parsed = Parsed::default();
    each(bytes, |number, wire| {
        match (number, wire) {
            (1, Wire::Bytes(node)) => parsed.nodes.push(node_of(node)?),
            (2, Wire::Bytes(name)) => parsed.name = text(name),
            (5, Wire::Bytes(tensor)) => {
                let (name, stored) = stored_of(tensor)?;
                parsed.stored.insert(name, stored);
            }
            (11, Wire::Bytes(input)) => parsed.inputs.push(input_of(input)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(parsed)
}

fn node_of(bytes: &[u8]) -> Result<Node, ModelError> {
    let mut node = Node::default();
    each(bytes, |number, wire| {
        match (number, wire) {
            (1, Wire::Bytes(name)) => node.inputs.push(text(name)),
            (2, Wire::Bytes(name)) => node.outputs.push(text(name)),
            (3, Wire::Bytes(name)) => node.name = text(name),
            (4, Wire::Bytes(name)) => node.operator = text(name),
            (5, Wire::Bytes(attribute)) => {
                let (mut name, mut integers, mut word) = (String::new(), Vec::new(), None);
                each(attribute, |number, wire| {
                    match (number, wire) {
                        (1, Wire::Bytes(bytes)) => name = text(bytes),
                        (3, Wire::Varint(_)) | (8, _) => numbers(wire, &mut integers)?,
                        (4, Wire::Bytes(bytes)) => word = Some(text(bytes)),
                        _ => {}
                    }
                    Ok(())
                })?;
                if let Some(word) = word {
                    node.texts.insert(name.clone(), word);
                }
                node.integers.insert(name, integers);
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(node)
}

fn stored_of(bytes: &[u8]) -> Result<(String, Stored), ModelError> {
    let (mut name, mut shape, mut kind, mut whole) = (String::new(), Vec::new(), 0, Vec::new());
    each(bytes, |number, wire| {
        match (number, wire) {
            (1, wire) => numbers(wire, &mut shape)?,
            (2, Wire::Varint(number)) => kind = number,
            (7, wire) => {
                let mut found = Vec::new();
                numbers(wire, &mut found)?;
                whole.extend(found.into_iter().map(|number| number as i64));
            }
            (8, Wire::Bytes(bytes)) => name = text(bytes),
            (9, Wire::Bytes(raw)) if kind == 7 && raw.len() <= 8 * 64 => {
                let eight = |chunk: &[u8]| i64::from_le_bytes(chunk.try_into().unwrap_or_default());
                whole.extend(raw.chunks_exact(8).map(eight));
            }
            _ => {}
        }
        Ok(())
    })?;
    if let Some(size) = shape.iter().find(|size| **size > i64::MAX as u64) {
        let reason = format!("has the negative size {}", *size as i64);
        return Err(ModelError::new(format!("initializer {name}"), reason));
    }
    // float, float16, double, bfloat16 and the 8-bit floats; everything else counts or indexes.
    let floating = matches!(kind, 1 | 10 | 11 | 16 | 17..=20);
    Ok((name.clone(), Stored { tensor: Some(Tensor::new(name, shape)), whole, floating }))
}

fn input_of(bytes: &[u8]) -> Result<(String, Vec<Option<u64>>), ModelError> {
    let (mut name, mut dimensions) = (String::new(), Vec::new());
    let inner = |bytes: &[u8], wanted: u64, then: &mut dyn FnMut(&[u8]) -> Result<(), ModelError>| {
        each(bytes, |number, wire| match wire {
            Wire::Bytes(bytes) if number == wanted => then(bytes),
            _ => Ok(()),
        })
    };
    each(bytes, |number, wire| {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => name = text(bytes),
            // type → tensor_type → shape → dim
            (2, Wire::Bytes(kind)) => inner(kind, 1, &mut |tensor| {
                inner(tensor, 2, &mut |shape| {
                    inner(shape, 1, &mut |dimension| {
                        let mut size = None;
                        each(dimension, |number, wire| {
                            if let (1, Wire::Varint(value)) = (number, wire) {
                                size = Some(value).filter(|&value| value > 0 && value <= i64::MAX as u64);
                            }
                            Ok(())
                        })?;
                        dimensions.push(size);
                        Ok(())
                    })
                })
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((name, dimensions))
}
