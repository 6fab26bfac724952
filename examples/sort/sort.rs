//! Sorts a file of whole numbers, one a line, into `sorted.txt` in the working directory.
//!
//! `sort FILE` sorts; `sort --make COUNT FILE` writes a file of COUNT numbers to sort, always the
//! same ones. Build it with `rustc -O sort.rs`.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

fn make(count: u64, path: &str) -> Result<(), Failure> {
    if std::path::Path::new(path).exists() {
        return Ok(());
    }
    let mut file = BufWriter::new(File::create(path)?);
    let mut state = count;
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(file, "{}", state >> 24)?;
    }
    Ok(file.flush()?)
}

/// Merge sort from the bottom up, so that the time does not depend on what a library does.
fn merge_sort(mut numbers: Vec<u64>) -> Vec<u64> {
    let mut merged = numbers.clone();
    let mut width = 1;
    while width < numbers.len() {
        for (pair, place) in numbers.chunks(2 * width).zip(merged.chunks_mut(2 * width)) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut l, mut r) = (0, 0);
            for slot in place {
                let take_left = r == right.len() || (l < left.len() && left[l] <= right[r]);
                *slot = if take_left { left[l] } else { right[r] };
                if take_left { l += 1 } else { r += 1 }
            }
        }
        std::mem::swap(&mut numbers, &mut merged);
        width *= 2;
    }
    numbers
}

fn sort(path: &str) -> Result<(), Failure> {
    let start = Instant::now();
    let mut numbers = Vec::new();
    for line in BufReader::new(File::open(path)?).lines() {
        numbers.push(line?.trim().parse::<u64>()?);
    }
    let read = start.elapsed().as_secs_f64();
    let numbers = merge_sort(numbers);
    let sorted = start.elapsed().as_secs_f64();
    let mut file = BufWriter::new(File::create("sorted.txt")?);
    for number in &numbers {
        writeln!(file, "{number}")?;
    }
    file.flush()?;
    println!("read {read:.6} s, sorted {:.6} s, {} numbers", sorted - read, numbers.len());
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["--make", count, path] => count.parse().map_err(Failure::from).and_then(|count| make(count, path)),
        [path] => sort(path),
        _ => Err("usage: sort FILE | sort --make COUNT FILE".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sort: {error}");
            ExitCode::FAILURE
        }
    }
}
