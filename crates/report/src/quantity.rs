//! What a number on a chart or in a table is: seconds, bytes, money, a percentage or a bare number;
//! and how it, a range of it and the ticks of an axis are written.

use harp_core::{Bytes, Money, Seconds, Target};
use serde::{Deserialize, Serialize};

use crate::text;

/// The unit of a column or an axis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Seconds, shown as µs to days.
    Seconds,
    /// Bytes, shown in powers of 1024.
    Bytes,
    /// Money in the unit named, which may be empty.
    Money(String),
    /// A percentage, 0 to 100.
    Percent,
    /// A bare number.
    #[default]
    Number,
}

/// Names and sizes of a quantity's units, smallest first.
const SECONDS: [(&str, f64); 6] =
    [("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)];
const BYTES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
    ("EiB", 1_152_921_504_606_846_976.0),
];
const NUMBERS: [(&str, f64); 4] = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];

impl Quantity {
    /// The unit a target is predicted in.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Walltime | Target::CpuTime => Quantity::Seconds,
            Target::PeakMemory => Quantity::Bytes,
            Target::Metric(_) => Quantity::Number,
        }
    }

    /// One value for people: `3.21 s`, `24.0 GiB`, `€0.12`, `6.3 %`, `1,024`; `–` for none.
    pub fn format(&self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        match self {
            Quantity::Seconds => Seconds(value).to_string(),
            Quantity::Bytes => Bytes(value.max(0.0).round() as u64).to_string(),
            Quantity::Money(unit) => with_unit(&Money(value).to_string(), unit),
            Quantity::Percent => text::percent(value),
            Quantity::Number => text::number(value),
        }
    }

    /// Two values for people, with as many digits as tell them apart where they differ.
    pub fn apart(&self, one: f64, other: f64) -> (String, String) {
        let usual = (self.format(one), self.format(other));
        if usual.0 != usual.1 || one == other || !one.is_finite() {
            return usual;
        }
        let (unit, size) = self.unit_for(one);
        let with = |value: f64, digits: u8| with_unit(&text::significant(value / size, digits), unit);
        let longer = (4..=9).map(|digits| (with(one, digits), with(other, digits)));
        longer.into_iter().find(|pair| pair.0 != pair.1).unwrap_or(usual)
    }

    /// A range for people, its unit written once where one unit serves both ends: `3.1–4.2 s`,
    /// `850 ms–1.2 min`; one value when the ends read the same, `–` when an end is not a number.
    pub fn range(&self, low: f64, high: f64) -> String {
        if !low.is_finite() || !high.is_finite() {
            return "–".to_owned();
        }
        let (unit, size) = self.unit_for(high);
        let (low_unit, low_size) = self.unit_for(low);
        if low_unit != unit && (low < 0.1 * size || low < 0.02 * high) {
            let end =
                |value: f64, unit: &str, size: f64| with_unit(&text::significant(value / size, 2), unit);
            return format!("{}–{}", end(low, low_unit, low_size), end(high, unit, size));
        }
        // Two digits of the width are worth reading, but no more than three of the upper end.
        let magnitude = |value: f64| if value > 0.0 { value.log10().floor() as i32 } else { 0 };
        let (from, to) = (low / size, high / size);
        let decimals = (1 - magnitude(to - from)).min(2 - magnitude(to.abs())).clamp(0, 9) as usize;
        let fixed = |value: f64| text::group_thousands(&format!("{value:.decimals$}"));
        // The lower end of a wide range is no rounding error: two digits of it, too.
        let is_lost =
            from > 0.0 && magnitude(from).saturating_add(decimals as i32) < 1 && from.fract() > 1e-9;
        let (from, to) = (if is_lost { text::significant(from, 2) } else { fixed(from) }, fixed(to));
        with_unit(&if from == to { to } else { format!("{from}–{to}") }, unit)
    }

    /// Labels of an axis's ticks. With `shared` every label has the unit of the largest, as a
    /// linear axis needs; otherwise each has its own, as a logarithmic one does.
    pub fn tick_labels(&self, ticks: &[f64], shared: bool) -> Vec<String> {
        let largest = ticks.iter().fold(0.0f64, |most, tick| most.max(tick.abs()));
        let step = ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
        let label = |&tick: &f64| {
            let (unit, size) = self.axis_unit_for(if shared { largest } else { tick.abs() });
            let in_unit = tick / size;
            let step = step / size;
            let number = if !(1e-4..1e7).contains(&in_unit.abs()) {
                scientific(in_unit, step)
            } else if shared && step.is_finite() {
                let decimals = decimals_for(step);
                text::trim_zeros(&format!("{in_unit:.decimals$}"))
            } else {
                text::trim_zeros(&text::significant(in_unit, 6).replace(',', ""))
            };
            if tick == 0.0 {
                return "0".to_owned();
            }
            match (self, unit) {
                (Quantity::Number, "k" | "M" | "G") => format!("{number}{unit}"),
                _ => with_unit(&number, unit),
            }
        };
        ticks.iter().map(label).collect()
    }

    /// Sizes a linear axis counts in (seconds, minutes, hours; KiB, MiB), for its largest value.
    pub(crate) fn axis_unit_for(&self, value: f64) -> (&str, f64) {
        match self {
            Quantity::Number if value < 1e4 => ("", 1.0),
            Quantity::Number if value >= 1e13 => ("", 1.0),
            Quantity::Number => pick(&NUMBERS, value),
            _ => self.unit_for(value),
        }
    }

    fn unit_for(&self, value: f64) -> (&str, f64) {
        match self {
            Quantity::Seconds => pick(&SECONDS, value),
            Quantity::Bytes => pick(&BYTES, value),
            Quantity::Money(unit) => (unit, 1.0),
            Quantity::Percent => ("%", 1.0),
            Quantity::Number => ("", 1.0),
        }
    }
}

