//! Arguments of the commands that learn: build, models, ablate.

use std::path::PathBuf;

use clap::Args;
use harp_learn::BuildOptions;

use super::{ExperimentFile, Since, parse_probability, parse_setting};

/// How a model is built.
#[derive(Debug, Args)]
pub struct BuildSettings {
    /// How the model is chosen and what is asked for: upp=0.05 (at most 5 % of the jobs are killed),
    /// cost (cheapest when killed jobs are run again), wtm or mae (as in the study). Without it, what
    /// the experiment file says, or upp=0.05.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<harp_core::Policy>,
    /// What errors cost while linear, neural and boosted models are trained: symmetric, pinball=0.9 (a
    /// quantile), asymmetric=4 (errors below the truth count four times) or asymmetric (as many times
    /// as being killed and run again costs).
    #[arg(long, value_name = "LOSS", default_value_t)]
    pub loss: harp_core::Loss,
    /// How a killed job is run again, for the policy cost and for what requests cost in the end: double,
    /// grow=1.5, or max=48h (at once with the largest limit).
    #[arg(long, value_name = "RULE", default_value_t)]
    pub rerun: harp_core::Reexecution,
    /// Seed of everything random. Without it, the experiment file's.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Use principal components with 99 % of the variance instead of the features.
    #[arg(long)]
    pub pca: bool,
}

impl BuildSettings {
    /// The options where these settings say nothing, and what they say elsewhere.
    pub fn over(&self, options: BuildOptions) -> BuildOptions {
        BuildOptions {
            policy: self.policy.unwrap_or(options.policy),
            seed: self.seed.unwrap_or(options.seed),
            principal_components: self.pca,
            loss: self.loss,
            reexecution: self.rerun,
            ..options
        }
    }
}

/// Arguments of `harp build`.
#[derive(Debug, Args)]
pub struct Build {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    #[command(flatten)]
    pub settings: BuildSettings,
    /// Where to write the model. Without it, .harp/model.json beside the experiment file.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// Learn only from runs that began since then: a date or a moment (UTC), or a time ago such as 30d.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Also learn from the runs of a related application: its experiment file or folder. May be repeated.
    /// Refused where the application's own runs alone predict better.
    #[arg(long, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// With --from, learn from this share of the application's own runs only, those that tell most and are
    /// cheap together: what would have been enough.
    #[arg(long, value_name = "SHARE", requires = "from", value_parser = parse_probability)]
    pub share: Option<f64>,
}

/// Where a model is.
#[derive(Debug, Args)]
pub struct ModelChoice {
    /// The model file. Without it, the experiment's.
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
}

/// Arguments of `harp models`.
#[derive(Debug, Args)]
pub struct Models {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    #[command(flatten)]
    pub model: ModelChoice,
    /// Only this target: walltime, peak_memory, or a metric.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Also say what every model goes by: its formula, its length scales or the importances of the features,
    /// learned from all runs.
    #[arg(long)]
    pub explain: bool,
}

/// Arguments of `harp ablate`.
#[derive(Debug, Args)]
pub struct Ablate {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    #[command(flatten)]
    pub settings: BuildSettings,
    /// What is predicted. Without it, the experiment's first target.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Features that belong together. May be repeated. Without it, the resources are the axis hardware and
    /// every parameter is an axis of its own.
    #[arg(long, value_name = "NAME=FEATURE,…", value_parser = parse_setting)]
    pub axis: Vec<(String, String)>,
}
