//! The running jobs in order of their expected end, and the head's reservation read off them.

/// A running job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Occupied {
    /// When it is expected to end.
    pub(crate) expected_end: i64,
    pub(crate) index: u32,
    pub(crate) processors: u32,
}

/// When the head can start, and how many processors it leaves then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shadow {
    pub(crate) time: i64,
    pub(crate) extra: u32,
}

/// The running jobs.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// Sorted by expected end, the latest first: jobs end mostly at the back, where removal is cheap.
    jobs: Vec<Occupied>,
}

impl Running {
    pub(crate) fn insert(&mut self, job: Occupied) {
        let place = self.jobs.partition_point(|other| *other > job);
        self.jobs.insert(place, job);
    }

    pub(crate) fn remove(&mut self, expected_end: i64, index: u32) {
        let place =
            self.jobs.partition_point(|other| (other.expected_end, other.index) > (expected_end, index));
        if self.jobs.get(place).is_some_and(|job| job.index == index) {
            self.jobs.remove(place);
        }
    }

    /// The job expected to end first.
    pub(crate) fn first(&self) -> Option<Occupied> {
        self.jobs.last().copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Occupied> {
        self.jobs.iter().rev()
    }

    /// The earliest time at which `needed` processors are free if every job ends as expected, given
    /// that `free` are now. All jobs expected to end at that time count for the processors left over.
    pub(crate) fn shadow(&self, needed: u32, free: u32, now: i64) -> Shadow {
        let mut available = free;
        let mut jobs = self.iter().peekable();
        let mut time = now;
        while available < needed {
            let Some(job) = jobs.next() else { break };
            available += job.processors;
            time = job.expected_end;
        }
        while let Some(job) = jobs.next_if(|job| job.expected_end <= time) {
            available += job.processors;
        }
        Shadow { time: time.max(now), extra: available.saturating_sub(needed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reservation_counts_everything_that_ends_then() {
        let mut running = Running::default();
        for (expected_end, index, processors) in [(30, 0, 4), (10, 1, 2), (20, 2, 3), (20, 3, 1)] {
            running.insert(Occupied { expected_end, index, processors });
        }
        assert_eq!(running.shadow(4, 1, 5), Shadow { time: 20, extra: 3 });
        assert_eq!(running.shadow(3, 1, 5), Shadow { time: 10, extra: 0 });
        running.remove(20, 2);
        assert_eq!(running.shadow(4, 1, 5), Shadow { time: 20, extra: 0 });
        assert_eq!(running.first().unwrap().index, 1);
    }
}
