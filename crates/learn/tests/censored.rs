//! Runs killed at a limit teach: they needed at least that.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Noise, case, columns, row};
use harp_core::{Dataset, Observed, Policy, Scale, Target, Value};
use harp_learn::{BuildOptions, build};

/// Time grows with n, and from n = 1000 on twice as fast: what the small runs do not show. The runs
/// at full scale were killed after 60 s, all but the smallest.
fn killed_at_full_scale(with_bounds: bool, seed: u64) -> Dataset {
    let mut random = Noise::new(seed);
    let mut rows = Vec::new();
    let mut group = 0;
    for (sizes, scale) in
        [(vec![100, 200, 400, 600, 800], Scale::Sd), (vec![1000, 2000, 3000, 4000], Scale::Fs)]
    {
        for n in sizes {
            for threads in [1, 2] {
                group += 1;
                let seconds = law(n, threads) * (0.03 * random.normal()).exp();
                let cells = vec![Value::Integer(n), Value::Integer(threads)];
                let mut row = row(cells, seconds, scale, group);
                if seconds > 60.0 {
                    row.observed = Observed::AtLeast(60.0);
                    if !with_bounds {
                        continue;
                    }
                }
                rows.push(row);
            }
        }
    }
    Dataset::new(Target::Walltime, columns(&["n", "threads"]), rows).unwrap()
}

fn law(n: i64, threads: i64) -> f64 {
    let n = n as f64;
    let work = if n < 1000.0 { 0.02 * n } else { 20.0 * (n / 1000.0).powi(2) };
    work / (threads as f64).powf(0.8)
}

#[test]
fn lower_bounds_raise_predictions_that_were_too_low() {
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 1..=6 {
        let says = |with_bounds: bool, n: i64| {
            let dataset = killed_at_full_scale(with_bounds, seed);
            let model =
                build(&dataset, &BuildOptions { policy: Policy::Cost, ..BuildOptions::default() }).unwrap();
            let asked = case(&[("n", Value::Integer(n)), ("threads", Value::Integer(1))]);
            (model.predict(&asked).unwrap().estimate, model.censored_runs)
        };
        let (taught, killed) = says(true, 3000);
        let (untaught, none) = says(false, 3000);
        assert!(killed > 0 && none == 0);
        with += (taught / law(3000, 1)).ln().abs() / 6.0;
        without += (untaught / law(3000, 1)).ln().abs() / 6.0;
    }
    println!("|ln error| with bounds {with:.2}, without {without:.2}");
    assert!(with < 0.8 * without, "with {with} without {without}");
}

/// A bound far below what the finished runs say changes nothing.
#[test]
fn a_bound_that_says_nothing_changes_nothing() {
    let mut rows = Vec::new();
    for index in 1..=12i64 {
        rows.push(row(vec![Value::Integer(index * 100)], index as f64, Scale::Sd, index as u64));
    }
    let plain = Dataset::new(Target::Walltime, columns(&["n"]), rows.clone()).unwrap();
    let mut killed = row(vec![Value::Integer(2000)], 1.0, Scale::Fs, 99);
    killed.observed = Observed::AtLeast(0.01);
    rows.push(killed);
    let bounded = Dataset::new(Target::Walltime, columns(&["n"]), rows).unwrap();
    let estimate = |dataset: &Dataset| {
        let model = build(dataset, &BuildOptions::default()).unwrap();
        model.predict(&case(&[("n", Value::Integer(2000))])).unwrap().estimate
    };
    assert_eq!(estimate(&plain), estimate(&bounded));
}

/// A program that is linear and, beyond what finished, six times as slow; its large runs were killed after 1.5 s.
fn slower_beyond(sizes: &[i64], seed: u64) -> Dataset {
    let mut random = Noise::new(seed);
    let mut rows = Vec::new();
    for (group, &n) in sizes.iter().chain(&[4000, 6000]).enumerate() {
        for _ in 0..2 {
            let seconds = six_times_slower(n) * (0.01 * random.normal()).exp();
            let scale = if n < 4000 { Scale::Sd } else { Scale::Fs };
            let mut row = row(vec![Value::Integer(n)], seconds, scale, group as u64);
            if seconds > 1.5 {
                row.observed = Observed::AtLeast(1.5);
            }
            rows.push(row);
        }
    }
    Dataset::new(Target::Walltime, columns(&["n"]), rows).unwrap()
}

fn six_times_slower(n: i64) -> f64 {
    0.01 + if n > 3000 { 6e-4 } else { 1e-4 } * n as f64
}

/// Bounds neither bend what finished runs say of themselves nor are they contradicted by predictions.
#[test]
fn finished_runs_and_killed_ones_are_both_believed() {
    let few = [200, 400, 700, 1000, 1500, 2500];
    let many = [200, 300, 400, 500, 700, 1000, 1300, 1500, 2000, 2500, 2800, 2900];
    for sizes in [few.as_slice(), many.as_slice()] {
        for seed in 1..=4 {
            let model = build(&slower_beyond(sizes, seed), &BuildOptions::default()).unwrap();
            assert!(model.contradicted().is_some());
            for n in [300, 1000, 2500, 3000, 4000, 6000, 8000] {
                let said = model.predict(&case(&[("n", Value::Integer(n))])).unwrap();
                let (low, high) = said.distribution.interval(0.9);
                let truth = six_times_slower(n);
                assert!(low <= truth && truth <= high, "{n}: {low} to {high}, {truth}");
                assert!(n > 2500 || high / low < 1.3, "{n}: {low} to {high}");
                assert!(n < 4000 || (said.request > 1.5 && low >= 1.0), "{n}: {said:?}");
            }
        }
    }
}
