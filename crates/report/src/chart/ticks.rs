//! Where an axis has its ticks: three to eight round values inside the range, in the quantity's own
//! roundness: tens for numbers, minutes and hours for times, powers of two for bytes.

use crate::Quantity;

/// Fewest and most ticks of an axis.
const FEWEST: usize = 3;
const MOST: usize = 8;

/// Round values in `[low, high]` at equal distances; about `wanted` of them.
pub(super) fn linear_ticks(low: f64, high: f64, quantity: &Quantity, wanted: usize) -> Vec<f64> {
    if !(low.is_finite() && high.is_finite() && low < high) {
        return Vec::new();
    }
    let (_, unit) = quantity.axis_unit_for(low.abs().max(high.abs()));
    let (low_in_unit, high_in_unit) = (low / unit, high / unit);
    let exponent = (high_in_unit - low_in_unit).log10().floor() as i32 + 1;
    let steps = (exponent - 3..=exponent).rev().flat_map(|exponent| {
        [5.0, 2.0, 1.0].into_iter().map(move |mantissa| mantissa * f64::powi(10.0, exponent))
    });
    let candidates = steps.map(|step| multiples(low_in_unit, high_in_unit, step));
    best(candidates, wanted)
        .unwrap_or_default()
        .into_iter()
        .map(|tick| (tick * unit).clamp(low, high))
        .collect()
}

/// Round values in `[low, high]` at about equal ratios; both must be positive.
pub(super) fn logarithmic_ticks(low: f64, high: f64, quantity: &Quantity, wanted: usize) -> Vec<f64> {
    if !(low > 0.0 && high.is_finite() && low < high) {
        return Vec::new();
    }
    let ladders: Vec<Vec<f64>> = match quantity {
        Quantity::Bytes => {
            [20, 10, 5, 4, 3, 2, 1].into_iter().map(|stride| powers_of_two(low, high, stride)).collect()
        }
        Quantity::Seconds => ladders(low, high, time_ladder),
        _ => ladders(low, high, decimal_ladder),
    };
    best(ladders, wanted).unwrap_or_else(|| linear_ticks(low, high, quantity, wanted))
}

/// Whole numbers in `[low, high]`: all where they are few, else powers of two, as cores and threads come;
/// none where neither is round.
pub(super) fn whole_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let (first, last) = ((low - 1e-9).ceil().max(1.0), (high + 1e-9).floor());
    if !(first <= last && last.is_finite()) {
        return Vec::new();
    }
    if last - first < wanted.min(MOST) as f64 {
        return multiples(first, last, 1.0);
    }
    let powers = [1, 2, 3, 4].into_iter().map(|stride| powers_of_two(first, last, stride));
    best(powers, wanted).unwrap_or_default()
}

/// The candidate with an allowed number of ticks nearest to the wanted one, the earlier on a tie.
fn best(candidates: impl IntoIterator<Item = Vec<f64>>, wanted: usize) -> Option<Vec<f64>> {
    candidates
        .into_iter()
        .filter(|ticks| (FEWEST..=MOST).contains(&ticks.len()))
        .min_by_key(|ticks| ticks.len().abs_diff(wanted))
}

/// Multiples of a step in a range; more than the most allowed are not counted out.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let slack = 1e-9;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    let count = (last - first + 1.0).clamp(0.0, (MOST + 1) as f64) as usize;
    (0..count).map(|index| (first + index as f64) * step).collect()
}

fn powers_of_two(low: f64, high: f64, stride: i32) -> Vec<f64> {
    let first = (low.log2() / f64::from(stride) - 1e-9).ceil() as i32;
    let last = (high.log2() / f64::from(stride) + 1e-9).floor() as i32;
    (first..=last.min(first + MOST as i32))
        .map(|index| f64::powi(2.0, index * stride).clamp(low, high))
        .collect()
}

/// From every sixth decade to 1-2-5 steps, the values of a ladder that lie in the range.
fn ladders(low: f64, high: f64, ladder: fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let within = |values: Vec<f64>| -> Vec<f64> {
        let slack = 1e-9;
        let inside =
            values.into_iter().filter(|value| (low * (1.0 - slack)..=high * (1.0 + slack)).contains(value));
        inside.map(|value| value.clamp(low, high)).collect()
    };
    let decades = within(ladder(&[1.0]));
    let mut all: Vec<Vec<f64>> =
        [6, 4, 3, 2, 1].into_iter().map(|stride| decades.iter().copied().step_by(stride).collect()).collect();
    all.push(within(ladder(&[1.0, 3.0])));
    all.push(within(ladder(&[1.0, 2.0, 5.0])));
    all
}

