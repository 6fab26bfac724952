//! The run that takes away most doubt about the target cases for what it costs.

use std::collections::BTreeSet;

use harp_core::{Configuration, ConfigurationKey, Scale, Seconds};
use harp_experiment::PlannedRun;
use harp_learn::{Doubt, FEWEST_CONFIGURATIONS, Gain, Why};
use harp_report::text::share;

use super::answer::{Choice, Ended, about, price};
use super::known::{Known, places};
use super::models::{Models, Width};
use super::{Left, Next};
use crate::arguments::{Adaptive, Per};
use crate::failure::Failure;
use crate::project::Project;

/// What a run costs beyond its own time: starting it and recording it. More than that would keep it from
/// short runs where all are short.
const EACH_RUN: f64 = 0.01;
/// Runs in a row that did not narrow the interval, after which the belief that chose them is not followed.
const STALLED: usize = 2;
/// An interval wider than this says that the belief, by which little may be left to learn, is in doubt.
const WIDE: f64 = 2.0;
/// Of what is left, so much may be spent on a run for being the most telling alone.
const PART: f64 = 0.5;
/// While there are others, no run is made that costs more than is left with a larger probability than 1 − this:
/// what is cut off by the budget has used it up and tells little.
const SURE: f64 = 0.9;

/// Chooses runs that lower the doubt about some cases.
pub(super) struct Lowering<'a> {
    settings: &'a Adaptive,
    cases: &'a [Configuration],
    models: Models<'a>,
}

/// The run that was chosen, and what the choice rests on.
struct Step<'k> {
    run: &'k PlannedRun,
    expected: Option<f64>,
    gain: Gain,
    why: Why,
    /// How many there were to choose from: those of all that are left that can be paid for.
    among: usize,
    of: usize,
    /// For one of the first runs, which of how many it is.
    start: Option<(usize, usize)>,
}

impl<'a> Lowering<'a> {
    pub fn new(project: &'a Project, settings: &'a Adaptive, cases: &'a [Configuration]) -> Lowering<'a> {
        Lowering { settings, cases, models: Models::new(project, cases) }
    }

    /// The next run among some, given what is known, runs planned but not made, and what may be spent. Before
    /// it ends the models know every run: what is said last is not of an earlier one.
    pub fn next(
        &mut self,
        known: &Known,
        planned: &[Choice],
        candidates: &[PlannedRun],
        left: Left,
    ) -> Result<Next, Failure> {
        self.models.learn(known, false)?;
        let next = self.choose(known, planned, candidates, left)?;
        if matches!(next, Next::End(..)) && self.models.learn(known, true)? {
            return self.choose(known, planned, candidates, left);
        }
        Ok(next)
    }

    fn choose(
        &mut self,
        known: &Known,
        planned: &[Choice],
        candidates: &[PlannedRun],
        left: Left,
    ) -> Result<Next, Failure> {
        let completed = known.completed(self.cases);
        let width = self.models.width()?;
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
            (Some(width), Some(wanted)) if !is_start && self.models.is_sound() && width.ratio() <= wanted => {
                return Ok(Next::End(Ended::Narrow, self.narrow(width)));
            }
            _ => {}
        }
        if candidates.is_empty() {
            return Ok(Next::End(Ended::NothingLeft, "every run of the experiment has been made".to_owned()));
        }
        let seconds: Vec<Option<f64>> =
            candidates.iter().map(|run| self.models.seconds(known, &completed, run)).collect();
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
        let only = |costs: &[f64], keep: &dyn Fn(usize) -> bool| -> Option<Vec<f64>> {
            let kept =
                costs.iter().enumerate().map(|(index, cost)| if keep(index) { *cost } else { f64::NAN });
            let kept: Vec<f64> = kept.collect();
            kept.iter().any(|cost| cost.is_finite()).then_some(kept)
        };
        if !is_start {
            let at_most: Vec<Option<f64>> =
                candidates.iter().map(|run| self.models.at_most(&completed, run, SURE)).collect();
            let is_sure = |index: usize| {
                let seconds = at_most[index].or(seconds[index]);
                left.pays_for(known, &candidates[index], seconds)
            };
            costs = only(&costs, &is_sure).unwrap_or(costs);
        }
        let (runs, rest) = all.split_at(made.len());
        let (open, cases) = rest.split_at(candidates.len());
        let doubt = Doubt::new(runs, open, cases, noise(&completed));
        let wide = self.settings.until_width.unwrap_or(WIDE).min(WIDE);
        let is_wide = width.is_some_and(|width| width.ratio() > wide);
        let part = left.part(PART);
        let in_part = |index: usize| part.pays_for(known, &candidates[index], seconds[index]);
        let stalled = (!is_start && is_wide && self.models.idle() >= STALLED).then(|| only(&costs, &in_part));
        let mut chosen = match stalled.flatten() {
            Some(costs) => doubt.choose(&costs, true),
            None => doubt.choose(&costs, false),
        };
        if matches!(chosen, Some((_, Why::Farthest))) {
            if !self.has_end() && !is_start {
                let reason = "nothing is left that would teach anything";
                return Ok(Next::End(Ended::NothingLeft, reason.to_owned()));
            }
            let is_full = |index: usize| candidates[index].configuration.scale == Scale::Fs;
            chosen = only(&costs, &is_full).and_then(|costs| doubt.choose(&costs, false)).or(chosen);
        }
        let Some((gain, why)) = chosen else {
            return Ok(Next::End(Ended::Budget, left.in_words(over_budget)));
        };
        if why == Why::Most {
            self.models.rest();
        }
        let step = Step {
            run: &candidates[gain.candidate],
            expected: seconds[gain.candidate],
            gain,
            why,
            among: costs.iter().filter(|cost| cost.is_finite()).count(),
            of: candidates.len(),
            start: is_start.then(|| (different.len() + 1, needed)),
        };
        Ok(Next::Run(step.run.clone(), Box::new(self.explained(known, &step, width))))
    }

