//! How good predictions are on the design of `examples/euler`, over many draws of its noise.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use common::{Disturbance, euler};
use harp_core::{Dataset, Policy, Scale, Target};
use harp_learn::{BuildOptions, build};

const DRAWS: u64 = 60;

/// What a series of draws gave, percentages.
#[derive(Debug, Default)]
struct Series {
    estimate_mape: f64,
    request_mape: f64,
    request_upp: f64,
    coverage: f64,
    /// Median of high/low of the 90 % interval.
    ratio: f64,
}

fn series(policy: Policy, draw: impl Fn(u64) -> Dataset) -> Series {
    let mut series = Series::default();
    let mut ratios = Vec::new();
    let mut winners: std::collections::BTreeMap<String, usize> = Default::default();
    for seed in 0..DRAWS {
        let dataset = draw(seed);
        let model = build(&dataset, &BuildOptions { policy, ..BuildOptions::default() }).unwrap();
        *winners.entry(model.winner().unwrap().model.to_string()).or_default() += 1;
        let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap();
        let share = 1.0 / DRAWS as f64;
        series.estimate_mape += share * evaluation.estimate.as_ref().unwrap().mape;
        series.request_mape += share * evaluation.request.as_ref().unwrap().mape;
        series.request_upp += share * evaluation.request.as_ref().unwrap().upp;
        series.coverage += share * evaluation.coverage_90.unwrap();
        for case in &evaluation.cases {
            let (low, high) = case.prediction.distribution.interval(0.9);
            ratios.push(high / low);
            assert!(low <= case.prediction.estimate && case.prediction.estimate <= high);
            assert!(case.prediction.request >= case.prediction.estimate);
        }
    }
    ratios.sort_by(f64::total_cmp);
    series.ratio = ratios[ratios.len() / 2];
    println!("{policy} {series:.1?} p90 ratio {:.2} {winners:?}", ratios[ratios.len() * 9 / 10]);
    series
}

fn walltime(seed: u64) -> Dataset {
    let noise = 0.03 + 0.02 * (seed % 5) as f64 / 4.0;
    euler(seed, Target::Walltime, Disturbance { noise, share: 0.1 }, |method, n, precision| match method {
        "factorial" => 0.0005 + 8e-10 * n * precision,
        _ => 0.0005 + 7e-12 * n * precision * precision,
    })
}

fn memory(law: fn(&str, f64, f64) -> f64) -> impl Fn(u64) -> Dataset {
    move |seed| euler(seed, Target::PeakMemory, Disturbance { noise: 0.025, share: 0.0 }, law)
}

#[test]
fn walltime_is_close_and_rarely_under() {
    // The study's own choice, wtm, is offered for comparison and promises nothing.
    for policy in [Policy::Mae, Policy::Cost, Policy::default()] {
        let series = series(policy, walltime);
        // The one model with the smallest error of all is the luckiest too.
        let most_off = if policy == Policy::Mae { 9.0 } else { 8.0 };
        assert!(series.estimate_mape < most_off && series.coverage >= 88.0, "{series:?}");
        assert!(series.ratio < 1.6, "{series:?}");
        // One run in ten is slowed by up to a half here: being rarely killed has its price.
        let (most_over, most_under) = match policy {
            Policy::Cost => (19.0, 8.0),
            Policy::Upp { .. } => (34.0, 5.5),
            Policy::Mae | Policy::Wtm => (100.0, 100.0),
        };
        assert!(series.request_mape < most_over && series.request_upp <= most_under, "{series:?}");
    }
}

#[test]
fn memory_is_close() {
    let laws: [fn(&str, f64, f64) -> f64; 3] =
        [|_, _, _| 2e6, |_, n, _| 2e6 + 8.0 * n, |_, n, precision| 30.0 * n * precision.sqrt()];
    for law in laws {
        let series = series(Policy::default(), memory(law));
        assert!(series.estimate_mape < 4.0 && series.request_mape < 11.0, "{series:?}");
        assert!(series.coverage >= 85.0 && series.request_upp <= 10.0 && series.ratio < 1.2, "{series:?}");
    }
}
