//! Moments as people give them: a date, a moment, or a time ago.

use std::str::FromStr;

use harp_core::{Seconds, Timestamp};
use harp_report::text::plural;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::failure::{Exit, Failure};

/// A moment from which on something counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since(pub Timestamp);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let moment = |time: jiff::Timestamp| Since(Timestamp(time.as_millisecond()));
        // Not the machine's zone: the same words mean the same everywhere.
        let utc = |civil: DateTime| civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
        if let Ok(time) = text.parse::<jiff::Timestamp>() {
            return Ok(moment(time));
        }
        let civil = text.parse::<DateTime>().ok().or_else(|| text.parse::<Date>().ok().map(DateTime::from));
        if let Some(time) = civil.and_then(utc) {
            return Ok(moment(time));
        }
        match text.parse::<Seconds>() {
            Ok(ago) => {
                let now = jiff::Timestamp::now().as_millisecond();
                Ok(Since(Timestamp(now.saturating_sub((ago.0 * 1000.0) as i64))))
            }
            Err(_) => {
                Err("write a date (2026-03-01), a moment (2026-03-01T12:00) or a time ago (30d)".to_owned())
            }
        }
    }
}

impl Since {
    /// Keeps what began since then; nothing left is refused.
    pub fn keep<T>(self, all: &mut Vec<T>, began: impl Fn(&T) -> Timestamp) -> Result<(), Failure> {
        let before = all.len();
        all.retain(|one| began(one) >= self.0);
        if !all.is_empty() || before == 0 {
            return Ok(());
        }
        Err(Failure::bad_input(format!("none of {} began since then", plural(before, "run")))
            .exit(Exit::NotEnoughEvidence)
            .hint("`harp history` shows when they began; `harp generate` makes new ones"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_form_people_write() {
        let read = |text: &str| text.parse::<Since>();
        assert_eq!(read("1970-01-01T00:00:01Z"), Ok(Since(Timestamp(1000))));
        assert!(read("2026-03-01").unwrap().0 < read("2026-03-01T12:00").unwrap().0);
        assert!(read("30d").unwrap().0 < read("1h").unwrap().0);
        assert!(read("yesterday").unwrap_err().contains("2026-03-01"));
    }
}
