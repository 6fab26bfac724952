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
    pub peak_memory: Option<u64>,
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

/// The attempts at a case so far, oldest first, the last of which asked for so much memory.
pub fn made_before(store: &Store, case: &Case<'_>, last: Option<Bytes>) -> Result<Vec<Made>, Failure> {
    let application = case.project().experiment.application();
    let key = case.configuration().key();
    let attempts = store.attempts(&application, &key, case.repetition())?;
    let outcomes: Vec<&Outcome> = attempts.iter().map(|recorded| &recorded.run.outcome).collect();
    let asked = memory_asked(&outcomes, last);
    let made = attempts.into_iter().zip(asked).map(|(recorded, memory)| {
        let run = recorded.run;
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

/// The memory each attempt asked for. One that ran out of it had what it was killed at; any other is followed
/// by one that asks for the same.
fn memory_asked(outcomes: &[&Outcome], last: Option<Bytes>) -> Vec<Option<Bytes>> {
    let mut memory = last;
    let mut asked: Vec<Option<Bytes>> = Vec::with_capacity(outcomes.len());
    for outcome in outcomes.iter().rev() {
        if let Outcome::OutOfMemory { limit: Some(limit) } = outcome {
            memory = Some(*limit);
        }
        asked.push(memory);
    }
    asked.reverse();
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_after_one_out_of_memory_is_priced_with_what_it_asked_for() {
        let out_of_memory = |limit: u64| Outcome::OutOfMemory { limit: Some(Bytes(limit)) };
        let timed_out = Outcome::TimedOut { limit: Seconds(60.0) };
        let outcomes =
            [&timed_out, &out_of_memory(100), &timed_out, &out_of_memory(200), &Outcome::Completed];
        let asked = memory_asked(&outcomes, Some(Bytes(400)));
        assert_eq!(asked, [100, 100, 200, 200, 400].map(|bytes| Some(Bytes(bytes))));
        assert_eq!(memory_asked(&[&timed_out], None), [None]);
    }
}
