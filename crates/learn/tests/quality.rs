//! How good predictions are on programs whose law is known.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use common::{Noise, case, columns, row, sweep};
use harp_core::{Dataset, Policy, Scale, Target, Value};
use harp_learn::{BuildOptions, ModelKind, build};

fn options(policy: Policy) -> BuildOptions {
    BuildOptions { policy, ..BuildOptions::default() }
}

#[test]
fn the_usual_policy_is_accurate_and_rarely_under() {
    let (mut mape, mut upp, mut sweeps) = (0.0, 0.0, 0.0);
    for seed in 0..12 {
        let dataset = sweep(seed, 0.04, 1);
        let model = build(&dataset, &BuildOptions::default()).unwrap();
        let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap();
        let scores = evaluation.request.unwrap();
        assert!(scores.mape < 30.0, "seed {seed}: {scores:?}\n{}", model.explanation);
        assert!(evaluation.estimate.unwrap().mape < 12.0, "seed {seed}\n{}", model.explanation);
        mape += scores.mape;
        upp += scores.upp;
        sweeps += 1.0;
    }
    println!("request: MAPE {:.1} UPP {:.1}", mape / sweeps, upp / sweeps);
    assert!(mape / sweeps < 15.0, "MAPE {}", mape / sweeps);
    assert!(upp / sweeps <= 10.0, "UPP {}", upp / sweeps);
}

#[test]
fn the_error_policy_is_close_and_prints_the_law() {
    let dataset = sweep(3, 0.02, 2);
    let model = build(&dataset, &options(Policy::Mae)).unwrap();
    let scores = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap().estimate.unwrap();
    assert!(scores.mape < 6.0, "{scores:?} {}", model.explanation);
    assert!(matches!(model.winner().unwrap().model, ModelKind::PowerLaw | ModelKind::CurvedPowerLaw));
    assert!(model.formula.unwrap().starts_with("T ≈ "));
}

#[test]
fn the_cost_policy_reserves_little() {
    let mut reserved = 0.0;
    for seed in 0..8 {
        let dataset = sweep(seed, 0.05, 1);
        let model = build(&dataset, &options(Policy::Cost)).unwrap();
        let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap();
        reserved += evaluation.reserved_ratio.unwrap() / 8.0;
    }
    println!("cost: reserved {reserved:.2}");
    assert!(reserved < 1.35, "{reserved}");
}

/// Intervals hold what they say, over many programs, noises and amounts of evidence.
#[test]
fn ninety_percent_intervals_cover_the_truth() {
    let (mut inside, mut cases) = (0.0, 0.0);
    let mut by_evidence = [0.0; 4];
    for seed in 0..60u64 {
        let mut random = Noise::new(seed + 1000);
        let (exponent, speedup) = (0.8 + 2.0 * random.uniform(), 0.5 + 0.5 * random.uniform());
        let noise = 0.02 + 0.15 * random.uniform();
        let full_scale = [0, 2, 5, 12][(seed % 4) as usize];
        let mut rows = Vec::new();
        let mut add = |count: u64, low: f64, high: f64, scale: Scale| {
            for _ in 0..count {
                let n = (low.ln() + random.uniform() * (high / low).ln()).exp().round();
                let threads = 1 + (random.uniform() * 8.0) as i64;
                let truth = 1e-5 * n.powf(exponent) * (threads as f64).powf(-speedup);
                let target = truth * (noise * random.normal()).exp();
                let group = rows.len() as u64;
                rows.push(row(vec![Value::Real(n), Value::Integer(threads)], target, scale, group));
            }
        };
        add(24, 100.0, 2000.0, Scale::Sd);
        add(full_scale, 5000.0, 20000.0, Scale::Fs);
        add(12, 5000.0, 20000.0, Scale::Test);
        let dataset = Dataset::new(Target::Walltime, columns(&["n", "threads"]), rows).unwrap();
        let model = build(&dataset, &options(Policy::Cost)).unwrap();
        let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap();
        inside += evaluation.coverage_90.unwrap() / 100.0 * 12.0;
        by_evidence[(seed % 4) as usize] += evaluation.coverage_90.unwrap() / 15.0;
        cases += 12.0;
    }
    println!(
        "coverage {:.1} %, with 0, 2, 5 and 12 full-scale runs {by_evidence:.0?}",
        100.0 * inside / cases
    );
    assert!(inside / cases >= 0.85, "{}", inside / cases);
}

