//! Which runs an experiment asks for, which of them are done, and what is known about the others.

use std::collections::BTreeMap;
use std::path::Path;

use harp_core::{Allocation, Configuration, ConfigurationKey, Money, Outcome, Run, Scale, Seconds, Target};
use harp_experiment::{Plan, PlannedRun, Surroundings};
use harp_history::Recorded;
use harp_learn::ModelFile;
use harp_measure::Spent;
use harp_site::{Placement, Site};

use crate::failure::Failure;
use crate::project::{self, Project};

/// All that is known while runs are planned: what was measured, what a model says, what it costs.
#[derive(Clone)]
pub struct Knowledge {
    measured: BTreeMap<ConfigurationKey, (f64, u32)>,
    of_scale: BTreeMap<Scale, (f64, u32)>,
    spent: Spent,
    model: Option<ModelFile>,
    site: Site,
}

/// Of a sum and how many it is of.
fn mean((sum, count): &(f64, u32)) -> Seconds {
    Seconds(sum / f64::from(*count))
}

impl Knowledge {
    /// Gathers it from the history, the model and the site of an experiment, as far as they exist.
    pub fn of(project: &Project) -> Result<Knowledge, Failure> {
        let recorded = match project.read_history()? {
            Some(history) => history.runs(Some(&project.experiment.application()))?,
            None => Vec::new(),
        };
        let file = project.model_file();
        let model = if file.exists() { project::read_model(&file).ok() } else { None };
        let site = crate::commands::find_site(project.experiment.learn.site.as_deref().unwrap_or("local"))?;
        let mut knowledge = Knowledge {
            measured: BTreeMap::new(),
            of_scale: BTreeMap::new(),
            spent: Spent::new(),
            model,
            site,
        };
        for Recorded { run, .. } in &recorded {
            knowledge.learn(run);
        }
        Ok(knowledge)
    }

    /// Takes note of how long a run took and what it cost.
    pub fn learn(&mut self, run: &Run) {
        let Some(time) = run.usage.walltime else { return };
        let add = |sum: &mut (f64, u32)| *sum = (sum.0 + time.0, sum.1 + 1);
        add(self.measured.entry(run.configuration.key()).or_default());
        add(self.of_scale.entry(run.configuration.scale).or_default());
        let cost = self.price(&run.configuration.allocation, time).unwrap_or_default();
        let (spent_time, spent_money) = self.spent.entry(run.configuration.scale).or_default();
        *spent_time += time;
        *spent_money += cost;
    }

    /// How long runs of a configuration took, on average.
    pub fn measured(&self, configuration: &Configuration) -> Option<Seconds> {
        self.measured.get(&configuration.key()).map(mean)
    }

    /// How long a run may take: as measured, as predicted, or like the others of its scale.
    pub fn time(&self, configuration: &Configuration) -> Option<Seconds> {
        let predicted = || {
            let model = self.model.as_ref()?.target(&Target::Walltime)?;
            Some(Seconds(model.predict(&configuration.features()).ok()?.distribution.median()))
        };
        self.measured(configuration)
            .or_else(predicted)
            .or_else(|| self.of_scale.get(&configuration.scale).map(mean))
    }

    /// What a run may cost at the experiment's site.
    pub fn cost(&self, configuration: &Configuration) -> Option<Money> {
        self.price(&configuration.allocation, self.time(configuration)?)
    }

    /// What holding an allocation for some time costs at the experiment's site.
    pub fn price(&self, allocation: &Allocation, time: Seconds) -> Option<Money> {
        let placement = self.site.admit(allocation, Some(time)).placements.into_iter().next();
        let first =
            || Some(Placement { node_type: self.site.node_types.first()?.name.clone(), partition: None });
        self.site.price(allocation, &placement.or_else(first)?, time).ok()
    }

    /// What the runs of each scale have used already.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The site prices are from.
    pub fn site(&self) -> &Site {
        &self.site
    }
}

/// The runs of some scales in order; without scales, of all.
pub fn planned(project: &Project, scales: &[Scale], knowledge: &Knowledge) -> Result<Plan, Failure> {
    let all = project.experiment.scales();
    if let Some(unknown) = scales.iter().find(|scale| !all.contains(scale)) {
        let known: Vec<&str> = all.iter().map(|scale| scale.name()).collect();
        return Err(Failure::bad_input(format!(
            "{} has no values for scale {unknown}",
            project.file.display()
        ))
        .hint(format!("it has {}", known.join(", "))));
    }
    let chosen: Vec<Scale> =
        all.into_iter().filter(|scale| scales.is_empty() || scales.contains(scale)).collect();
    let surroundings = Surroundings {
        file_size: &|path: &Path| project.file_size(path),
        expected_time: &|configuration| knowledge.time(configuration),
        expected_cost: &|configuration| knowledge.cost(configuration),
    };
    project
        .experiment
        .plan(&chosen, &surroundings)
        .map_err(|diagnostic| Failure::of_diagnostics(&[diagnostic]))
}

/// How a planned run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has a result.
    Done,
    /// It ended without one.
    Failed,
    /// It was ended at a limit: a lower bound is known.
    Censored,
    /// It has not run.
    Missing,
}

/// The outcomes recorded for an experiment.
pub fn outcomes(project: &Project) -> Result<BTreeMap<(ConfigurationKey, u32), Outcome>, Failure> {
    match project.read_history()? {
        Some(history) => Ok(history.outcomes(&project.experiment.application())?),
        None => Ok(BTreeMap::new()),
    }
}

/// How a planned run stands, given what is recorded.
pub fn standing(run: &PlannedRun, outcomes: &BTreeMap<(ConfigurationKey, u32), Outcome>) -> Standing {
    match outcomes.get(&(run.configuration.key(), run.repetition)) {
        None => Standing::Missing,
        Some(outcome) if outcome.is_completed() => Standing::Done,
        Some(outcome) if outcome.walltime_is_lower_bound() || outcome.memory_is_lower_bound() => {
            Standing::Censored
        }
        Some(_) => Standing::Failed,
    }
}

/// The planned runs that are still to be done.
pub fn remaining(
    plan: Vec<PlannedRun>,
    outcomes: &BTreeMap<(ConfigurationKey, u32), Outcome>,
    retry_failed: bool,
) -> Vec<PlannedRun> {
    plan.into_iter()
        .filter(|run| match standing(run, outcomes) {
            Standing::Missing => true,
            Standing::Done => false,
            Standing::Failed | Standing::Censored => retry_failed,
        })
        .collect()
}
