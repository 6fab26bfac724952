//! Finds the peak memory of a whole process tree.
//!
//! The figure is what a job must ask for so as not to be killed: the processes' own memory, shared
//! memory and, where the kernel counts it, the kernel's memory for them; every page once, however
//! many processes see it. Contents of files the kernel merely keeps because there is room are not
//! part of it: a program that reads 10 GB is not a 10 GB program. It is never below the largest
//! resident set of any one process, which counts the files that process has mapped.
//!
//! With a control group the kernel keeps the peak itself, so not even a short one is missed. That
//! peak includes kept file contents; these hardly ever shrink during a run, so the peak less the
//! most that was ever kept is a lower bound, and samples of the group during the run are others.
//! Without one, /proc is sampled as often as a hundredth of the time allows.

use std::time::Duration;

use harp_core::{Bytes, MemorySource};

use crate::cgroup::{Group, Version};
use crate::processes::Processes;
use crate::procfs;
use crate::sharing::{Kernel, Sharing};
use crate::system::processor_time;

const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest where a scheduler measures, too.
const GENTLE_INTERVAL: Duration = Duration::from_millis(4);
/// Processor time that may be spent at the start, to catch short programs finely.
const CREDIT: Duration = Duration::from_millis(15);
/// Of elapsed time, the share that may be spent beyond that.
const BUDGET: u32 = 100;

/// Watches the memory of one run.
pub(crate) struct MemoryMeter {
    method: Method,
    limit: Option<Bytes>,
    /// Largest sample of the tree.
    sampled: u64,
    /// Largest resident set of one process seen in a sample.
    largest: u64,
    gentle: bool,
    spent: Duration,
    /// Samples of /proc in which there was something.
    samples: u32,
}

enum Method {
    Group { group: Group, most_cache: u64 },
    Sampling(Sharing),
}

/// The result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peak {
    /// Bytes of the whole tree at its largest, and how they were found.
    pub memory: Option<(Bytes, MemorySource)>,
    /// Whether the tree went over its limit, or was ended for want of memory.
    pub exceeded: bool,
}

impl MemoryMeter {
    /// A meter for a run that entered this group, or for one without.
    pub(crate) fn new(group: Option<Group>, limit: Option<Bytes>) -> Self {
        let method = match group {
            Some(group) => Method::Group { group, most_cache: 0 },
            None => Method::Sampling(Sharing::default()),
        };
        let spent = Duration::ZERO;
        Self { method, limit, sampled: 0, largest: 0, gentle: false, spent, samples: 0 }
    }

    /// The same, which takes a dozen samples a second at first and ever fewer.
    pub(crate) fn gently(self) -> Self {
        Self { gentle: true, ..self }
    }

    /// Processes the kernel itself counts to the run.
    pub(crate) fn processes(&self) -> Vec<procfs::ProcessId> {
        match &self.method {
            Method::Group { group, .. } => group.processes(),
            Method::Sampling(_) => Vec::new(),
        }
    }

    /// The sample right after the start: all there may ever be of a very short program. A control
    /// group needs none.
    pub(crate) fn first_sample(&mut self, processes: &mut Processes) {
        if matches!(self.method, Method::Sampling(_)) {
            self.sample(processes, Duration::ZERO);
        }
    }

    /// Takes a sample; the time to wait before the next one.
    pub(crate) fn sample(&mut self, processes: &mut Processes, elapsed: Duration) -> Duration {
        let before = processor_time();
        let mut looked = Duration::ZERO;
        match &mut self.method {
            Method::Group { group, most_cache } => {
                if let Some(held) = group.held() {
                    self.sampled = self.sampled.max(held.needed());
                    *most_cache = held.cache.max(*most_cache);
                }
                if let Some(resident) = processes.root_resident() {
                    self.largest = self.largest.max(resident.peak);
                    self.samples += 1;
                }
            }
            Method::Sampling(sharing) => {
                processes.refresh();
                let residents = processes.residents();
                self.samples += u32::from(!residents.is_empty());
                let highest = residents.iter().map(|(_, resident)| resident.peak).max();
                self.largest = self.largest.max(highest.unwrap_or(0));
                let looked_before = sharing.spent();
                let total = sharing.total(&residents, self.sampled, elapsed, &Kernel);
                self.sampled = self.sampled.max(total);
                looked = sharing.spent() - looked_before;
            }
        }
        // Looking at shared pages has its own budget.
        let cost = processor_time().saturating_sub(before).saturating_sub(looked);
        self.spent += cost;
        self.pause(cost, elapsed)
    }

    fn pause(&self, cost: Duration, elapsed: Duration) -> Duration {
        let by_budget = match self.spent < CREDIT + elapsed / BUDGET {
            true => SHORTEST_INTERVAL,
            false => cost * BUDGET,
        };
        // The kernel keeps a group's peak; samples only tell kept file contents apart.
        let by_need = match self.method {
            Method::Group { .. } => elapsed / 50,
            Method::Sampling(_) if self.gentle => (elapsed / 2).max(GENTLE_INTERVAL),
            Method::Sampling(_) => SHORTEST_INTERVAL,
        };
        by_budget.max(by_need).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL)
    }

    /// Whether the run must be ended for its memory.
    pub(crate) fn is_exceeded(&self) -> bool {
        match &self.method {
            // The kernel ends one process; the rest might wait for it for ever.
            Method::Group { group, .. } => self.limit.is_some() && group.out_of_memory_kills() > 0,
            Method::Sampling(_) => self.limit.is_some_and(|limit| self.sampled.max(self.largest) > limit.0),
        }
    }

    /// The peak, once the tree has ended.
    ///
    /// `largest_process` is the kernel's peak of the largest process. It starts from what harp itself
    /// had when it forked, `own`: up to that it only says that the program was not larger.
    pub(crate) fn finish(mut self, largest_process: Bytes, own: Bytes) -> Peak {
        let known = if largest_process > own { largest_process.0 } else { 0 };
        let largest = self.largest.max(known);
        match &mut self.method {
            Method::Group { group, most_cache } => {
                let end = group.held().unwrap_or_default();
                let highest = group.peak().unwrap_or(0);
                let kills = group.out_of_memory_kills();
                // At an out-of-memory kill nothing was left that could have been taken back.
                let kept = if kills > 0 { 0 } else { end.cache.max(*most_cache) };
                let total = highest.saturating_sub(kept).max(self.sampled).max(largest);
                // A group is not charged for files that were in memory before, such as the program
                // itself: without a look at the processes its peak says too little.
                let is_whole = self.samples > 0 || known > 0 || kills > 0;
                let source = match group.version() {
                    Version::One => MemorySource::CgroupV1,
                    Version::Two => MemorySource::CgroupV2,
                };
                let memory = (is_whole && total > 0).then_some((Bytes(total), source));
                Peak { memory, exceeded: kills > 0 }
            }
            Method::Sampling(_) => {
                let total = self.sampled.max(largest);
                let exceeded = self.limit.is_some_and(|limit| total > limit.0);
                let memory = match self.samples {
                    // The samples at the start were taken before the program had done anything: its
                    // size is known only if the kernel saw it grow beyond harp's.
                    0..=2 if known == 0 => None,
                    0..=2 => Some((Bytes(total), MemorySource::LargestProcess)),
                    _ => (total > 0).then_some((Bytes(total), MemorySource::Sampled)),
                };
                Peak { memory, exceeded }
            }
        }
    }
}
