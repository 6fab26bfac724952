//! Trains a convolutional network on pictures of digits, and says how long its parts take.
//!
//! `cnn --samples 400 --batch 32 --layers 2 --channels 8 --epochs 2 --threads 1`
//!
//! Each layer is a 3×3 convolution, a ReLU and a 2×2 maximum; one dense layer scores the digits. The
//! pictures are those of `mnist-mlp`: made up, of MNIST's shape. Training is plain stochastic gradient
//! descent on the cross-entropy in 32 bits, each thread with its share of the samples. Build it with
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

/// Points across a pixel, each way, at which a stroke is looked for: edges are smooth.
const FINE: usize = 2;

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
        let (dx, dy) = (bx - ax, by - ay);
        for y in 0..FINE * SIDE {
            for x in 0..FINE * SIDE {
                // Distance of the point from the stroke.
                let (px, py) = (x as f32 / FINE as f32, y as f32 / FINE as f32);
                let along = (((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
                let distance = ((px - ax - along * dx).powi(2) + (py - ay - along * dy).powi(2)).sqrt();
                let ink = (1.6 - distance).clamp(0.0, 1.0) / (FINE * FINE) as f32;
                picture[y / FINE * SIDE + x / FINE] += ink;
            }
        }
    }
    for pixel in &mut picture {
        *pixel = pixel.min(1.0) - 0.15 + 0.3 * chance.next();
    }
    picture
}

/// Numbers by row.
#[derive(Clone)]
struct Matrix {
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    fn new(columns: usize, values: Vec<f32>) -> Matrix {
        Matrix { columns, values }
    }

    fn rows(&self) -> std::slice::Chunks<'_, f32> {
        self.values.chunks(self.columns)
    }

    fn transposed(&self) -> Matrix {
        let rows = self.values.len() / self.columns;
        let mut values = Vec::with_capacity(self.values.len());
        for column in 0..self.columns {
            values.extend(self.values.iter().skip(column).step_by(self.columns));
        }
        Matrix::new(rows, values)
    }

    /// This matrix times another, of which each row is a column. One product is added after the other, as
    /// by hand: slow, but what else the processor does hardly changes how long it takes.
    fn times<'a>(&'a self, other: &'a Matrix) -> impl Iterator<Item = f32> + 'a {
        let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(l, r)| l * r).sum::<f32>();
        self.rows().flat_map(move |left| other.rows().map(move |right| dot(left, right)))
    }
}

/// Weights, a row for each output, and biases.
#[derive(Clone)]
struct Layer {
    weights: Matrix,
    biases: Vec<f32>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, chance: &mut Chance) -> Layer {
        let scale = (6.0 / inputs as f32).sqrt(); // He et al., 2015
        let weights = (0..inputs * outputs).map(|_| scale * (2.0 * chance.next() - 1.0)).collect();
        Layer { weights: Matrix::new(inputs, weights), biases: vec![0.0; outputs] }
    }

    fn forward(&self, inputs: &Matrix) -> Matrix {
        let mut out = Matrix::new(self.biases.len(), inputs.times(&self.weights).collect());
        for row in out.values.chunks_mut(self.biases.len()) {
            row.iter_mut().zip(&self.biases).for_each(|(value, bias)| *value += bias);
        }
        out
    }
}

/// Gradients of all layers, summed over the samples of a batch.
struct Gradients {
    layers: Vec<Layer>,
    loss: f64,
    right: usize,
}

impl Gradients {
    fn none(layers: &[Layer]) -> Gradients {
        let zero = |layer: &Layer| Layer {
            weights: Matrix::new(layer.weights.columns, vec![0.0; layer.weights.values.len()]),
            biases: vec![0.0; layer.biases.len()],
        };
        Gradients { layers: layers.iter().map(zero).collect(), loss: 0.0, right: 0 }
    }

    /// The same memory for the next batch.
    fn clear(&mut self) {
        for layer in &mut self.layers {
            layer.weights.values.fill(0.0);
            layer.biases.fill(0.0);
        }
        (self.loss, self.right) = (0.0, 0);
    }

    /// Adds the gradients of one layer, whose inputs these were.
    fn add(&mut self, layer: usize, inputs: &Matrix, back: &Matrix) {
        let sum = &mut self.layers[layer];
        let (back_by_output, inputs) = (back.transposed(), inputs.transposed());
        let found = back_by_output.times(&inputs);
        sum.weights.values.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        for row in back.rows() {
            sum.biases.iter_mut().zip(row).for_each(|(sum, back)| *sum += back);
        }
    }

    /// Turns a sample's scores into the gradient of its loss.
    fn judge(&mut self, scores: &mut [f32], digit: usize) {
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
        let sum: f32 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
        self.loss -= f64::from(scores[digit].max(1e-12).ln());
        self.right += usize::from(scores.iter().all(|&other| other <= scores[digit]));
        scores[digit] -= 1.0;
    }
}

/// Pixels across a window.
const WINDOW: usize = 3;
const PLACES: usize = WINDOW * WINDOW;

/// Every pixel's window, as far as it lies inside the picture: the pixel, places in the window, pixels there.
fn windows(side: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..side * side).flat_map(move |pixel| {
        (0..PLACES).filter_map(move |place| {
            let row = (pixel / side + place / WINDOW).wrapping_sub(WINDOW / 2);
            let column = (pixel % side + place % WINDOW).wrapping_sub(WINDOW / 2);
            (row < side && column < side).then_some((pixel, place, row * side + column))
        })
    })
}

