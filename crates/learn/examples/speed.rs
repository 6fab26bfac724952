//! How long building, reading a model file and predicting take.
//!
//! `cargo run --release -p harp-learn --example speed [ROWS FEATURES]`
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};
use harp_learn::{BuildOptions, ModelFile, build};

/// Runs of a program whose time is a product of powers of its features, with 10 % of swinging noise.
fn table(target: Target, rows: u64, features: u64) -> Result<Dataset, Box<dyn Error>> {
    let columns = (0..features).map(|feature| Column { name: format!("f{feature}") }).collect();
    let rows = (0..rows).map(|row| {
        let full_scale = row % 5 == 0;
        let cells: Vec<f64> = (0..features)
            .map(|feature| 1.0 + ((row * 7919 + feature * 104_729 + row * feature * 31) % 97) as f64)
            .map(|value| if full_scale { 10.0 * value } else { value })
            .collect();
        let product: f64 =
            cells.iter().enumerate().map(|(index, x)| x.powf(1.0 / (index + 1) as f64)).product();
        Row {
            cells: cells.into_iter().map(|value| Some(Value::Real(value))).collect(),
            observed: Observed::Exact(product * (1.0 + 0.1 * (row as f64 * 1.7).sin())),
            scale: if full_scale { Scale::Fs } else { Scale::Sd },
            group: row,
        }
    });
    Ok(Dataset::new(target, columns, rows.collect())?)
}

/// `speed ROWS FEATURES`, or the usual sizes.
fn sizes() -> Vec<(u64, u64)> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    match numbers[..] {
        [rows, features] => vec![(rows, features)],
        _ => vec![(32, 4), (64, 4), (650, 12)],
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for (rows, features) in sizes() {
        let started = Instant::now();
        let mut models = Vec::new();
        for target in [Target::Walltime, Target::PeakMemory] {
            models.push(build(&table(target, rows, features)?, &BuildOptions::default())?);
        }
        let built = started.elapsed();
        let text = ModelFile::new("speed", "example", models).to_text()?;
        let started = Instant::now();
        let file = ModelFile::from_text(&text)?;
        let read = started.elapsed();
        let case: BTreeMap<String, Value> =
            (0..features).map(|feature| (format!("f{feature}"), Value::Real(50.0))).collect();
        let started = Instant::now();
        for _ in 0..1000 {
            file.targets[0].predict(&case)?;
        }
        let predicted = started.elapsed() / 1000;
        println!(
            "{rows} runs × {features} features × 2 targets: build {built:.2?}, file {} bytes, read {read:.2?}, \
             predict {predicted:.2?}",
            text.len()
        );
    }
    Ok(())
}
