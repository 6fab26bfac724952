//! A small neural network: two hidden layers with rectifiers, one output, trained with Adam (Kingma
//! and Ba, ICLR 2015). The same seed gives the same weights, and the work of a fit is bounded.
//!
//! It learns in single precision, which is what such networks need; the products run over contiguous
//! outputs, so that the compiler can use vector instructions without changing the order of sums.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::{Fitted, Penalty, Regressor, Training};

const BATCH: usize = 32;
/// Adam's decay rates and guard, as published.
const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;
const GUARD: f32 = 1e-8;
/// A quantile's slope is rounded off within this many deviations of the target.
const NEAR: f64 = 0.05;
/// From this many runs on the study's network is used, below it the small one.
pub(crate) const ROWS_FOR_WIDE_NETWORK: usize = 100;
/// Largest number of weights a model file may hold.
const MOST_PARAMETERS: usize = 1 << 20;

/// Fits a [`Network`].
pub(crate) struct NeuralNetwork {
    hidden: [usize; 2],
    rate: f32,
    /// Most passes over the rows.
    passes: usize,
    /// Most multiplications of a fit.
    work: usize,
}

/// Layers from input to output, and the scale of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Network {
    pub layers: Vec<Layer>,
    pub mean: f64,
    pub deviation: f64,
}

/// One layer. `weights` holds, for each input, its weight to each output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    pub weights: Vec<f32>,
    pub biases: Vec<f32>,
}

impl NeuralNetwork {
    /// The study's network, for enough rows to feed it.
    pub(crate) const WIDE: NeuralNetwork =
        NeuralNetwork { hidden: [128, 64], rate: 2e-3, passes: 200, work: 400_000_000 };
    /// A network for few rows.
    pub(crate) const SMALL: NeuralNetwork =
        NeuralNetwork { hidden: [16, 8], rate: 1e-2, passes: 300, work: 15_000_000 };
}

impl Regressor for NeuralNetwork {
    fn standardised(&self) -> bool {
        true
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let count = training.inputs.len();
        let width = training.inputs.first().map_or(0, Vec::len);
        let mut random = Pcg64::seed_from_u64(training.seed);
        let sizes = [width, self.hidden[0], self.hidden[1], 1];
        let layers: Vec<Layer> =
            sizes.windows(2).map(|pair| Layer::random(pair[0], pair[1], &mut random)).collect();
        let total: f64 = training.weights.iter().sum();
        let average = |of: &dyn Fn(f64) -> f64| {
            training.targets.iter().zip(training.weights).map(|(&y, w)| w * of(y)).sum::<f64>() / total
        };
        let mean = average(&|y| y);
        let deviation = average(&|y| (y - mean).powi(2)).sqrt();
        let deviation = if deviation > 1e-12 * mean.abs() { deviation } else { mean.abs().max(1e-300) };
        let mut network = Network { layers, mean, deviation };
        let inputs: Vec<Vec<f32>> = training
            .inputs
            .iter()
            .map(|row| row.iter().map(|&value| value.clamp(-1e6, 1e6) as f32).collect())
            .collect();
        let targets: Vec<f32> = training.targets.iter().map(|y| ((y - mean) / deviation) as f32).collect();
        let weights: Vec<f32> = training.weights.iter().map(|w| (w * count as f64 / total) as f32).collect();
        let a_pass = 3 * count * network.parameters();
        let passes = (self.work / a_pass.max(1)).clamp(5, self.passes);
        Trainer::new(&network, training.penalty).run(
            &mut network,
            &inputs,
            &targets,
            &weights,
            self.rate,
            passes,
            &mut random,
        );
        if network.check(width).is_err() {
            return Err("training did not converge to finite weights".to_owned());
        }
        Ok(Fitted::Network(network))
    }
}

impl Layer {
    /// He initialisation (He et al., ICCV 2015), uniform.
    fn random(inputs: usize, outputs: usize, random: &mut Pcg64) -> Layer {
        let bound = (6.0 / inputs.max(1) as f32).sqrt();
        let weights = (0..inputs * outputs).map(|_| bound * (2.0 * uniform(random) - 1.0)).collect();
        Layer { inputs, outputs, weights, biases: vec![0.0; outputs] }
    }

    /// Weighted sums of the inputs.
    fn apply(&self, inputs: &[f32], outputs: &mut Vec<f32>) {
        outputs.clear();
        outputs.extend_from_slice(&self.biases);
        if self.outputs == 0 {
            return;
        }
        for (&input, weights) in inputs.iter().zip(self.weights.chunks_exact(self.outputs)) {
            if input != 0.0 {
                outputs.iter_mut().zip(weights).for_each(|(output, weight)| *output += input * weight);
            }
        }
    }
}

