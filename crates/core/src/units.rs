//! Quantities with their unit in the type: seconds, bytes, money. Reading and writing them as text.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A text that is not a quantity of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not {expected}")]
pub struct ParseUnitError {
    /// What was written.
    pub text: String,
    /// What would have been understood, with examples.
    pub expected: &'static str,
}

/// A span of time in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub f64);

/// A quantity of memory or data in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// An amount in a site's unit of account (a currency or service units); the site says which.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub f64);

const SECONDS_EXPECTED: &str = "a time such as `90`, `90s`, `1h30m`, `01:30:00` or `2-12:00:00`";
const BYTES_EXPECTED: &str = "a size such as `1048576`, `512M`, `4G`, `1.5GiB` or `2GB`";

impl Seconds {
    /// Hours, for prices.
    pub fn hours(self) -> f64 {
        self.0 / 3600.0
    }

    /// The walltime form schedulers read, `HH:MM:SS` or `D-HH:MM:SS`, rounded up to a whole second.
    pub fn to_walltime(self) -> String {
        let total = self.0.max(0.0).ceil() as u64;
        let (days, hours, minutes, seconds) =
            (total / 86_400, total / 3600 % 24, total / 60 % 60, total % 60);
        if days > 0 {
            format!("{days}-{hours:02}:{minutes:02}:{seconds:02}")
        } else {
            format!("{hours:02}:{minutes:02}:{seconds:02}")
        }
    }
}

impl fmt::Display for Seconds {
    /// A form for people: `12 ms`, `3.21 s`, `4 min 05 s`, `2 h 03 min`, `3 d 04 h`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0;
        let text = match seconds.abs() {
            s if !s.is_finite() => format!("{seconds}"),
            0.0 => "0 s".to_owned(),
            s if s < 0.000_999_5 => format!("{:.0} µs", seconds * 1e6),
            s if s < 0.099_95 => format!("{:.1} ms", seconds * 1e3),
            s if s < 0.999_5 => format!("{:.0} ms", seconds * 1e3),
            s if s < 9.995 => format!("{seconds:.2} s"),
            s if s < 99.95 => format!("{seconds:.1} s"),
            s => {
                let whole = s.round() as u64;
                let sign = if seconds < 0.0 { "-" } else { "" };
                match whole {
                    0..3600 => format!("{sign}{} min {:02} s", whole / 60, whole % 60),
                    3600..86_400 => format!("{sign}{} h {:02} min", whole / 3600, whole / 60 % 60),
                    _ => format!("{sign}{} d {:02} h", whole / 86_400, whole / 3600 % 24),
                }
            }
        };
        formatter.pad(&text)
    }
}

impl FromStr for Seconds {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseUnitError { text: text.to_owned(), expected: SECONDS_EXPECTED };
        let trimmed = text.trim();
        let seconds = if trimmed.contains(':') {
            parse_clock(trimmed).ok_or_else(error)?
        } else {
            parse_units(trimmed).ok_or_else(error)?
        };
        if seconds.is_finite() && seconds >= 0.0 { Ok(Seconds(seconds)) } else { Err(error()) }
    }
}

/// `MM:SS`, `HH:MM:SS`, `D-HH:MM:SS`, seconds with or without a fraction, as Slurm writes times.
fn parse_clock(text: &str) -> Option<f64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<u32>().ok()?, clock),
        None => (0, text),
    };
    let fields: Vec<&str> = clock.split(':').collect();
    let (last, others) = fields.split_last()?;
    if others.len() > 2 || !last.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut total = last.parse::<f64>().ok()?;
    for (field, weight) in others.iter().rev().zip([60.0, 3600.0]) {
        total += f64::from(field.parse::<u32>().ok()?) * weight;
    }
    Some(f64::from(days) * 86_400.0 + total)
}

/// `90`, `1.5h`, `1h30m`, `250 ms`: numbers with units, added up.
fn parse_units(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, after) = leading_number(rest)?;
        let unit_length = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_length);
        let weight = match unit.trim() {
            "" if rest == text && next.is_empty() => 1.0,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return None,
        };
        total += number * weight;
        rest = next;
    }
    Some(total)
}

/// The unsigned decimal number at the start of a text, and what follows it.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

impl Bytes {
    /// As a real number, for arithmetic with rates.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// In units of 2^30.
    pub fn gibibytes(self) -> f64 {
        self.as_f64() / (1u64 << 30) as f64
    }

    /// In units of 2^20, rounded up: what `--mem=…M` takes.
    pub fn mebibytes_rounded_up(self) -> u64 {
        self.0.div_ceil(1 << 20)
    }
}

impl fmt::Display for Bytes {
    /// A form for people in powers of 1024: `512 KiB`, `3.1 MiB`, `24 GiB`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut value = self.as_f64();
        let mut unit = 0;
        while value >= 999.5 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        let decimals = if unit == 0 || value >= 99.95 {
            0
        } else if value >= 9.995 {
            1
        } else {
            2
        };
        formatter.pad(&format!("{value:.decimals$} {}", UNITS[unit]))
    }
}

