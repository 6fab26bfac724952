//! The run that takes away most doubt about the target cases for what it costs.

use std::collections::BTreeSet;

use harp_core::{Configuration, ConfigurationKey, Scale, Seconds, Target};
use harp_experiment::PlannedRun;
use harp_learn::{BuildOptions, Doubt, FEWEST_CONFIGURATIONS, TargetModel};
use harp_report::Quantity;
use harp_report::text::{number, share};

use super::answer::{Choice, Ended, about, price};
use super::known::{Known, places};
use super::{Left, Next};
use crate::arguments::{Adaptive, Per};
use crate::commands::build::without_test_cases;
use crate::failure::Failure;
use crate::project::Project;

/// What a run costs beyond its own time: starting it and recording it. More than that would keep it from
/// short runs where all are short.
const EACH_RUN: f64 = 0.01;
/// A run that takes away less of the doubt is not worth making.
const SMALLEST_SHARE: f64 = 0.001;
/// Runs that should lie beyond an interval before its width is believed.
const SOUND: f64 = 0.75;
/// A model is built again when there are this many times as many runs as it knows.
const GROWN: f64 = 1.05;

/// Chooses runs that lower the doubt about some cases.
pub(super) struct Lowering<'a> {
    project: &'a Project,
    settings: &'a Adaptive,
    cases: &'a [Configuration],
    models: Option<Box<Models>>,
}

/// What the runs so far say of time, and of what is wanted.
struct Models {
    learned_from: usize,
    walltime: TargetModel,
    wanted: TargetModel,
}

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

