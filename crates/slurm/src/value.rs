//! Single cells: times, spans, limits, sizes, memory requests.

use harp_core::{Bytes, Seconds};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Reads a point of time in seconds since 1970: seconds, or a date with or without its offset. Without
/// one it is a time in `zone`, as `sacct` prints it. `None` for an empty cell and for words such as
/// `Unknown`.
pub fn point(text: &str, zone: &TimeZone) -> Option<i64> {
    let text = text.trim();
    // what harp asks for itself; worth its line where there are millions
    if let Ok(seconds) = text.parse::<i64>() {
        return Some(seconds).filter(|seconds| seconds.abs() < 9_000_000_000_000);
    }
    if let Some(seconds) = real(text) {
        return Some(seconds.round() as i64);
    }
    let text = text.replacen(' ', "T", 1);
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Some(stamp.as_second());
    }
    let civil: DateTime = text.parse().ok()?;
    zone.to_timestamp(civil).ok().map(Timestamp::as_second)
}

/// Reads a span of time: seconds, `MM:SS`, `HH:MM:SS` or `D-HH:MM:SS`, also with a fraction.
pub fn span(text: &str) -> Option<Seconds> {
    let text = text.trim();
    match real(text) {
        Some(seconds) => Some(Seconds(seconds)),
        None if text.contains(':') => text.parse().ok(),
        None => None,
    }
}

/// Reads a size: a number of bytes, or one with K, M, G, T or P for powers of 1024.
pub fn size(text: &str) -> Option<Bytes> {
    let text = text.trim();
    if let Ok(bytes) = text.parse::<u64>() {
        return Some(Bytes(bytes));
    }
    let last = text.chars().last()?;
    (last.is_ascii_digit() || "KMGTPkmgtp".contains(last)).then(|| text.parse().ok())?
}

/// A finite number written with digits, and nothing else.
fn real(text: &str) -> Option<f64> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite() && value.abs() < 9e17)
}

/// How long a job may run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum TimeLimit {
    /// Not said.
    #[default]
    Unknown,
    /// As long as it wants.
    Unlimited,
    /// As long as its partition allows; how long that was is not said.
    Partition,
    /// This long.
    Of(Seconds),
}

impl TimeLimit {
    /// Reads a `Timelimit` of `sacct` or a `MaxTime` of `scontrol`.
    pub fn parse(text: &str) -> TimeLimit {
        let text = text.trim();
        if text.eq_ignore_ascii_case("unlimited") || text.eq_ignore_ascii_case("infinite") {
            TimeLimit::Unlimited
        } else if text.eq_ignore_ascii_case("partition_limit") {
            TimeLimit::Partition
        } else if text.contains(':') {
            span(text).map_or(TimeLimit::Unknown, TimeLimit::Of)
        } else {
            TimeLimit::Unknown
        }
    }

    /// The limit where it is a time.
    pub fn seconds(self) -> Option<Seconds> {
        match self {
            TimeLimit::Of(seconds) => Some(seconds),
            _ => None,
        }
    }
}

/// What a memory request counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// All nodes of the job together: `600M`, since Slurm 21.08.
    Job,
    /// Each node: `300Mn`, before.
    Node,
    /// Each CPU: `100Mc`, before.
    Cpu,
}

/// A `ReqMem` of `sacct`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryRequest {
    /// How much.
    pub amount: Bytes,
    /// Of what.
    pub per: Per,
}

impl MemoryRequest {
    /// Reads one. Asking for 0 is asking for all there is, so how much it was is not known.
    pub fn parse(text: &str) -> Option<MemoryRequest> {
        let text = text.trim();
        let (amount, per) = match text.as_bytes().last()? {
            b'c' => (&text[..text.len() - 1], Per::Cpu),
            b'n' => (&text[..text.len() - 1], Per::Node),
            _ => (text, Per::Job),
        };
        // A bare number has never been seen here, so what it would count is not guessed.
        if amount.ends_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        size(amount).filter(|amount| amount.0 > 0).map(|amount| MemoryRequest { amount, per })
    }

