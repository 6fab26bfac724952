//! A job as accounting knows it once its rows are put together.

use harp_core::{Allocation, Bytes, MemorySource, Seconds, Usage};

use crate::{JobId, MemoryRequest, Part, State, StateKind, TimeLimit};

/// An exit code and the signal beside it: `0:9`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExitCode {
    /// The code; Slurm takes 128 off those above (137 is printed as 9).
    pub code: i32,
    /// The signal, 0 for none.
    pub signal: i32,
}

impl ExitCode {
    /// Reads `CODE:SIGNAL`.
    pub fn parse(text: &str) -> Option<ExitCode> {
        let (code, signal) = text.trim().split_once(':')?;
        Some(ExitCode { code: code.parse().ok()?, signal: signal.parse().ok()? })
    }
}

/// One job, or one task of an array. What accounting does not say is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountedJob {
    /// The line its row begins at, or its place in a JSON document.
    pub line: u64,
    /// Its id.
    pub id: JobId,
    /// The cluster.
    pub cluster: Option<String>,
    /// Who submitted it.
    pub user: Option<String>,
    /// Who pays.
    pub account: Option<String>,
    /// The partition.
    pub partition: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its comment.
    pub comment: Option<String>,
    /// The command line it was submitted with.
    pub submit_line: Option<String>,
    /// The folder it ran in.
    pub work_directory: Option<String>,
    /// How it stands.
    pub state: State,
    /// Its script's exit code.
    pub exit: Option<ExitCode>,
    /// The largest exit code of its steps.
    pub derived_exit: Option<ExitCode>,
    /// Seconds since 1970.
    pub submit: Option<i64>,
    /// Seconds since 1970; `None` when it never started.
    pub start: Option<i64>,
    /// Seconds since 1970.
    pub end: Option<i64>,
    /// From start to end.
    pub elapsed: Option<Seconds>,
    /// How long it was allowed to run.
    pub limit: TimeLimit,
    /// Nodes it had.
    pub nodes: Option<u64>,
    /// CPUs it had, all nodes together.
    pub cpus: Option<u64>,
    /// Memory it was allowed, all nodes together.
    pub memory: Option<Bytes>,
    /// The request for memory.
    pub requested_memory: Option<MemoryRequest>,
    /// GPUs it had, all nodes together.
    pub gpus: Option<u64>,
    /// Their kind.
    pub gpu_kind: Option<String>,
    /// Processor time in the program.
    pub user_time: Option<Seconds>,
    /// Processor time in the kernel.
    pub system_time: Option<Seconds>,
    /// Peak memory on its fullest node.
    pub peak_memory: Option<Bytes>,
    /// Peak memory, all nodes together.
    pub total_memory: Option<Bytes>,
    /// Peak GPU memory.
    pub gpu_memory: Option<Bytes>,
    /// Mean GPU utilisation between 0 and 1.
    pub gpu_utilisation: Option<f64>,
    /// Joules.
    pub energy: Option<f64>,
    /// How many steps it had.
    pub steps: u32,
    /// How many of them accounting has not seen the end of; what they used it says then.
    pub open_steps: u32,
    /// Whether one of them was ended for its memory.
    pub step_out_of_memory: bool,
    /// Components of a heterogeneous job that were put together; 1 for others.
    pub components: u32,
}

impl AccountedJob {
    /// Whether it ran at all.
    pub fn has_started(&self) -> bool {
        let ended_by_itself =
            matches!(self.state.kind, StateKind::Completed | StateKind::Failed | StateKind::Timeout);
        ended_by_itself || self.steps > 0 || self.elapsed.is_some_and(|time| time.0 > 0.0)
    }

    /// Whether accounting knows what it used, as far as it ever will: that comes with the end of the
    /// steps, which may be known later than the end of the job.
    pub fn has_usage(&self) -> bool {
        self.steps > 0 && self.open_steps == 0
    }

