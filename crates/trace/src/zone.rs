//! The time zone that dates without an offset are in, and that hours of the day are told in.
//!
//! Zones come from the database built into the program, never from the machine's: the same trace gives
//! the same figures everywhere, also where there is no /usr/share/zoneinfo.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

/// The farthest a zone is from Coordinated Universal Time, in seconds.
const FARTHEST: i32 = 14 * 3600;

/// A time zone: a name of the IANA database such as `Europe/Berlin`, or an offset such as `+02:00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    /// Coordinated Universal Time.
    fn default() -> Self {
        Zone(TimeZone::UTC)
    }
}

impl FromStr for Zone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("utc") || text == "Z" {
            return Ok(Zone::default());
        }
        if let Some(offset) = offset(text) {
            return Ok(Zone(TimeZone::fixed(offset)));
        }
        TimeZoneDatabase::bundled().get(text).map(Zone).map_err(|_| {
            format!(
                "`{text}` is no time zone; write it as Europe/Berlin (a name of the IANA database) or +02:00"
            )
        })
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.iana_name(), self.0.to_fixed_offset()) {
            (Some(name), _) => formatter.write_str(name),
            (None, Ok(offset)) => write!(formatter, "{offset}"),
            (None, Err(_)) => formatter.write_str("unknown"),
        }
    }
}

/// `+02:00`, `-0530`, `+2`.
fn offset(text: &str) -> Option<Offset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = text[1..].replacen(':', "", 1);
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() > 2 { (number / 100, number % 100) } else { (number, 0) };
    if minutes > 59 {
        return None;
    }
    seconds_east(sign * (3600 * hours + 60 * minutes))
}

fn seconds_east(seconds: i32) -> Option<Offset> {
    Offset::from_seconds(seconds).ok().filter(|_| seconds.abs() <= FARTHEST)
}

impl Zone {
    /// What the header of a trace says: a name (`TimeZoneString`), or the seconds to add to Coordinated
    /// Universal Time (`TimeZone`).
    pub(crate) fn of_header(text: &str) -> Option<Self> {
        if let Ok(seconds) = text.trim().parse::<i32>() {
            return seconds_east(seconds).map(|offset| Zone(TimeZone::fixed(offset)));
        }
        text.parse().ok()
    }

    /// The second of a date in this zone. A date that happens twice is taken as the first, one that does
    /// not happen (when clocks go forward) as if they had not.
    pub(crate) fn second(&self, date: DateTime) -> Option<i64> {
        let moment = self.0.to_ambiguous_timestamp(date).compatible().ok()?;
        Some(moment.as_second())
    }

    /// A clock of this zone.
    pub(crate) fn clock(&self) -> Clock<'_> {
        Clock { zone: self, offset: 0, from: i64::MAX, to: i64::MIN }
    }
}

/// A date that names its own zone, such as `2024-06-30T12:00:00[Europe/Berlin]`.
pub(crate) fn zoned_second(text: &str) -> Option<i64> {
    text.contains('[').then(|| text.parse::<Zoned>().ok())?.map(|moment| moment.timestamp().as_second())
}

/// Tells local seconds. Remembers until when its offset holds: asked in order of time, it looks the zone
/// up only where clocks change.
pub(crate) struct Clock<'a> {
    zone: &'a Zone,
    offset: i64,
    from: i64,
    to: i64,
}

impl Clock<'_> {
    /// The second of the local clock, counted from 1970 there.
    pub(crate) fn local(&mut self, second: i64) -> i64 {
        if !(self.from..self.to).contains(&second) {
            self.look_up(second);
        }
        second + self.offset
    }

    fn look_up(&mut self, second: i64) {
        (self.from, self.to) = (second, second.saturating_add(1));
        // beyond the calendar there are no zones
        let Ok(moment) = Timestamp::from_second(second) else {
            self.offset = 0;
            return;
        };
        self.offset = i64::from(self.zone.0.to_offset(moment).seconds());
        self.to = self
            .zone
            .0
            .following(moment)
            .next()
            .map_or(Timestamp::MAX.as_second(), |change| change.timestamp().as_second());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(zone: &str, date: &str) -> i64 {
        zone.parse::<Zone>().unwrap().second(date.parse().unwrap()).unwrap()
    }

    #[test]
    fn names_and_offsets_are_read() {
        assert_eq!(second("Europe/Berlin", "2018-08-27T07:33:37"), 1_535_348_017);
        assert_eq!(second("Europe/Berlin", "2018-01-27T06:33:37"), second("UTC", "2018-01-27T05:33:37"));
        for offset in ["+02:00", "+0200", "+2", "+02"] {
            assert_eq!(second(offset, "2018-08-27T07:33:37"), 1_535_348_017, "{offset}");
        }
        assert_eq!(second("-05:30", "2018-08-27T00:03:37"), 1_535_348_017);
        for bad in ["", "Berlin", "+25:00", "+02:60", "-", "+1:2:3", "+٢"] {
            assert!(bad.parse::<Zone>().is_err(), "{bad}");
        }
        for name in ["UTC", "Europe/Stockholm", "+02"] {
            assert_eq!(name.parse::<Zone>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn hours_that_happen_twice_or_never_are_still_moments() {
        let at = |date: &str| second("Europe/Berlin", date);
        assert_eq!(at("2024-10-27T02:30:00"), second("+2", "2024-10-27T02:30:00"));
        assert_eq!(at("2024-03-31T02:30:00"), second("+1", "2024-03-31T02:30:00"));
    }

    #[test]
    fn headers_name_zones_or_seconds() {
        assert_eq!(Zone::of_header("3600"), "+1".parse().ok());
        assert_eq!(Zone::of_header("Europe/Stockholm"), "Europe/Stockholm".parse().ok());
        assert_eq!(Zone::of_header("ours"), None);
        assert_eq!(Zone::of_header("999999"), None);
    }

    #[test]
    fn a_clock_agrees_with_the_zone_in_any_order() {
        let zone: Zone = "America/New_York".parse().unwrap();
        let mut clock = zone.clock();
        let first = second("UTC", "2024-03-01T00:00:00");
        let steps = (0..400).map(|step| first + step * 7 * 86_400 / 10).rev().chain([i64::MAX - 1, first]);
        for at in steps {
            let expected = Timestamp::from_second(at).map_or(0, |moment| zone.0.to_offset(moment).seconds());
            assert_eq!(clock.local(at), at + i64::from(expected));
        }
    }

    #[test]
    fn dates_may_name_their_own_zone() {
        assert_eq!(zoned_second("2018-08-27T07:33:37[Europe/Berlin]"), Some(1_535_348_017));
        assert_eq!(zoned_second("2018-08-27T07:33:37+02:00[Europe/Berlin]"), Some(1_535_348_017));
        assert_eq!(zoned_second("2018-08-27T07:33:37"), None);
        assert_eq!(zoned_second("[["), None);
    }
}
