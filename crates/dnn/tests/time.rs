//! Times against published trainings and against what must hold of any.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use harp_dnn::gpu::{Gpu, kinds};
use harp_dnn::read::preset;
use harp_dnn::time::{Epochs, Interconnect, MeasuredStep, Plan, Time, estimate, learned, usual, work};
use harp_dnn::{Network, Parallel, Precision, Recompute, Training, Zero};

fn gpu(name: &str) -> &'static Gpu {
    kinds(name)[0]
}

fn network(name: &str) -> Network {
    preset(name, None).unwrap().unwrap()
}

fn plan(gpu: &'static Gpu, samples: u64) -> Plan<'static> {
    Plan {
        gpu,
        network: Interconnect { bandwidth: 200.0, latency: 5e-6 },
        efficiency: usual(true),
        samples,
        epochs: Epochs { fewest: 1.0, most: 1.0 },
        load_seconds: 0.0,
        cores_per_gpu: 1.0,
        start_seconds: 0.0,
    }
}

#[test]
fn published_trainings_lie_inside_the_interval() {
    // Narayanan et al., SC'21, section 5.1 and 5.8: GPT-3 with 175 B parameters, 300 B tokens on 1024 A100:
    // 34 days. Touvron et al., 2023, table 2: Llama 2 7B on 2 T tokens took 184,320 A100-80 hours, 70B
    // 1,720,320.
    let day = 86_400.0;
    let with = |name: &str,
                tokens: f64,
                sequence: u64,
                parallel: Parallel,
                batch: u64,
                accumulate: u64,
                full: bool| {
        let network = network(name);
        let training = Training {
            batch,
            accumulate,
            sequence: Some(sequence),
            parallel,
            flash: !full,
            recompute: if full { Recompute::Full } else { Recompute::None },
            zero: Zero::Stage1,
            ..Training::default()
        };
        estimate(&network, &training, &plan(gpu("A100-80"), (tokens / sequence as f64) as u64)).unwrap()
    };
    let base = Training::default().parallel;
    let gpt3 = Parallel { gpus: 1024, tensor: 8, pipeline: 16, chunks: 6, ..base };
    let time = with("gpt3-175b", 300e9, 2048, gpt3, 1, 192, true);
    assert!(time.low < 34.0 * day && 34.0 * day < time.high, "{} days", time.total / day);
    let seven = Parallel { gpus: 256, ..base };
    let time = with("llama-2-7b", 2e12, 4096, seven, 2, 2, false);
    let hours = time.total * 256.0 / 3600.0;
    assert!(time.low * 256.0 < 184_320.0 * 3600.0 && 184_320.0 * 3600.0 < time.high * 256.0, "{hours}");
    let seventy = Parallel { gpus: 2048, tensor: 8, ..base };
    let time = with("llama-2-70b", 2e12, 4096, seventy, 1, 4, false);
    let hours = time.total * 2048.0 / 3600.0;
    assert!(time.low * 2048.0 < 1_720_320.0 * 3600.0 && 1_720_320.0 * 3600.0 < time.high * 2048.0, "{hours}");
}

#[test]
fn operations_are_six_a_parameter_and_token() {
    // Kaplan et al., 2020: 6 operations a parameter and token, without attention.
    let network = network("llama-2-7b");
    let training = Training { sequence: Some(128), ..Training::default() };
    let found = work(&network, &training).unwrap().operations / (6.0 * network.parameters() as f64 * 128.0);
    assert!((0.97..1.03).contains(&found), "{found}");
    let again = Training { recompute: Recompute::Full, ..training };
    assert!(
        (work(&network, &again).unwrap().operations / (8.0 * network.parameters() as f64 * 128.0) - 1.0)
            .abs()
            < 0.03
    );
}

fn vision(gpus: u64, cores: f64, load: f64) -> Time {
    let training = Training {
        batch: 64,
        precision: Precision::Fp16,
        parallel: Parallel { gpus, gpus_per_node: 4, ..Training::default().parallel },
        ..Training::default()
    };
    let plan = Plan {
        efficiency: usual(false),
        load_seconds: load,
        cores_per_gpu: cores,
        network: Interconnect::default(),
        ..plan(gpu("V100-16"), 1_281_167)
    };
    estimate(&network("resnet50"), &training, &plan).unwrap()
}

#[test]
fn loading_holds_a_gpu_up_until_it_has_enough_cores() {
    let few = vision(1, 1.0, 0.01);
    let needed = few.cores_needed.unwrap();
    assert!(needed > 1.0 && few.step.waiting > 0.0, "{few:?}");
    let enough = vision(1, needed.ceil(), 0.01);
    assert_eq!(enough.step.waiting, 0.0);
    assert!(enough.epoch < few.epoch);
    assert_eq!(vision(1, 1.0, 0.0).cores_needed, None);
}

#[test]
fn more_gpus_are_faster_but_never_more_than_in_proportion() {
    let one = vision(1, 1.0, 0.0).epoch;
    let mut before = one;
    for gpus in [2, 4, 8, 16, 32] {
        let time = vision(gpus, 1.0, 0.0);
        assert!(time.epoch < before, "{gpus}");
        assert!(time.epoch >= one / gpus as f64 * 0.999, "{gpus}");
        before = time.epoch;
    }
    assert!(vision(8, 1.0, 0.0).step.exchange > vision(4, 1.0, 0.0).step.exchange, "nodes are farther apart");
}

#[test]
fn a_gpu_never_run_on_has_a_wide_interval_and_one_that_was_a_narrow_one() {
    let network = network("bert-base");
    let training = Training { batch: 16, sequence: Some(128), ..Training::default() };
    let micro = work(&network, &training).unwrap();
    let step = |name: &str, factor: f64| {
        let least = micro.least_seconds(gpu(name), training.precision);
        MeasuredStep { gpu: gpu(name), least, seconds: least / 0.3 * factor }
    };
    let steps = [step("V100-16", 1.0), step("V100-16", 1.02), step("V100-16", 0.98), step("A100-40", 1.3)];
    let seen = learned(&steps, gpu("V100-16")).unwrap();
    let unseen = learned(&steps, gpu("H100-80")).unwrap();
    assert!((seen.share - 0.3).abs() < 0.01, "{seen:?}");
    assert!(unseen.doubt > 2.0 * seen.doubt, "{unseen:?} {seen:?}");
    assert!(unseen.basis.contains("never run on H100-80"));
    assert!(learned(&[], gpu("H100-80")).is_err());
    assert!(learned(&[MeasuredStep { seconds: -1.0, ..steps[0] }], gpu("V100-16")).is_err());
}

#[test]
fn stopping_early_widens_the_interval() {
    let network = network("gpt2");
    let plan = Plan { epochs: Epochs { fewest: 3.0, most: 9.0 }, ..plan(gpu("A100-40"), 10_000) };
    let early = estimate(&network, &Training::default(), &plan).unwrap();
    let fixed = Plan { epochs: Epochs { fewest: 6.0, most: 6.0 }, ..plan.clone() };
    let fixed = estimate(&network, &Training::default(), &fixed).unwrap();
    assert_eq!(early.total, fixed.total);
    assert!(early.low < fixed.low && early.high > fixed.high);
    let none = Plan { samples: 0, ..plan };
    assert_eq!(estimate(&network, &Training::default(), &none).unwrap_err().field, "samples");
}
