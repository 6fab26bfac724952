//! A curve of one feature: a sum of as many bells as there were runs, kept as a table.

use serde::{Deserialize, Serialize};

/// Entries to a length of the curve. The cubic through four of them is off by about 2e-5 of the height.
const ENTRIES_PER_LENGTH: f64 = 8.0;
/// The table reaches this many lengths beyond the outermost run, where nothing of it is left.
const BEYOND: f64 = 6.0;
const MOST_ENTRIES: f64 = 4096.0;

/// Values at `from`, `from + step` and so on; between them the cubic through the four nearest, and 0
/// outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Curve {
    pub from: f64,
    pub step: f64,
    pub values: Vec<f64>,
}

impl Curve {
    /// Σ weight · exp(−½ ((x − at)/length)²) over bells (at, weight).
    pub(super) fn of(bells: &[(f64, f64)], length: f64) -> Curve {
        let smallest = bells.iter().map(|bell| bell.0).fold(f64::INFINITY, f64::min);
        let largest = bells.iter().map(|bell| bell.0).fold(f64::NEG_INFINITY, f64::max);
        let from = smallest - BEYOND * length;
        let range = largest - smallest + 2.0 * BEYOND * length;
        let step = (length / ENTRIES_PER_LENGTH).max(range / MOST_ENTRIES);
        let entries = if range.is_finite() { (range / step).ceil() as usize + 1 } else { 0 };
        let sum = |x: f64| -> f64 {
            bells.iter().map(|(at, weight)| weight * (-0.5 * ((x - at) / length).powi(2)).exp()).sum()
        };
        Curve { from, step, values: (0..entries).map(|entry| sum(from + step * entry as f64)).collect() }
    }

    pub(super) fn value(&self, x: f64) -> f64 {
        let place = (x - self.from) / self.step;
        let before = place.floor();
        if !(before >= 1.0 && before + 2.0 < self.values.len() as f64) {
            return 0.0;
        }
        let [a, b, c, d] = [0, 1, 2, 3].map(|offset| self.values[before as usize + offset - 1]);
        let t = place - before;
        // Lagrange through −1, 0, 1, 2.
        -t * (t - 1.0) * (t - 2.0) / 6.0 * a + (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0 * b
            - (t + 1.0) * t * (t - 2.0) / 2.0 * c
            + (t + 1.0) * t * (t - 1.0) / 6.0 * d
    }

    pub(super) fn is_sound(&self) -> bool {
        let finite = self.values.iter().all(|value| value.is_finite());
        finite && self.from.is_finite() && self.step > 0.0 && self.step.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_sum_says() {
        let bells: Vec<(f64, f64)> = (0..40)
            .map(|index| (f64::from(index) * 0.13, if index % 2 == 0 { 30.0 } else { -29.0 }))
            .collect();
        let length = 0.7;
        let curve = Curve::of(&bells, length);
        for place in -80..=120 {
            let x = f64::from(place) * 0.0937;
            let sum: f64 = bells.iter().map(|(at, w)| w * (-0.5 * ((x - at) / length).powi(2)).exp()).sum();
            assert!((curve.value(x) - sum).abs() < 1e-3, "at {x}: {} and {sum}", curve.value(x));
        }
    }
}