    /// Whether anything else than the doubt says when to stop.
    fn has_end(&self) -> bool {
        let settings = self.settings;
        settings.until_width.is_some() || settings.budget.is_some() || settings.budget_cost.is_some()
    }

    fn explained(&self, known: &Known, step: &Step<'_>, width: Option<Width>) -> Choice {
        let Step { run, expected, gain, among, of, .. } = *step;
        let affordable = match among < of {
            true => format!("the {among} of {of} that the rest of the budget pays for"),
            false => among.to_string(),
        };
        let cost =
            expected.and_then(|time| known.knowledge.price(&run.configuration.allocation, Seconds(time)));
        let mut reason = format!("{}, takes away {} of the doubt", about(expected), share(gain.share));
        match (step.why, self.settings.per, expected, cost) {
            _ if step.start.is_some() => {
                let without = match known.unfinished() {
                    0 => String::new(),
                    count => format!(" besides {count} that did not complete"),
                };
                let (number, needed) = step.start.unwrap_or_default();
                reason.push_str(&format!(
                    " (start: the most telling of the small runs, {number} of {needed}{without})"
                ));
            }
            (Why::Most, ..) => reason.push_str(&format!(
                ", the most of what half of the rest pays for, whatever it costs: {STALLED} runs did not narrow \
                 the interval"
            )),
            (Why::Farthest, ..) => reason = format!(
                "{}, the farthest from all runs: none of {affordable} should teach much, which is \
                 not believed as long as the interval is wide",
                about(expected)
            ),
            (_, Per::Second, Some(_), _) => {
                reason.push_str(&format!(", the most for its time among {affordable}"));
            }
            (_, Per::Dollar, _, Some(cost)) => reason.push_str(&format!(
                " for {}, the most for its price among {affordable}",
                price(&known.knowledge.site().unit, cost.0),
            )),
            _ => {}
        }
        if let Some(width) = width {
            reason.push_str(&format!("; widest interval now {}", self.models.range(width)));
        }
        Choice {
            expected_seconds: expected,
            expected_cost: cost.map(|cost| cost.0),
            doubt_taken: Some(gain.share),
            ..Choice::of(run, reason)
        }
    }

    /// The widest interval of the target cases, once there is a model.
    pub fn width(&self) -> Result<Option<Width>, Failure> {
        self.models.width()
    }

    /// `4.10–11.9 s (×2.9)`.
    pub fn range(&self, width: Width) -> String {
        self.models.range(width)
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
        format!(
            "the {} interval of every target case is narrow enough: the widest is {}",
            share(self.models.interval()),
            self.models.range(width)
        )
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
