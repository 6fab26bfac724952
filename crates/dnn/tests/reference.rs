//! Figures that others published or compute, from a copy that belongs to this test.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use harp_dnn::memory::{Count, Share, block_bytes, host_bytes, state_bytes};
use harp_dnn::read::preset;
use harp_dnn::{
    Network, Offload, OffloadTarget, Optimizer, Parallel, Precision, Recompute, Training, Transformer, Zero,
};

const GIB: f64 = (1_u64 << 30) as f64;

fn share(parameters: f64, largest: f64) -> Share {
    Share { count: Count { trained: parameters, frozen: 0.0, factored: 0.0 }, blocks: 1, largest }
}

fn training(gpus: u64, zero: Zero) -> Training {
    let base = Training::default();
    Training { zero, parallel: Parallel { gpus, gpus_per_node: 8, ..base.parallel }, ..base }
}

fn stage(text: &str) -> Zero {
    text.parse().unwrap()
}

fn network(name: &str) -> Network {
    preset(name, None).unwrap().unwrap()
}

/// Networks of the table by the name they have here.
const NAMES: [(&str, &str); 10] = [
    ("t5-small", "t5-small"),
    ("t5-large", "t5-large"),
    ("t5-3b", "t5-3b"),
    ("bert-base", "bert-base-cased"),
    ("gpt2-1.5B", "gpt2-xl"),
    ("llama2-7B", "llama-2-7b"),
    ("llama2-13B", "llama-2-13b"),
    ("llama2-70B", "llama-2-70b"),
    ("llama3-8B", "llama-3-8b"),
    ("gpt3-175B", "gpt3-175b"),
];

#[test]
fn every_row_of_the_reference_table_is_met() {
    let mut met = 0;
    for line in
        include_str!("data/memory_reference.csv").lines().filter(|line| !line.starts_with('#')).skip(1)
    {
        let cells: Vec<&str> = line.split(',').collect();
        let [source, model, gpus, zero, optimizer, expected, unit] = cells[..] else { panic!("{line}") };
        let expected: f64 = expected.parse().unwrap();
        let mut training = training(gpus.parse().unwrap(), stage(zero));
        match optimizer {
            "adam_fp32(4+4+8)" => training.precision = Precision::Fp32,
            "sgd_mom_mixed(2+2+8)" => training.optimizer = Optimizer::Momentum,
            _ => {}
        }
        let (parameters, largest) = match model.parse::<f64>() {
            Ok(parameters) => (parameters, 0.0),
            Err(_) => {
                let (_, here) = NAMES.iter().find(|(name, _)| *name == model).unwrap();
                let network = network(here);
                match model {
                    // The table counts the cased BERT's parameters beside the uncased one's vocabulary,
                    // and T5-3B as DeepSpeed's documentation rounds it.
                    "bert-base" => (network.parameters() as f64, 30_522.0 * 768.0),
                    "t5-3b" => (2851e6, 32e6),
                    _ => (network.parameters() as f64, network.largest_part() as f64),
                }
            }
        };
        let states = state_bytes(&share(parameters, largest), &training);
        let bytes = match source.starts_with("deepspeed") {
            true => states.total(),
            false => states.total() - states.buffers,
        };
        let found = bytes / if unit == "GB" { 1e9 } else { GIB };
        assert!((found - expected).abs() <= 1e-4 * expected + 5.1e-5, "{line}: found {found}");
        met += 1;
    }
    assert!(met >= 890, "{met}");
}

#[test]
fn the_table_of_the_zero_paper_in_its_own_words() {
    for (parameters, gpus, expected) in [
        (7.5e9, 64, [31.4, 16.6, 1.88]),
        (7.5e9, 1024, [30.1, 15.1, 0.12]),
        (128e9, 64, [536.0, 284.0, 32.0]),
    ] {
        for (zero, expected) in [Zero::Stage1, Zero::Stage2, Zero::Stage3].into_iter().zip(expected) {
            let states = state_bytes(&share(parameters, 0.0), &training(gpus, zero));
            let found = (states.total() - states.buffers) / 1e9;
            assert!(
                (found - expected).abs() < 0.006 * expected.max(0.9),
                "{parameters} {gpus} {zero}: {found}"
            );
        }
    }
}

#[test]
fn offload_is_what_deepspeed_documents_for_t5_3b() {
    // docs.deepspeed.ai, "Memory Requirements": 2851M parameters, 32M in the largest layer, 8 GPUs.
    let share = share(2851e6, 32e6);
    let cpu = Some(OffloadTarget::Cpu);
    for (optimizer, parameters, zero_init, gpu, host) in [
        (None, None, true, 6.09, 1.43),
        (None, None, false, 6.09, 127.45),
        (cpu, None, true, 0.78, 63.72),
        (cpu, None, false, 0.78, 127.45),
        (cpu, cpu, true, 0.12, 71.69),
        (cpu, cpu, false, 0.12, 127.45),
    ] {
        let training =
            Training { offload: Offload { optimizer, parameters }, zero_init, ..training(8, Zero::Stage3) };
        let on_gpu = state_bytes(&share, &training).total() / GIB;
        let on_host = host_bytes(&share, &training);
        let on_host = (on_host.states + on_host.buffers + on_host.start) / GIB;
        assert!((on_gpu - gpu).abs() < 0.005, "{optimizer:?} {parameters:?}: {on_gpu} on the GPU");
        assert!(
            (on_host - host).abs() < 0.006,
            "{optimizer:?} {parameters:?} {zero_init}: {on_host} on the host"
        );
    }
    let second = Training {
        offload: Offload { optimizer: cpu, parameters: None },
        zero_init: false,
        ..training(8, Zero::Stage2)
    };
    assert!((state_bytes(&share, &second).total() / GIB - 5.31).abs() < 0.005);
    let host = host_bytes(&share, &second);
    assert!(((host.states + host.buffers) / GIB - 127.45).abs() < 0.006);
}

