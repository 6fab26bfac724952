//! What a job must satisfy to overtake, and whether any of many jobs might.

use super::Waiting;

/// What a job must satisfy to overtake: fit into `free`, and either take no longer than `longest` or
/// fit into `extra`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    pub(crate) free: u32,
    pub(crate) extra: u32,
    pub(crate) longest: i64,
}

impl Gap {
    pub(crate) fn admits(&self, processors: u32, estimate: i64) -> bool {
        processors <= self.free && (estimate <= self.longest || processors <= self.extra)
    }
}

/// The least that some jobs ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    processors: u32,
    estimate: i64,
}

impl Least {
    pub(super) const OF_NONE: Least = Least { processors: u32::MAX, estimate: i64::MAX };

    pub(super) fn and(self, other: Least) -> Least {
        Least {
            processors: self.processors.min(other.processors),
            estimate: self.estimate.min(other.estimate),
        }
    }

    /// Whether it may change when such a job goes.
    pub(super) fn touches(self, job: Least) -> bool {
        self.processors == job.processors || self.estimate == job.estimate
    }

    /// Whether some of them might overtake.
    pub(super) fn allows(self, gap: Gap) -> bool {
        self.processors <= gap.free && (self.estimate <= gap.longest || self.processors <= gap.extra)
    }
}

impl From<&Waiting> for Least {
    fn from(waiting: &Waiting) -> Self {
        Least { processors: waiting.processors, estimate: waiting.estimate }
    }
}