    /// The request for one node of a job with this many nodes, and CPUs on each.
    pub fn per_node(self, nodes: u64, cpus_per_node: Option<u64>) -> Option<Bytes> {
        match self.per {
            Per::Job => Some(Bytes(self.amount.0.div_ceil(nodes.max(1)))),
            Per::Node => Some(self.amount),
            Per::Cpu => self.amount.0.checked_mul(cpus_per_node?).map(Bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_follow_the_zone_unless_they_carry_one() {
        let plus_two = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(point("1535348017.0", &plus_two), Some(1_535_348_017));
        assert_eq!(point("2018-08-27T05:33:37Z", &plus_two), Some(1_535_348_017));
        assert_eq!(point("2018-08-27T07:33:37", &plus_two), Some(1_535_348_017));
        assert_eq!(point("2018-08-27 05:33:37", &TimeZone::UTC), Some(1_535_348_017));
        for missing in ["", "Unknown", "None", "2018-08-27T05:3+", "N/A"] {
            assert_eq!(point(missing, &TimeZone::UTC), None, "{missing}");
        }
    }

    #[test]
    fn spans_and_limits_in_every_form() {
        for (text, seconds) in [
            ("1-02:03:04", 93_784.0),
            ("4-06:02:02", 367_322.0),
            ("02:02:02", 7322.0),
            ("00:00.680", 0.68),
            ("02:03.5", 123.5),
            ("90", 90.0),
        ] {
            assert_eq!(span(text), Some(Seconds(seconds)), "{text}");
        }
        for bad in ["UNLIMITED", "Partition_Limit", "", "1-02:03:0+", "INVALID"] {
            assert_eq!(span(bad), None, "{bad}");
        }
        assert_eq!(TimeLimit::parse("UNLIMITED"), TimeLimit::Unlimited);
        assert_eq!(TimeLimit::parse("Partition_Limit"), TimeLimit::Partition);
        assert_eq!(TimeLimit::parse("365-00:00:00").seconds(), Some(Seconds(31_536_000.0)));
        assert_eq!(TimeLimit::parse("NONE"), TimeLimit::Unknown);
    }

    #[test]
    fn sizes_and_requests() {
        for (text, bytes) in [
            ("216304K", 221_495_296),
            ("3M", 3 << 20),
            ("62.50G", 67_108_864_000),
            ("0.10M", 104_858),
            ("49238", 49_238),
        ] {
            assert_eq!(size(text), Some(Bytes(bytes)), "{text}");
        }
        for bad in ["", "16?", "12345+", "4 GB", "-1K", "NaN"] {
            assert_eq!(size(bad), None, "{bad}");
        }
        let per_node =
            |text: &str| MemoryRequest::parse(text).and_then(|request| request.per_node(2, Some(4)));
        assert_eq!(per_node("600M"), Some(Bytes(300 << 20)));
        assert_eq!(per_node("300Mn"), Some(Bytes(300 << 20)));
        assert_eq!(per_node("100Mc"), Some(Bytes(400 << 20)));
        assert_eq!((per_node("0n"), per_node("0"), per_node("4000"), per_node("")), (None, None, None, None));
        assert_eq!(MemoryRequest::parse("100Mc").and_then(|request| request.per_node(2, None)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_or_missing(text in "\\PC{0,30}") {
            let _ = (span(&text), size(&text), point(&text, &TimeZone::UTC), TimeLimit::parse(&text));
            let _ = MemoryRequest::parse(&text).and_then(|request| request.per_node(3, Some(u64::MAX)));
        }

        #[test]
        fn spans_survive_being_written(seconds in 0u32..100_000_000) {
            prop_assert_eq!(span(&Seconds(f64::from(seconds)).to_walltime()), Some(Seconds(f64::from(seconds))));
        }
    }
}