impl<'a> Lowering<'a> {
    pub fn new(project: &'a Project, settings: &'a Adaptive, cases: &'a [Configuration]) -> Lowering<'a> {
        Lowering { project, settings, cases, models: None }
    }

    /// The next run among some, given what is known, runs planned but not made, and what may be spent.
    pub fn next(
        &mut self,
        known: &Known,
        planned: &[Choice],
        candidates: &[PlannedRun],
        left: Left,
    ) -> Result<Next, Failure> {
        let completed = known.completed(self.cases);
        self.learn(known, completed.len());
        let width = self.width()?;
        let made: Vec<&Configuration> = completed
            .iter()
            .map(|(configuration, _)| *configuration)
            .chain(planned.iter().map(|choice| &choice.configuration))
            .collect();
        let open = candidates.iter().map(|run| &run.configuration);
        let (names, all) = places(made.iter().copied().chain(open).chain(self.cases));
        let different: BTreeSet<ConfigurationKey> = made.iter().map(|one| one.key()).collect();
        let varied = (0..names.len()).filter(|&column| all.iter().any(|row| row[column] != all[0][column]));
        let needed = (varied.count() + 2).max(FEWEST_CONFIGURATIONS);
        // Repetitions make no model possible.
        let starts = |run: &&PlannedRun| {
            run.configuration.scale == Scale::Sd && !different.contains(&run.configuration.key())
        };
        let needed = needed.min(different.len() + candidates.iter().filter(starts).count());
        let is_start = different.len() < needed;
        match (width, self.settings.until_width) {
            (Some(width), Some(wanted)) if !is_start && self.is_sound() && width.ratio() <= wanted => {
                return Ok(Next::End(Ended::Narrow, self.narrow(width)));
            }
            _ => {}
        }
        let seconds: Vec<Option<f64>> = candidates.iter().map(|run| self.seconds(known, run)).collect();
        let (mut costs, mut over_budget) = (Vec::new(), 0);
        for (run, seconds) in candidates.iter().zip(&seconds) {
            let affordable = left.pays_for(known, run, *seconds);
            over_budget += usize::from(!affordable);
            costs.push(match affordable {
                false => f64::NAN,
                // Nothing is known of times yet: small runs, and among them the most telling.
                true if is_start => {
                    if starts(&run) {
                        1.0
                    } else {
                        f64::NAN
                    }
                }
                true => self.weight(known, run, *seconds)?,
            });
        }
        let (runs, rest) = all.split_at(made.len());
        let (open, cases) = rest.split_at(candidates.len());
        let doubt = Doubt::new(runs, open, cases, noise(&completed));
        let Some(gain) = doubt.best(&costs).filter(|gain| gain.share >= SMALLEST_SHARE) else {
            return Ok(match over_budget {
                0 => Next::End(Ended::NothingLeft, "nothing is left that would teach anything".to_owned()),
                _ => Next::End(Ended::Budget, left.in_words(over_budget)),
            });
        };
        let run = candidates[gain.candidate].clone();
        let expected = seconds[gain.candidate];
        let cost =
            expected.and_then(|time| known.knowledge.price(&run.configuration.allocation, Seconds(time)));
        let mut reason = format!("{}, takes away {} of the doubt", about(expected), share(gain.share));
        match (self.settings.per, expected, cost) {
            _ if is_start => {
                let without = match known.unfinished() {
                    0 => String::new(),
                    count => format!(" besides {count} that did not complete"),
                };
                let number = different.len() + 1;
                reason.push_str(&format!(
                    " (start: the most telling of the small runs, {number} of {needed}{without})"
                ));
            }
            (Per::Second, Some(_), _) => {
                reason.push_str(&format!(", the most for its time among {}", candidates.len()));
            }
            (Per::Dollar, _, Some(cost)) => reason.push_str(&format!(
                " for {}, the most for its price among {}",
                price(&known.knowledge.site().unit, cost.0),
                candidates.len()
            )),
            _ => {}
        }
        if let Some(width) = width {
            reason.push_str(&format!("; widest interval now {}", self.range(width)));
        }
        let choice = Choice {
            expected_seconds: expected,
            expected_cost: cost.map(|cost| cost.0),
            doubt_taken: Some(gain.share),
            ..Choice::of(&run, reason)
        };
        Ok(Next::Run(run, Box::new(choice)))
    }

    /// Whether an interval rests on enough runs that were held back: with hardly one beyond it, nobody
    /// knows where it ends.
    fn is_sound(&self) -> bool {
        let outside = 1.0 - self.project.experiment.learn.interval;
        let judged = self.models.as_ref().map_or(0, |models| models.wanted.evidence.validation_runs);
        judged as f64 * outside >= SOUND
    }

    /// The widest interval of the target cases, once there is a model.
    pub fn width(&self) -> Result<Option<Width>, Failure> {
        let Some(models) = &self.models else { return Ok(None) };
        let mut widest: Option<Width> = None;
        for case in self.cases {
            let prediction = models.wanted.predict(&case.features())?;
            let (low, high) = prediction.distribution.interval(self.project.experiment.learn.interval);
            let width = Width { low, high };
            if widest.is_none_or(|widest| width.ratio() > widest.ratio()) {
                widest = Some(width);
            }
        }
        Ok(widest)
    }

    /// Builds models of what is known by now, if that is enough, and more than before.
    pub fn learn(&mut self, known: &Known, completed: usize) {
        let before = self.models.as_ref().map_or(0, |models| models.learned_from);
        if (completed as f64) < GROWN * before as f64 || completed == before {
            return;
        }
        let experiment = &self.project.experiment;
        let options = BuildOptions {
            policy: experiment.learn.policy,
            seed: experiment.schedule.seed,
            ..BuildOptions::default()
        };
        let (runs, _) = without_test_cases(self.project, &known.recorded);
        let is_case = |one: &Configuration| self.cases.iter().any(|case| case.values() == one.values());
        let runs: Vec<_> = runs.into_iter().filter(|run| !is_case(&run.configuration)).collect();
        let build = |target: &Target| {
            let (table, _) = harp_history::dataset(runs.iter().copied(), target);
            harp_learn::build(&table, &options).ok()
        };
        let wanted = self.wanted();
        let Some(walltime) = build(&Target::Walltime) else { return };
        let Some(wanted) = (if wanted == Target::Walltime { Some(walltime.clone()) } else { build(&wanted) })
        else {
            return;
        };
        self.models = Some(Box::new(Models { learned_from: completed, walltime, wanted }));
    }

    /// What the experiment wants to know first.
    fn wanted(&self) -> Target {
        self.project.experiment.learn.targets.first().cloned().unwrap_or(Target::Walltime)
    }

    fn seconds(&self, known: &Known, run: &PlannedRun) -> Option<f64> {
        let model = self.models.as_ref().map(|models| &models.walltime);
        let predicted =
            || model.and_then(|model| Some(model.predict(&run.configuration.features()).ok()?.estimate));
        let knowledge = &known.knowledge;
        let measured = knowledge.measured(&run.configuration).map(|time| time.0);
        measured.or_else(predicted).or_else(|| knowledge.time(&run.configuration).map(|time| time.0))
    }

    /// What a run is weighed by; without any knowledge all weigh the same.
    fn weight(&self, known: &Known, run: &PlannedRun, seconds: Option<f64>) -> Result<f64, Failure> {
        let time = seconds.unwrap_or(1.0) + EACH_RUN;
        match self.settings.per {
            Per::Second => Ok(time),
            Per::Dollar => {
                let cost = known.knowledge.price(&run.configuration.allocation, Seconds(time));
                cost.map(|cost| cost.0).ok_or_else(|| {
                    let site = &known.knowledge.site().name;
                    Failure::bad_input(format!("the site `{site}` has no price for {}", run.configuration))
                        .hint("use --per second, or name a site with prices as `site` under [learn]")
                })
            }
        }
    }

    fn narrow(&self, width: Width) -> String {
        let interval = share(self.project.experiment.learn.interval);
        format!(
            "the {interval} interval of every target case is narrow enough: the widest is {}",
            self.range(width)
        )
    }

    /// `4.10–11.9 s (×2.9)`.
    pub fn range(&self, width: Width) -> String {
        let quantity = Quantity::of(&self.wanted());
        format!("{} (×{})", quantity.range(width.low, width.high), number(width.ratio()))
    }
}

/// The standard deviation of ln T between repetitions, where there are any.
fn noise(completed: &[(&Configuration, Seconds)]) -> Option<f64> {
    let mut groups: std::collections::BTreeMap<ConfigurationKey, Vec<f64>> = Default::default();
    for (configuration, time) in completed.iter().filter(|(_, time)| time.0 > 0.0) {
        groups.entry(configuration.key()).or_default().push(time.0.ln());
    }
    let (mut squares, mut freedom) = (0.0, 0);
    for logs in groups.values().filter(|logs| logs.len() > 1) {
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        freedom += logs.len() - 1;
    }
    (freedom > 0).then(|| (squares / freedom as f64).sqrt())
}
