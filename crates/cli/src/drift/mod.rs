//! Whether runs have come to disagree with what a model, or the runs before them, said: since when, by
//! how much, probably why, and what to do.

mod contents;
mod find;

use harp_core::Timestamp;
use harp_history::Recorded;
use harp_learn::{Cause, Mixed};
use harp_report::text::{number, plural, plural_with};
use serde::Serialize;

use crate::terminal::Terminal;

pub use find::{in_model, in_runs, is_of_another_program};

/// How to keep runs of two programs apart.
const NEW_VERSION: &str = "Give a new `version` under [program] to keep them apart";

/// Runs that differ from what was known; documented in docs/json.md.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// What has most likely changed.
    pub cause: Cause,
    /// Since when, in milliseconds since 1970; `None` where no run was made since.
    pub since_ms: Option<i64>,
    /// What runs since then take, divided by what was expected of them; `None` where that is not known.
    pub ratio: Option<f64>,
    /// Runs since then that show it.
    pub runs: usize,
    /// All of it and what to do, in words.
    pub message: String,
}

/// Runs since a moment, and what is known of them.
struct Newer {
    found: Mixed,
    /// The machine of the first of them, where it is known.
    host: Option<String>,
    /// Whether the program has changed, too, but at another moment.
    program_changed_later: bool,
}

impl Drift {
    /// Runs since a moment that take longer or shorter than expected, or are of another program.
    fn since(newer: &Newer, against: &str) -> Drift {
        let Mixed { since, runs, ratio, cause } = newer.found;
        let what = match ratio {
            Some(ratio) => format!(
                "{} since {} took {} times as long as {against}; {}",
                plural(runs, "run"),
                shown(since),
                number(ratio),
                newer.why()
            ),
            None => other_program(runs, since),
        };
        let advice = match cause {
            Cause::Machine => "`harp site bench` there measures what tells machines apart",
            _ => NEW_VERSION,
        };
        Drift {
            cause,
            since_ms: Some(since.0),
            ratio,
            runs,
            message: format!(
                "{what}. {advice}, or learn from the newer runs alone: harp build --since {}",
                stamp(since)
            ),
        }
    }

    /// A model that learned from runs that differ.
    pub fn in_learned(found: Mixed) -> Drift {
        let newer = Newer { found, host: None, program_changed_later: false };
        let drift = Drift::since(&newer, "the runs before them");
        Drift { message: format!("the model is a mix of runs that differ: {}", drift.message), ..drift }
    }

    /// A program that the model has not learned from: when the first run was made with it, and how many
    /// were.
    fn of_program(made: Option<(Timestamp, usize)>) -> Drift {
        let changed = "the program is not the one the model learned from: its command or a file it names has \
                       changed, and";
        let message = match made {
            None => format!(
                "{changed} no run was made with it yet. Give a new `version` under [program] and run again, or \
                 make some runs to see whether it matters"
            ),
            Some((since, runs)) => format!(
                "{changed} {} made with it since {}, too few inside what the model knows to see whether it \
                 matters. {NEW_VERSION}, or make scaled-down runs with it and learn from the newer ones alone: \
                 harp build --since {}",
                plural_with(runs, "run was", "runs were"),
                shown(since),
                stamp(since),
            ),
        };
        Drift {
            cause: Cause::Program,
            since_ms: made.map(|(since, _)| since.0),
            ratio: None,
            runs: made.map_or(0, |(_, runs)| runs),
            message,
        }
    }

    /// What a model says of the runs it learned from.
    pub fn in_model_file(&self) -> Option<Mixed> {
        let since = Timestamp(self.since_ms?);
        Some(Mixed { since, runs: self.runs, ratio: self.ratio, cause: self.cause })
    }
}

impl Newer {
    /// What has most likely changed, in words.
    fn why(&self) -> String {
        match (self.found.cause, &self.host) {
            (Cause::Program, _) => "the program has changed since".to_owned(),
            (Cause::Machine, Some(host)) => format!("they ran on another machine, {host}"),
            (Cause::Machine, None) => "they ran on another machine".to_owned(),
            (Cause::Unknown, _) if self.program_changed_later => {
                "the program has changed, too, but only later: look at the system, its load, the input"
                    .to_owned()
            }
            (Cause::Unknown, _) => {
                "nothing that harp records has changed: look at the system, its load, the input".to_owned()
            }
        }
    }
}

/// What the history says of runs to learn from, without a model of them: that they are of two programs.
pub fn in_history(recorded: &[Recorded]) -> Option<Mixed> {
    let found = contents::switch(recorded)?;
    Some(Mixed { since: found.since, runs: found.runs, ratio: None, cause: Cause::Program })
}

/// What is to be said where runs to learn from or to judge on are of two programs; no model is needed.
pub fn of_two_programs(recorded: &[Recorded]) -> Option<String> {
    let found = in_history(recorded)?;
    Some(format!(
        "{}. {NEW_VERSION}, or judge the newer runs alone: harp backtest --since {}",
        other_program(found.runs, found.since),
        stamp(found.since)
    ))
}

fn other_program(runs: usize, since: Timestamp) -> String {
    format!(
        "{} made since {} with another program than those before: its command or a file it names has changed",
        plural_with(runs, "run was", "runs were"),
        shown(since)
    )
}

/// Says it, where there is something to say.
pub fn tell(drift: Option<&Drift>, terminal: &Terminal) {
    if let Some(drift) = drift {
        terminal.say(&format!("warning: {}", drift.message));
    }
}

/// A moment for people.
fn shown(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0)
        .map_or_else(|_| moment.0.to_string(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// A moment as `--since` takes it.
fn stamp(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0).map_or_else(|_| moment.0.to_string(), |time| time.to_string())
}
