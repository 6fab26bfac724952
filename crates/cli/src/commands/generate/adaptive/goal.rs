//! The allocation of a case that is fastest or cheapest within limits, found with few runs.

use harp_core::{Configuration, Outcome, Seconds};
use harp_experiment::PlannedRun;
use harp_learn::{Doubt, Outlook, outlooks};
use harp_report::text::share;

use super::answer::{Best, Choice, Ended, about, price};
use super::known::{Allowed, Known, places};
use super::{Left, Next};
use crate::arguments::{Adaptive, Goal};

/// Allocations that are tried before any is preferred, where nothing is known of the program.
const START: usize = 3;
/// So many runs of other cases say how the program scales; one allocation is then start enough.
const TAUGHT: usize = 4;
/// An allocation expected to be better by a smaller share is not worth a run.
const SMALLEST_IMPROVEMENT: f64 = 0.01;
/// While no allocation meets the limits: one less likely to than this is not tried.
const LEAST_HOPE: f64 = 0.02;
/// What a run killed at its time limit is taken to need, in limits.
const KILLED: f64 = 4.0;

/// Searches the best of some allocations.
pub(super) struct Searching<'a> {
    settings: &'a Adaptive,
    goal: Goal,
    allocations: &'a [Configuration],
}

impl<'a> Searching<'a> {
    pub fn new(settings: &'a Adaptive, goal: Goal, allocations: &'a [Configuration]) -> Searching<'a> {
        Searching { settings, goal, allocations }
    }

    /// The next allocation to run, or why none is.
    pub fn next(&self, known: &Known, allowed: &Allowed<'_>, left: Left) -> Next {
        let open: Vec<PlannedRun> = self
            .allocations
            .iter()
            .map(|configuration| PlannedRun { configuration: configuration.clone(), repetition: 0 })
            .filter(|run| known.is_open(run, allowed))
            .collect();
        let best = self.best(known);
        if open.is_empty() {
            return Next::End(Ended::NothingLeft, self.all_tried(known));
        }
        let seen = self.seen(known);
        let runs = seen.iter().map(|(configuration, _)| *configuration);
        let (_, all) = places(runs.chain(open.iter().map(|run| &run.configuration)).chain(self.allocations));
        let (runs, rest) = all.split_at(seen.len());
        let (candidates, cases) = rest.split_at(open.len());
        let timed: Vec<_> = runs.iter().cloned().zip(seen.iter().map(|(_, seconds)| *seconds)).collect();
        let outlooks = outlooks(&timed, candidates);
        let expected = |index: usize| outlooks.as_ref().map(|found| found[index].seconds());
        let affordable = |index: &usize| left.pays_for(known, &open[*index], expected(*index));
        let payable: Vec<usize> = (0..open.len()).filter(affordable).collect();
        if payable.is_empty() {
            return Next::End(Ended::Budget, left.in_words(open.len()));
        }
        let tried = self.allocations.len() - open.len();
        let start = if seen.len() - tried.min(seen.len()) >= TAUGHT { 1 } else { START };
        let start = start.min(self.allocations.len());
        let chosen = match &outlooks {
            Some(found) if tried >= start => {
                self.most_promising(known, &open, found, &payable, best.as_ref())
            }
            _ => {
                let costs: Vec<f64> = (0..open.len())
                    .map(|index| if payable.contains(&index) { 1.0 } else { f64::NAN })
                    .collect();
                let gain = Doubt::new(runs, candidates, cases, None).best(&costs);
                let index = gain.map_or(payable[0], |gain| gain.candidate);
                let count = match tried < start {
                    true => format!("{} of {start}", tried + 1),
                    // Those that were to be enough did not tell how long they take.
                    false => "as too few have completed".to_owned(),
                };
                let reason = format!(
                    "{} (start: tells most of the {} allocations, {count})",
                    about(expected(index)),
                    self.allocations.len()
                );
                Ok((index, None, reason))
            }
        };
        match chosen {
            Err(reason) => Next::End(Ended::Found, reason),
            Ok((index, improvement, reason)) => {
                let run = open[index].clone();
                let seconds = expected(index);
                let choice = Choice {
                    expected_seconds: seconds,
                    expected_cost: seconds.and_then(|time| self.cost(known, &run.configuration, time)),
                    expected_improvement: improvement,
                    ..Choice::of(&run, reason)
                };
                Next::Run(run, Box::new(choice))
            }
        }
    }

    /// The largest expected improvement; while nothing meets the limits, the likeliest to. An error
    /// says why nothing is worth a run.
    fn most_promising(
        &self,
        known: &Known,
        open: &[PlannedRun],
        found: &[Outlook],
        payable: &[usize],
        best: Option<&Best>,
    ) -> Result<(usize, Option<f64>, String), String> {
        let worth = |index: usize, time: f64| self.worth(known, &open[index].configuration, time);
        let value =
            |index: usize| match best.and_then(|best| self.worth(known, &best.configuration, best.seconds)) {
                Some(best) => found[index].improvement(best, |time| worth(index, time)),
                None => found[index].feasible(|time| worth(index, time)),
            };
        let values: Vec<(usize, f64)> = payable.iter().map(|&index| (index, value(index))).collect();
        let (index, value) = values
            .into_iter()
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .unwrap_or((0, 0.0));
        let count = open.len();
        match best {
            None if value < LEAST_HOPE => Err("no allocation is likely to meet the limits".to_owned()),
            None => Ok((
                index,
                None,
                format!(
                    "{}; meets the limits with a probability of {}, the likeliest of {count}",
                    about(Some(found[index].seconds())),
                    share(value)
                ),
            )),
            Some(_) if value < SMALLEST_IMPROVEMENT => {
                let than = share(value.max(0.001));
                Err(match count {
                    1 => format!("the one allocation left is not expected to be better by more than {than}"),
                    _ => format!(
                        "none of the {count} allocations left is expected to be better by more than {than}"
                    ),
                })
            }
            Some(_) => Ok((
                index,
                Some(value),
                format!(
                    "{}; expected to be {} better than the best so far, the most of {count}",
                    about(Some(found[index].seconds())),
                    share(value)
                ),
            )),
        }
    }

    /// What is to be small, `None` beyond a limit.
    fn worth(&self, known: &Known, configuration: &Configuration, seconds: f64) -> Option<f64> {
        let cost = || self.cost(known, configuration, seconds);
        let in_time = self.settings.max_time.is_none_or(|limit| seconds <= limit.0);
        let in_money = match self.settings.max_cost {
            Some(limit) => cost().is_some_and(|cost| cost <= limit.0),
            None => true,
        };
        match self.goal {
            _ if !in_time || !in_money => None,
            Goal::Fastest => Some(seconds),
            Goal::Cheapest => cost(),
        }
    }

    fn cost(&self, known: &Known, configuration: &Configuration, seconds: f64) -> Option<f64> {
        known.knowledge.price(&configuration.allocation, Seconds(seconds)).map(|cost| cost.0)
    }

    /// The best allocation that was run and meets the limits.
    pub fn best(&self, known: &Known) -> Option<Best> {
        let of_case = known.completed(&[]);
        let of_case = of_case.into_iter().filter(|(one, _)| self.allocations.contains(one));
        let worth = of_case.filter_map(|(one, time)| Some((self.worth(known, one, time.0)?, one, time.0)));
        let best = worth.reduce(|best, next| if next.0 < best.0 { next } else { best });
        best.map(|(_, configuration, seconds)| Best {
            configuration: configuration.clone(),
            seconds,
            cost: self.cost(known, configuration, seconds),
        })
    }

    /// Every run that says something of time, killed ones at a multiple of their limit.
    fn seen<'k>(&self, known: &'k Known) -> Vec<(&'k Configuration, f64)> {
        let mut seen: Vec<(&Configuration, f64)> =
            known.completed(&[]).into_iter().map(|(one, time)| (one, time.0)).collect();
        let runs = known.recorded.iter().map(|recorded| &recorded.run);
        seen.extend(runs.filter_map(|run| match run.outcome {
            Outcome::TimedOut { limit } => Some((&run.configuration, KILLED * limit.0)),
            _ => None,
        }));
        seen
    }

    /// That nothing is left, and of which allocations there is no time.
    fn all_tried(&self, known: &Known) -> String {
        let missing = self.allocations.iter().filter_map(|configuration| {
            let run = PlannedRun { configuration: configuration.clone(), repetition: 0 };
            let outcome = known.outcome(&run).filter(|outcome| !outcome.is_completed())?;
            Some(format!("{configuration} ({outcome})"))
        });
        let missing: Vec<String> = missing.collect();
        match missing.len() {
            0 => "every allocation has been run".to_owned(),
            count => format!(
                "no allocation is left; {count} of {} could not be run to the end: {}",
                self.allocations.len(),
                missing.join(", ")
            ),
        }
    }

    /// The result in words.
    pub fn in_words(&self, known: &Known, best: &Best) -> String {
        let word = match self.goal {
            Goal::Fastest => "fastest",
            Goal::Cheapest => "cheapest",
        };
        let tried = known.completed(&[]).iter().filter(|(one, _)| self.allocations.contains(one)).count();
        let cost = best
            .cost
            .map_or(String::new(), |cost| format!(", {}", price(&known.knowledge.site().unit, cost)));
        format!(
            "{word}: {} took {}{cost}; {tried} of {} allocations were run",
            best.configuration,
            Seconds(best.seconds),
            self.allocations.len()
        )
    }
}
