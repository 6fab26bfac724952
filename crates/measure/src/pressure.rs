//! Whether something waited for a processor: times taken on a busy machine are too long and unsteady.
//!
//! From the kernel's pressure stall information (`/proc/pressure/cpu`: Linux 4.20 and later, where it is
//! switched on), which counts the microseconds in which at least one task was ready and had no processor.

use std::time::{Duration, Instant};

use crate::procfs;

/// Shares over a shorter time than this say nothing.
const SHORTEST: Duration = Duration::from_millis(500);

/// A moment from which on waiting is watched.
#[derive(Debug, Clone, Copy)]
pub struct Pressure {
    since: Instant,
    stalled: Duration,
}

impl Pressure {
    /// Begins to watch; `None` where the kernel does not tell.
    pub fn watch() -> Option<Pressure> {
        Some(Pressure { since: Instant::now(), stalled: stalled(&procfs::read("/proc/pressure/cpu")?)? })
    }

    /// The share of the time since then in which something waited for a processor.
    pub fn share(&self) -> Option<f64> {
        let elapsed = self.since.elapsed();
        let now = stalled(&procfs::read("/proc/pressure/cpu")?)?;
        let waited = now.checked_sub(self.stalled)?;
        (elapsed >= SHORTEST).then(|| (waited.as_secs_f64() / elapsed.as_secs_f64()).min(1.0))
    }
}

/// The total of the line `some`.
fn stalled(text: &str) -> Option<Duration> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        let text = "some avg10=88.33 avg60=88.26 avg300=79.49 total=6262761219\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(stalled(text), Some(Duration::from_micros(6_262_761_219)));
        assert_eq!(stalled(""), None);
        assert_eq!(stalled("some total=many"), None);
    }
}
