//! Values from an interval: by position for designs that draw, evenly for grids.

use harp_core::Value;

use crate::{Range, Spacing};

impl Range {
    /// The value at a position from 0 to 1. Whole numbers get equal shares of it; real numbers are
    /// rounded to what a person would write.
    pub fn at(&self, position: f64) -> Value {
        let position = position.clamp(0.0, 1.0);
        let span = |low: f64, high: f64| match self.spacing {
            Spacing::Linear => low + position * (high - low),
            Spacing::Geometric => low * (high / low).powf(position),
        };
        if self.integer {
            let whole = span(self.from, self.to + 1.0).floor().clamp(self.from, self.to);
            Value::Integer(whole as i64)
        } else {
            Value::Real(self.rounded(span(self.from, self.to)))
        }
    }

    /// The values a grid takes, smallest first, none twice; one value if no count is given.
    pub fn grid(&self) -> Vec<Value> {
        let count = self.count.unwrap_or(1).max(1);
        let mut values: Vec<Value> = Vec::new();
        for index in 0..count {
            let share = if count == 1 { 0.0 } else { f64::from(index) / f64::from(count - 1) };
            let number = match self.spacing {
                _ if index == 0 => self.from,
                _ if index + 1 == count => self.to,
                Spacing::Linear => self.from + share * (self.to - self.from),
                Spacing::Geometric => self.from * (self.to / self.from).powf(share),
            };
            let value = if self.integer {
                Value::Integer(number.round() as i64)
            } else if index == 0 || index + 1 == count {
                Value::Real(number)
            } else {
                Value::Real(self.rounded(number))
            };
            if values.last() != Some(&value) {
                values.push(value);
            }
        }
        values
    }

    /// How many values there are, if they can be counted.
    pub(crate) fn size(&self) -> Option<u64> {
        if self.from == self.to { Some(1) } else { self.integer.then(|| (self.to - self.from) as u64 + 1) }
    }

    /// Rounded to about a millionth of the interval (linear) or of the number (geometric).
    fn rounded(&self, number: f64) -> f64 {
        let written = match self.spacing {
            Spacing::Linear => {
                let magnitude = (self.to - self.from).log10().floor();
                let decimals = (6.0 - magnitude).clamp(0.0, 300.0);
                format!("{number:.*}", decimals as usize)
            }
            Spacing::Geometric => format!("{number:.6e}"),
        };
        written.parse().unwrap_or(number).clamp(self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(from: f64, to: f64, spacing: Spacing, integer: bool, count: Option<u32>) -> Range {
        Range { from, to, spacing, integer, count }
    }

    #[test]
    fn grids_reach_both_ends() {
        let numbers =
            |range: Range| range.grid().iter().map(|value| value.as_number().unwrap()).collect::<Vec<_>>();
        assert_eq!(
            numbers(range(100.0, 10_000.0, Spacing::Geometric, true, Some(5))),
            [100.0, 316.0, 1000.0, 3162.0, 10_000.0]
        );
        assert_eq!(
            numbers(range(0.0, 1.0, Spacing::Linear, false, Some(4))),
            [0.0, 0.333_333, 0.666_667, 1.0]
        );
        assert_eq!(numbers(range(1.0, 3.0, Spacing::Linear, true, Some(9))), [1.0, 2.0, 3.0]);
        assert_eq!(numbers(range(7.0, 7.0, Spacing::Linear, true, None)), [7.0]);
    }

    #[test]
    fn whole_numbers_get_equal_shares() {
        let die = range(1.0, 6.0, Spacing::Linear, true, None);
        let faces: Vec<Value> = (0..12).map(|half| die.at(f64::from(half) / 12.0 + 0.01)).collect();
        for (index, face) in faces.iter().enumerate() {
            assert_eq!(*face, Value::Integer(index as i64 / 2 + 1));
        }
        assert_eq!(die.at(1.0), Value::Integer(6));
    }

    proptest! {
        #[test]
        fn values_stay_in_the_interval_and_grow(
            from in 1e-3f64..1e6, width in 0.0f64..1e6, geometric: bool, integer: bool,
            first in 0.0f64..1.0, second in 0.0f64..1.0,
        ) {
            let spacing = if geometric { Spacing::Geometric } else { Spacing::Linear };
            let (from, to) = if integer { (from.ceil(), (from + width).ceil()) } else { (from, from + width) };
            let range = range(from, to, spacing, integer, None);
            let [low, high] = [first.min(second), first.max(second)].map(|at| range.at(at).as_number().unwrap());
            prop_assert!(from <= low && low <= high && high <= to);
        }
    }
}
