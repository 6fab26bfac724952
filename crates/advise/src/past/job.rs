//! A past job, and the lines of a script that ask for what such jobs need.

use harp_core::{Allocation, Bytes, Seconds};

use super::{Care, Change, Need};

/// How a past job ended, as far as it matters for what it asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastEnd {
    /// Well: what it used is what it needed.
    Completed,
    /// Killed for time.
    TimedOut,
    /// Killed for memory.
    OutOfMemory,
    /// Otherwise: what it used says little.
    Other,
}

/// One job of the past.
#[derive(Debug, Clone, PartialEq)]
pub struct PastJob {
    /// Its name.
    pub name: String,
    /// Its partition.
    pub partition: Option<String>,
    /// How it ended.
    pub end: PastEnd,
    /// The time it asked for.
    pub requested_time: Option<Seconds>,
    /// The time it took.
    pub elapsed: Option<Seconds>,
    /// Nodes, cores and GPUs it had; memory is apart.
    pub allocation: Allocation,
    /// Memory it was allowed on a node.
    pub memory_limit: Option<Bytes>,
    /// Memory it used on its fullest node.
    pub peak_memory: Option<Bytes>,
    /// Processor time of all its processes.
    pub cpu_time: Option<Seconds>,
    /// Share of its GPUs in use, between 0 and 1.
    pub gpu_utilisation: Option<f64>,
}

impl PastJob {
    /// Cores, all nodes together.
    pub(super) fn cores(&self) -> Option<u32> {
        self.allocation.cores.map(|cores| cores.saturating_mul(self.allocation.node_count()))
    }

    /// Cores in use on the average, all nodes together; too short a job says nothing.
    pub(super) fn cores_used(&self) -> Option<f64> {
        let elapsed = self.elapsed.filter(|time| time.0 >= 10.0)?;
        Some(self.cpu_time?.0 / elapsed.0)
    }
}

/// What recurring jobs have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Name, with `#` for numbers.
    pub(super) name: String,
    pub(super) partition: Option<String>,
    /// Nodes, cores, GPUs, and the memory most of them were allowed.
    pub(super) allocation: Allocation,
}

/// The line for the time, if it is worth changing.
pub(super) fn time_change(need: &Need, care: &Care) -> Option<Change> {
    // Slurm counts in minutes; people in five of them
    let step = if need.advised < 1800.0 { 60.0 } else { 300.0 };
    let advised = Seconds((need.advised / step).ceil() * step);
    let asked = need.asked.map(Seconds);
    let line = |time: Seconds| format!("#SBATCH --time={}", time.to_walltime());
    let used = format!("the longest took {}", Seconds(need.used.largest));
    change(need, care, advised.0, asked.map(line), line(advised), used, "time")
}

/// The line for memory, if it is worth changing, and the memory it asks for.
pub(super) fn memory_change(need: &Need, care: &Care) -> Option<(Change, Bytes)> {
    let mebibyte = f64::from(1 << 20);
    let step = if need.advised < 1024.0 * mebibyte { 64.0 * mebibyte } else { 512.0 * mebibyte };
    let advised = Bytes(((need.advised / step).ceil() * step) as u64);
    let line = |bytes: Bytes| format!("#SBATCH --mem={}M", bytes.mebibytes_rounded_up());
    let asked = need.asked.map(|bytes| line(Bytes(bytes as u64)));
    let used = format!("the largest used {} a node", Bytes(need.used.largest as u64));
    let change = change(need, care, advised.as_f64(), asked, line(advised), used, "memory")?;
    Some((change, advised))
}

/// The line for cores, if it is worth changing, and the cores of a node it asks for. Jobs on several
/// nodes are left alone: how their processes spread is not known.
pub(super) fn core_change(need: &Need, shape: &Shape, care: &Care) -> Option<(Change, u32)> {
    let cores = shape.allocation.cores?;
    if shape.allocation.node_count() > 1 {
        return None;
    }
    // what was used on the average may have been more at times: half as much again
    let advised = (need.used.largest * 1.5).ceil().max(1.0);
    if advised > care.worthwhile * f64::from(cores) {
        return None;
    }
    let line = |cores: u32| format!("#SBATCH --cpus-per-task={cores}");
    let why = format!("the busiest kept {:.1} of {cores} cores busy", need.used.largest);
    Some((Change { before: Some(line(cores)), after: line(advised as u32), why }, advised as u32))
}

fn change(
    need: &Need,
    care: &Care,
    advised: f64,
    before: Option<String>,
    after: String,
    used: String,
    what: &str,
) -> Option<Change> {
    let asked = need.asked.unwrap_or(f64::INFINITY);
    let why = if need.killed > 0 && advised > asked {
        format!("{} of {} were killed for {what}", need.killed, need.jobs)
    } else if advised <= care.worthwhile * asked {
        used
    } else {
        return None;
    };
    Some(Change { before, after, why })
}
