//! Trains a fully connected network on pictures of digits, and says how long its parts take.
//!
//! `mlp --samples 1000 --batch 32 --layers 2 --neurons 64 --epochs 3 --threads 1`
//!
//! The pictures have the shape of MNIST's (28×28) and are made up: seven-segment digits, moved, scaled
//! and covered with noise, so that nothing has to be downloaded. Training is plain stochastic gradient
//! descent on the cross-entropy in 32 bits, the samples of a batch spread over threads. Build it with
//! `rustc -O mlp.rs`.

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

/// One layer: weights by input, then by output, and biases.
struct Layer {
    inputs: usize,
    outputs: usize,
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, chance: &mut Chance) -> Layer {
        let scale = (6.0 / inputs as f32).sqrt(); // He et al., 2015
        let weights = (0..inputs * outputs).map(|_| scale * (2.0 * chance.next() - 1.0)).collect();
        Layer { inputs, outputs, weights, biases: vec![0.0; outputs] }
    }
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
    for (picture, &digit) in pictures.iter().zip(digits) {
        let mut values = vec![picture.clone()];
        for (index, layer) in layers.iter().enumerate() {
            let mut out = layer.biases.clone();
            for (row, &value) in values[index].iter().enumerate() {
                let weights = &layer.weights[row * layer.outputs..(row + 1) * layer.outputs];
                out.iter_mut().zip(weights).for_each(|(out, weight)| *out += value * weight);
            }
            if index + 1 < layers.len() {
                out.iter_mut().for_each(|out| *out = out.max(0.0));
            }
            values.push(out);
        }
        let scores = &values[layers.len()];
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let sum: f32 = scores.iter().map(|score| (score - highest).exp()).sum();
        let mut back: Vec<f32> = scores.iter().map(|score| (score - highest).exp() / sum).collect();
        found.loss -= f64::from(back[digit].max(1e-12).ln());
        found.right += usize::from(back.iter().all(|&other| other <= back[digit]));
        back[digit] -= 1.0;
        for (index, layer) in layers.iter().enumerate().rev() {
            let gradient = &mut found.weights[index];
            let mut before = vec![0.0; layer.inputs];
            for (row, &value) in values[index].iter().enumerate() {
                let place = row * layer.outputs..(row + 1) * layer.outputs;
                gradient[place.clone()].iter_mut().zip(&back).for_each(|(sum, back)| *sum += value * back);
                if index > 0 {
                    before[row] = layer.weights[place].iter().zip(&back).map(|(w, b)| w * b).sum();
                }
            }
            found.biases[index].iter_mut().zip(&back).for_each(|(sum, back)| *sum += back);
            if index > 0 {
                before.iter_mut().zip(&values[index]).for_each(|(b, v)| if *v <= 0.0 { *b = 0.0 });
            }
            back = before;
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
    let (Some(samples), Some(batch), Some(depth), Some(neurons), Some(epochs), Some(threads)) = (
        number("--samples"), number("--batch"), number("--layers"), number("--neurons"), number("--epochs"),
        number("--threads"),
    ) else {
        eprintln!("usage: mlp --samples N --batch N --layers N --neurons N --epochs N --threads N");
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let digits: Vec<usize> = (0..samples).map(|index| index * 7 % DIGITS).collect();
    let pictures: Vec<Vec<f32>> = digits.iter().map(|&digit| draw(digit, &mut chance)).collect();
    println!("load_seconds = {:.6}", started.elapsed().as_secs_f64());
    let mut widths = vec![PIXELS];
    widths.extend(std::iter::repeat_n(neurons, depth));
    widths.push(DIGITS);
    let mut layers: Vec<Layer> = widths.windows(2).map(|pair| Layer::new(pair[0], pair[1], &mut chance)).collect();
    for number in 1..=epochs {
        let started = Instant::now();
        let (loss, right) = epoch(&mut layers, &pictures, &digits, batch, threads);
        let seconds = started.elapsed().as_secs_f64();
        println!("epoch {number}: loss {loss:.4}, right {:.1} %, epoch_seconds = {seconds:.6}", 100.0 * right);
    }
    println!("trained");
    ExitCode::SUCCESS
}
