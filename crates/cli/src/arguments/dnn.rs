//! The arguments of `harp dnn`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use harp_core::{Bytes, Seconds};
use harp_dnn::time::Epochs;
use harp_dnn::{OffloadTarget, Optimizer, Precision, Recompute, Zero};

use super::parse_setting;

/// What to ask about the training of a neural network.
#[derive(Debug, Subcommand)]
pub enum Dnn {
    /// Say what one GPU and its host must hold, what fits, the largest batch, the fewest GPUs
    #[command(
        after_help = "Examples:\n  harp dnn memory llama-2-7b --gpu A100-80 --gpus 8 --zero 3 --sequence 2048 --flash\n  harp dnn memory config.json --precision fp32 --optimizer momentum --batch 32\n  harp dnn memory resnet50 --batch 256 --site osc-pitzer --chart memory.svg\n  harp dnn memory 'dense:784,{neurons}x{layers},10' --set neurons=512 --set layers=3 --calibrate runs.csv\n\nFormulas and their sources: docs/dnn.md. Exits with 4 where --gpu is too small."
    )]
    Memory(DnnMemory),
    /// Say how long a training takes, by its parts, how it scales over GPUs, and how many cores feed one
    #[command(
        after_help = "Examples:\n  harp dnn time resnet50 --gpu V100-16 --gpus 4 --batch 64 --precision fp16 --samples 1281167 --epochs 90 --load-seconds 8ms --cores-per-gpu 6\n  harp dnn time gpt2 --gpu A100-80 --batch 16 --samples 100000 --epochs 3..10 --flash\n  harp dnn time bert-base --gpu H100-80 --batch 32 --sequence 128 --samples 1e6 --measured steps.csv\n\nA GPU that was never run on is predicted from its descriptors, with a wide interval: docs/dnn.md."
    )]
    Time(DnnTime),
}

/// A network.
#[derive(Debug, Args)]
pub struct DnnModel {
    /// The network: a config.json of Hugging Face, a .safetensors, .onnx, .toml or .json file, or a
    /// preset such as llama-2-7b, resnet50 or dense:784,512x3,10.
    #[arg(value_name = "MODEL")]
    pub model: String,
    /// A value for {NAME} in MODEL. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
    /// The shape of one sample where the network leaves it open: 3x224x224.
    #[arg(long, value_name = "SHAPE", value_parser = parse_shape)]
    pub input: Option<Shape>,
    /// Train low-rank adapters of this rank instead of the weights.
    #[arg(long, value_name = "RANK", value_parser = parse_count, allow_negative_numbers = true)]
    pub lora: Option<u64>,
    /// The matrices adapters are put beside, by a part of their name, or `all`. Without it, queries
    /// and values.
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "lora")]
    pub lora_targets: Vec<String>,
    /// Layers that do not learn: the first so many (an embedding is one), or those whose name contains this.
    #[arg(long, value_name = "COUNT|NAME")]
    pub freeze: Option<String>,
}

/// Sizes of a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape(pub Vec<u64>);

/// What leaves the GPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Offloaded {
    /// Nothing.
    #[default]
    None,
    /// Optimizer states and gradients.
    Optimizer,
    /// Optimizer states, gradients and parameters.
    All,
}

/// How it is trained.
#[derive(Debug, Args)]
pub struct DnnTraining {
    /// Samples one GPU works on at once (the micro-batch).
    #[arg(long, value_name = "SAMPLES", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    pub batch: u64,
    /// Tokens a sample. Without it, what the network was made for.
    #[arg(long, value_name = "TOKENS", value_parser = parse_count, allow_negative_numbers = true)]
    pub sequence: Option<u64>,
    /// Micro-batches whose gradients are added before the weights change.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    pub accumulate: u64,
    /// sgd, momentum, adam, adafactor, adam8bit or lion.
    #[arg(long, value_name = "NAME", default_value = "adam")]
    pub optimizer: Optimizer,
    /// fp32, bf16, fp16 or fp8.
    #[arg(long, value_name = "NAME", default_value = "bf16")]
    pub precision: Precision,
    /// What data-parallel GPUs share: 0 nothing, 1 optimizer states, 2 and gradients, 3 and parameters.
    #[arg(long, value_name = "STAGE", default_value = "0")]
    pub zero: Zero,
    /// What leaves the GPU.
    #[arg(long, value_name = "WHAT", default_value = "none")]
    pub offload: Offloaded,
    /// Where it goes: cpu or nvme.
    #[arg(long, value_name = "WHERE", default_value = "cpu")]
    pub offload_to: OffloadTarget,
    /// GPUs of all nodes.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    pub gpus: u64,
    /// GPUs of one node; with --site, those the site's nodes have.
    #[arg(long, value_name = "COUNT", default_value = "8", value_parser = parse_count, allow_negative_numbers = true)]
    pub gpus_per_node: u64,
    /// GPUs that share each matrix (tensor parallelism).
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    pub tensor: u64,
    /// Stages the blocks are cut into (pipeline parallelism).
    #[arg(long, value_name = "STAGES", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    pub pipeline: u64,
    /// Chunks of blocks of each stage, where stages are interleaved.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = parse_count, allow_negative_numbers = true)]
    pub chunks: u64,
    /// Cut what tensor parallelism leaves whole along the sequence.
    #[arg(long)]
    pub sequence_parallel: bool,
    /// What is computed again instead of kept: none, selective or full.
    #[arg(long, value_name = "WHAT", default_value = "none")]
    pub recompute: Recompute,
    /// Attention that never stores the scores between tokens (FlashAttention).
    #[arg(long)]
    pub flash: bool,
}

