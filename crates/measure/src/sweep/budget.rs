//! What the runs of a scale may use together, and what they have used.

use std::collections::BTreeMap;

use harp_core::{Money, Run, Scale, Seconds};
use harp_experiment::Experiment;

use super::{Price, Sweep};

/// Walltime and money used, by scale.
pub type Spent = BTreeMap<Scale, (Seconds, Money)>;

/// Watches the budgets of an experiment.
pub(super) struct Budgets<'a> {
    experiment: &'a Experiment,
    spent: Spent,
}

impl<'a> Budgets<'a> {
    pub(super) fn new(sweep: &Sweep<'a>) -> Self {
        Self { experiment: sweep.experiment, spent: sweep.spent.clone() }
    }

    /// Whether another run of a scale may be started.
    pub(super) fn allow(&self, scale: Scale) -> bool {
        let Some(design) = self.experiment.designs.get(&scale) else { return true };
        let (time, money) = self.spent.get(&scale).copied().unwrap_or_default();
        design.budget.time.is_none_or(|limit| time < limit)
            && design.budget.cost.is_none_or(|limit| money < limit)
    }

    /// Counts a run.
    pub(super) fn add(&mut self, run: &Run, price: Option<Price<'_>>) {
        let walltime = run.usage.walltime.unwrap_or_default();
        let cost = price.and_then(|price| price(&run.configuration.allocation, walltime)).unwrap_or_default();
        let (time, money) = self.spent.entry(run.configuration.scale).or_default();
        *time += walltime;
        *money += cost;
    }
}
