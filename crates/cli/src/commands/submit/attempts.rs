//! Every attempt at a case, from the history: also those before harp was killed.

use harp_core::{Bytes, Money, Outcome, Seconds};
use harp_history::Store;
use harp_report::text::printable;
use serde::Serialize;

use super::case::Case;
use crate::failure::Failure;

/// An attempt; documented in docs/json.md.
#[derive(Debug, Clone, Serialize)]
pub struct Made {
    outcome: Outcome,
    walltime: Option<f64>,
    peak_memory: Option<u64>,
    pub cost: Option<f64>,
}

impl Made {
    pub fn in_words(&self, unit: &str) -> String {
        let mut text = printable(&self.outcome.to_string());
        if let Some(time) = self.walltime {
            text.push_str(&format!(", took {}", Seconds(time)));
        }
        if let Some(memory) = self.peak_memory {
            text.push_str(&format!(", used {} of memory", Bytes(memory)));
        }
        if let Some(cost) = self.cost {
            text.push_str(&format!(", cost {}", harp_site::format_amount(unit, Money(cost))));
        }
        text
    }
}

/// The attempts at a case so far, oldest first.
pub fn made_before(store: &Store, case: &Case<'_>) -> Result<Vec<Made>, Failure> {
    let application = case.project().experiment.application();
    let key = case.configuration().key();
    let attempts = store.attempts(&application, &key, case.repetition())?;
    let made = attempts.into_iter().map(|recorded| {
        let run = recorded.run;
        // an attempt that ran out of memory had what it was killed at
        let memory = match &run.outcome {
            Outcome::OutOfMemory { limit: Some(limit) } => Some(*limit),
            _ => case.planned_memory(),
        };
        // one that never began was never charged
        let time = run.usage.walltime.unwrap_or_default();
        Made {
            walltime: run.usage.walltime.map(|time| time.0),
            peak_memory: run.usage.peak_memory.map(|memory| memory.0),
            cost: case.price_of(memory, time).map(|cost| cost.0),
            outcome: run.outcome,
        }
    });
    Ok(made.collect())
}