/// A number in [0, 1) with 24 random bits.
fn uniform(random: &mut Pcg64) -> f32 {
    (random.next_u64() >> 40) as f32 / (1u64 << 24) as f32
}

impl Network {
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let mut current: Vec<f32> = row.iter().map(|&value| value.clamp(-1e6, 1e6) as f32).collect();
        let mut next = Vec::new();
        for (index, layer) in self.layers.iter().enumerate() {
            layer.apply(&current, &mut next);
            if index + 1 < self.layers.len() {
                next.iter_mut().for_each(|value| *value = value.max(0.0));
            }
            std::mem::swap(&mut current, &mut next);
        }
        self.mean + self.deviation * current.first().copied().map_or(f64::NAN, f64::from)
    }

    pub(super) fn parameters(&self) -> usize {
        self.layers.iter().map(|layer| layer.weights.len() + layer.biases.len()).sum()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let mut inputs = width;
        for layer in &self.layers {
            let sound = layer.inputs == inputs
                && layer.inputs.checked_mul(layer.outputs) == Some(layer.weights.len())
                && layer.biases.len() == layer.outputs
                && layer.weights.iter().chain(&layer.biases).all(|value| value.is_finite());
            if !sound {
                return Err("the layers of the network do not fit together".to_owned());
            }
            inputs = layer.outputs;
        }
        let scaled = self.mean.is_finite() && self.deviation.is_finite();
        if inputs == 1 && !self.layers.is_empty() && scaled && self.parameters() <= MOST_PARAMETERS {
            Ok(())
        } else {
            Err("the network does not end in one number".to_owned())
        }
    }
}

/// What training keeps between steps.
struct Trainer {
    /// Gradient, first and second moment of each layer's weights, then biases.
    slopes: Vec<Vec<f32>>,
    first: Vec<Vec<f32>>,
    second: Vec<Vec<f32>>,
    step: i32,
    penalty: Penalty,
    /// Room for what is passed back, kept to spare allocations.
    deltas: (Vec<f32>, Vec<f32>),
}