#[test]
fn affine_and_constant_memory_are_learned() {
    let table = |memory: &dyn Fn(f64) -> f64| {
        let mut rows = Vec::new();
        for (group, n) in [1e3, 2e3, 4e3, 8e3, 1.6e4, 3.2e4, 1e5, 2e5].into_iter().enumerate() {
            let scale = if n < 9e4 { Scale::Sd } else { Scale::Fs };
            rows.push(row(vec![Value::Real(n)], memory(n), scale, group as u64));
        }
        Dataset::new(Target::PeakMemory, columns(&["n"]), rows).unwrap()
    };
    for policy in Policy::ALL {
        let affine = build(&table(&|n| 4e6 + 8.0 * n), &options(policy)).unwrap();
        let predicted = affine.predict(&case(&[("n", Value::Real(1.5e5))])).unwrap();
        let truth = 4e6 + 8.0 * 1.5e5;
        assert!(
            (predicted.estimate / truth - 1.0).abs() < 0.1,
            "{policy} {predicted:?} {}",
            affine.explanation
        );
        let constant = build(&table(&|_| 3.5e6), &options(policy)).unwrap();
        let predicted = constant.predict(&case(&[("n", Value::Real(1.5e5))])).unwrap();
        assert!((predicted.estimate / 3.5e6 - 1.0).abs() < 0.03, "{policy} {predicted:?}");
        // However steady it is, allocators need room.
        assert!(predicted.request >= 1.05 * predicted.estimate, "{policy} {predicted:?}");
    }
}

#[test]
fn extrapolation_is_said_and_widens() {
    let model = build(&sweep(5, 0.03, 1), &options(Policy::Mae)).unwrap();
    let predict = |n: i64, method: &str| {
        model
            .predict(&case(&[
                ("n", Value::Integer(n)),
                ("method", method.into()),
                ("threads", Value::Integer(1)),
            ]))
            .unwrap()
    };
    let width = |n: i64| {
        let (low, high) = predict(n, "pow").distribution.interval(0.9);
        (high / low).ln()
    };
    assert!(predict(100_000, "pow").out_of_range.is_empty());
    let far = predict(10_000_000, "pow");
    assert_eq!(far.out_of_range[0].feature, "n");
    assert_eq!(far.out_of_range[0].measured, Some((1000.0, 128000.0)));
    assert!(width(1_000_000) > width(100_000) && width(100_000_000) > width(10_000_000));
    let unknown = predict(100_000, "series");
    assert_eq!(unknown.out_of_range[0].known, ["pow", "sum"]);
    let (low, high) = unknown.distribution.interval(0.9);
    assert!((high / low).ln() > 2.0 * width(100_000));
}

