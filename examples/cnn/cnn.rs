//! Trains a convolutional network on pictures of digits, and says how long its parts take.
//!
//! `cnn --samples 400 --batch 32 --layers 2 --channels 8 --epochs 2 --threads 1`
//!
//! Each layer is a 3×3 convolution, a ReLU and a 2×2 maximum; one dense layer scores the digits. The
//! pictures are those of `mnist-mlp`: made up, of MNIST's shape. Training is plain stochastic gradient
//! descent on the cross-entropy in 32 bits, the samples of a batch spread over threads. Build it with
//! `rustc -O cnn.rs`.

use std::process::ExitCode;
use std::time::Instant;

const SIDE: usize = 28;
const PIXELS: usize = SIDE * SIDE;
const DIGITS: usize = 10;
/// Which segments each digit has: top, upper left, upper right, middle, lower left, lower right, bottom.
const SEGMENTS: [u8; DIGITS] =
    [0b1110111, 0b0010010, 0b1011101, 0b1011011, 0b0111010, 0b1101011, 0b1101111, 0b1010010, 0b1111111, 0b1111011];

/// Chance without a library (xorshift64*, Vigna 2016).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// A picture of a digit: its segments as strokes, somewhere, in some size, under noise.
fn draw(digit: usize, chance: &mut Chance) -> Vec<f32> {
    let (left, top) = (5.0 + 6.0 * chance.next(), 3.0 + 6.0 * chance.next());
    let (width, height) = (8.0 + 5.0 * chance.next(), 12.0 + 6.0 * chance.next());
    let (x0, x1) = (left, left + width);
    let (y0, y1, y2) = (top, top + height / 2.0, top + height);
    let strokes = [
        (x0, y0, x1, y0), (x0, y0, x0, y1), (x1, y0, x1, y1), (x0, y1, x1, y1),
        (x0, y1, x0, y2), (x1, y1, x1, y2), (x0, y2, x1, y2),
    ];
    let mut picture = vec![0.0_f32; PIXELS];
    for (index, &(ax, ay, bx, by)) in strokes.iter().enumerate() {
        if SEGMENTS[digit] >> (6 - index) & 1 == 0 {
            continue;
        }
        for y in 0..SIDE {
            for x in 0..SIDE {
                // Distance of the pixel from the stroke.
                let (dx, dy) = (bx - ax, by - ay);
                let along = ((x as f32 - ax) * dx + (y as f32 - ay) * dy) / (dx * dx + dy * dy);
                let along = along.clamp(0.0, 1.0);
                let distance = ((x as f32 - ax - along * dx).powi(2) + (y as f32 - ay - along * dy).powi(2)).sqrt();
                let ink = (1.6 - distance).clamp(0.0, 1.0);
                let pixel = &mut picture[y * SIDE + x];
                *pixel = pixel.max(ink);
            }
        }
    }
    for pixel in &mut picture {
        *pixel = *pixel - 0.15 + 0.3 * chance.next();
    }
    picture
}

/// Weights by input, then by output, and biases: of a convolution the inputs are a window's pixels.
struct Layer {
    /// Side of the picture it sees; 0 for the dense layer.
    side: usize,
    channels: usize,
    outputs: usize,
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Layer {
    fn new(side: usize, channels: usize, outputs: usize, chance: &mut Chance) -> Layer {
        let inputs = if side > 0 { 9 * channels } else { channels };
        let scale = (6.0 / inputs as f32).sqrt(); // He et al., 2015
        let weights = (0..inputs * outputs).map(|_| scale * (2.0 * chance.next() - 1.0)).collect();
        Layer { side, channels, outputs, weights, biases: vec![0.0; outputs] }
    }

    /// Calls `each` with the place of every input of a window and of its weights. Pixels are stored by
    /// place, then by channel; what lies outside the picture is left out.
    fn window(&self, pixel: usize, mut each: impl FnMut(usize, usize)) {
        if self.side == 0 {
            (0..self.channels).for_each(|input| each(input, input));
            return;
        }
        let (y, x) = (pixel / self.side, pixel % self.side);
        for (place, (dy, dx)) in (0..9).map(|place| (place, (place / 3, place % 3))) {
            let (row, column) = ((y + dy).wrapping_sub(1), (x + dx).wrapping_sub(1));
            if row < self.side && column < self.side {
                let from = (row * self.side + column) * self.channels;
                (0..self.channels).for_each(|channel| each(from + channel, place * self.channels + channel));
            }
        }
    }

    fn pixels(&self) -> usize {
        (self.side * self.side).max(1)
    }

    fn forward(&self, input: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.pixels() * self.outputs];
        for (pixel, out) in out.chunks_mut(self.outputs).enumerate() {
            out.copy_from_slice(&self.biases);
            self.window(pixel, |from, weights| {
                let value = input[from];
                let weights = &self.weights[weights * self.outputs..(weights + 1) * self.outputs];
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out += value * weight);
            });
        }
        out
    }

    /// Adds to the gradients and gives that of the input.
    fn backward(&self, input: &[f32], back: &[f32], gradient: &mut [f32], biases: &mut [f32]) -> Vec<f32> {
        let mut before = vec![0.0; input.len()];
        for (pixel, back) in back.chunks(self.outputs).enumerate() {
            biases.iter_mut().zip(back).for_each(|(sum, back)| *sum += back);
            self.window(pixel, |from, weights| {
                let value = input[from];
                let place = weights * self.outputs..(weights + 1) * self.outputs;
                gradient[place.clone()].iter_mut().zip(back).for_each(|(sum, back)| *sum += value * back);
                before[from] += self.weights[place].iter().zip(back).map(|(w, b)| w * b).sum::<f32>();
            });
        }
        before
    }
}

