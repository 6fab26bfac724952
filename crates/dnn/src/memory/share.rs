//! The part of a network that one GPU works on: its share of every matrix (tensor parallelism) and
//! its blocks (pipeline parallelism), counted with what learns and what does not.

use crate::training::lora;
use crate::{Layer, Network, Place, Tensor, Training};

/// Weights counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Count {
    /// Those that learn.
    pub trained: f64,
    /// Those that do not.
    pub frozen: f64,
    /// Numbers Adafactor keeps for those that learn: rows and columns instead of every entry.
    pub factored: f64,
}

impl Count {
    /// All of them.
    pub fn total(&self) -> f64 {
        self.trained + self.frozen
    }

    fn plus(self, other: Count) -> Count {
        Count {
            trained: self.trained + other.trained,
            frozen: self.frozen + other.frozen,
            factored: self.factored + other.factored,
        }
    }
}

/// The share of the GPU that holds most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Its weights.
    pub count: Count,
    /// Its blocks.
    pub blocks: u64,
    /// The most weights that must be whole at once, on this GPU.
    pub largest: f64,
}

impl Share {
    /// The share of the most loaded pipeline stage.
    pub fn of(network: &Network, training: &Training) -> Share {
        let (tensor, stages) = (training.parallel.tensor as f64, training.parallel.pipeline);
        let mut first = Count::default();
        let mut last = Count::default();
        let mut blocks = Vec::new();
        let mut tied = Count::default();
        for (index, layer) in network.layers.iter().enumerate() {
            let count = count(layer, index, training, tensor);
            match layer.place {
                Place::First => first = first.plus(count),
                Place::Last => last = last.plus(count),
                Place::Block => blocks.push(count),
            }
            if layer.place == Place::First && layer.kind == "embedding" && tied == Count::default() {
                tied = count;
            }
        }
        let each = blocks.len().div_ceil(stages as usize).max(1);
        let sum = |counts: &[Count]| counts.iter().copied().fold(Count::default(), Count::plus);
        let has_head =
            network.layers.iter().any(|layer| ["lm_head", "embed_out"].contains(&layer.name.as_str()));
        let scores = network.transformer.as_ref().is_some_and(|transformer| transformer.scores);
        let pieces: Vec<&[Count]> = blocks.chunks(each).collect();
        let stage = |index: usize, piece: &[Count]| {
            let mut all = sum(piece);
            if index == 0 {
                all = all.plus(first);
            }
            if index + 1 == pieces.len() {
                all = all.plus(last);
                // Scores with the embedding's weights need a copy of them on the last stage.
                if index > 0 && scores && !has_head {
                    all = all.plus(tied);
                }
            }
            all
        };
        let heaviest = pieces
            .iter()
            .enumerate()
            .map(|(index, piece)| stage(index, piece))
            .max_by(|a, b| a.total().total_cmp(&b.total()));
        Share {
            count: heaviest.unwrap_or_else(|| first.plus(last)),
            blocks: each as u64,
            largest: network.largest_part() as f64 / tensor,
        }
    }
}

fn count(layer: &Layer, index: usize, training: &Training, tensor: f64) -> Count {
    let layer_learns = training.freeze.learns(layer, index);
    let mut count = Count::default();
    for weights in &layer.tensors {
        let elements = weights.elements() as f64 / if weights.is_matrix() { tensor } else { 1.0 };
        if layer_learns || lora::is_adapter(weights) {
            count.trained += elements;
            count.factored += factors(weights) / if weights.is_matrix() { tensor } else { 1.0 };
        } else {
            count.frozen += elements;
        }
    }
    count
}

/// Adafactor keeps a row and a column of a matrix (Shazeer & Stern, 2018, algorithm 4), everything of
/// a vector. Of tensors with more dimensions the last two are the matrix.
fn factors(tensor: &Tensor) -> f64 {
    match tensor.shape.as_slice() {
        [others @ .., rows, columns] => {
            let matrices = others.iter().fold(1.0, |product, &size| product * size as f64);
            matrices * (*rows as f64 + *columns as f64)
        }
        _ => tensor.elements() as f64,
    }
}
