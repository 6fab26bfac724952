//! What a design may use, and what is left of it.

use harp_core::{Configuration, Money, Seconds};

use super::Surroundings;
use crate::Design;

/// A budget being spent.
pub(super) struct Purse<'a> {
    design: &'a Design,
    known: &'a Surroundings<'a>,
    time: Seconds,
    cost: Money,
}

impl<'a> Purse<'a> {
    pub(super) fn new(design: &'a Design, known: &'a Surroundings<'a>) -> Purse<'a> {
        Purse { design, known, time: Seconds(0.0), cost: Money(0.0) }
    }

    /// Whether there is a budget at all.
    pub(super) fn is_limited(&self) -> bool {
        self.design.budget.time.is_some() || self.design.budget.cost.is_some()
    }

    /// Pays for all repetitions of a configuration if there is enough left. The error says what is not
    /// known; a run that may end at its time-out is taken to last until then.
    pub(super) fn pay(&mut self, configuration: &Configuration) -> Result<bool, String> {
        let times = f64::from(self.design.repetitions);
        let (mut time, mut cost) = (self.time, self.cost);
        if let Some(limit) = self.design.budget.time {
            let expected = (self.known.expected_time)(configuration).or(self.design.timeout);
            time += expected.ok_or_else(|| unknown("how long", configuration))? * times;
            if time > limit {
                return Ok(false);
            }
        }
        if let Some(limit) = self.design.budget.cost {
            let expected = (self.known.expected_cost)(configuration);
            cost += expected.ok_or_else(|| unknown("at what price", configuration))? * times;
            if cost > limit {
                return Ok(false);
            }
        }
        (self.time, self.cost) = (time, cost);
        Ok(true)
    }
}

fn unknown(what: &str, configuration: &Configuration) -> String {
    format!("the budget cannot be kept: nothing is known of {what} {configuration} would run")
}
