//! What the runs so far say of time and of what is wanted: how wide its intervals are, whether they still
//! become narrower, and how long runs take.

use harp_core::{Configuration, Seconds, Target};
use harp_experiment::PlannedRun;
use harp_learn::{BuildOptions, TargetModel};
use harp_report::Quantity;
use harp_report::text::number;

use super::known::Known;
use crate::commands::build::without_test_cases;
use crate::failure::Failure;
use crate::project::Project;

/// Runs that should lie beyond an interval before its width is believed.
const SOUND: f64 = 0.75;
/// A model is built again when there are this many times as many runs as it knows.
const GROWN: f64 = 1.05;
/// An interval is narrower than the narrowest before when it is this much of it.
const NARROWER: f64 = 0.98;
/// No run is expected to be faster than this share of the fastest: what a model says of runs far from all
/// others may be next to nothing, and anything is worth that.
const FASTEST: f64 = 0.5;

/// The widest interval of a target case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    low: f64,
    high: f64,
}

impl Width {
    pub fn ratio(&self) -> f64 {
        self.high / self.low
    }
}

/// Models that are built again as runs come.
pub(super) struct Models<'a> {
    project: &'a Project,
    cases: &'a [Configuration],
    built: Option<Box<Built>>,
    narrowest: f64,
    idle: usize,
}

struct Built {
    learned_from: usize,
    walltime: TargetModel,
    wanted: TargetModel,
}

impl<'a> Models<'a> {
    pub fn new(project: &'a Project, cases: &'a [Configuration]) -> Models<'a> {
        Models { project, cases, built: None, narrowest: f64::INFINITY, idle: 0 }
    }

    /// Builds models of what is known by now, if that is enough, and more than before; unless all of it must
    /// be known, only if it is a good deal more. Says whether it did.
    pub fn learn(&mut self, known: &Known, all: bool) -> Result<bool, Failure> {
        let (runs, _) = without_test_cases(self.project, &known.recorded);
        let is_case = |one: &Configuration| self.cases.iter().any(|case| case.values() == one.values());
        let runs: Vec<_> = runs.into_iter().filter(|run| !is_case(&run.configuration)).collect();
        let before = self.built.as_ref().map_or(0, |built| built.learned_from);
        if runs.len() == before || !all && (runs.len() as f64) < GROWN * before as f64 {
            return Ok(false);
        }
        let experiment = &self.project.experiment;
        let options = BuildOptions {
            policy: experiment.learn.policy,
            seed: experiment.schedule.seed,
            ..BuildOptions::default()
        };
        let build = |target: &Target| {
            let (table, _) = harp_history::dataset(runs.iter().copied(), target);
            harp_learn::build(&table, &options).ok()
        };
        let wanted = self.wanted();
        let Some(walltime) = build(&Target::Walltime) else { return Ok(false) };
        let Some(wanted) = (if wanted == Target::Walltime { Some(walltime.clone()) } else { build(&wanted) })
        else {
            return Ok(false);
        };
        self.built = Some(Box::new(Built { learned_from: runs.len(), walltime, wanted }));
        match self.width()?.map(|width| width.ratio()) {
            Some(ratio) if ratio <= NARROWER * self.narrowest => (self.narrowest, self.idle) = (ratio, 0),
            _ => self.idle += 1,
        }
        Ok(true)
    }

    /// How often in a row models of more runs had no narrower interval.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Begins to count anew.
    pub fn rest(&mut self) {
        self.idle = 0;
    }

    /// Whether an interval rests on enough runs that were held back: with hardly one beyond it, nobody
    /// knows where it ends.
    pub fn is_sound(&self) -> bool {
        let judged = self.built.as_ref().map_or(0, |built| built.wanted.evidence.validation_runs);
        judged as f64 * (1.0 - self.interval()) >= SOUND
    }

    /// The probability of an interval.
    pub fn interval(&self) -> f64 {
        self.project.experiment.learn.interval
    }

    /// The widest interval of the target cases, once there is a model.
    pub fn width(&self) -> Result<Option<Width>, Failure> {
        let Some(built) = &self.built else { return Ok(None) };
        let mut widest: Option<Width> = None;
        for case in self.cases {
            let prediction = built.wanted.predict(&case.features())?;
            let (low, high) = prediction.distribution.interval(self.interval());
            let width = Width { low, high };
            if widest.is_none_or(|widest| width.ratio() > widest.ratio()) {
                widest = Some(width);
            }
        }
        Ok(widest)
    }

    /// `4.10–11.9 s (×2.9)`.
    pub fn range(&self, width: Width) -> String {
        let quantity = Quantity::of(&self.wanted());
        format!("{} (×{})", quantity.range(width.low, width.high), number(width.ratio()))
    }

    /// How long a run may take: as long as it took before, or as a model says within what is believable.
    pub fn seconds(
        &self,
        known: &Known,
        completed: &[(&Configuration, Seconds)],
        run: &PlannedRun,
    ) -> Option<f64> {
        if let Some(measured) = measured(completed, run) {
            return Some(measured);
        }
        // One that was cut off takes longer than that.
        let cut_off = known.knowledge.measured(&run.configuration).map_or(0.0, |time| time.0);
        let model = self.built.as_ref().map(|built| &built.walltime);
        let predicted = model.and_then(|model| model.predict(&run.configuration.features()).ok());
        let fastest = completed.iter().map(|(_, time)| time.0).reduce(f64::min).unwrap_or(0.0);
        predicted
            .map(|prediction| prediction.estimate.max(FASTEST * fastest).max(cut_off))
            .or_else(|| known.knowledge.time(&run.configuration).map(|time| time.0))
    }

    /// The time it does not exceed with a probability, where a model must say.
    pub fn at_most(
        &self,
        completed: &[(&Configuration, Seconds)],
        run: &PlannedRun,
        probability: f64,
    ) -> Option<f64> {
        let model = &self.built.as_ref().filter(|_| measured(completed, run).is_none())?.walltime;
        Some(model.predict(&run.configuration.features()).ok()?.distribution.quantile(probability))
    }

    /// What the experiment wants to know first.
    fn wanted(&self) -> Target {
        self.project.experiment.learn.targets.first().cloned().unwrap_or(Target::Walltime)
    }
}

/// How long completed runs of the same configuration took, on average.
fn measured(completed: &[(&Configuration, Seconds)], run: &PlannedRun) -> Option<f64> {
    let key = run.configuration.key();
    let times = completed.iter().filter(|(configuration, _)| configuration.key() == key);
    let times: Vec<f64> = times.map(|(_, time)| time.0).collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}
