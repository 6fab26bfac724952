//! A made-up experiment with realistic numbers: an integrator whose time grows a little faster than
//! its size, with two methods, measured on small sizes and tested on large ones.

use std::collections::BTreeMap;

use harp_core::{
    Allocation, Bytes, Cache, Evidence, Host, Money, Observed, OutOfRange, Scale, Scores, Seconds, Target,
    Value,
};
use harp_report::{
    AxisView, CandidateView, CandidatesView, CaseView, CurvePoint, Estimate, MeasuredPoint, OptionView,
    PlanView, Provenance, Quantity, RunView, ScalingSeries, ScalingView, SweepView, TargetView, TestPoint,
};

const METHODS: [(&str, f64); 2] = [("exp", 5.2e-6), ("pow", 1.7e-5)];

/// Noise that is the same on every machine: a fraction between -1 and 1.
fn noise(seed: u64) -> f64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Four digits: the same on every machine, whatever its mathematical library does with the rest.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

fn seconds(rate: f64, n: f64) -> f64 {
    rounded(0.004 + rate * n.powf(1.04))
}

fn memory(n: f64) -> f64 {
    3.1e6 + 24.0 * n
}

fn features(method: &str, n: f64) -> BTreeMap<String, Value> {
    BTreeMap::from([("method".to_owned(), Value::from(method)), ("n".to_owned(), Value::Integer(n as i64))])
}

const SMALL: [f64; 6] = [500.0, 1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0];
const LARGE: [f64; 2] = [50_000.0, 100_000.0];
const TESTS: [f64; 5] = [80_000.0, 150_000.0, 200_000.0, 400_000.0, 1_000_000.0];

fn series(index: usize, truth: &dyn Fn(f64) -> f64, spread: f64) -> ScalingSeries {
    let seed = 1000 * index as u64;
    let mut measured = Vec::new();
    for (i, &n) in SMALL.iter().enumerate() {
        for repetition in 0..3 {
            let y = truth(n) * (1.0 + spread * 0.5 * noise(seed + i as u64 * 10 + repetition));
            measured.push(MeasuredPoint { x: n, y: Observed::Exact(y), scale: Scale::Sd, moved: false });
        }
    }
    for (i, &n) in LARGE.iter().enumerate() {
        let y = truth(n) * (1.0 + spread * 0.3 * noise(seed + 500 + i as u64));
        measured.push(MeasuredPoint { x: n, y: Observed::Exact(y), scale: Scale::Fs, moved: false });
    }
    let estimate = |n: f64| {
        let wide = spread * (0.6 + 0.25 * (n / 20_000.0).max(1.0).ln());
        let value = truth(n) * 1.03;
        Estimate::new(rounded(value), rounded(value / (1.0 + wide)), rounded(value * (1.0 + wide)))
    };
    let curve = (0..=80).map(|step| {
        let x = 500.0 * f64::powf(2400.0, f64::from(step) / 80.0);
        CurvePoint { x, y: estimate(x) }
    });
    let tests = TESTS.iter().enumerate().map(|(i, &x)| {
        let off = if index == 1 && i == 4 { 1.55 } else { 1.0 + spread * 0.6 * noise(seed + 700 + i as u64) };
        TestPoint { x, predicted: estimate(x), actual: Some(Observed::Exact(rounded(truth(x) * off))) }
    });
    ScalingSeries {
        name: METHODS[index].0.to_owned(),
        measured,
        curve: curve.collect(),
        tests: tests.collect(),
    }
}

pub fn scaling() -> ScalingView {
    ScalingView {
        title: "Walltime grows a little faster than n".to_owned(),
        subtitle: "euler, dt = 0.001, 1 core of an AMD EPYC 7763".to_owned(),
        x: AxisView::logarithmic("n", Quantity::Number),
        y: AxisView::logarithmic("walltime", Quantity::Seconds),
        coverage: 0.9,
        measured_up_to: Some(100_000.0),
        series: METHODS
            .iter()
            .enumerate()
            .map(|(index, &(_, rate))| series(index, &|n| seconds(rate, n), 0.12))
            .collect(),
    }
}

