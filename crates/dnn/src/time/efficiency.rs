//! How much of what a GPU could do a training reaches, and how sure that is.

use serde::Serialize;

use crate::ModelError;
use crate::gpu::Gpu;

/// A share of the roofline, as a distribution of its logarithm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Efficiency {
    /// The share that is reached.
    pub share: f64,
    /// Standard deviation of its logarithm.
    pub doubt: f64,
    /// What it rests on, in words.
    pub basis: String,
}

/// A step that was measured on a GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredStep {
    /// The GPU.
    pub gpu: &'static Gpu,
    /// Seconds the roofline says.
    pub least: f64,
    /// Seconds it took.
    pub seconds: f64,
}

/// Doubt of a share nobody measured: published ones lie between a fifth and three fifths.
const UNMEASURED: f64 = 0.4;
/// GPUs of different kinds reach shares that differ by this much, as a deviation of the logarithm.
const BETWEEN_GPUS: f64 = 0.25;
/// No two steps are closer than this.
const LEAST_DOUBT: f64 = 0.03;
/// What is known beforehand counts as this many measurements.
const PRIOR: f64 = 2.0;

/// The usual share. Large transformers reach 30 to 57 % of the peak (Narayanan et al., SC'21; Chowdhery
/// et al., PaLM, 2022), convolutional and small networks less (MLPerf Training results).
pub fn usual(transformer: bool) -> Efficiency {
    let share = if transformer { 0.38 } else { 0.22 };
    Efficiency { share, doubt: UNMEASURED, basis: "published figures of other trainings".to_owned() }
}

/// The share that measured steps say for a GPU. On one that was never run on, the others' share holds
/// with the doubt that kinds of GPU add.
pub fn learned(steps: &[MeasuredStep], gpu: &Gpu) -> Result<Efficiency, ModelError> {
    let wrong = steps.iter().find(|step| step.seconds.is_nan() || step.seconds <= 0.0);
    if let Some(step) = wrong {
        return Err(ModelError::new("step_seconds", format!("= {} is no time", step.seconds)));
    }
    let own: Vec<&MeasuredStep> = steps.iter().filter(|step| step.gpu.name == gpu.name).collect();
    let known = if own.is_empty() { steps.iter().collect() } else { own.clone() };
    if known.is_empty() {
        return Err(ModelError::new("measured", "hold no step"));
    }
    let logarithms: Vec<f64> = known.iter().map(|step| (step.least / step.seconds).ln()).collect();
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let square = logarithms.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let prior = if own.is_empty() { BETWEEN_GPUS } else { 0.1 };
    let spread = ((square + PRIOR * prior * prior) / (count + PRIOR - 1.0)).sqrt();
    let mut doubt = (spread * (1.0 + 1.0 / count).sqrt()).max(LEAST_DOUBT);
    let basis = match own.is_empty() {
        true => {
            doubt = doubt.hypot(BETWEEN_GPUS);
            let mut names: Vec<&str> = steps.iter().map(|step| step.gpu.name).collect();
            names.dedup();
            format!("{} steps on {}, never run on {}", steps.len(), names.join(", "), gpu.name)
        }
        false => format!("{} steps on {}", own.len(), gpu.name),
    };
    Ok(Efficiency { share: mean.exp(), doubt, basis })
}
