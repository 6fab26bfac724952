//! The jobs a simulation works on: checked, sorted by submission, with what was changed counted.

use harp_trace::{Job, Reading, TraceError};
use serde::Serialize;

/// The user of jobs whose user the trace does not tell.
pub const UNKNOWN_USER: u32 = u32::MAX;

/// A job as the simulator sees it. Times are whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SimJob {
    /// The job's number in its trace.
    pub number: u64,
    /// When it is submitted, from the first submission of the workload.
    pub submit: i64,
    /// How long it really runs.
    pub run: i64,
    /// How long it asked to run; at least `run`, because a job that ran longer was allowed to.
    pub request: i64,
    /// Processors.
    pub processors: u32,
    /// A small number for its user, or [`UNKNOWN_USER`].
    pub user: u32,
}

/// What to do with jobs that ask for more than the machine has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Oversized {
    /// Refuse the whole trace, naming the first of them.
    #[default]
    Refuse,
    /// Leave them out and count them.
    Drop,
}

/// What was changed to make a workload of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Jobs left out because they have no run time (they never ran, or had not ended).
    pub without_run_time: u64,
    /// Jobs left out because they tell no size.
    pub without_processors: u64,
    /// Jobs left out because they ask for more than the machine has.
    pub oversized: u64,
    /// Jobs whose requested time is missing and was set to the run time.
    pub without_request: u64,
    /// Jobs that ran longer than requested; their request was raised to the run time.
    pub overruns: u64,
    /// Whether the jobs had to be sorted by submission.
    pub sorted: bool,
}

/// Jobs sorted by submission (ties in the order of the trace), the first submitted at 0.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The jobs.
    pub jobs: Vec<SimJob>,
    /// Processors of the machine.
    pub processors: u32,
    /// The first submission in the trace's own time; it is 0 here.
    pub first_submit: i64,
    /// The Unix second that the trace's own time 0 stands for, if its header tells.
    pub unix_start_time: Option<i64>,
    /// What was changed on the way.
    pub changes: Changes,
}

/// Collects jobs while a trace is visited, then makes the workload.
#[derive(Debug, Default)]
pub struct WorkloadBuilder {
    jobs: Vec<SimJob>,
    lines: Vec<u32>,
    users: std::collections::HashMap<u64, u32>,
    changes: Changes,
}

impl WorkloadBuilder {
    /// Takes in one job.
    pub fn add(&mut self, job: &Job) {
        let Some(run) = job.run else {
            self.changes.without_run_time += 1;
            return;
        };
        let Some(processors) = job.processors() else {
            self.changes.without_processors += 1;
            return;
        };
        let request = match job.requested_time.filter(|&request| request > 0) {
            None => {
                self.changes.without_request += 1;
                run
            }
            Some(request) if request < run => {
                self.changes.overruns += 1;
                run
            }
            Some(request) => request,
        };
        let next = self.users.len() as u32;
        let user = job.user.map_or(UNKNOWN_USER, |user| *self.users.entry(user).or_insert(next));
        self.jobs.push(SimJob { number: job.number, submit: job.submit, run, request, processors, user });
        self.lines.push(u32::try_from(job.line).unwrap_or(u32::MAX));
    }

    /// Makes the workload. The machine has `processors`, else what the header of the trace says.
    pub fn finish(
        mut self,
        reading: &Reading,
        processors: Option<u32>,
        oversized: Oversized,
    ) -> Result<Workload, TraceError> {
        let largest = self.jobs.iter().enumerate().max_by_key(|(_, job)| job.processors);
        let Some((largest, largest_size)) = largest.map(|(index, job)| (index, job.processors)) else {
            return Err(self.nothing_left(reading));
        };
        let Some(machine) = processors.or(reading.header.machine()) else {
            let line = u64::from(self.lines[largest]);
            return Err(TraceError::NoMachine { name: reading.name.clone(), largest: largest_size, line });
        };
        if largest_size > machine {
            let too_large = |job: &SimJob| job.processors > machine;
            let count = self.jobs.iter().filter(|job| too_large(job)).count() as u64;
            match oversized {
                Oversized::Refuse => {
                    let first = self.jobs.iter().position(too_large).unwrap_or(largest);
                    return Err(TraceError::Oversized {
                        name: reading.name.clone(),
                        line: u64::from(self.lines[first]),
                        job: self.jobs[first].number,
                        processors: self.jobs[first].processors,
                        machine,
                        count,
                    });
                }
                Oversized::Drop => {
                    self.changes.oversized = count;
                    self.jobs.retain(|job| !too_large(job));
                    if self.jobs.is_empty() {
                        return Err(self.nothing_left(reading));
                    }
                }
            }
        }
        drop(self.lines);
        let mut workload = Workload::new(self.jobs, machine);
        workload.changes = Changes { sorted: workload.changes.sorted, ..self.changes };
        workload.unix_start_time = reading.header.unix_start_time;
        Ok(workload)
    }