fn cases(view: &ScalingView) -> Vec<CaseView> {
    let mut cases = Vec::new();
    for series in &view.series {
        for test in &series.tests {
            let request = rounded(test.predicted.value * 1.12);
            let mut case =
                CaseView::from_parts(features(&series.name, test.x), test.predicted, request, test.actual);
            if test.x > 100_000.0 {
                case.out_of_range.push(OutOfRange {
                    feature: "n".to_owned(),
                    value: Some(Value::Integer(test.x as i64)),
                    measured: Some((500.0, 100_000.0)),
                    known: vec![],
                });
            }
            cases.push(case);
        }
    }
    cases
}

pub fn candidates(target: Target) -> CandidatesView {
    let mut all = Vec::new();
    for (r, (regressor, base)) in
        [("linear", 6.4), ("tree", 31.0), ("network 128-64-1", 14.0), ("network 16-8-1", 11.0)]
            .iter()
            .enumerate()
    {
        for (m, mix) in ["sd", "sd+25%fs", "sd+50%fs", "sd+75%fs"].iter().enumerate() {
            let seed = (r * 10 + m) as u64;
            let mape = base
                * (1.9 - 0.35 * m as f64)
                * (1.0 + 0.2 * noise(seed))
                * if r == 1 && m == 0 { 4.0 } else { 1.0 };
            let upp = (30.0 + 30.0 * noise(seed + 3) - 8.0 * m as f64).max(0.0);
            let chosen = r == 0 && m == 3;
            all.push(CandidateView {
                regressor: (*regressor).to_owned(),
                mix: (*mix).to_owned(),
                adjusted_by: String::new(),
                adjustment: Some(1.0 + mape / 200.0),
                scores: Some(Scores {
                    cases: 12,
                    mse: 0.02 * mape,
                    mae: 0.004 * mape,
                    mape,
                    median_ape: mape * 0.8,
                    upp: if chosen { 0.0 } else { upp },
                    up_mape: (!chosen && upp > 0.0).then_some(mape * 0.6),
                    ov_mape: Some(mape * 1.1),
                }),
                reserved_ratio: Some(1.2 + mape / 50.0),
                cost: Some(1.0 + mape / 80.0),
                reward: Some(90.0 - mape / 2.0),
                chosen,
                formula: None,
                note: None,
            });
        }
    }
    CandidatesView {
        target,
        policy: "wtm".to_owned(),
        reason: "Lowest share of under-predictions (0 %); among the two tied at that, the smaller over-prediction (6.8 %)."
            .to_owned(),
        candidates: all,
    }
}

