//! What is known before each choice: the history is the state, so a killed search goes on where it was.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Configuration, ConfigurationKey, Money, Outcome, Run, Scale, Seconds, Value};
use harp_experiment::PlannedRun;
use harp_history::Recorded;
use harp_learn::Place;

use super::answer::Choice;
use crate::failure::Failure;
use crate::project::Project;
use crate::sweep::{self, Knowledge, Standing};
use crate::terminal::Terminal;

/// All that a choice is made from.
pub(super) struct Known {
    /// Every run of the application that counts, oldest first.
    pub recorded: Vec<Recorded>,
    /// What is known of times and prices.
    pub knowledge: Knowledge,
    outcomes: BTreeMap<(ConfigurationKey, u32), Outcome>,
    /// The experiment's own time-outs.
    timeouts: BTreeMap<Scale, Seconds>,
}

/// What was cut off by the budget may run again where it is given so many times as long.
const LONGER: f64 = 1.5;

/// Which runs may be chosen.
pub(super) struct Allowed<'a> {
    /// Only these scales; of sd and fs all without any.
    pub scales: &'a [Scale],
    /// Whether what failed may be run again.
    pub retry_failed: bool,
    /// What is left of the budget, if there is one.
    pub time: Option<Seconds>,
    /// What was tried by this call already.
    pub tried: &'a BTreeSet<(ConfigurationKey, u32)>,
}

impl Known {
    /// Reads it.
    pub fn of(project: &Project) -> Result<Known, Failure> {
        let recorded = match project.read_history()? {
            Some(history) => history.runs(Some(&project.experiment.application()))?,
            None => Vec::new(),
        };
        let timeouts = project.experiment.designs.iter();
        let timeouts = timeouts.filter_map(|(scale, design)| Some((*scale, design.timeout?))).collect();
        let (knowledge, outcomes) = (Knowledge::of(project)?, sweep::outcomes(project)?);
        Ok(Known { recorded, knowledge, outcomes, timeouts })
    }

    /// Run time and price of every run that was made to learn from.
    pub fn spent(&self) -> (Seconds, Money) {
        let learned = self.knowledge.spent().iter().filter(|(scale, _)| **scale != Scale::Test);
        learned.fold((Seconds(0.0), Money(0.0)), |sum, (_, spent)| (sum.0 + spent.0, sum.1 + spent.1))
    }

    /// The next repetition of every configuration of the experiment's own grid that is left. Cases that
    /// are to be predicted are not learned from.
    pub fn candidates(
        &self,
        project: &Project,
        cases: &[Configuration],
        allowed: &Allowed<'_>,
    ) -> Result<Vec<PlannedRun>, Failure> {
        let wanted = |scale: &Scale| {
            *scale != Scale::Test && (allowed.scales.is_empty() || allowed.scales.contains(scale))
        };
        let scales: Vec<Scale> = project.experiment.scales().into_iter().filter(wanted).collect();
        if scales.is_empty() {
            return Err(Failure::bad_input("there is no scale to choose runs from")
                .hint("give parameters `sd` or `fs` values; test cases are predicted, not learned from"));
        }
        let plan = sweep::planned(project, &scales, &self.knowledge)?;
        let mut seen = BTreeSet::new();
        let runs = plan.runs.into_iter().filter(|run| {
            let is_case = cases.iter().any(|case| case.values() == run.configuration.values());
            // Repetitions follow each other in the plan: the first that is open stands for the rest.
            !is_case && self.is_open(run, allowed) && seen.insert(run.configuration.key())
        });
        Ok(runs.collect())
    }

    /// Whether a run may be chosen.
    pub fn is_open(&self, run: &PlannedRun, allowed: &Allowed<'_>) -> bool {
        let standing = match sweep::standing(run, &self.outcomes) {
            Standing::Missing => true,
            Standing::Done => false,
            Standing::Censored if self.has_longer(run, allowed) => true,
            Standing::Failed | Standing::Censored => allowed.retry_failed,
        };
        standing && !allowed.tried.contains(&(run.configuration.key(), run.repetition))
    }

