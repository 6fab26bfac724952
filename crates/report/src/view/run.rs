//! The whole story of one experiment: what ran, what was predicted, what happened.

use harp_core::{Host, Money, Seconds};
use serde::Serialize;

use super::{PlanView, TargetView};

/// What was run to learn from and to be judged by.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SweepView {
    /// Finished scaled-down runs.
    pub scaled_down: usize,
    /// Finished full-scale runs.
    pub full_scale: usize,
    /// Finished test runs.
    pub test: usize,
    /// Runs that failed.
    pub failed: usize,
    /// Runs ended at a time or memory limit: their figures are lower bounds.
    pub censored: usize,
    /// Walltime of all runs added up.
    pub time_spent: Seconds,
    /// What they would cost at the site, where it has prices.
    pub money_spent: Option<Money>,
}

/// How the result was made, enough to make it again.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Provenance {
    /// The version of harp.
    pub harp_version: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// When, as a text with its time zone; empty when it is not to be shown.
    pub made: String,
    /// The experiment file's name.
    pub experiment: String,
    /// The command that makes it again.
    pub command: String,
    /// Anything else by name: checksums, policy, site.
    pub details: Vec<(String, String)>,
}

/// The result of `harp run`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    /// The application's name.
    pub application: String,
    /// What was run.
    pub sweep: SweepView,
    /// Targets, the most important first.
    pub targets: Vec<TargetView>,
    /// The recommended allocation, where one was asked for.
    pub plan: Option<PlanView>,
    /// The machines the runs happened on.
    pub hosts: Vec<Host>,
    /// Things to know before trusting it.
    pub warnings: Vec<String>,
    /// How it was made.
    pub provenance: Provenance,
}
