//! Chosen runs, held to what is left of the budget.

use harp_core::Seconds;
use harp_experiment::{Experiment, PlannedRun};
use harp_measure::{Summary, SweepEnd};

use super::super::Session;
use crate::arguments::Adaptive;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sweep::Knowledge;

impl Session<'_> {
    /// Waits for runs that an earlier call has submitted, and records them: they are known before the
    /// next is chosen.
    pub(super) fn collect(&mut self) -> Result<(), Failure> {
        if !self.is_in_queue()? {
            return Ok(());
        }
        let mut knowledge = Knowledge::of(self.project)?;
        unless_stopped(self.sweep(self.project, Vec::new(), &mut knowledge)?)
    }

    /// On a cluster, asks whether runs may be submitted as they are chosen.
    pub(super) fn agree_to_choices(&self, settings: &Adaptive, together: usize) -> Result<(), Failure> {
        let Some(on_slurm) = &self.on_slurm else { return Ok(()) };
        let site = &on_slurm.cluster.site;
        let bounds = [
            settings.budget.map(|time| format!("{time} of run time")),
            settings.budget_cost.map(|cost| site.format_price(cost)),
        ];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        let bounds = match bounds.is_empty() {
            true => "no budget bounds them (--budget, --budget-cost)".to_owned(),
            false => format!("all runs of the experiment may use {}", bounds.join(" and ")),
        };
        on_slurm.agree_to(&format!("at most {together} jobs at a time on {}; {bounds}", site.name))
    }

    /// Makes and records some runs. Each is ended after `limit`: a budget is a promise, and what was seen
    /// of a run until then is kept as a lower bound.
    pub(super) fn perform(
        &mut self,
        runs: Vec<PlannedRun>,
        limit: Option<Seconds>,
        knowledge: &mut Knowledge,
    ) -> Result<(), Failure> {
        self.set_up()?;
        let project =
            Project { experiment: limited(&self.project.experiment, limit), ..self.project.clone() };
        if let Some(on_slurm) = &self.on_slurm {
            on_slurm.check(&project, &runs)?;
        }
        unless_stopped(self.sweep(&project, runs, knowledge)?)
    }
}

fn unless_stopped(summary: Summary) -> Result<(), Failure> {
    match summary.end {
        SweepEnd::Stopped => Err(Failure::bad_input("stopped")
            .exit(Exit::Interrupted)
            .hint("the same command goes on where it was")),
        _ => Ok(()),
    }
}

/// The experiment with no time-out longer than a limit.
fn limited(experiment: &Experiment, limit: Option<Seconds>) -> Experiment {
    let mut experiment = experiment.clone();
    for design in experiment.designs.values_mut() {
        design.timeout = match (design.timeout, limit) {
            (Some(timeout), Some(limit)) => Some(if limit < timeout { limit } else { timeout }),
            (timeout, limit) => timeout.or(limit),
        };
    }
    experiment
}
