//! Series for charts: queue length and busy processors over time, the distribution of waits, and the
//! jobs of a window with the processors they could have run on.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::statistics::quantile;
use crate::{Schedule, Workload};

/// The state of the machine at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Moment {
    /// Seconds from the first submission.
    pub time_s: i64,
    /// Mean number of waiting jobs until the next moment.
    pub waiting: f64,
    /// Mean number of busy processors until the next moment.
    pub busy: f64,
}

/// Queue length and busy processors over time, as means over `points` equal spans.
pub fn timeline(workload: &Workload, schedule: &Schedule, points: usize) -> Vec<Moment> {
    let end = schedule.jobs(workload).map(|job| job.end).max().unwrap_or(0).max(1);
    let points = points.max(1);
    let width = end as f64 / points as f64;
    let mut waiting = vec![0.0; points];
    let mut busy = vec![0.0; points];
    let spread = |sums: &mut [f64], from: i64, to: i64, amount: f64| {
        let (from, to) = (from as f64, to as f64);
        let mut place = ((from / width) as usize).min(points - 1);
        while place < points && place as f64 * width < to {
            let overlap = to.min((place + 1) as f64 * width) - from.max(place as f64 * width);
            sums[place] += amount * overlap.max(0.0) / width;
            place += 1;
        }
    };
    for job in schedule.jobs(workload) {
        spread(&mut waiting, job.submit, job.start, 1.0);
        spread(&mut busy, job.start, job.end, f64::from(job.processors));
    }
    let moment = |(place, (waiting, busy)): (usize, (f64, f64))| Moment {
        time_s: (place as f64 * width) as i64,
        waiting,
        busy,
    };
    waiting.into_iter().zip(busy).enumerate().map(moment).collect()
}

/// The waits below which 0 %, 1 %, … 100 % of the jobs stay.
pub fn wait_percentiles(workload: &Workload, schedule: &Schedule) -> Vec<f64> {
    let mut waits: Vec<f64> = schedule.jobs(workload).map(|job| (job.start - job.submit) as f64).collect();
    waits.sort_unstable_by(f64::total_cmp);
    (0..=100).map(|percent| quantile(&waits, f64::from(percent) / 100.0)).collect()
}

/// A job in a chart of processors over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GanttJob {
    /// The job's number.
    pub job: u64,
    /// When it started.
    pub start_s: i64,
    /// When it ended.
    pub end_s: i64,
    /// The processors drawn for it: first and count, several where they are not next to each other.
    pub processors: Vec<(u32, u32)>,
}

/// The jobs that ran within a window, each with processors no other had at the time. The simulator
/// counts processors without naming them; here each job gets the lowest free ones.
pub fn gantt(workload: &Workload, schedule: &Schedule, from: i64, to: i64) -> Vec<GanttJob> {
    let mut jobs: Vec<_> =
        schedule.jobs(workload).filter(|job| job.start < to && job.end > job.start).collect();
    jobs.sort_by_key(|job| job.start);
    // free processors: first → count
    let mut free: BTreeMap<u32, u32> = BTreeMap::from([(0, workload.processors)]);
    let mut running: std::collections::BinaryHeap<std::cmp::Reverse<(i64, usize)>> = Default::default();
    let mut drawn: Vec<GanttJob> = Vec::new();
    for job in jobs {
        while let Some(&std::cmp::Reverse((end, place))) =
            running.peek().filter(|other| other.0.0 <= job.start)
        {
            debug_assert!(end <= job.start);
            running.pop();
            for &(first, count) in &drawn[place].processors {
                give_back(&mut free, first, count);
            }
        }
        let processors = take(&mut free, job.processors);
        running.push(std::cmp::Reverse((job.end, drawn.len())));
        drawn.push(GanttJob { job: job.job, start_s: job.start, end_s: job.end, processors });
    }
    drawn.retain(|job| job.end_s > from);
    drawn
}

fn take(free: &mut BTreeMap<u32, u32>, mut wanted: u32) -> Vec<(u32, u32)> {
    let mut taken = Vec::new();
    while wanted > 0 {
        let Some((first, count)) = free.pop_first() else { break };
        let used = count.min(wanted);
        taken.push((first, used));
        if used < count {
            free.insert(first + used, count - used);
        }
        wanted -= used;
    }
    taken
}

fn give_back(free: &mut BTreeMap<u32, u32>, mut first: u32, mut count: u32) {
    if let Some((&before, &length)) = free.range(..first).next_back()
        && before + length == first
    {
        free.remove(&before);
        first = before;
        count += length;
    }
    if let Some(after) = free.remove(&(first + count)) {
        count += after;
    }
    free.insert(first, count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Policy, Requested, SimJob, simulate};

    fn example() -> (Workload, Schedule) {
        let job = |number, submit, run, processors| SimJob {
            number,
            submit,
            run,
            request: run,
            processors,
            user: 0,
        };
        let jobs = vec![job(1, 0, 50, 2), job(2, 0, 100, 2), job(3, 10, 50, 3)];
        let workload = Workload::new(jobs, 4);
        let schedule = simulate(&workload, Policy::default(), &mut Requested);
        (workload, schedule)
    }

    #[test]
    fn timelines_keep_the_areas() {
        let (workload, schedule) = example();
        let moments = timeline(&workload, &schedule, 7);
        let width = 150.0 / 7.0;
        let busy: f64 = moments.iter().map(|moment| moment.busy * width).sum();
        let waiting: f64 = moments.iter().map(|moment| moment.waiting * width).sum();
        assert!((busy - (100.0 + 200.0 + 150.0)).abs() < 1e-9);
        assert!((waiting - 90.0).abs() < 1e-9);
        assert_eq!(wait_percentiles(&workload, &schedule)[100], 90.0);
    }

    #[test]
    fn no_processor_is_drawn_twice() {
        let (workload, schedule) = example();
        let drawn = gantt(&workload, &schedule, 0, 200);
        assert_eq!(drawn[0].processors, [(0, 2)]);
        assert_eq!(drawn[1].processors, [(2, 2)]);
        assert_eq!(drawn[2].processors, [(0, 3)]);
        assert_eq!(gantt(&workload, &schedule, 120, 200).len(), 1);
    }
}