impl Trainer {
    fn new(network: &Network, penalty: Penalty) -> Trainer {
        let zeros: Vec<Vec<f32>> = network
            .layers
            .iter()
            .flat_map(|layer| [vec![0.0; layer.weights.len()], vec![0.0; layer.biases.len()]])
            .collect();
        Trainer {
            slopes: zeros.clone(),
            first: zeros.clone(),
            second: zeros,
            step: 0,
            penalty,
            deltas: Default::default(),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn run(
        &mut self,
        network: &mut Network,
        inputs: &[Vec<f32>],
        targets: &[f32],
        weights: &[f32],
        rate: f32,
        passes: usize,
        random: &mut Pcg64,
    ) {
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        let mut activations = vec![Vec::new(); network.layers.len() + 1];
        for pass in 0..passes {
            for last in (1..order.len()).rev() {
                order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
            }
            // The rate falls to a tenth, so that the last passes settle.
            let rate = rate * (1.0 - 0.9 * pass as f32 / passes as f32);
            for batch in order.chunks(BATCH) {
                self.slopes.iter_mut().for_each(|slopes| slopes.fill(0.0));
                for &row in batch {
                    let weight = weights[row] / batch.len() as f32;
                    self.learn(network, &inputs[row], targets[row], weight, &mut activations);
                }
                self.descend(network, rate);
            }
        }
    }

    /// Adds one row's gradient of the loss.
    fn learn(
        &mut self,
        network: &Network,
        input: &[f32],
        target: f32,
        weight: f32,
        activations: &mut [Vec<f32>],
    ) {
        activations[0].clear();
        activations[0].extend_from_slice(input);
        for (index, layer) in network.layers.iter().enumerate() {
            let (before, after) = activations.split_at_mut(index + 1);
            layer.apply(&before[index], &mut after[0]);
            if index + 1 < network.layers.len() {
                after[0].iter_mut().for_each(|value| *value = value.max(0.0));
            }
        }
        let output = activations[network.layers.len()][0];
        let (mut delta, mut before) = std::mem::take(&mut self.deltas);
        delta.clear();
        let pull = self.penalty.pull(f64::from(target - output), NEAR);
        delta.push(-weight * pull as f32);
        for (index, layer) in network.layers.iter().enumerate().rev() {
            let (weight_slopes, bias_slopes) = self.slopes.split_at_mut(2 * index + 1);
            bias_slopes[0].iter_mut().zip(&delta).for_each(|(slope, d)| *slope += d);
            before.clear();
            before.resize(layer.inputs, 0.0);
            let slopes = weight_slopes[2 * index].chunks_exact_mut(layer.outputs);
            let weights = layer.weights.chunks_exact(layer.outputs);
            for (((&input, slopes), weights), before) in
                activations[index].iter().zip(slopes).zip(weights).zip(&mut before)
            {
                // A rectifier that is off passes nothing back; its input's weights do not move.
                if input == 0.0 {
                    continue;
                }
                slopes.iter_mut().zip(&delta).for_each(|(slope, d)| *slope += input * d);
                if index > 0 {
                    *before = dot(weights, &delta);
                }
            }
            std::mem::swap(&mut delta, &mut before);
        }
        self.deltas = (delta, before);
    }

    /// One step of Adam.
    fn descend(&mut self, network: &mut Network, rate: f32) {
        self.step += 1;
        let correction = (1.0 - SECOND_DECAY.powi(self.step)).sqrt() / (1.0 - FIRST_DECAY.powi(self.step));
        let rate = rate * correction;
        let values = network.layers.iter_mut().flat_map(|layer| [&mut layer.weights, &mut layer.biases]);
        for (index, values) in values.enumerate() {
            let moments = self.first[index].iter_mut().zip(&mut self.second[index]);
            for ((value, slope), (first, second)) in values.iter_mut().zip(&self.slopes[index]).zip(moments) {
                *first = FIRST_DECAY * *first + (1.0 - FIRST_DECAY) * slope;
                *second = SECOND_DECAY * *second + (1.0 - SECOND_DECAY) * slope * slope;
                *value -= rate * *first / (second.sqrt() + GUARD);
            }
        }
    }
}

/// A sum of products in eight strands, which vector instructions can carry.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut strands = [0.0f32; 8];
    let (left_chunks, right_chunks) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: f32 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(l, r)| l * r).sum();
    for (l, r) in left_chunks.zip(right_chunks) {
        for strand in 0..8 {
            strands[strand] += l[strand] * r[strand];
        }
    }
    strands.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(inputs: &[Vec<f64>], targets: &[f64], seed: u64) -> Network {
        let weights = vec![1.0; targets.len()];
        let training = Training {
            inputs,
            targets,
            weights: &weights,
            roles: &[],
            configurations: inputs.len(),
            seed,
            penalty: Penalty::Squares,
            law: None,
        };
        match NeuralNetwork::SMALL.fit(&training).unwrap() {
            Fitted::Network(network) => network,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn it_learns_a_curve_and_repeats_itself() {
        let inputs: Vec<Vec<f64>> = (0..60).map(|i| vec![f64::from(i) / 20.0 - 1.5]).collect();
        let targets: Vec<f64> = inputs.iter().map(|row| 3.0 + row[0] * row[0]).collect();
        let network = fit(&inputs, &targets, 7);
        let worst =
            inputs.iter().zip(&targets).map(|(row, y)| (network.predict(row) - y).abs()).fold(0.0, f64::max);
        assert!(worst < 0.2, "{worst}");
        assert_eq!(network, fit(&inputs, &targets, 7));
        assert_ne!(network, fit(&inputs, &targets, 8));
    }

    #[test]
    fn equal_targets_and_no_columns_are_fine() {
        let constant = fit(&[vec![1.0], vec![2.0], vec![3.0]], &[5.0; 3], 1);
        assert!((constant.predict(&[9.0]) - 5.0).abs() < 2.0);
        let nothing = fit(&[vec![], vec![], vec![]], &[1.0, 2.0, 3.0], 1);
        assert!(nothing.predict(&[]).is_finite());
    }

    /// The analytic gradient against small differences.
    #[test]
    fn gradients_are_gradients() {
        let mut random = Pcg64::seed_from_u64(3);
        let layers = vec![
            Layer::random(2, 5, &mut random),
            Layer::random(5, 3, &mut random),
            Layer::random(3, 1, &mut random),
        ];
        let network = Network { layers, mean: 0.0, deviation: 1.0 };
        let (input, target) = ([0.7f32, -0.4], 0.3f32);
        let mut trainer = Trainer::new(&network, Penalty::Squares);
        trainer.learn(&network, &input, target, 1.0, &mut vec![Vec::new(); 4]);
        let loss = |network: &Network| {
            (network.predict(&[0.7f32.into(), (-0.4f32).into()]) - f64::from(target)).powi(2) / 2.0
        };
        for layer in 0..3 {
            for weight in 0..network.layers[layer].weights.len() {
                let mut moved = network.clone();
                moved.layers[layer].weights[weight] += 1e-2;
                let mut back = network.clone();
                back.layers[layer].weights[weight] -= 1e-2;
                let slow = (loss(&moved) - loss(&back)) / 2e-2;
                let fast = f64::from(trainer.slopes[2 * layer][weight]);
                assert!((slow - fast).abs() < 2e-2 * (1.0 + slow.abs()), "{layer} {weight} {slow} {fast}");
            }
        }
    }
}