/// The largest of every 2×2 pixels above 0, and where it was.
fn pool(values: &[f32], side: usize, channels: usize) -> (Vec<f32>, Vec<usize>) {
    let half = side / 2;
    let (mut out, mut places) = (Vec::with_capacity(half * half * channels), Vec::new());
    for y in 0..half {
        for x in 0..half {
            for channel in 0..channels {
                let at = |dy: usize, dx: usize| ((2 * y + dy) * side + 2 * x + dx) * channels + channel;
                let candidates = [at(0, 0), at(0, 1), at(1, 0), at(1, 1)];
                let best = candidates.iter().copied().max_by(|&a, &b| values[a].total_cmp(&values[b]));
                let best = best.unwrap_or(candidates[0]);
                out.push(values[best].max(0.0));
                places.push(best);
            }
        }
    }
    (out, places)
}

/// Gradients of all layers, summed over the samples of one thread.
struct Gradients {
    weights: Vec<Vec<f32>>,
    biases: Vec<Vec<f32>>,
    loss: f64,
    right: usize,
}

fn learn_from(layers: &[Layer], pictures: &[Vec<f32>], digits: &[usize]) -> Gradients {
    let mut found = Gradients {
        weights: layers.iter().map(|layer| vec![0.0; layer.weights.len()]).collect(),
        biases: layers.iter().map(|layer| vec![0.0; layer.outputs]).collect(),
        loss: 0.0,
        right: 0,
    };
    let Some((dense, convolutions)) = layers.split_last() else { return found };
    for (picture, &digit) in pictures.iter().zip(digits) {
        let mut values = vec![picture.clone()];
        let mut kept = Vec::new();
        for layer in convolutions {
            let out = layer.forward(&values[values.len() - 1]);
            let (smaller, places) = pool(&out, layer.side, layer.outputs);
            values.push(smaller);
            kept.push((out.len(), places));
        }
        let scores = dense.forward(&values[values.len() - 1]);
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let sum: f32 = scores.iter().map(|score| (score - highest).exp()).sum();
        let mut back: Vec<f32> = scores.iter().map(|score| (score - highest).exp() / sum).collect();
        found.loss -= f64::from(back[digit].max(1e-12).ln());
        found.right += usize::from(back.iter().all(|&other| other <= back[digit]));
        back[digit] -= 1.0;
        for (index, layer) in layers.iter().enumerate().rev() {
            if index < convolutions.len() {
                // Only the largest pixels above 0 had a say.
                let (length, places) = &kept[index];
                let mut wider = vec![0.0; *length];
                let results = back.iter().zip(&values[index + 1]).zip(places);
                results.for_each(|((back, value), &place)| if *value > 0.0 { wider[place] += back });
                back = wider;
            }
            back = layer.backward(&values[index], &back, &mut found.weights[index], &mut found.biases[index]);
        }
    }
    found
}

/// One pass over all samples; gives the mean loss and the share of digits that were right.
fn epoch(layers: &mut [Layer], pictures: &[Vec<f32>], digits: &[usize], batch: usize, threads: usize) -> (f64, f64) {
    let (mut loss, mut right) = (0.0, 0);
    for (pictures, digits) in pictures.chunks(batch).zip(digits.chunks(batch)) {
        let each = pictures.len().div_ceil(threads);
        let all: Vec<Gradients> = std::thread::scope(|scope| {
            let frozen = &*layers;
            let parts = pictures.chunks(each).zip(digits.chunks(each));
            let workers: Vec<_> =
                parts.map(|(pictures, digits)| scope.spawn(move || learn_from(frozen, pictures, digits))).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
        });
        let step = 0.05 / pictures.len() as f32;
        for found in &all {
            loss += found.loss;
            right += found.right;
            for (layer, (weights, biases)) in layers.iter_mut().zip(found.weights.iter().zip(&found.biases)) {
                layer.weights.iter_mut().zip(weights).for_each(|(weight, gradient)| *weight -= step * gradient);
                layer.biases.iter_mut().zip(biases).for_each(|(bias, gradient)| *bias -= step * gradient);
            }
        }
    }
    (loss / pictures.len() as f64, right as f64 / pictures.len() as f64)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| -> Option<usize> {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)?.parse().ok().filter(|&number| number > 0)
    };
    let (Some(samples), Some(batch), Some(depth), Some(channels), Some(epochs), Some(threads)) = (
        number("--samples"), number("--batch"), number("--layers"), number("--channels"), number("--epochs"),
        number("--threads"),
    ) else {
        eprintln!("usage: cnn --samples N --batch N --layers N --channels N --epochs N --threads N");
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let digits: Vec<usize> = (0..samples).map(|index| index * 7 % DIGITS).collect();
    let pictures: Vec<Vec<f32>> = digits.iter().map(|&digit| draw(digit, &mut chance)).collect();
    println!("load_seconds = {:.6}", started.elapsed().as_secs_f64());
    let (mut layers, mut side, mut before) = (Vec::new(), SIDE, 1);
    for _ in 0..depth.min(3) {
        layers.push(Layer::new(side, before, channels, &mut chance));
        (side, before) = (side / 2, channels);
    }
    layers.push(Layer::new(0, side * side * before, DIGITS, &mut chance));
    for number in 1..=epochs {
        let started = Instant::now();
        let (loss, right) = epoch(&mut layers, &pictures, &digits, batch, threads);
        let seconds = started.elapsed().as_secs_f64();
        println!("epoch {number}: loss {loss:.4}, right {:.1} %, epoch_seconds = {seconds:.6}", 100.0 * right);
    }
    println!("trained");
    ExitCode::SUCCESS
}
