//! From one step to the whole training.

use serde::Serialize;

use crate::gpu::Gpu;
use crate::{ModelError, Network, Training};

use super::{Efficiency, Exchange, Interconnect, exchange, work};

/// The quantile of the normal distribution that leaves 5 % on either side.
const NINETY: f64 = 1.645;
/// Share of the backward pass behind which gradients travel (Li et al., PyTorch Distributed, 2020).
const OVERLAP: f64 = 0.8;
/// No training data hold more samples than this.
const MOST_SAMPLES: u64 = 1_000_000_000_000_000;

/// How many epochs: a number, or somewhere between two where training may stop early.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Epochs {
    /// At least.
    pub fewest: f64,
    /// At most.
    pub most: f64,
}

/// What is trained, for how long, on what.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<'a> {
    /// The GPU.
    pub gpu: &'a Gpu,
    /// What connects nodes.
    pub network: Interconnect,
    /// How much of the GPU is reached.
    pub efficiency: Efficiency,
    /// Samples of the training data.
    pub samples: u64,
    /// Passes over them.
    pub epochs: Epochs,
    /// Seconds one core takes to load and prepare a sample.
    pub load_seconds: f64,
    /// Cores that load for one GPU.
    pub cores_per_gpu: f64,
    /// Seconds before the first step: starting, opening data.
    pub start_seconds: f64,
}

/// One optimizer step by its parts, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Step {
    /// Arithmetic and memory.
    pub compute: f64,
    /// Idle pipeline stages.
    pub bubble: f64,
    /// Exchange that nothing hides.
    pub exchange: f64,
    /// Waiting for data.
    pub waiting: f64,
    /// All of it.
    pub total: f64,
}

/// The whole training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Time {
    /// One step.
    pub step: Step,
    /// What is exchanged, hidden or not.
    pub exchanged: Exchange,
    /// Samples of one step over all GPUs.
    pub step_samples: u64,
    /// Steps of an epoch.
    pub steps: u64,
    /// Seconds of an epoch.
    pub epoch: f64,
    /// Seconds of the training: the middle, and the ends of the 90 % interval.
    pub total: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Cores that keep one GPU busy; `None` where loading takes no time.
    pub cores_needed: Option<f64>,
    /// What the share of the GPU rests on.
    pub efficiency: Efficiency,
}

/// Estimates the time of a training.
pub fn estimate(network: &Network, training: &Training, plan: &Plan<'_>) -> Result<Time, ModelError> {
    training.check(network)?;
    check(plan)?;
    if !network.activations_known {
        let reason = "is a list of tensors, which does not say how often each weight is used";
        return Err(ModelError::new("model", reason)
            .hint("put the config.json beside it, or describe the layers in a summary (docs/dnn.md)"));
    }
    let micro = work(network, training)?;
    let accumulate = training.accumulate as f64;
    let busy = micro.least_seconds(plan.gpu, training.precision) / plan.efficiency.share * accumulate;
    let parallel = &training.parallel;
    // Stages wait (p − 1)/m of the time, 1/v of that interleaved (Narayanan et al., SC'21, section 2.2).
    let stages = parallel.pipeline as f64;
    let bubble = busy * (stages - 1.0) / (accumulate.max(1.0) * parallel.chunks as f64);
    let exchanged = exchange(network, training, plan.gpu, &plan.network)?;
    let backward = busy * 2.0 / 3.0;
    let hidden = (OVERLAP * backward).min(0.9 * exchanged.gradients);
    let open = exchanged.gradients - hidden + exchanged.activations;
    let working = busy + bubble + open;
    let step_samples = training.batch.saturating_mul(training.accumulate).saturating_mul(parallel.data());
    let own_samples =
        (training.batch * training.accumulate) as f64 / (parallel.tensor * parallel.pipeline) as f64;
    let loading = plan.load_seconds * own_samples / plan.cores_per_gpu;
    let waiting = (loading - working).max(0.0);
    let step = Step { compute: busy, bubble, exchange: open, waiting, total: working + waiting };
    let steps = plan.samples.div_ceil(step_samples.max(1));
    let epoch = steps as f64 * step.total;
    let Epochs { fewest, most } = plan.epochs;
    // What waits for data is as sure as the loading; what computes as sure as the share of the GPU.
    let doubt = plan.efficiency.doubt * if waiting > 0.0 { 0.5 } else { 1.0 };
    let of = |epochs: f64| plan.start_seconds + epochs * epoch;
    let total = of((fewest + most) / 2.0);
    Ok(Time {
        step,
        exchanged,
        step_samples,
        steps,
        epoch,
        total,
        low: of(fewest) * (-NINETY * doubt).exp(),
        high: of(most) * (NINETY * doubt).exp(),
        cores_needed: (plan.load_seconds > 0.0).then(|| plan.load_seconds * own_samples / working),
        efficiency: plan.efficiency.clone(),
    })
}

fn check(plan: &Plan<'_>) -> Result<(), ModelError> {
    let positive = |field: &str, value: f64, least: f64| match value.is_finite() && value >= least {
        true => Ok(()),
        false => Err(ModelError::new(field, format!("= {value} cannot be meant"))),
    };
    if plan.samples == 0 || plan.samples > MOST_SAMPLES {
        let reason = format!("= {} cannot be meant: it lies between 1 and {MOST_SAMPLES}", plan.samples);
        return Err(ModelError::new("samples", reason));
    }
    positive("epochs", plan.epochs.fewest, 1e-9)?;
    positive("epochs", plan.epochs.most - plan.epochs.fewest, 0.0)?;
    positive("load_seconds", plan.load_seconds, 0.0)?;
    positive("cores_per_gpu", plan.cores_per_gpu, 1e-3)?;
    positive("start_seconds", plan.start_seconds, 0.0)?;
    positive("network", plan.network.bandwidth, 1e-6)
}
