//! Synthetic programs with known laws, and tables of their runs.

#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;

use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};

/// A small generator of reproducible noise.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        // Far apart, so that no two seeds walk through the same numbers.
        Noise((seed ^ 0x2545_F491_4F6C_DD1D).wrapping_mul(0xD134_2543_DE82_EF95).rotate_left(31))
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform().max(1e-300), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

pub fn columns(names: &[&str]) -> Vec<Column> {
    names.iter().map(|name| Column { name: (*name).to_owned() }).collect()
}

pub fn row(cells: Vec<Value>, target: f64, scale: Scale, group: u64) -> Row {
    Row { cells: cells.into_iter().map(Some).collect(), observed: Observed::Exact(target), scale, group }
}

pub fn case(pairs: &[(&str, Value)]) -> BTreeMap<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// An Euler-like sweep: two methods with exponents of their own, a start-up time, threads.
pub fn sweep(seed: u64, noise: f64, repetitions: u64) -> Dataset {
    let mut random = Noise::new(seed);
    let mut rows = Vec::new();
    let mut group = 0;
    let mut add = |sizes: &[i64], scale: Scale, repetitions: u64| {
        for &n in sizes {
            for method in ["pow", "sum"] {
                for threads in [1, 2] {
                    group += 1;
                    for _ in 0..repetitions {
                        let seconds = law(n as f64, method, f64::from(threads));
                        let cells =
                            vec![Value::Integer(n), Value::from(method), Value::Integer(threads.into())];
                        rows.push(row(cells, seconds * (noise * random.normal()).exp(), scale, group));
                    }
                }
            }
        }
    };
    add(&[1000, 2000, 4000, 8000, 16000, 32000], Scale::Sd, repetitions);
    add(&[64000, 128000], Scale::Fs, repetitions);
    add(&[96000, 128000, 192000], Scale::Test, repetitions);
    Dataset::new(Target::Walltime, columns(&["n", "method", "threads"]), rows).unwrap()
}

pub fn law(n: f64, method: &str, threads: f64) -> f64 {
    let work = if method == "pow" { 4e-7 * n.powf(1.4) } else { 1e-6 * n.powf(1.1) };
    0.002 + work * threads.powf(-0.9)
}

/// How a run of the Euler design is disturbed: standard deviation of the noise, share of the runs
/// that something else slowed down by 10 to 50 %.
#[derive(Clone, Copy)]
pub struct Disturbance {
    pub noise: f64,
    pub share: f64,
}

/// The design of `examples/euler` (12 small configurations and 2 full-scale ones, each twice; 4 cases
/// to predict) for a target of the given law of method, n and precision.
pub fn euler(
    seed: u64,
    target: Target,
    disturbance: Disturbance,
    law: impl Fn(&str, f64, f64) -> f64,
) -> Dataset {
    let mut random = Noise::new(seed);
    let mut rows = Vec::new();
    let mut group = 0;
    let mut add = |sizes: &[i64], precisions: &[i64], scale: Scale, repetitions: u64| {
        for &n in sizes {
            for &precision in precisions {
                for method in ["factorial", "pow"] {
                    group += 1;
                    for _ in 0..repetitions {
                        let mut value = law(method, n as f64, precision as f64);
                        value *= (disturbance.noise * random.normal()).exp();
                        let (slowed, how_much) = (random.uniform(), random.uniform());
                        if slowed < disturbance.share {
                            value *= 1.1 + 0.4 * how_much;
                        }
                        let cells = vec![Value::from(method), Value::Integer(n), Value::Integer(precision)];
                        rows.push(row(cells, value, scale, group));
                    }
                }
            }
        }
    };
    add(&[20_000, 40_000, 80_000], &[300, 600], Scale::Sd, 2);
    add(&[160_000], &[1200], Scale::Fs, 2);
    add(&[320_000], &[1200, 1500], Scale::Test, 1);
    Dataset::new(target, columns(&["method", "n", "precision"]), rows).unwrap()
}
