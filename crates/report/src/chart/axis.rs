//! An axis: from values to positions, linear or logarithmic, with its ticks and their labels.

use super::ticks::{linear_ticks, logarithmic_ticks, whole_ticks};
use crate::Quantity;
use crate::view::AxisView;

/// A mapping from values to user units, and its ticks.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    whole: bool,
    start: f64,
    end: f64,
    quantity: Quantity,
    name: String,
}

impl Axis {
    /// An axis over the finite values among those given, with some room at both ends. It falls back
    /// to linear where a value is not positive. Where it lies is said later.
    pub(super) fn over(view: &AxisView, values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let logarithmic = view.logarithmic && low > 0.0;
        let (low, high) = if logarithmic { widen_logarithmic(low, high) } else { widen_linear(low, high) };
        Axis { logarithmic, ..Axis::linear(view, low, high) }
    }

    /// A linear axis from 0 to exactly `high`: for what ends there, such as a window of time.
    pub(super) fn up_to(view: &AxisView, high: f64) -> Self {
        Axis::linear(view, 0.0, if high.is_finite() && high > 0.0 { high } else { 1.0 })
    }

    fn linear(view: &AxisView, low: f64, high: f64) -> Self {
        Axis {
            low,
            high,
            logarithmic: false,
            whole: view.whole,
            start: 0.0,
            end: 1.0,
            quantity: view.quantity.clone(),
            name: view.name.clone(),
        }
    }

    /// The same axis from `start` to `end` in user units.
    pub(super) fn placed(mut self, start: f64, end: f64) -> Self {
        (self.start, self.end) = (start, end);
        self
    }

    /// Where a value lies; values far outside are kept near, so that no coordinate is huge.
    pub(super) fn position(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(f64::MIN_POSITIVE).ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.start + share.clamp(-0.5, 1.5) * (self.end - self.start)
    }

    /// Whether a value can be drawn on it.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.logarithmic || value > 0.0)
    }

    /// Ticks with their labels; about one every `distance` user units.
    pub(super) fn ticks(&self, distance: f64) -> Vec<(f64, String)> {
        let wanted = (((self.end - self.start).abs() / distance) as usize).clamp(3, 7);
        let whole = if self.whole { whole_ticks(self.low, self.high, wanted) } else { Vec::new() };
        let ticks = if !whole.is_empty() {
            whole
        } else if self.logarithmic {
            logarithmic_ticks(self.low, self.high, &self.quantity, wanted)
        } else {
            linear_ticks(self.low, self.high, &self.quantity, wanted)
        };
        let labels = self.quantity.tick_labels(&ticks, !self.logarithmic);
        ticks.into_iter().zip(labels).collect()
    }

    /// The value halfway between two as the axis sees it, a share of the way along.
    pub(super) fn between(&self, from: f64, to: f64, share: f64) -> f64 {
        if self.logarithmic && from > 0.0 && to > 0.0 {
            (from.ln() + share * (to.ln() - from.ln())).exp()
        } else {
            from + share * (to - from)
        }
    }

    /// What share of the way from one value to another a third lies.
    pub(super) fn share(&self, from: f64, to: f64, value: f64) -> f64 {
        if self.logarithmic && from > 0.0 && to > 0.0 && value > 0.0 {
            (value.ln() - from.ln()) / (to.ln() - from.ln())
        } else {
            (value - from) / (to - from)
        }
    }

    /// Its ends as values.
    pub(super) fn domain(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// What is along it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

fn widen_logarithmic(low: f64, high: f64) -> (f64, f64) {
    let ratio = high / low;
    let factor = if ratio < 1.05 { 2.0 } else { f64::powf(ratio, 0.05).max(1.02) };
    ((low / factor).max(f64::MIN_POSITIVE), (high * factor).min(f64::MAX / 4.0))
}

fn widen_linear(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    let extent = high - low;
    if size == 0.0 {
        return (0.0, 1.0);
    }
    if extent <= size * 1e-6 {
        return (low - size * 0.5, high + size * 0.5);
    }
    // Nothing below zero was measured, so nothing below zero is shown.
    let padded = low - extent * 0.05;
    let from = if low >= 0.0 && (padded < 0.0 || low < 0.3 * high) { 0.0 } else { padded };
    (from, high + extent * 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(logarithmic: bool, values: &[f64]) -> Axis {
        let view = AxisView { name: "x".into(), quantity: Quantity::Number, logarithmic, whole: false };
        Axis::over(&view, values.iter().copied()).placed(0.0, 100.0)
    }

    #[test]
    fn one_value_and_none_still_make_an_axis() {
        for values in [&[][..], &[5.0], &[0.0], &[-3.0, -3.0], &[f64::NAN, 2.0], &[1e300, 1e300]] {
            for logarithmic in [true, false] {
                let axis = axis(logarithmic, values);
                let (low, high) = axis.domain();
                assert!(low < high && low.is_finite() && high.is_finite(), "{values:?}");
                assert!((3..=8).contains(&axis.ticks(20.0).len()), "{values:?} {:?}", axis.ticks(20.0));
            }
        }
    }

    #[test]
    fn counts_have_whole_ticks() {
        let ticks = |values: &[f64]| {
            let view = AxisView::logarithmic("threads", Quantity::Number).counted();
            let axis = Axis::over(&view, values.iter().copied()).placed(0.0, 500.0);
            axis.ticks(60.0).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(&[1.0, 2.0]), "1 2");
        assert_eq!(ticks(&[1.0, 4.0]), "1 2 3 4");
        assert_eq!(ticks(&[1.0, 64.0]), "1 2 4 8 16 32 64");
    }

    #[test]
    fn zero_makes_a_logarithmic_axis_linear() {
        assert!(!axis(true, &[0.0, 10.0]).logarithmic);
        assert!(axis(true, &[0.1, 10.0]).logarithmic);
    }

    #[test]
    fn positions_rise_with_values_and_stay_near() {
        let axis = axis(true, &[1.0, 1000.0]);
        assert!((axis.position(f64::powf(10.0, 1.5)) - 50.0).abs() < 1e-9);
        assert!(axis.position(1.0) < axis.position(10.0));
        assert!(axis.position(1e300).abs() <= 150.0 && axis.position(0.0).abs() <= 50.0 + 1e-9);
        assert!((axis.between(1.0, 100.0, 0.5) - 10.0).abs() < 1e-9);
        assert!((axis.share(1.0, 100.0, 10.0) - 0.5).abs() < 1e-9);
    }
}