#[test]
fn what_lies_on_a_disk_is_not_on_the_host() {
    let nvme = Some(OffloadTarget::Nvme);
    let on_disk =
        Training { offload: Offload { optimizer: nvme, parameters: nvme }, ..training(8, Zero::Stage3) };
    let host = host_bytes(&share(2851e6, 32e6), &on_disk);
    assert_eq!(host.states, 0.0);
    // 16 bytes in 32 bits and 2 for the weights used in the computation.
    assert!((host.disk - 18.0 * 2851e6).abs() < 1.0);
    assert!(host.buffers > 1e9, "{host:?}");
}

fn gpt(layers: u64, hidden: u64, heads: u64) -> Transformer {
    Transformer {
        layers,
        hidden,
        heads,
        query_width: hidden,
        key_width: hidden,
        intermediate: 4 * hidden,
        gated: false,
        dropout: true,
        cross_attention: 0,
        vocabulary: 51_200,
        longest: Some(2048),
        scores: true,
    }
}

#[test]
fn activations_are_those_of_korthikanti_and_others() {
    // "Reducing Activation Recomputation in Large Transformer Models", 2022, table 3 and figure 1:
    // micro-batch, blocks, width, heads; tensor parallel over 8; bytes of all blocks on the first stage.
    for (layers, hidden, heads, batch, none, both) in
        [(48, 6144, 64, 4, 59.25, 9.5625), (128, 25600, 160, 1, 131.25, 26.5625)]
    {
        let transformer = gpt(layers, hidden, heads);
        let mut training = training(8, Zero::Stage0);
        training.batch = batch;
        training.parallel.tensor = 8;
        let all =
            |training: &Training| block_bytes(&transformer, training, 2048.0, false) * layers as f64 / GIB;
        assert!((all(&training) - none).abs() < 1e-6, "{}", all(&training));
        training.parallel.sequence = true;
        training.recompute = Recompute::Selective;
        assert!((all(&training) - both).abs() < 1e-6, "{}", all(&training));
    }
}

#[test]
fn every_form_of_table_2_is_met() {
    let (transformer, s, b) = (gpt(1, 6144, 64), 2048.0, 4.0);
    let (h, a, t) = (6144.0, 64.0, 8.0);
    let with = |tensor: u64, sequence: bool, recompute: Recompute, flash: bool| {
        let mut training = training(8, Zero::Stage0);
        training.batch = 4;
        training.parallel = Parallel { tensor, sequence, ..training.parallel };
        training.recompute = recompute;
        training.flash = flash;
        block_bytes(&transformer, &training, s, false)
    };
    let sbh = s * b * h;
    for (found, expected) in [
        (with(1, false, Recompute::None, false), sbh * (34.0 + 5.0 * a * s / h)),
        (with(8, false, Recompute::None, false), sbh * (10.0 + 24.0 / t + 5.0 * a * s / (h * t))),
        (with(8, true, Recompute::None, false), sbh * (34.0 / t + 5.0 * a * s / (h * t))),
        (with(8, false, Recompute::Selective, false), sbh * (10.0 + 24.0 / t)),
        (with(8, true, Recompute::Selective, false), sbh * 34.0 / t),
        (with(8, false, Recompute::Full, false), sbh * 2.0),
        (with(1, false, Recompute::None, true), sbh * 34.0 + 4.0 * a * s * b),
    ] {
        assert!((found - expected).abs() < 1.0, "{found} instead of {expected}");
    }
}

#[test]
fn parameters_are_exact() {
    // torchvision and the model cards of the published checkpoints.
    for (name, expected) in [
        ("bert-base", 109_482_240),
        ("bert-base-cased", 108_310_272),
        ("bert-large", 335_141_888),
        ("roberta-base", 124_645_632),
        ("gpt2", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("gpt2-large", 774_030_080),
        ("gpt2-xl", 1_557_611_200),
        ("opt-125m", 125_239_296),
        ("t5-small", 60_506_624),
        ("t5-large", 737_668_096),
        ("t5-3b", 2_851_598_336),
        ("llama-2-7b", 6_738_415_616),
        ("llama-2-13b", 13_015_864_320),
        ("llama-2-70b", 68_976_648_192),
        ("llama-3-8b", 8_030_261_248),
        ("llama-3-70b", 70_553_706_496),
        ("llama-3-405b", 405_853_388_800),
        ("mistral-7b", 7_241_732_096),
        ("vgg16", 138_357_544),
        ("vgg19", 143_667_240),
        ("resnet18", 11_689_512),
        ("resnet34", 21_797_672),
        ("resnet50", 25_557_032),
        ("resnet101", 44_549_160),
        ("resnet152", 60_192_808),
        ("dense:784,512x2,10", 784 * 512 + 512 + 512 * 512 + 512 + 5120 + 10),
    ] {
        assert_eq!(network(name).parameters(), expected, "{name}");
    }
}

#[test]
fn arithmetic_is_what_is_published() {
    // torchvision states 4.09 and 15.47 billion multiply-adds; each is two operations.
    for (name, giga) in [("resnet50", 4.089), ("vgg16", 15.47), ("resnet18", 1.814)] {
        let network = network(name);
        let products: f64 = network
            .layers
            .iter()
            .filter(|layer| layer.tensors.iter().any(|tensor| tensor.is_matrix()))
            .map(|layer| layer.flops)
            .sum();
        let found = products / 2e9;
        assert!((found - giga).abs() < 0.01 * giga, "{name}: {found}");
    }
}
