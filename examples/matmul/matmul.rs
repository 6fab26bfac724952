//! The product of two square matrices on several threads.
//!
//! `matmul --size N --threads T`: time grows as N³ / T, memory as 3 · N² · 8 bytes.
//! Build it with `rustc -O matmul.rs`.

use std::process::ExitCode;
use std::time::Instant;

/// Rows and columns worked on together, so that a block of each matrix stays in the cache.
const BLOCK: usize = 64;

fn filled(size: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 24) as f64
    };
    std::iter::repeat_with(next).take(size * size).collect()
}

/// Adds the product of some rows of `left` with `right` to the same rows of the result.
fn multiply_rows(left: &[f64], right: &[f64], result: &mut [f64], size: usize) {
    for middle_block in (0..size).step_by(BLOCK) {
        let middle_end = (middle_block + BLOCK).min(size);
        for (left_row, result_row) in left.chunks_exact(size).zip(result.chunks_exact_mut(size)) {
            for middle in middle_block..middle_end {
                let factor = left_row[middle];
                let right_row = &right[middle * size..][..size];
                for (sum, value) in result_row.iter_mut().zip(right_row) {
                    *sum += factor * value;
                }
            }
        }
    }
}

fn multiply(left: &[f64], right: &[f64], size: usize, threads: usize) -> Vec<f64> {
    let mut result = vec![0.0; size * size];
    let rows_each = size.div_ceil(threads);
    std::thread::scope(|scope| {
        let parts = left.chunks(rows_each * size).zip(result.chunks_mut(rows_each * size));
        for (left_rows, result_rows) in parts {
            scope.spawn(move || multiply_rows(left_rows, right, result_rows, size));
        }
    });
    result
}

fn option(arguments: &[String], name: &str) -> Option<usize> {
    let position = arguments.iter().position(|argument| argument == name)?;
    arguments.get(position + 1)?.parse().ok().filter(|&value| value > 0)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(size), Some(threads)) = (option(&arguments, "--size"), option(&arguments, "--threads")) else {
        eprintln!("usage: matmul --size N --threads T   (both at least 1)");
        return ExitCode::from(2);
    };
    let (left, right) = (filled(size, 1), filled(size, 2));
    let start = Instant::now();
    let product = multiply(&left, &right, size, threads);
    let seconds = start.elapsed().as_secs_f64();
    let trace: f64 = (0..size).map(|i| product[i * size + i]).sum();
    println!("{{\"trace\": {trace}, \"seconds\": {seconds:.6}, \"gflops\": {:.3}}}", 2e-9 * (size as f64).powi(3) / seconds);
    ExitCode::SUCCESS
}