impl FromStr for Bytes {
    type Err = ParseUnitError;

    /// `K M G T P` and `KiB…` are powers of 1024 as in Slurm; `kB MB GB…` are powers of 1000.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseUnitError { text: text.to_owned(), expected: BYTES_EXPECTED };
        let (number, unit) = leading_number(text.trim()).ok_or_else(error)?;
        let unit = unit.trim().to_ascii_lowercase();
        let (prefix, base) = match unit.as_str() {
            "" | "b" => ("", 1.0),
            u if u.ends_with("ib") => (&u[..u.len() - 2], 1024.0),
            u if u.ends_with('b') => (&u[..u.len() - 1], 1000.0),
            u => (u, 1024.0),
        };
        let power = match prefix {
            "" if base == 1.0 => 0,
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            "p" => 5,
            _ => return Err(error()),
        };
        let bytes = number * f64::powi(base, power);
        if bytes.is_finite() && bytes < u64::MAX as f64 {
            Ok(Bytes(bytes.round() as u64))
        } else {
            Err(error())
        }
    }
}

impl fmt::Display for Money {
    /// The bare amount with as many decimals as small prices need; the unit is the site's to add.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.0;
        let text = match amount.abs() {
            0.0 => "0.00".to_owned(),
            a if a < 0.000_1 => format!("{amount:.1e}"),
            a if a < 0.01 => format!("{amount:.5}"),
            a if a < 0.1 => format!("{amount:.4}"),
            a if a < 1.0 => format!("{amount:.3}"),
            a if a < 10_000.0 => format!("{amount:.2}"),
            _ => format!("{amount:.0}"),
        };
        formatter.pad(&text)
    }
}

macro_rules! real_arithmetic {
    ($($unit:ident),*) => {$(
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self { Self(self.0 + other.0) }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) { self.0 += other.0; }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self { Self(self.0 - other.0) }
        }
        impl Mul<f64> for $unit {
            type Output = Self;
            fn mul(self, factor: f64) -> Self { Self(self.0 * factor) }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self { Self(values.map(|v| v.0).sum()) }
        }
    )*};
}
real_arithmetic!(Seconds, Money);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_form_people_write() {
        for (text, seconds) in [
            ("90", 90.0),
            ("90s", 90.0),
            ("1.5h", 5400.0),
            ("1h30m", 5400.0),
            ("250ms", 0.25),
            ("2 min", 120.0),
            ("01:30", 90.0),
            ("01:30:00", 5400.0),
            ("1-02:03:04", 93_784.0),
            ("00:00:01.5", 1.5),
        ] {
            assert_eq!(text.parse::<Seconds>().map(|s| s.0), Ok(seconds), "{text}");
        }
        for bad in ["", "abc", "-5", "1h30", "1:2:3:4", "1-", "5 parsecs", "NaN", "inf", "1::2"] {
            assert!(bad.parse::<Seconds>().is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_follow_slurm_for_single_letters_and_si_for_named_units() {
        for (text, bytes) in [
            ("1024", 1024),
            ("1K", 1024),
            ("1k", 1024),
            ("512M", 512 << 20),
            ("4G", 4 << 30),
            ("1.5GiB", 3 << 29),
            ("2GB", 2_000_000_000),
            ("1T", 1 << 40),
            ("7 B", 7),
        ] {
            assert_eq!(text.parse::<Bytes>().map(|b| b.0), Ok(bytes), "{text}");
        }
        for bad in ["", "G", "4X", "-1G", "1e9", "99999999P", "ib"] {
            assert!(bad.parse::<Bytes>().is_err(), "{bad}");
        }
    }

    #[test]
    fn quantities_print_for_people() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.000_012, "12 µs"),
            (0.003_21, "3.2 ms"),
            (0.321, "321 ms"),
            (0.9999, "1.00 s"),
            (3.214, "3.21 s"),
            (59.96, "60.0 s"),
            (245.0, "4 min 05 s"),
            (7400.0, "2 h 03 min"),
            (273_600.0, "3 d 04 h"),
        ] {
            assert_eq!(Seconds(seconds).to_string(), text);
        }
        for (bytes, text) in
            [(0, "0 B"), (1000, "0.98 KiB"), (1 << 20, "1.00 MiB"), (25_000_000_000, "23.3 GiB")]
        {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(Money(0.00234).to_string(), "0.00234");
        assert_eq!(Money(160.0).to_string(), "160.00");
    }

    #[test]
    fn walltime_for_the_scheduler_rounds_up() {
        assert_eq!(Seconds(59.2).to_walltime(), "00:01:00");
        assert_eq!(Seconds(93_784.0).to_walltime(), "1-02:03:04");
    }
}
