//! Categories: what is said of a level that was never run.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Noise, columns, row};
use harp_core::{Dataset, Scale, Target, Value};
use harp_learn::{BuildOptions, build};

/// A program with methods whose costs differ by e^(0.8 · normal), some of them never run.
fn methods(seed: u64, known: usize, unknown: usize) -> Dataset {
    let mut random = Noise::new(seed);
    let mut rows = Vec::new();
    for method in 0..known + unknown {
        let factor = (0.8 * random.normal()).exp();
        for n in [100, 200, 400, 800, 1600] {
            let seconds = 1e-4 * f64::from(n).powf(1.3) * factor * (0.02 * random.normal()).exp();
            let scale = if method < known { Scale::Sd } else { Scale::Test };
            let cells = vec![Value::Integer(n.into()), Value::from(format!("m{method}").as_str())];
            rows.push(row(cells, seconds, scale, rows.len() as u64));
        }
    }
    Dataset::new(Target::Walltime, columns(&["n", "method"]), rows).unwrap()
}

/// Intervals of methods never run hold about what they say, however few methods are known.
#[test]
fn another_level_may_lie_anywhere_where_levels_lie() {
    for known in [2, 3, 5] {
        let (mut held, mut all, mut widths) = (0, 0, 0.0);
        for seed in 0..20 {
            let dataset = methods(seed, known, 4);
            let model = build(&dataset, &BuildOptions::default()).unwrap();
            let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap();
            for case in &evaluation.cases {
                let (low, high) = case.prediction.distribution.interval(0.9);
                held += usize::from((low..=high).contains(&case.actual));
                widths += (high / low).ln();
                all += 1;
            }
        }
        let (share, width) = (held as f64 / all as f64, (widths / all as f64).exp());
        assert!((0.8..=0.99).contains(&share), "{known} known levels: {held} of {all} held, {width:.1} wide");
    }
}