/// Of very many runs a part teaches, and as well.
#[test]
fn very_many_runs_are_thinned_not_refused() {
    let mut random = Noise::new(3);
    let rows = (0..30_000u64).map(|index| {
        let full_scale = index % 50 == 0;
        let n = (1 + (index * 7919) % 1000) as i64 * if full_scale { 20 } else { 1 };
        let seconds = 0.5 + 2e-4 * (n as f64).powf(1.3) * (0.1 * random.normal()).exp();
        row(vec![Value::Integer(n)], seconds, if full_scale { Scale::Fs } else { Scale::Sd }, index)
    });
    let dataset = Dataset::new(Target::Walltime, columns(&["n"]), rows.collect()).unwrap();
    let models = vec![ModelKind::Linear, ModelKind::PowerLaw, ModelKind::Posynomial];
    let model = build(&dataset, &BuildOptions { models, ..BuildOptions::default() }).unwrap();
    assert!((500..=600).contains(&model.evidence.full_scale_runs), "{:?}", model.evidence);
    assert!((18_000..=20_000).contains(&model.evidence.scaled_down_runs), "{:?}", model.evidence);
    assert!(model.warnings[0].starts_with("of 30000 runs"), "{:?}", model.warnings);
    let estimate = model.predict(&case(&[("n", Value::Integer(18_000))])).unwrap().estimate;
    let truth = 0.5 + 2e-4 * 18_000f64.powf(1.3);
    assert!((estimate / truth - 1.0).abs() < 0.05, "{estimate} {truth}");
}

/// Every how many steps a file is written, never or every ten, is a power when it is taken on to fifty:
/// as a factor it entered five times and predictions were 200 times too large.
#[test]
fn a_number_seen_at_zero_and_once_more_does_not_explode_beyond() {
    let mut random = Noise::new(11);
    let mut rows = Vec::new();
    for (index, n) in [40_i64, 60, 80, 100, 120, 150].into_iter().enumerate() {
        for steps in [20_i64, 50, 100] {
            for every in [0_i64, 10] {
                let n_cubed = (n as f64).powi(3);
                let writing = if every == 0 { 1.0 } else { 1.8 };
                let seconds = 2e-3 + 2e-9 * n_cubed * steps as f64 * writing;
                let cells = vec![Value::Integer(n), Value::Integer(steps), Value::Integer(every)];
                let noisy = seconds * (0.05 * random.normal()).exp();
                rows.push(row(cells, noisy, Scale::Sd, (index as i64 * 1000 + steps * 2 + every) as u64));
            }
        }
    }
    let dataset = Dataset::new(Target::Walltime, columns(&["n", "steps", "every"]), rows).unwrap();
    let models = vec![ModelKind::PowerLaw, ModelKind::Posynomial];
    let model = build(&dataset, &BuildOptions { models, ..BuildOptions::default() }).unwrap();
    let at = |every: i64| {
        let case =
            case(&[("n", Value::Integer(150)), ("steps", Value::Integer(100)), ("every", every.into())]);
        model.predict(&case).unwrap().estimate
    };
    assert!(at(50) < 3.0 * at(10), "{} {}", at(50), at(10));
}

/// Programs that slow down once they outgrow the cache, seen only inside it: intervals say that larger
/// runs may take longer, more than that they may be faster.
#[test]
fn without_full_scale_runs_intervals_reach_upwards() {
    let mut random = Noise::new(4);
    let sizes = [100_i64, 140, 200, 280, 400, 560];
    let rows: Vec<_> = sizes
        .into_iter()
        .flat_map(|n| [1_i64, 2, 4].map(|steps| (n, steps)))
        .enumerate()
        .map(|(index, (n, steps))| {
            let seconds = 1e-6 * (n * n * steps) as f64 * (0.1 * random.normal()).exp();
            row(vec![Value::Integer(n), Value::Integer(steps)], seconds, Scale::Sd, index as u64)
        })
        .collect();
    let dataset = Dataset::new(Target::Walltime, columns(&["n", "steps"]), rows).unwrap();
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    let sides = |n: i64| {
        let case = case(&[("n", Value::Integer(n)), ("steps", Value::Integer(2))]);
        let said = model.predict(&case).unwrap();
        let (low, high) = said.distribution.interval(0.9);
        ((high / said.estimate).ln(), (said.estimate / low).ln())
    };
    let (upwards, downwards) = sides(4000);
    assert!(upwards >= 1.15 * downwards, "{upwards} {downwards}");
}