    fn nothing_left(&self, reading: &Reading) -> TraceError {
        let Changes { without_run_time, without_processors, oversized, .. } = self.changes;
        TraceError::NoJobs {
            name: reading.name.clone(),
            line: 1,
            lines: reading.lines,
            format: reading.format.name(),
            reason: format!(
                "{without_run_time} jobs have no run time, {without_processors} no size, \
                 {oversized} are larger than the machine"
            ),
        }
    }
}

impl Workload {
    /// A workload of jobs that need no correction but sorting and shifting.
    pub fn new(mut jobs: Vec<SimJob>, processors: u32) -> Self {
        let sorted = !jobs.is_sorted_by_key(|job| job.submit);
        if sorted {
            jobs.sort_by_key(|job| job.submit);
        }
        let first_submit = jobs.first().map_or(0, |job| job.submit);
        for job in &mut jobs {
            job.submit -= first_submit;
        }
        let changes = Changes { sorted, ..Changes::default() };
        Workload { jobs, processors, first_submit, unix_start_time: None, changes }
    }

    /// The same workload one after another, `times` times: each copy begins an hour after the last
    /// submission of the one before. For measuring how cost grows.
    pub fn repeated(&self, times: usize) -> Workload {
        let period = self.jobs.last().map_or(0, |job| job.submit) + 3600;
        let copy = |round: usize| {
            let shift = period * round as i64;
            self.jobs.iter().map(move |job| SimJob { submit: job.submit + shift, ..*job })
        };
        Workload { jobs: (0..times).flat_map(copy).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(text: &str, processors: Option<u32>, oversized: Oversized) -> Result<Workload, TraceError> {
        let mut builder = WorkloadBuilder::default();
        let options = harp_trace::ReadOptions::default();
        let reading = harp_trace::visit("t.swf", text.as_bytes(), &options, &mut |job| builder.add(job))?;
        builder.finish(&reading, processors, oversized)
    }

    const TRACE: &str = "; UnixStartTime: 1000\n\
        2 50 -1 10 4 -1 -1 -1 20 -1 1 7 -1 -1 -1 -1 -1 -1\n\
        1 10 -1 30 2 -1 -1 8 20 -1 1 9 -1 -1 -1 -1 -1 -1\n\
        3 60 -1 -1 2 -1 -1 8 20 -1 1 9 -1 -1 -1 -1 -1 -1\n\
        4 60 -1 5 2 -1 -1 2 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n";

    #[test]
    fn a_trace_becomes_a_sorted_workload() {
        let workload = build(TRACE, Some(8), Oversized::Refuse).unwrap();
        let found: Vec<(u64, i64, i64, i64, u32, u32)> = workload
            .jobs
            .iter()
            .map(|job| (job.number, job.submit, job.run, job.request, job.processors, job.user))
            .collect();
        assert_eq!(found, [(1, 0, 30, 30, 8, 1), (2, 40, 10, 20, 4, 0), (4, 50, 5, 5, 2, 0)]);
        assert_eq!((workload.first_submit, workload.unix_start_time), (10, Some(1000)));
        let expected = Changes {
            without_run_time: 1,
            overruns: 1,
            without_request: 1,
            sorted: true,
            ..Changes::default()
        };
        assert_eq!(workload.changes, expected);
    }

    #[test]
    fn machine_and_size_problems_name_the_line() {
        let message = build(TRACE, None, Oversized::Refuse).unwrap_err().to_string();
        assert!(
            message.contains("no MaxProcs header") && message.contains("8 processors, line 3"),
            "{message}"
        );
        let message = build(TRACE, Some(4), Oversized::Refuse).unwrap_err().to_string();
        assert!(message.starts_with("t.swf:3: job 1 asks for 8 processors, the machine has 4"), "{message}");
        let workload = build(TRACE, Some(4), Oversized::Drop).unwrap();
        assert_eq!((workload.jobs.len(), workload.changes.oversized), (2, 1));
        assert!(build(TRACE, Some(1), Oversized::Drop).is_err());
    }
}
