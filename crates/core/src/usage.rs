//! What a run used, as far as it was measured.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Seconds};

/// Measured use of a run. What could not be measured is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// From start to end as a clock on the wall sees it.
    pub walltime: Option<Seconds>,
    /// Processor time in the program, all processes and threads.
    pub user_time: Option<Seconds>,
    /// Processor time in the kernel on the program's behalf.
    pub system_time: Option<Seconds>,
    /// Largest memory of the whole process tree at one moment, each page once. What the kernel merely
    /// keeps of files that were read is not counted.
    pub peak_memory: Option<Bytes>,
    /// How the peak was found.
    pub peak_memory_source: Option<MemorySource>,
    /// Bytes read through system calls by the whole tree: from storage, cache, pipes and networks alike.
    /// Files mapped into memory are not counted. A lower bound where the kernel hides final counts.
    pub read: Option<Bytes>,
    /// Bytes written through system calls by the whole tree, wherever they went.
    pub written: Option<Bytes>,
    /// Times the program gave up the processor by itself.
    pub voluntary_switches: Option<u64>,
    /// Times the processor was taken from it.
    pub involuntary_switches: Option<u64>,
    /// Largest GPU memory, all GPUs together.
    pub peak_gpu_memory: Option<Bytes>,
    /// Mean GPU utilisation between 0 and 1.
    pub gpu_utilisation: Option<f64>,
    /// Energy of the processor packages while it ran, in joules; includes what else ran there.
    pub energy_joules: Option<f64>,
    /// Names of the figures that a scheduler's accounting lacks and harp measured inside the job; empty
    /// for runs that were no jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filled: Vec<String>,
}

impl Usage {
    /// User and system time together.
    pub fn cpu_time(&self) -> Option<Seconds> {
        Some(self.user_time? + self.system_time?)
    }
}

/// How a peak of memory was found; they are not equally exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    /// The kernel's own peak for a control group, version 2 (`memory.peak`), without kept files.
    CgroupV2,
    /// The kernel's own peak for a control group, version 1 (`memory.max_usage_in_bytes`), without kept
    /// files.
    CgroupV1,
    /// The tree sampled from /proc, never below the kernel's peak of its largest process.
    Sampled,
    /// Only the kernel's peak of the largest single process (`ru_maxrss`).
    LargestProcess,
    /// A scheduler's accounting.
    Accounting,
}

impl MemorySource {
    /// The name used in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            MemorySource::CgroupV2 => "cgroup_v2",
            MemorySource::CgroupV1 => "cgroup_v1",
            MemorySource::Sampled => "sampled",
            MemorySource::LargestProcess => "largest_process",
            MemorySource::Accounting => "accounting",
        }
    }
}