/// One full-scale run is needed to judge, and every model that learns from small runs is judged by it.
#[test]
fn with_one_full_scale_run_every_kind_of_law_competes() {
    let mut random = Noise::new(1);
    let mut rows = Vec::new();
    for n in [100_i64, 200, 400, 800, 6400] {
        for cores in [1_i64, 2, 4] {
            let scale = if n == 6400 { Scale::Fs } else { Scale::Sd };
            if scale == Scale::Fs && cores > 1 {
                continue;
            }
            let seconds = (5.0 + 1e-5 * (n * n) as f64 / cores as f64) * (0.02 * random.normal()).exp();
            let cells = vec![Value::Integer(n), Value::Integer(cores)];
            rows.push(row(cells, seconds, scale, rows.len() as u64));
        }
    }
    let dataset = Dataset::new(Target::Walltime, columns(&["n", "cores"]), rows).unwrap();
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    for kind in [ModelKind::Posynomial, ModelKind::Phases, ModelKind::TrendProcess] {
        let mut candidates = model.candidates.iter();
        assert!(candidates.any(|row| row.model == kind && row.scores.is_some()), "{kind}");
    }
    let case = case(&[("n", Value::Integer(6400)), ("cores", Value::Integer(4))]);
    let said = model.predict(&case).unwrap().estimate;
    assert!((said / (5.0 + 1e-5 * 6400f64.powi(2) / 4.0) - 1.0).abs() < 0.15, "{said}");
}

/// A cubic phase that is a sixth of the largest run seen, and nearly all of one eight times that size: the runs do
/// not tell it from a square, and the interval says so.
#[test]
fn a_phase_that_hardly_shows_in_small_runs_is_within_the_interval() {
    let (mut inside, mut cases) = (0, 0);
    let law = |n: i64, cores: i64| 0.01 * n as f64 + 2e-9 * (n as f64).powi(3) / cores as f64;
    for seed in 0..10 {
        let mut random = Noise::new(seed);
        let sizes = [100_i64, 160, 250, 400, 630, 1000];
        let rows: Vec<_> = sizes
            .into_iter()
            .flat_map(|n| [1_i64, 2, 4].map(|cores| (n, cores)))
            .enumerate()
            .flat_map(|(group, run)| [(group, run); 2])
            .map(|(group, (n, cores))| {
                let seconds = law(n, cores) * (0.03 * random.normal()).exp();
                row(vec![Value::Integer(n), Value::Integer(cores)], seconds, Scale::Sd, group as u64)
            })
            .collect();
        let dataset = Dataset::new(Target::Walltime, columns(&["n", "cores"]), rows).unwrap();
        let model = build(&dataset, &BuildOptions::default()).unwrap();
        for n in [2000, 4000, 8000] {
            for cores in [1, 2, 4] {
                let case = case(&[("n", Value::Integer(n)), ("cores", Value::Integer(cores))]);
                let (low, high) = model.predict(&case).unwrap().distribution.interval(0.9);
                cases += 1;
                inside += usize::from((low..=high).contains(&law(n, cores)));
            }
        }
    }
    assert!(10 * inside >= 8 * cases, "{inside} of {cases}");
}

/// A start of 50 ms before work of a few says little of how the work grows; work of seconds does.
#[test]
fn runs_that_are_mostly_start_up_are_said_to_be() {
    let warnings = |work: f64| {
        let mut random = Noise::new(2);
        let rows = (0..24u64).map(|index| {
            let n = 10 + 5 * index as i64;
            let seconds = (0.05 + work * (n as f64 / 100.0).powi(2)) * (0.02 * random.normal()).exp();
            row(vec![Value::Integer(n)], seconds, Scale::Sd, index)
        });
        let dataset = Dataset::new(Target::Walltime, columns(&["n"]), rows.collect()).unwrap();
        build(&dataset, &BuildOptions::default()).unwrap().warnings
    };
    let said = |work: f64| warnings(work).iter().any(|warning| warning.starts_with("start-up, about"));
    assert!(said(0.03), "{:?}", warnings(0.03));
    assert!(!said(3.0), "{:?}", warnings(3.0));
}
