//! What a simulation decided: when each job started. Metrics are computed from it, not kept in it.

use crate::engine::NEVER;
use crate::{SimJob, Workload};

/// The start of every job, in the order of the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Start times.
    pub starts: Vec<i64>,
    /// Whether a job started before one that was ahead of it in the queue.
    pub backfilled: Vec<bool>,
    pub(crate) promises: Vec<i64>,
    /// Processor-seconds that were idle although waiting jobs could have used as many.
    pub lost_processor_seconds: f64,
    /// The most jobs that waited behind a head that could not start, the head and those that then
    /// overtook it included.
    pub longest_queue: usize,
}

/// One line of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduledJob {
    /// The job's number in its trace.
    pub job: u64,
    /// When it was submitted.
    pub submit: i64,
    /// When it started.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// Its processors.
    pub processors: u32,
}

impl Schedule {
    /// The first start promised to a job by a reservation, if it ever had one.
    pub fn promise(&self, index: usize) -> Option<i64> {
        self.promises.get(index).copied().filter(|&promise| promise != NEVER)
    }

    /// The jobs with their starts and ends, in the order of the workload.
    pub fn jobs<'a>(&'a self, workload: &'a Workload) -> impl Iterator<Item = ScheduledJob> + 'a {
        let line = |(job, &start): (&SimJob, &i64)| ScheduledJob {
            job: job.number,
            submit: job.submit,
            start,
            end: start + job.run,
            processors: job.processors,
        };
        workload.jobs.iter().zip(&self.starts).map(line)
    }

    /// The schedule as a table with the columns `job,submit,start,end,processors`; times in the trace's
    /// own time, sorted by submission.
    pub fn to_csv(&self, workload: &Workload) -> String {
        use std::fmt::Write;
        let mut text = String::with_capacity(40 * self.starts.len() + 40);
        text.push_str("job,submit,start,end,processors\n");
        for ScheduledJob { job, submit, start, end, processors } in self.jobs(workload) {
            let [submit, start, end] = [submit, start, end].map(|time| time + workload.first_submit);
            // writing to a string cannot fail
            let _ = writeln!(text, "{job},{submit},{start},{end},{processors}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::{Policy, Requested, SimJob, Workload, simulate};

    #[test]
    fn the_table_has_the_times_of_the_trace() {
        let job = |number, submit| SimJob { number, submit, run: 10, request: 20, processors: 3, user: 0 };
        let workload = Workload::new(vec![job(7, 105), job(8, 101)], 4);
        let schedule = simulate(&workload, Policy::default(), &mut Requested);
        let expected = "job,submit,start,end,processors\n8,101,101,111,3\n7,105,111,121,3\n";
        assert_eq!(schedule.to_csv(&workload), expected);
    }
}