pub fn plan() -> PlanView {
    let mut options = Vec::new();
    for (node, speed, hourly, cores) in [("epyc", 1.0, 0.0125, 64u32), ("xeon", 0.8, 0.0098, 48)] {
        let mut count = 1;
        while count <= cores {
            let time = 5400.0 / speed * (0.06 + 0.94 / f64::from(count));
            let price = time / 3600.0 * hourly * f64::from(count);
            let problems = if time > 3600.0 { vec!["longer than the time limit".to_owned()] } else { vec![] };
            options.push(OptionView {
                allocation: Allocation {
                    cores: Some(count),
                    node_type: Some(node.to_owned()),
                    ..Allocation::default()
                },
                walltime: Estimate::new(time, time * 0.86, time * 1.18),
                memory: Some(Estimate::new(2.4e9, 2.2e9, 2.7e9)),
                request_time: Seconds(time * 1.25),
                request_memory: Some(Bytes(3 << 30)),
                price: Money(price),
                price_ceiling: Some(Money(price * 1.25)),
                risk: 0.021,
                problems,
                on_front: false,
                knee: false,
                chosen: false,
                also_on: Vec::new(),
                default: node == "epyc" && count == cores,
                extrapolates: count > 16,
            });
            count *= 2;
        }
    }
    let beaten = |one: &OptionView, other: &OptionView| {
        other.walltime.value <= one.walltime.value && other.price.0 < one.price.0
            || other.walltime.value < one.walltime.value && other.price.0 <= one.price.0
    };
    for index in 0..options.len() {
        options[index].on_front = !options.iter().any(|other| beaten(&options[index], other));
    }
    for option in &mut options {
        let (cores, node) = (option.allocation.cores, option.allocation.node_type.as_deref());
        option.chosen = cores == Some(4) && node == Some("xeon");
        option.knee = cores == Some(8) && node == Some("epyc");
    }
    PlanView {
        features: features("pow", 1_000_000.0),
        site: "example-centre".to_owned(),
        money_unit: "€".to_owned(),
        coverage: 0.9,
        max_time: Some(Seconds(3600.0)),
        max_cost: None,
        options,
        reasons: vec![
            "Of the 11 allocations that finish within 1 h, it is the cheapest.".to_owned(),
            "Half the cores would need 53 min more; twice the cores would save 14 min and cost 12 % more.".to_owned(),
        ],
        job_script: Some(
            "#!/bin/bash\n#SBATCH --job-name=euler\n#SBATCH --nodes=1\n#SBATCH --cpus-per-task=4\n#SBATCH --mem=3072M\n#SBATCH --time=00:45:32\n#SBATCH --constraint=xeon\n\nsrun ./euler --method pow --n 1000000 > \"out.$SLURM_JOB_ID\" && echo done\n"
                .to_owned(),
        ),
        warnings: vec![],
        backtest: None,
    }
}

pub fn run() -> RunView {
    let scaling = scaling();
    let evidence = Evidence { scaled_down_runs: 36, full_scale_runs: 4, validation_runs: 12 };
    let mut walltime = TargetView::new(Target::Walltime, 0.9, evidence.clone(), cases(&scaling));
    walltime.candidates = Some(candidates(Target::Walltime));
    walltime.scaling = vec![scaling];
    let mut memory_view = self::scaling();
    memory_view.title = "Peak memory is a base plus 24 bytes an element".to_owned();
    memory_view.y = AxisView::logarithmic("peak memory", Quantity::Bytes);
    memory_view.series = vec![series(0, &memory, 0.05)];
    let mut memory = TargetView::new(Target::PeakMemory, 0.9, evidence, cases(&memory_view));
    memory_view.series[0].name = String::new();
    memory.scaling = vec![memory_view];
    RunView {
        application: "euler".to_owned(),
        sweep: SweepView {
            scaled_down: 36,
            full_scale: 4,
            test: 10,
            failed: 1,
            censored: 2,
            time_spent: Seconds(412.0),
            money_spent: Some(Money(0.0014)),
        },
        targets: vec![walltime, memory],
        plan: Some(plan()),
        hosts: vec![Host {
            name: "node042".to_owned(),
            processor: Some("AMD EPYC 7763 64-Core Processor".to_owned()),
            cores: Some(64),
            threads: Some(128),
            clock_mhz: Some(3529.0),
            caches: vec![
                Cache { level: 1, size: Bytes(32 << 10) },
                Cache { level: 2, size: Bytes(512 << 10) },
                Cache { level: 3, size: Bytes(32 << 20) },
            ],
            memory: Some(Bytes(256 << 30)),
            gpus: vec![],
            kernel: Some("Linux 6.1.0".to_owned()),
        }],
        warnings: vec![
            "8 of 10 test cases lie outside the measured range of n (500 to 100,000).".to_owned(),
            "1 run failed and was not learned from.".to_owned(),
        ],
        provenance: Provenance {
            harp_version: "0.1.0".to_owned(),
            seed: 42,
            made: "2025-03-01 12:00 UTC".to_owned(),
            experiment: "harp.toml".to_owned(),
            command: "harp run harp.toml --seed 42".to_owned(),
            details: vec![
                ("policy".to_owned(), "wtm".to_owned()),
                ("site".to_owned(), "example-centre".to_owned()),
            ],
        },
    }
}