    /// Whether a run was cut off by a budget of which more is left now.
    fn has_longer(&self, run: &PlannedRun, allowed: &Allowed<'_>) -> bool {
        let Some(outcome) = self.outcome(run) else { return false };
        let scale = run.configuration.scale;
        let limits = [self.timeouts.get(&scale).copied(), allowed.time];
        let given = limits.into_iter().flatten().map(|limit| limit.0).fold(f64::INFINITY, f64::min);
        self.cut_off(scale, outcome).is_some_and(|limit| LONGER * limit.0 < given)
    }

    /// How the run ended that counts, if it was made.
    pub fn outcome(&self, run: &PlannedRun) -> Option<&Outcome> {
        self.outcomes.get(&(run.configuration.key(), run.repetition))
    }

    /// When a run was ended, if that was before the experiment's own time-out: the budget was used up.
    fn cut_off(&self, scale: Scale, outcome: &Outcome) -> Option<Seconds> {
        match outcome {
            Outcome::TimedOut { limit } => {
                Some(*limit).filter(|limit| self.timeouts.get(&scale).is_none_or(|timeout| limit < timeout))
            }
            _ => None,
        }
    }

    /// How a run ended, in words.
    pub fn ending(&self, run: &Run) -> String {
        match self.cut_off(run.configuration.scale, &run.outcome) {
            Some(limit) => format!("cut off by the budget after {limit}"),
            None => run.outcome.to_string(),
        }
    }

    /// Says how a chosen run ended, and gives the time it took if it completed.
    pub fn tell(&self, choice: &Choice, terminal: &Terminal) -> Option<f64> {
        let key = choice.configuration.key();
        let done = self
            .recorded
            .iter()
            .rev()
            .map(|recorded| &recorded.run)
            .find(|run| run.configuration.key() == key && run.repetition == choice.repetition)?;
        let took = done.usage.walltime.filter(|_| done.outcome.is_completed());
        let how = took.map_or_else(|| self.ending(done), |time| format!("took {time}"));
        terminal.say(&format!("{:>3}. {how}", choice.number));
        took.map(|time| time.0)
    }

    /// Whether a chosen run was made, however it ended.
    pub fn has_started(&self, choice: &Choice) -> bool {
        let outcome = self.outcomes.get(&(choice.configuration.key(), choice.repetition));
        outcome.is_some_and(|outcome| !matches!(outcome, Outcome::NotStarted { .. }))
    }

    /// How many scaled-down runs ended without a result.
    pub fn unfinished(&self) -> usize {
        let runs = self.recorded.iter().map(|recorded| &recorded.run);
        runs.filter(|run| run.configuration.scale == Scale::Sd && !run.outcome.is_completed()).count()
    }

    /// Configurations and times of the completed runs that may be learned from.
    pub fn completed(&self, cases: &[Configuration]) -> Vec<(&Configuration, Seconds)> {
        let runs = self.recorded.iter().map(|recorded| &recorded.run);
        let runs = runs.filter(|run| run.outcome.is_completed() && run.configuration.scale != Scale::Test);
        let is_case =
            |configuration: &Configuration| cases.iter().any(|case| case.values() == configuration.values());
        runs.filter(|run| !is_case(&run.configuration))
            .filter_map(|run| Some((&run.configuration, run.usage.walltime?)))
            .collect()
    }
}

/// The columns of all these configurations, and each configuration as a row of cells.
pub(super) fn places<'a>(
    configurations: impl Iterator<Item = &'a Configuration> + Clone,
) -> (Vec<String>, Vec<Place>) {
    let features: Vec<BTreeMap<String, Value>> = configurations.map(Configuration::features).collect();
    let names: BTreeSet<String> = features.iter().flat_map(BTreeMap::keys).cloned().collect();
    let place =
        |features: &BTreeMap<String, Value>| names.iter().map(|name| features.get(name).cloned()).collect();
    let places = features.iter().map(place).collect();
    (names.into_iter().collect(), places)
}
