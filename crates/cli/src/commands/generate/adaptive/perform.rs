//! One chosen run, held to what is left of the budget.

use harp_core::{Allocation, Scale, Seconds};
use harp_experiment::{Experiment, PlannedRun};
use harp_measure::{Summary, Sweep, SweepEnd};

use super::super::{Keeper, Session, failure};
use crate::failure::{Exit, Failure};
use crate::fingerprint;
use crate::progress::Progress;
use crate::sweep::Knowledge;

impl Session<'_> {
    /// Runs and records one run. It is ended after `limit`: a budget is a promise, and what was seen of
    /// the run until then is kept as a lower bound.
    pub(super) fn perform(
        &mut self,
        run: PlannedRun,
        limit: Option<Seconds>,
        knowledge: &mut Knowledge,
    ) -> Result<Summary, Failure> {
        self.set_up()?;
        let experiment = limited(&self.project.experiment, run.configuration.scale, limit);
        let state = self.project.state();
        let site = knowledge.clone();
        let price = |allocation: &Allocation, time: Seconds| site.price(allocation, time);
        let spent = knowledge.spent().clone();
        let runs = vec![run];
        let sweep = Sweep {
            experiment: &experiment,
            spent,
            price: Some(&price),
            ..self.sweep_of(&state, runs.clone())
        };
        let mut progress = Progress::new(self.terminal, knowledge, &runs, state.join("running.json"));
        self.store.set_program(Some(fingerprint::of(self.project)));
        let mut keeper = Keeper { store: &mut self.store, host: &self.host };
        let summary = sweep.run(&mut keeper, &mut progress, &self.stop);
        progress.finish();
        let summary = summary.map_err(failure)?;
        if summary.end == SweepEnd::Stopped {
            return Err(Failure::bad_input("stopped")
                .exit(Exit::Interrupted)
                .hint("the same command goes on where it was"));
        }
        Ok(summary)
    }
}

/// The experiment with a scale's time-out no longer than a limit.
fn limited(experiment: &Experiment, scale: Scale, limit: Option<Seconds>) -> Experiment {
    let mut experiment = experiment.clone();
    if let (Some(limit), Some(design)) = (limit, experiment.designs.get_mut(&scale)) {
        let shorter = design.timeout.is_none_or(|timeout| limit < timeout);
        design.timeout = if shorter { Some(limit) } else { design.timeout };
    }
    experiment
}
