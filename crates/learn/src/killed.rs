//! Runs killed at a limit that needed more than the finished runs promise: somewhere beyond these the program
//! goes on otherwise, by a factor of which only a lower bound is known.
//!
//! Such a bound must not bend a law that explains all finished runs. It raises what is predicted for cases
//! as far beyond the measured range as the killed run was, and no quantile of the same case is below it.

use harp_core::{Value, counted};
use serde::{Deserialize, Serialize};

use crate::prepare::{Beyond, Bounds};
use crate::statistics::normal_quantile;
use crate::table::{TARGETS, Table};

/// Bounds more than this many times what the finished runs promise are hangs, not a law.
pub(crate) const HANGS: f64 = 30.0;
/// Most that are kept, those that contradict most.
const MOST: usize = 50;

/// A killed run that needed more than was predicted for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Killed {
    pub cells: Vec<Option<Value>>,
    /// What it needed at least.
    pub bound: f64,
    /// By how much that is more than the finished runs promise, as a logarithm.
    pub excess: f64,
}

/// What killed runs add to the logarithm of a case's quantiles, and where none may be below.
pub(crate) struct Raise {
    low: f64,
    middle: f64,
    high: f64,
    floor: f64,
}

impl Killed {
    /// Those among the killed runs of a table; `promised` says what is predicted for a run.
    pub(crate) fn of(table: &Table, promised: impl Fn(&[Option<&Value>]) -> f64) -> Vec<Killed> {
        let mut killed: Vec<Killed> = table
            .lower_bounds
            .iter()
            .map(|row| {
                let cells: Vec<_> = row.cells.iter().map(Option::as_ref).collect();
                let excess = (row.target / promised(&cells)).ln();
                Killed { cells: row.cells.clone(), bound: row.target, excess }
            })
            .filter(|killed| killed.excess > 0.0 && killed.excess <= HANGS.ln())
            .collect();
        killed.sort_by(|left, right| right.excess.total_cmp(&left.excess));
        killed.truncate(MOST);
        killed
    }

    pub(crate) fn check(&self, features: usize) -> Result<(), String> {
        let sound = self.cells.len() == features
            && TARGETS.contains(&self.bound)
            && self.excess > 0.0
            && self.excess <= HANGS.ln();
        if sound { Ok(()) } else { Err("a killed run is not sound".to_owned()) }
    }

    /// Whether categories are the same.
    fn is_alike(&self, cells: &[Option<&Value>]) -> bool {
        self.cells.iter().zip(cells).all(|(own, other)| match (own, other) {
            (Some(Value::Text(own)), Some(Value::Text(other))) => own == other,
            _ => true,
        })
    }

    fn is_same(&self, cells: &[Option<&Value>]) -> bool {
        self.cells.iter().map(Option::as_ref).eq(cells.iter().copied())
    }
}

impl Raise {
    /// What these killed runs mean for a case.
    pub(crate) fn of(killed: &[Killed], bounds: &Bounds, cells: &[Option<&Value>], beyond: Beyond) -> Raise {
        let mut raise = Raise { low: 0.0, middle: 0.0, high: 0.0, floor: 0.0 };
        let sides = bounds.sides(cells);
        for run in killed.iter().filter(|run| run.is_alike(cells)) {
            if run.is_same(cells) {
                raise.floor = raise.floor.max(run.bound);
            }
            let its: Vec<_> = run.cells.iter().map(Option::as_ref).collect();
            let same_side = bounds.sides(&its).iter().zip(&sides).any(|(its, own)| *its != 0 && its == own);
            let its_spans = bounds.beyond(&its).spans;
            if !same_side || its_spans <= 0.0 {
                continue;
            }
            // Where on the way to it the program changes is not known.
            let reached = (beyond.spans / its_spans).min(1.0);
            raise.middle = raise.middle.max(reached * run.excess);
            raise.high = raise.high.max(run.excess);
            if reached >= 1.0 {
                // What changed may be a constant that matters less and less.
                raise.low = raise.low.max(run.excess / 2.0);
            }
        }
        raise
    }

    /// The quantile of a level, raised. Upwards the factor is only known from below: it may be as large again.
    pub(crate) fn raise(&self, level: f64, quantile: f64) -> f64 {
        let by = if level <= 0.5 {
            self.low + (self.middle - self.low) * (level / 0.5).powi(2)
        } else {
            let upwards = normal_quantile(level) / normal_quantile(0.95);
            self.middle + upwards * (2.0 * self.high - self.middle)
        };
        (quantile * by.exp()).max(self.floor)
    }
}

/// What a person should know of them; nothing where there are none.
pub(crate) fn killed_warning(killed: &[Killed], all: usize) -> Option<String> {
    let most = killed.first()?;
    Some(format!(
        "{} of {} killed at a limit needed more than the finished runs promise, one at least {:.2} times as much: \
         predictions beyond what was measured are raised by that and reach up as far again, and where the program \
         changes is not known; a run there that may finish would tell",
        killed.len(),
        counted(all, "run"),
        most.excess.exp(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_stay_in_order_and_above_the_floor() {
        let raise = Raise { low: 0.2, middle: 0.5, high: 1.0, floor: 1.1 };
        let levels = [0.005, 0.05, 0.3, 0.5, 0.7, 0.95, 0.995];
        let raised: Vec<f64> = levels.iter().map(|&level| raise.raise(level, 1.0 + 0.01 * level)).collect();
        assert!(raised.windows(2).all(|pair| pair[0] <= pair[1]), "{raised:?}");
        assert!(raised[0] >= 1.1);
        assert!((raised[5] / 1.0095).ln() > 1.99, "{raised:?}");
    }
}
