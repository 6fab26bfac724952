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
#[derive(Clone, Default)]
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

    /// Becomes another one with rows and columns exchanged. Like all below it keeps its memory, so that
    /// nothing is asked of the system while training: how long that takes is never the same twice.
    fn transpose(&mut self, of: &Matrix) {
        self.columns = of.values.len() / of.columns;
        self.values.resize(of.values.len(), 0.0);
        for (row, values) in of.rows().enumerate() {
            for (column, &value) in values.iter().enumerate() {
                self.values[column * self.columns + row] = value;
            }
        }
    }

    /// Becomes the product of two, of which each row of the second is a column. One product is added after
    /// the other, as by hand: slow, but what else the processor does hardly changes how long it takes.
    fn multiply(&mut self, left: &Matrix, right: &Matrix) {
        let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(l, r)| l * r).sum::<f32>();
        self.columns = right.values.len() / right.columns;
        self.values.clear();
        for row in left.rows() {
            self.values.extend(right.rows().map(|column| dot(row, column)));
        }
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

    fn forward(&self, inputs: &Matrix, out: &mut Matrix) {
        out.multiply(inputs, &self.weights);
        for row in out.values.chunks_mut(self.biases.len()) {
            row.iter_mut().zip(&self.biases).for_each(|(value, bias)| *value += bias);
        }
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
    fn add(&mut self, layer: usize, inputs: &Matrix, back: &Matrix, spare: &mut [Matrix; 3]) {
        let [back_by_output, inputs_by_place, found] = spare;
        back_by_output.transpose(back);
        inputs_by_place.transpose(inputs);
        found.multiply(back_by_output, inputs_by_place);
        let sum = &mut self.layers[layer];
        sum.weights.values.iter_mut().zip(&found.values).for_each(|(sum, found)| *sum += found);
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

/// What a layer saw of a sample. Pixels are stored by place, then by channel, with an edge of zeros around
/// them, so that every row of a window is one piece.
#[derive(Default)]
struct Seen {
    side: usize,
    channels: usize,
    edged: Vec<f32>,
    /// The largest of every 2×2 results above 0, and where it was.
    largest: Vec<f32>,
    places: Vec<usize>,
}

impl Seen {
    fn wide(&self) -> usize {
        self.side + WINDOW - 1
    }

    /// Where each row of each pixel's window begins.
    fn window_rows(&self) -> impl Iterator<Item = usize> {
        let (side, wide, channels) = (self.side, self.wide(), self.channels);
        let rows = move |row: usize, column: usize| (row..row + WINDOW).map(move |row| row * wide + column);
        let pixels = (0..side).flat_map(move |row| (0..side).flat_map(move |column| rows(row, column)));
        pixels.map(move |start| start * channels)
    }

    fn take(&mut self, picture: &[f32], side: usize, channels: usize) {
        (self.side, self.channels) = (side, channels);
        let wide = self.wide();
        self.edged.clear();
        self.edged.resize(wide * wide * channels, 0.0);
        for (row, pixels) in picture.chunks(side * channels).enumerate() {
            let start = ((row + WINDOW / 2) * wide + WINDOW / 2) * channels;
            self.edged[start..start + pixels.len()].copy_from_slice(pixels);
        }
    }

    /// The windows, a row for each pixel.
    fn cut(&self, windows: &mut Matrix) {
        windows.columns = PLACES * self.channels;
        windows.values.clear();
        for start in self.window_rows() {
            windows.values.extend_from_slice(&self.edged[start..start + WINDOW * self.channels]);
        }
    }

    fn pool(&mut self, results: &Matrix) {
        let (channels, half) = (results.columns, self.side / 2);
        self.largest.clear();
        self.places.clear();
        for (y, x) in (0..half).flat_map(|y| (0..half).map(move |x| (y, x))) {
            for channel in 0..channels {
                let at = |dy: usize, dx: usize| ((2 * y + dy) * self.side + 2 * x + dx) * channels + channel;
                let larger = |best: usize, &other: &usize| {
                    if results.values[other] > results.values[best] { other } else { best }
                };
                let best = [at(0, 1), at(1, 0), at(1, 1)].iter().fold(at(0, 0), larger);
                self.largest.push(results.values[best].max(0.0));
                self.places.push(best);
            }
        }
    }

    /// What the results before pooling are told: only the largest above 0 had a say.
    fn unpool(&self, told: &[f32], results: &mut Matrix, channels: usize) {
        results.columns = channels;
        results.values.clear();
        results.values.resize(self.side * self.side * channels, 0.0);
        for ((told, value), &place) in told.iter().zip(&self.largest).zip(&self.places) {
            if *value > 0.0 {
                results.values[place] = *told;
            }
        }
    }

    /// What the pixels are told: the sum of what their windows are. They are not needed themselves any more.
    fn fold(&mut self, windows: &Matrix, told: &mut Vec<f32>) {
        self.edged.fill(0.0);
        for (start, window) in self.window_rows().zip(windows.values.chunks(WINDOW * self.channels)) {
            self.edged[start..].iter_mut().zip(window).for_each(|(sum, told)| *sum += told);
        }
        told.clear();
        let (edge, row) = (WINDOW / 2 * self.channels, self.side * self.channels);
        for pixels in self.edged.chunks(self.wide() * self.channels).skip(WINDOW / 2).take(self.side) {
            told.extend_from_slice(&pixels[edge..edge + row]);
        }
    }
}

/// Memory for samples on their way through the network and back.
#[derive(Default)]
struct Memory {
    /// By sample and layer.
    seen: Vec<Vec<Seen>>,
    /// What the dense layer sees and says, a row for each sample, and what the samples are told.
    flat: Matrix,
    scores: Matrix,
    told: Matrix,
    told_picture: Vec<f32>,
    windows: Matrix,
    results: Matrix,
    spare: [Matrix; 3],
}

/// Adds the gradients of some samples.
fn learn_from(layers: &[Layer], pictures: &[Vec<f32>], digits: &[usize], found: &mut Gradients, memory: &mut Memory) {
    let Some((dense, convolutions)) = layers.split_last() else { return };
    let Memory { seen, flat, scores, told, told_picture, windows, results, spare } = memory;
    seen.resize_with(pictures.len().max(seen.len()), Vec::new);
    flat.values.clear();
    for (picture, seen) in pictures.iter().zip(seen.iter_mut()) {
        seen.resize_with(convolutions.len(), Seen::default);
        let (mut side, mut channels) = (SIDE, 1);
        for (index, layer) in convolutions.iter().enumerate() {
            let (before, now) = seen.split_at_mut(index);
            now[0].take(before.last().map_or(picture, |before| &before.largest), side, channels);
            now[0].cut(windows);
            layer.forward(windows, results);
            now[0].pool(results);
            (side, channels) = (side / 2, layer.biases.len());
        }
        flat.columns = side * side * channels;
        flat.values.extend(seen.last().map_or(picture, |last| &last.largest));
    }
    dense.forward(flat, scores);
    scores.values.chunks_mut(DIGITS).zip(digits).for_each(|(scores, &digit)| found.judge(scores, digit));
    found.add(convolutions.len(), flat, scores, spare);
    spare[0].transpose(&dense.weights);
    told.multiply(scores, &spare[0]);
    for (seen, told) in seen.iter_mut().zip(told.rows()) {
        told_picture.clear();
        told_picture.extend_from_slice(told);
        for (index, (layer, seen)) in convolutions.iter().zip(seen).enumerate().rev() {
            seen.unpool(told_picture, results, layer.biases.len());
            seen.cut(windows);
            found.add(index, windows, results, spare);
            if index > 0 {
                spare[0].transpose(&layer.weights);
                windows.multiply(results, &spare[0]);
                seen.fold(windows, told_picture);
            }
        }
    }
}

/// Samples that go through the network together: what they need stays near the processor.
const TOGETHER: usize = 16;

/// Stochastic gradient descent through some of the samples; gives the loss and how many digits were right.
fn descend(layers: &mut [Layer], pictures: &[Vec<f32>], digits: &[usize], batch: usize) -> (f64, usize) {
    let (mut loss, mut right) = (0.0, 0);
    let (mut found, mut memory) = (Gradients::none(layers), Memory::default());
    for (pictures, digits) in pictures.chunks(batch).zip(digits.chunks(batch)) {
        found.clear();
        for (pictures, digits) in pictures.chunks(TOGETHER).zip(digits.chunks(TOGETHER)) {
            learn_from(layers, pictures, digits, &mut found, &mut memory);
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
