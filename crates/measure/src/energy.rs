//! The energy the processor packages used, from the kernel's running-average-power-limit counters.
//!
//! The counters belong to the machine, not to a run: what else ran at the time is included. They are
//! readable by root only on most systems; then there is no figure.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DIRECTORY: &str = "/sys/class/powercap";

/// A counter wraps around after some minutes at full power; it is read at least this often.
const READ_EVERY: Duration = Duration::from_secs(30);

struct Counter {
    file: PathBuf,
    range: u64,
    last: u64,
}

/// Adds up the energy since it was started.
pub(crate) struct EnergyMeter {
    counters: Vec<Counter>,
    microjoules: u64,
    read: Instant,
}

impl EnergyMeter {
    /// Starts, if there is a counter that may be read.
    pub(crate) fn start() -> Option<Self> {
        Self::start_in(Path::new(DIRECTORY))
    }

    fn start_in(directory: &Path) -> Option<Self> {
        let packages = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
        let counters: Vec<Counter> = packages
            .filter(|zone| {
                fs::read_to_string(zone.join("name")).is_ok_and(|name| name.starts_with("package"))
            })
            .filter_map(|zone| {
                let file = zone.join("energy_uj");
                Some(Counter {
                    last: number(&file)?,
                    range: number(&zone.join("max_energy_range_uj"))?,
                    file,
                })
            })
            .collect();
        (!counters.is_empty()).then(|| Self { counters, microjoules: 0, read: Instant::now() })
    }

    /// To be called now and then during a run.
    pub(crate) fn tick(&mut self) {
        if self.read.elapsed() >= READ_EVERY {
            self.take();
        }
    }

    fn take(&mut self) {
        self.read = Instant::now();
        for counter in &mut self.counters {
            if let Some(now) = number(&counter.file) {
                self.microjoules += used(counter.last, now, counter.range);
                counter.last = now;
            }
        }
    }

    /// Joules since the start.
    pub(crate) fn finish(mut self) -> f64 {
        self.take();
        self.microjoules as f64 / 1e6
    }
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The difference of two readings of a counter that starts again at 0 after `range`.
fn used(before: u64, now: u64, range: u64) -> u64 {
    if now >= before { now - before } else { (range + 1).saturating_sub(before) + now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_may_wrap_around() {
        assert_eq!(used(100, 250, 999), 150);
        assert_eq!(used(990, 5, 999), 15);
    }

    #[test]
    fn only_packages_are_added_up() {
        let directory = tempfile::tempdir().unwrap();
        let zone = |folder: &str, name: &str, energy: u64| {
            let path = directory.path().join(folder);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("name"), format!("{name}\n")).unwrap();
            fs::write(path.join("energy_uj"), format!("{energy}\n")).unwrap();
            fs::write(path.join("max_energy_range_uj"), "999999999\n").unwrap();
        };
        zone("intel-rapl:0", "package-0", 1_000_000);
        zone("intel-rapl:1", "package-1", 5_000_000);
        zone("intel-rapl:0:0", "core", 7_000_000);
        let meter = EnergyMeter::start_in(directory.path()).unwrap();
        zone("intel-rapl:0", "package-0", 3_500_000);
        zone("intel-rapl:1", "package-1", 6_000_000);
        zone("intel-rapl:0:0", "core", 9_000_000);
        assert_eq!(meter.finish(), 3.5);
        assert!(EnergyMeter::start_in(Path::new("/nonexistent")).is_none());
    }
}