    fn node_count(&self) -> u64 {
        self.nodes.unwrap_or(1).max(1)
    }

    /// CPUs on a node; where they are not even, on the one with most.
    fn cpus_per_node(&self) -> Option<u64> {
        self.cpus.map(|cpus| cpus.div_ceil(self.node_count()))
    }

    /// The memory it was allowed on a node: what it was given, which may be more than it asked for
    /// where a core has several hardware threads.
    pub fn memory_limit(&self) -> Option<Bytes> {
        let given = self.memory.filter(|memory| memory.0 > 0);
        let given = given.map(|memory| Bytes(memory.0.div_ceil(self.node_count())));
        given.or_else(|| self.requested_memory?.per_node(self.node_count(), self.cpus_per_node()))
    }

    /// What it had, per node.
    pub fn allocation(&self) -> Allocation {
        let count =
            |value: Option<u64>| value.and_then(|value| u32::try_from(value).ok()).filter(|&count| count > 0);
        Allocation {
            nodes: count(self.nodes),
            cores: count(self.cpus_per_node()),
            memory: self.memory_limit(),
            gpus: count(self.gpus.map(|gpus| gpus.div_ceil(self.node_count()))),
            ..Allocation::default()
        }
    }

    /// What it used. After a kernel's out-of-memory kill the last sample says nothing of the peak: then
    /// the memory it was allowed stands as the least it needed.
    pub fn usage(&self) -> Usage {
        let killed = self.step_out_of_memory || self.state.kind == StateKind::OutOfMemory;
        let peak = match (self.peak_memory, self.memory_limit().filter(|_| killed)) {
            (Some(peak), Some(limit)) => Some(peak.max(limit)),
            (peak, limit) => peak.or(limit),
        };
        Usage {
            walltime: self.elapsed,
            user_time: self.user_time,
            system_time: self.system_time,
            peak_memory: peak,
            peak_memory_source: peak.map(|_| MemorySource::Accounting),
            peak_gpu_memory: self.gpu_memory,
            gpu_utilisation: self.gpu_utilisation,
            energy_joules: self.energy,
            ..Usage::default()
        }
    }

    /// A name that no other run of any job has: the same job put back into the queue has another submit
    /// time, and after a crash a controller may give a number twice.
    pub fn origin(&self) -> String {
        self.origin_of(&self.id)
    }

    /// The name under which accounting may have shown a task of an array earlier: for some seconds its
    /// last task goes by the number of the whole array.
    pub fn earlier_origin(&self) -> Option<String> {
        let whole = JobId { part: Part::Whole, ..self.id.clone() };
        matches!(self.id.part, Part::Task(_)).then(|| self.origin_of(&whole))
    }

    fn origin_of(&self, id: &JobId) -> String {
        let time = self.submit.or(self.start).unwrap_or_default();
        format!("slurm:{}:{id}:{time}", self.cluster.as_deref().unwrap_or(""))
    }
}

#[cfg(test)]
mod tests {
    use crate::read_accounting;

    /// What a job used is known with the end of its steps, whether there is a figure or not.
    #[test]
    fn usage_is_known_when_the_steps_are_over() {
        let has_usage = |steps: &str| {
            let text = format!("JobID|State|MaxRSS|ElapsedRaw\n7_0|COMPLETED||9\n{steps}");
            let mut known = None;
            let zone = jiff::tz::TimeZone::UTC;
            let mut see = |job: super::AccountedJob| known = Some(job.has_usage());
            read_accounting("t", text.as_bytes(), &zone, &mut see).unwrap();
            known.unwrap()
        };
        assert!(!has_usage(""));
        assert!(!has_usage("7_0.batch|RUNNING||\n7_0.extern|COMPLETED|0|9\n"));
        assert!(has_usage("7_0.batch|COMPLETED||9\n7_0.extern|COMPLETED|0|9\n"));
        assert!(has_usage("7_0.batch|COMPLETED|5000K|9\n"));
    }
}