/// Mantissas times powers of ten.
fn decimal_ladder(mantissas: &[f64]) -> Vec<f64> {
    decades(-18..=24, mantissas)
}

fn decades(exponents: std::ops::RangeInclusive<i32>, mantissas: &[f64]) -> Vec<f64> {
    exponents
        .flat_map(|exponent| mantissas.iter().map(move |mantissa| mantissa * f64::powi(10.0, exponent)))
        .collect()
}

/// Powers of ten up to ten seconds, then minutes, hours and days counted the same way.
fn time_ladder(mantissas: &[f64]) -> Vec<f64> {
    // Not 50 seconds beside a minute, nor 20 hours beside a day.
    let scaled = |values: Vec<f64>, unit: f64, next: f64| -> Vec<f64> {
        values.into_iter().map(|value| value * unit).filter(|value| *value < 0.7 * next).collect()
    };
    let mut ladder = scaled(decades(-18..=1, mantissas), 1.0, 60.0);
    ladder.extend(scaled(decades(0..=1, mantissas), 60.0, 3600.0));
    ladder.extend(scaled(decades(0..=1, mantissas), 3600.0, 86_400.0));
    ladder.extend(scaled(decades(0..=18, mantissas), 86_400.0, f64::INFINITY));
    ladder
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quantities() -> [Quantity; 5] {
        [
            Quantity::Seconds,
            Quantity::Bytes,
            Quantity::Number,
            Quantity::Percent,
            Quantity::Money("€".to_owned()),
        ]
    }

    #[test]
    fn round_values_are_found() {
        assert_eq!(linear_ticks(0.0, 10.0, &Quantity::Number, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear_ticks(0.0, 150.0, &Quantity::Seconds, 5), [0.0, 30.0, 60.0, 90.0, 120.0, 150.0]);
        assert_eq!(logarithmic_ticks(0.5, 2e4, &Quantity::Number, 5), [1.0, 10.0, 100.0, 1000.0, 1e4]);
        assert_eq!(logarithmic_ticks(0.5, 4000.0, &Quantity::Seconds, 5), [1.0, 10.0, 60.0, 600.0, 3600.0]);
        let kibi = 1024.0;
        assert_eq!(
            logarithmic_ticks(1000.0, 40.0 * kibi * kibi, &Quantity::Bytes, 4),
            [kibi, 32.0 * kibi, kibi * kibi, 32.0 * kibi * kibi]
        );
    }

    #[test]
    fn impossible_ranges_have_no_ticks() {
        for (low, high) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(linear_ticks(low, high, &Quantity::Number, 5).is_empty());
            assert!(logarithmic_ticks(low, high, &Quantity::Number, 5).is_empty());
        }
    }

    proptest! {
        #[test]
        fn ticks_are_few_rising_and_inside(
            exponent in -9.0..12.0f64, log_ratio in -5.0..8.0f64, wanted in 3usize..=8, which in 0usize..5,
        ) {
            let low = f64::powf(10.0, exponent);
            let high = (low * (1.0 + f64::powf(10.0, log_ratio))).min(1e13);
            prop_assume!(high > low * 1.000_001);
            let quantity = &quantities()[which];
            for ticks in [
                linear_ticks(low, high, quantity, wanted),
                linear_ticks(-high, high, quantity, wanted),
                linear_ticks(0.0, high, quantity, wanted),
                logarithmic_ticks(low, high, quantity, wanted),
            ] {
                prop_assert!((3..=8).contains(&ticks.len()), "{low} {high} {ticks:?}");
                prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{low} {high} {ticks:?}");
                prop_assert!(ticks.iter().all(|tick| (-high..=high).contains(tick)));
            }
            let inside = logarithmic_ticks(low, high, quantity, wanted);
            prop_assert!(inside.iter().all(|tick| (low..=high).contains(tick)), "{low} {high} {inside:?}");
        }

        #[test]
        fn labels_tell_ticks_apart(
            exponent in -9.0..12.0f64, log_ratio in -3.0..8.0f64, which in 0usize..5,
        ) {
            let low = f64::powf(10.0, exponent);
            let high = (low * (1.0 + f64::powf(10.0, log_ratio))).min(1e13);
            prop_assume!(high > low * 1.000_9);
            let quantity = &quantities()[which];
            for (ticks, shared) in [
                (linear_ticks(low, high, quantity, 5), true),
                (logarithmic_ticks(low, high, quantity, 5), false),
            ] {
                let labels = quantity.tick_labels(&ticks, shared);
                let distinct: std::collections::BTreeSet<&String> = labels.iter().collect();
                prop_assert_eq!(distinct.len(), labels.len(), "{:?} {:?}", ticks, labels);
            }
        }
    }
}