/// Arguments of `harp dnn memory`.
#[derive(Debug, Args)]
pub struct DnnMemory {
    #[command(flatten)]
    pub model: DnnModel,
    #[command(flatten)]
    pub training: DnnTraining,
    /// The GPU: a name such as A100-80, or its memory such as 24G. Without it, all that are known.
    #[arg(long, value_name = "GPU")]
    pub gpu: Option<String>,
    /// Which GPUs of this site fit: a name (`harp site` lists them) or a file.
    #[arg(long, value_name = "SITE", conflicts_with = "gpu")]
    pub site: Option<String>,
    /// What driver, libraries and allocator take beside the formula, on each GPU. Without it, 1 GiB.
    #[arg(long, value_name = "SIZE", conflicts_with = "calibrate")]
    pub overhead: Option<Bytes>,
    /// Fit the overhead to measured peaks: an experiment file with runs, or a CSV file with a column
    /// peak_gpu_memory_bytes or peak_memory_bytes and columns named as the options here.
    #[arg(long, value_name = "FILE")]
    pub calibrate: Option<PathBuf>,
    /// Write the parts as a waterfall chart to this SVG file.
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
}

/// Arguments of `harp dnn time`.
#[derive(Debug, Args)]
pub struct DnnTime {
    #[command(flatten)]
    pub model: DnnModel,
    #[command(flatten)]
    pub training: DnnTraining,
    /// The GPU.
    #[arg(long, value_name = "GPU")]
    pub gpu: String,
    /// Samples of the training data.
    #[arg(long, value_name = "COUNT", value_parser = parse_count, allow_negative_numbers = true)]
    pub samples: u64,
    /// Passes over the data: a number, or 5..20 where training may stop early.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = parse_epochs, allow_negative_numbers = true)]
    pub epochs: Epochs,
    /// What one core takes to load and prepare a sample.
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub load_seconds: Seconds,
    /// Cores that load for one GPU.
    #[arg(long, value_name = "COUNT", default_value = "1", allow_negative_numbers = true)]
    pub cores_per_gpu: f64,
    /// What passes before the first step.
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub start_seconds: Seconds,
    /// Bandwidth of one node to the others, in GB/s.
    #[arg(long, value_name = "GB/S", default_value = "25", allow_negative_numbers = true)]
    pub network: f64,
    /// Steps that were measured, on one GPU of any kind: a CSV file with the columns gpu, step_seconds,
    /// and batch or sequence where they differ.
    #[arg(long, value_name = "FILE")]
    pub measured: Option<PathBuf>,
}

/// A count, as digits or as 1e6. How large it may be is for what it counts to say.
fn parse_count(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(count) if (1.0..1.8e19).contains(&count) && count.fract() == 0.0 => Ok(count as u64),
        _ => Err("write a whole number above 0, for example 64 or 1e6".to_owned()),
    }
}

fn parse_epochs(text: &str) -> Result<Epochs, String> {
    let (fewest, most) = text.split_once("..").unwrap_or((text, text));
    match (fewest.trim().parse::<f64>(), most.trim().parse::<f64>()) {
        (Ok(fewest), Ok(most)) if fewest > 0.0 && most >= fewest && most < 1e9 => Ok(Epochs { fewest, most }),
        _ => Err("write a number above 0, or the fewest and the most as 5..20".to_owned()),
    }
}

fn parse_shape(text: &str) -> Result<Shape, String> {
    let sizes: Option<Vec<u64>> =
        text.split(['x', ',', '×']).map(|size| size.trim().parse().ok().filter(|&size| size > 0)).collect();
    sizes.map(Shape).ok_or_else(|| "write it as sizes above 0, channels first: 3x224x224".to_owned())
}
