//! From a trace's own time to hours of the day and days of the week.

use crate::{Reading, Zone};

/// Times from here on are seconds of the Unix clock (this is September 2001); smaller ones count from the
/// trace's start.
const UNIX_FROM: i64 = 1_000_000_000;

/// How a trace's times become local times.
pub(crate) struct Calendar<'a> {
    /// What to add to the trace's times to get seconds of the Unix clock; `None` where that is not known.
    offset: Option<i64>,
    zone: &'a Zone,
    /// The zone of the header, where it could not be understood.
    unknown_zone: Option<&'a str>,
}

impl<'a> Calendar<'a> {
    pub(crate) fn new(reading: &'a Reading, first_submit: i64) -> Self {
        let header = &reading.header;
        let offset = header.unix_start_time.or((first_submit >= UNIX_FROM).then_some(0));
        let told = header.time_zone.as_deref().filter(|_| header.zone().is_none() && offset.is_some());
        Calendar { offset, zone: &reading.zone, unknown_zone: told }
    }

    /// The zone, where there are dates to tell in it.
    pub(crate) fn zone_name(&self) -> Option<String> {
        self.offset.map(|_| self.zone.to_string())
    }

    /// What a reader should know.
    pub(crate) fn note(&self) -> Option<String> {
        self.unknown_zone.map(|zone| {
            format!(
                "the header's time zone `{zone}` is not known; hours of the day are told in {}; give another with \
                 --timezone",
                self.zone
            )
        })
    }

    /// From the trace's time to the second of the local clock; from the trace's own where dates are not
    /// known.
    pub(crate) fn clock(&self) -> impl FnMut(i64) -> i64 {
        let mut clock = self.zone.clock();
        move |time: i64| self.offset.map_or(time, |offset| clock.local(time.saturating_add(offset)))
    }
}