/// The largest unit not above the value, within rounding.
fn pick<'a>(units: &[(&'a str, f64)], value: f64) -> (&'a str, f64) {
    let fitting = units.iter().rev().find(|(_, size)| value.abs() >= size * (1.0 - 1e-9));
    fitting.or(units.first()).copied().unwrap_or(("", 1.0))
}

/// A number with its unit behind it; a currency sign goes in front, as in every price harp shows.
fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "" => number.to_owned(),
        "$" | "€" | "£" | "¥" => format!("{unit}{number}"),
        _ => format!("{number} {unit}"),
    }
}

/// Digits after the point that keep multiples of a step apart.
fn decimals_for(step: f64) -> usize {
    let is_whole = |value: f64| value.round() >= 1.0 && (value - value.round()).abs() < 1e-6 * value;
    (0..=12).find(|&digits| is_whole(step * f64::powi(10.0, digits))).unwrap_or(12) as usize
}

/// `1e-9`, `1.378e11`: as many digits as tell multiples of the step apart.
fn scientific(value: f64, step: f64) -> String {
    let magnitude = |value: f64| (value.abs().log10() + 1e-9).floor();
    let digits = if step.is_finite() { magnitude(value) - magnitude(step) } else { 2.0 };
    let digits = digits.clamp(0.0, 12.0) as usize;
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", text::trim_zeros(mantissa)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_are_told_apart() {
        let mebibytes = |value: f64| value * f64::from(1 << 20);
        let apart = |one: f64, other: f64| {
            let (one, other) = Quantity::Bytes.apart(mebibytes(one), mebibytes(other));
            format!("{one}, {other}")
        };
        assert_eq!(apart(15.08, 15.12), "15.08 MiB, 15.12 MiB");
        assert_eq!(apart(15.101, 15.104), "15.101 MiB, 15.104 MiB");
        assert_eq!(apart(15.1, 15.1), "15.1 MiB, 15.1 MiB");
        assert_eq!(apart(15.1, 15.3), "15.1 MiB, 15.3 MiB");
        assert_eq!(Quantity::Seconds.apart(f64::NAN, f64::NAN), ("–".to_owned(), "–".to_owned()));
    }

    #[test]
    fn ranges_name_their_unit_once() {
        for (low, high, text) in [
            (3.12, 4.2, "3.1–4.2 s"),
            (0.0021, 0.0034, "2.1–3.4 ms"),
            (0.004, 72.0, "4.0 ms–1.2 min"),
            (250.0, 320.0, "4.2–5.3 min"),
            (3.0, 3.01, "3.00–3.01 s"),
            (3.0, 3.001, "3.00 s"),
            (12.21, 12.83, "12.2–12.8 s"),
            (7.8, 11.0, "7.8–11.0 s"),
            (40.0, 70.0, "0.67–1.17 min"),
            (40_000.0, 90_000.0, "0.46–1.04 d"),
            (1.48, 39.0, "1.5–39 s"),
            (0.43, 43.0, "430 ms–43 s"),
            (0.107, 7.7, "107 ms–7.7 s"),
            (0.4, 4.6, "0.40–4.6 s"),
            (1.0, 16.0, "1–16 s"),
        ] {
            assert_eq!(Quantity::Seconds.range(low, high), text);
        }
        assert_eq!(Quantity::Bytes.range(3.0 * 1048576.0, 5.5 * 1048576.0), "3.0–5.5 MiB");
        assert_eq!(Quantity::Money("€".into()).range(0.1, 0.25), "€0.10–0.25");
        assert_eq!(Quantity::Number.range(0.43, 43.0), "0.43–43");
        assert_eq!(Quantity::Number.range(0.0, 43.0), "0–43");
        assert_eq!(Quantity::Number.range(f64::NAN, 2.0), "–");
    }

    #[test]
    fn ticks_of_a_linear_axis_share_their_unit_and_digits() {
        assert_eq!(
            Quantity::Seconds.tick_labels(&[0.0, 30.0, 60.0, 90.0], true),
            ["0", "0.5 min", "1 min", "1.5 min"]
        );
        assert_eq!(Quantity::Seconds.tick_labels(&[0.5, 1.0, 1.5], true), ["0.5 s", "1 s", "1.5 s"]);
        assert_eq!(Quantity::Number.tick_labels(&[0.0, 20_000.0, 40_000.0], true), ["0", "20k", "40k"]);
        assert_eq!(Quantity::Percent.tick_labels(&[0.0, 5.0], true), ["0", "5 %"]);
    }

    #[test]
    fn ticks_of_a_logarithmic_axis_have_their_own_unit() {
        assert_eq!(
            Quantity::Seconds.tick_labels(&[0.01, 1.0, 60.0, 7200.0], false),
            ["10 ms", "1 s", "1 min", "2 h"]
        );
        assert_eq!(Quantity::Bytes.tick_labels(&[1024.0, 1_048_576.0], false), ["1 KiB", "1 MiB"]);
        assert_eq!(
            Quantity::Number.tick_labels(&[10.0, 1000.0, 1e5, 1e7], false),
            ["10", "1000", "100k", "10M"]
        );
        assert_eq!(Quantity::Number.tick_labels(&[1e-9, 1e-6], false), ["1e-9", "1e-6"]);
    }
}