/// The windows of a picture, a row for each pixel, and back again: the sum of what windows say of a pixel.
/// Pixels are stored by place, then by channel.
fn unfold(picture: &[f32], side: usize, channels: usize) -> Matrix {
    let width = PLACES * channels;
    let mut values = vec![0.0; side * side * width];
    for (pixel, place, from) in windows(side) {
        let to = pixel * width + place * channels;
        values[to..to + channels].copy_from_slice(&picture[from * channels..(from + 1) * channels]);
    }
    Matrix::new(width, values)
}

fn fold(unfolded: &Matrix, side: usize, channels: usize) -> Vec<f32> {
    let mut picture = vec![0.0; side * side * channels];
    for (pixel, place, to) in windows(side) {
        let from = pixel * unfolded.columns + place * channels;
        let said = &unfolded.values[from..from + channels];
        picture[to * channels..(to + 1) * channels].iter_mut().zip(said).for_each(|(sum, said)| *sum += said);
    }
    picture
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

/// Adds the gradients of some samples.
fn learn_from(layers: &[Layer], pictures: &[Vec<f32>], digits: &[usize], found: &mut Gradients) {
    let Some((dense, convolutions)) = layers.split_last() else { return };
    for (picture, &digit) in pictures.iter().zip(digits) {
        let (mut seen, mut picture, mut side, mut channels) = (Vec::new(), picture.clone(), SIDE, 1);
        for layer in convolutions {
            let unfolded = unfold(&picture, side, channels);
            let out = layer.forward(&unfolded);
            let (smaller, places) = pool(&out.values, side, layer.biases.len());
            seen.push((unfolded, smaller.clone(), places, side, channels));
            (picture, side, channels) = (smaller, side / 2, layer.biases.len());
        }
        let picture = Matrix::new(picture.len(), picture);
        let mut back = dense.forward(&picture);
        found.judge(&mut back.values, digit);
        found.add(convolutions.len(), &picture, &back);
        let mut back: Vec<f32> = back.times(&dense.weights.transposed()).collect();
        for (index, (unfolded, smaller, places, side, channels)) in seen.iter().enumerate().rev() {
            let layer = &layers[index];
            // Only the largest pixels above 0 had a say.
            let mut wider = vec![0.0; side * side * layer.biases.len()];
            let results = back.iter().zip(smaller).zip(places);
            results.for_each(|((back, value), &place)| if *value > 0.0 { wider[place] += back });
            let wider = Matrix::new(layer.biases.len(), wider);
            found.add(index, unfolded, &wider);
            if index > 0 {
                let before = wider.times(&layer.weights.transposed()).collect();
                back = fold(&Matrix::new(layer.weights.columns, before), *side, *channels);
            }
        }
    }
}

/// Samples that go through the network together: what they need stays near the processor.
const TOGETHER: usize = 16;

/// Stochastic gradient descent through some of the samples; gives the loss and how many digits were right.
fn descend(layers: &mut [Layer], pictures: &[Vec<f32>], digits: &[usize], batch: usize) -> (f64, usize) {
    let (mut loss, mut right) = (0.0, 0);
    let mut found = Gradients::none(layers);
    for (pictures, digits) in pictures.chunks(batch).zip(digits.chunks(batch)) {
        found.clear();
        for (pictures, digits) in pictures.chunks(TOGETHER).zip(digits.chunks(TOGETHER)) {
            learn_from(layers, pictures, digits, &mut found);
        }
        let step = 0.1 / pictures.len() as f32;
        for (layer, found) in layers.iter_mut().zip(&found.layers) {
            let down = |(value, gradient): (&mut f32, &f32)| *value -= step * gradient;
            layer.weights.values.iter_mut().zip(&found.weights.values).for_each(down);
            layer.biases.iter_mut().zip(&found.biases).for_each(down);
        }
        loss += found.loss;
        right += found.right;
    }
    (loss, right)
}

/// One pass over all samples: each thread trains a copy of the network on its share of them, and the copies
/// are averaged (Zinkevich et al., 2010). Gives the mean loss and the share of digits that were right.
fn epoch(layers: &mut [Layer], pictures: &[Vec<f32>], digits: &[usize], batch: usize, threads: usize) -> (f64, f64) {
    let share = pictures.len().div_ceil(threads);
    let mut copies: Vec<Vec<Layer>> = pictures.chunks(share).map(|_| layers.to_vec()).collect();
    let judged: Vec<(f64, usize)> = std::thread::scope(|scope| {
        let shares = pictures.chunks(share).zip(digits.chunks(share)).zip(&mut copies);
        let workers: Vec<_> = shares
            .map(|((pictures, digits), copy)| scope.spawn(move || descend(copy, pictures, digits, batch)))
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    for (index, layer) in layers.iter_mut().enumerate() {
        let mean = |values: &mut [f32], of: &dyn Fn(&Layer) -> &[f32]| {
            for (place, value) in values.iter_mut().enumerate() {
                *value = copies.iter().map(|copy| of(&copy[index])[place]).sum::<f32>() / copies.len() as f32;
            }
        };
        mean(&mut layer.weights.values, &|copy| &copy.weights.values);
        mean(&mut layer.biases, &|copy| &copy.biases);
    }
    let (loss, right) = judged.iter().fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
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
        layers.push(Layer::new(PLACES * before, channels, &mut chance));
        (side, before) = (side / 2, channels);
    }
    layers.push(Layer::new(side * side * before, DIGITS, &mut chance));
    for number in 1..=epochs {
        let started = Instant::now();
        let (loss, right) = epoch(&mut layers, &pictures, &digits, batch, threads);
        let seconds = started.elapsed().as_secs_f64();
        println!("epoch {number}: loss {loss:.4}, right {:.1} %, epoch_seconds = {seconds:.6}", 100.0 * right);
    }
    println!("trained");
    ExitCode::SUCCESS
}
