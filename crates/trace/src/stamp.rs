//! Points and spans of time as traces write them.

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::Zone;
use crate::zone::zoned_second;

/// Reads a point of time: seconds, or a date with its offset, with its zone, or without either (then
/// in `zone`). `None` for an empty cell and for words such as `Unknown`.
pub(crate) fn point(text: &str, zone: &Zone) -> Option<i64> {
    let text = text.trim();
    if let Some(seconds) = real(text) {
        return Some(seconds.round() as i64);
    }
    let text = text.replacen(' ', "T", 1);
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Some(stamp.as_second());
    }
    if let Some(second) = zoned_second(&text) {
        return Some(second);
    }
    let date: DateTime = text.parse().ok()?;
    zone.second(date)
}

/// Reads a span of time in whole seconds: a number, `MM:SS`, `HH:MM:SS` or `D-HH:MM:SS` (also with a
/// fraction).
pub(crate) fn span(text: &str) -> Option<i64> {
    harp_slurm::span(text).map(|span| span.0.round() as i64)
}

/// A finite number written with digits.
pub(crate) fn real(text: &str) -> Option<f64> {
    let text = text.trim();
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite() && value.abs() < 9e17)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_with_and_without_offset() {
        let point = |text: &str| point(text, &Zone::default());
        assert_eq!(point("1535348017.0"), Some(1_535_348_017));
        assert_eq!(point("2018-08-27T05:33:37Z"), Some(1_535_348_017));
        assert_eq!(point("2018-08-27T07:33:37+02:00"), Some(1_535_348_017));
        assert_eq!(point("2018-08-27 05:33:37"), Some(1_535_348_017));
        assert_eq!(point("2018-08-27T07:33:37+0200"), Some(1_535_348_017));
        assert_eq!(point("2018-08-27 07:33:37[Europe/Berlin]"), Some(1_535_348_017));
        assert_eq!(point("Unknown"), None);
        assert_eq!(point(""), None);
    }

    #[test]
    fn dates_without_offset_are_in_the_zone_asked_for() {
        let berlin: Zone = "Europe/Berlin".parse().unwrap();
        assert_eq!(point("2018-08-27T07:33:37", &berlin), Some(1_535_348_017));
        // an offset of its own and plain seconds are what they are
        assert_eq!(point("2018-08-27T05:33:37Z", &berlin), Some(1_535_348_017));
        assert_eq!(point("1535348017", &berlin), Some(1_535_348_017));
    }

    #[test]
    fn spans_are_read_as_slurm_writes_them() {
        assert_eq!(span("1-02:03:04"), Some(93_784));
        assert_eq!(span("02:03.6"), Some(124));
        assert_eq!(span("90.4"), Some(90));
        assert_eq!(span("UNLIMITED"), None);
        assert_eq!(span("Partition_Limit"), None);
    }
}
