//! Layers put together: every result is kept at most once, however many layers need it.

use crate::ModelError;

use super::operation::volume;
use super::{Layer, Network, Operation, Place, Tensor};

struct Produced {
    shape: Vec<u64>,
    kept: bool,
}

/// A layered network being put together.
pub struct Graph {
    results: Vec<Produced>,
    layers: Vec<Layer>,
    sample: u64,
}

impl Graph {
    /// Begins with the shape of one sample, channels first. Its result has number 0.
    pub fn new(shape: &[u64]) -> Result<Graph, ModelError> {
        if shape.is_empty() || shape.contains(&0) {
            return Err(ModelError::new("input", format!("must be sizes above 0, not {shape:?}")));
        }
        // Data is there whether or not a gradient needs it; it is counted as kept from the start.
        let results = vec![Produced { shape: shape.to_vec(), kept: true }];
        Ok(Graph { results, layers: Vec::new(), sample: volume(shape) })
    }

    /// The shape of a result.
    pub fn shape(&self, result: usize) -> &[u64] {
        self.results.get(result).map_or(&[], |result| &result.shape)
    }

    /// Adds a layer and gives the number of its result.
    pub fn add(
        &mut self,
        name: &str,
        kind: &str,
        operation: &Operation,
        inputs: &[usize],
    ) -> Result<usize, ModelError> {
        let shapes: Vec<Vec<u64>> = inputs.iter().map(|&input| self.shape(input).to_vec()).collect();
        let effect = operation.apply(&shapes)?;
        if effect.output.contains(&0) {
            return Err(ModelError::new("output", format!("of `{name}` is empty: {:?}", effect.output)));
        }
        let output = volume(&effect.output) as f64;
        let mut saved = effect.more;
        if effect.keeps_inputs {
            for &input in inputs {
                if let Some(result) = self.results.get_mut(input).filter(|result| !result.kept) {
                    result.kept = true;
                    saved.values += volume(&result.shape) as f64;
                }
            }
        }
        if effect.keeps_output {
            saved.values += output;
        }
        // A view of something kept is kept.
        let viewed = matches!(operation, Operation::Flatten)
            && inputs.first().and_then(|&input| self.results.get(input)).is_some_and(|result| result.kept);
        self.results.push(Produced { shape: effect.output, kept: effect.keeps_output || viewed });
        self.layers.push(Layer {
            name: name.to_owned(),
            kind: kind.to_owned(),
            tensors: effect.tensors,
            saved,
            output,
            flops: effect.flops,
            place: Place::Block,
        });
        Ok(self.results.len() - 1)
    }

    /// Gives the last layer the weights that a file states for it.
    pub fn replace_tensors(&mut self, tensors: Vec<Tensor>) {
        if let Some(layer) = self.layers.last_mut() {
            layer.tensors = tensors;
        }
    }

    /// Adds a layer after the last one.
    pub fn push(&mut self, name: &str, kind: &str, operation: &Operation) -> Result<usize, ModelError> {
        self.add(name, kind, operation, &[self.results.len() - 1])
    }

    /// The network.
    pub fn finish(self, name: &str, origin: &str) -> Result<Network, ModelError> {
        let network = Network {
            name: name.to_owned(),
            origin: origin.to_owned(),
            layers: self.layers,
            transformer: None,
            sample: Some(self.sample),
            activations_known: true,
        };
        network.checked()
    }
}
