//! Whether runs have come to disagree with what a model, or the runs before them, said: since when, by
//! how much, probably why, and what to do.

mod find;

use harp_core::Timestamp;
use harp_history::Recorded;
use harp_report::text::{number, plural};
use serde::Serialize;

use crate::terminal::Terminal;

pub use find::{in_model, in_runs};

/// What has most likely changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The program: its command or the files it names are others.
    Program,
    /// The machine: the runs were made on one the others were not.
    Machine,
    /// Nothing harp records.
    Unknown,
}

/// Runs that differ from what was known; documented in docs/json.md.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// What has most likely changed.
    pub cause: Cause,
    /// Since when, in milliseconds since 1970; `None` where no run was made since.
    pub since_ms: Option<i64>,
    /// What runs since then take, divided by what was expected of them; `None` without runs.
    pub ratio: Option<f64>,
    /// Runs since then that show it.
    pub runs: usize,
    /// All of it and what to do, in words.
    pub message: String,
}

impl Drift {
    /// Runs since a moment that take longer or shorter than expected.
    fn since(first: &Recorded, ratio: f64, runs: usize, cause: Cause, against: &str) -> Drift {
        let began = first.run.started;
        let why = match cause {
            Cause::Program => "the program has changed since".to_owned(),
            Cause::Machine => format!("they ran on another machine, {}", first.host.name),
            Cause::Unknown => {
                "nothing that harp records has changed: look at the system, its load, the input".to_owned()
            }
        };
        let advice = match cause {
            Cause::Machine => "`harp site bench` there measures what tells machines apart",
            _ => "give a new `version` under [program] to keep them apart",
        };
        Drift {
            cause,
            since_ms: Some(began.0),
            ratio: Some(ratio),
            runs,
            message: format!(
                "{} since {} took {} times as long as {against}; {why}. {advice}, or learn from the newer runs alone: \
                 harp build --since {}",
                plural(runs, "run"),
                shown(began),
                number(ratio),
                stamp(began),
            ),
        }
    }

    /// A program that no run was made with.
    fn of_program() -> Drift {
        Drift {
            cause: Cause::Program,
            since_ms: None,
            ratio: None,
            runs: 0,
            message: "the program is not the one the model learned from: its command or a file it names has \
                      changed, and no run was made since. Give a new `version` under [program] and run again, \
                      or make some runs to see whether it matters"
                .to_owned(),
        }
    }
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
