//! What is told of the choices: a line each while they are made, and the answer at the end.

use harp_core::{Configuration, Money, Seconds};
use harp_experiment::PlannedRun;
use serde::Serialize;

use crate::failures::FailedRun;

/// A run that was chosen, and why.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Choice {
    /// From 1, in this call.
    pub number: usize,
    #[serde(flatten)]
    pub configuration: Configuration,
    pub repetition: u32,
    /// How long it was expected to take; `None` before anything is known.
    pub expected_seconds: Option<f64>,
    /// The price of that.
    pub expected_cost: Option<f64>,
    /// The share of the doubt about the target cases it takes away; `None` when searching an allocation.
    pub doubt_taken: Option<f64>,
    /// How much better than the best so far it was expected to be, as a share; `None` otherwise.
    pub expected_improvement: Option<f64>,
    /// Why this one.
    pub reason: String,
    /// How long it took; `None` when it was only planned or did not complete.
    pub seconds: Option<f64>,
}

impl Choice {
    pub fn of(run: &PlannedRun, reason: String) -> Choice {
        Choice {
            number: 0,
            configuration: run.configuration.clone(),
            repetition: run.repetition,
            expected_seconds: None,
            expected_cost: None,
            doubt_taken: None,
            expected_improvement: None,
            reason,
            seconds: None,
        }
    }

    /// `3. fs n=6000 on 4 threads: about 3.20 s, …`.
    pub fn in_words(&self) -> String {
        format!("{:>3}. {} {}: {}", self.number, self.configuration.scale, self.configuration, self.reason)
    }
}

/// Why no more runs were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    /// Every interval is narrow enough.
    Narrow,
    /// What is left would exceed the budget.
    Budget,
    /// Nothing is left to run, or nothing that teaches anything where no budget or width says when to stop.
    NothingLeft,
    /// No allocation is expected to be better.
    Found,
    /// Only planned.
    Planned,
}

/// The best allocation that was run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Best {
    #[serde(flatten)]
    pub configuration: Configuration,
    pub seconds: f64,
    pub cost: Option<f64>,
}

/// What came of it; documented in docs/json.md.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    pub choices: Vec<Choice>,
    /// How many of them were started.
    pub runs: usize,
    pub ended: Ended,
    /// The same in words.
    pub reason: String,
    /// Run time of all runs to learn from, earlier ones counted.
    pub spent_seconds: f64,
    /// The price of that.
    pub spent_cost: f64,
    pub money_unit: String,
    /// Target cases.
    pub cases: usize,
    /// The widest interval of a target case: upper end divided by lower end.
    pub width: Option<f64>,
    /// The best allocation, when searching one.
    pub best: Option<Best>,
    pub failures: Vec<FailedRun>,
}

/// `about 3.20 s`, or that it is not known.
pub(super) fn about(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "time unknown".to_owned(), |seconds| format!("about {}", Seconds(seconds)))
}

/// A price with its unit.
pub(super) fn price(unit: &str, cost: f64) -> String {
    harp_site::format_amount(unit, Money(cost))
}
