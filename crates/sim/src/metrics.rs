//! What a schedule is worth: waiting, slowdown, utilisation, broken promises; for all jobs, by class
//! and by user.

use serde::Serialize;

use crate::statistics::{mean, quantile};
use crate::{Policy, Schedule, SimJob, UNKNOWN_USER, Workload};

/// The length below which slowdown is not counted in full: D. G. Feitelson et al., "Theory and practice
/// in parallel job scheduling", JSSPP 1997.
pub const SLOWDOWN_BOUND: f64 = 10.0;

/// The figures of one policy. The keys are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    /// The policy.
    pub name: String,
    /// The estimates it planned with.
    pub estimates: String,
    /// Jobs simulated.
    pub jobs: usize,
    /// Mean wait in seconds.
    pub average_wait_s: f64,
    /// Median wait.
    pub median_wait_s: f64,
    /// 95th percentile of wait.
    pub p95_wait_s: f64,
    /// 99th percentile of wait.
    pub p99_wait_s: f64,
    /// Longest wait.
    pub maximum_wait_s: f64,
    /// Mean of max(1, (wait + run) / max(run, 10 s)).
    pub average_bounded_slowdown: f64,
    /// Median bounded slowdown.
    pub median_bounded_slowdown: f64,
    /// 95th percentile of bounded slowdown.
    pub p95_bounded_slowdown: f64,
    /// 99th percentile of bounded slowdown.
    pub p99_bounded_slowdown: f64,
    /// Processor-seconds used / (processors × makespan).
    pub utilisation: f64,
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// Share of jobs that overtook another.
    pub backfilled_share: f64,
    /// Jobs that were given a reservation because they could not start.
    pub reserved_heads: usize,
    /// Mean over those of max(0, start − first promised start).
    pub violation_mean_s: f64,
    /// Share of those that started later than first promised.
    pub violation_share: f64,
    /// 95th percentile of the delay over those.
    pub violation_p95_s: f64,
    /// Share of the machine that was idle though waiting jobs asked for as much: V. J. Leung, G. Sabin,
    /// P. Sadayappan, "Parallel job scheduling policies to improve fairness", ICPP workshops 2010.
    pub loss_of_capacity: f64,
    /// The most jobs that waited at once, before any overtook.
    pub longest_queue: usize,
    /// By size: below 10 %, 10 to 30 %, above 30 % of the machine.
    pub by_size: Vec<ClassMetrics>,
    /// By run time: under 1 h, to 24 h, over 24 h.
    pub by_length: Vec<ClassMetrics>,
    /// By user, the largest consumers first; jobs of unknown users are not here.
    pub by_user: Vec<UserMetrics>,
}

/// The figures of a class of jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassMetrics {
    /// `small`, `middle`, `large`; `short`, `middle`, `long`.
    pub class: &'static str,
    /// Jobs in it.
    pub jobs: usize,
    /// Mean wait, where there are jobs.
    pub average_wait_s: Option<f64>,
    /// Mean bounded slowdown.
    pub average_bounded_slowdown: Option<f64>,
}

/// The figures of a user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UserMetrics {
    /// The user, numbered in order of appearance in the trace, from 0.
    pub user: u32,
    /// Their jobs.
    pub jobs: usize,
    /// What they used.
    pub processor_hours: f64,
    /// Mean wait.
    pub average_wait_s: f64,
    /// Mean bounded slowdown.
    pub average_bounded_slowdown: f64,
}

/// The bounded slowdown of a job that waited `wait`.
pub fn bounded_slowdown(wait: i64, run: i64) -> f64 {
    let run = run as f64;
    ((wait as f64 + run) / run.max(SLOWDOWN_BOUND)).max(1.0)
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    jobs: usize,
    wait: f64,
    slowdown: f64,
    area: f64,
}

impl Sum {
    fn add(&mut self, job: &SimJob, wait: i64) {
        self.jobs += 1;
        self.wait += wait as f64;
        self.slowdown += bounded_slowdown(wait, job.run);
        self.area += job.run as f64 * f64::from(job.processors);
    }

    fn class(self, class: &'static str) -> ClassMetrics {
        let mean = |sum: f64| (self.jobs > 0).then(|| sum / self.jobs as f64);
        ClassMetrics {
            class,
            jobs: self.jobs,
            average_wait_s: mean(self.wait),
            average_bounded_slowdown: mean(self.slowdown),
        }
    }
}

impl Metrics {
    /// Computes the figures of a schedule.
    pub fn new(workload: &Workload, schedule: &Schedule, policy: Policy, estimates: &str) -> Self {
        let mut sizes = [Sum::default(); 3];
        let mut lengths = [Sum::default(); 3];
        let mut users: Vec<Sum> = Vec::new();
        let mut all = Sum::default();
        let mut waits = Vec::with_capacity(workload.jobs.len());
        let mut slowdowns = Vec::with_capacity(workload.jobs.len());
        let mut delays = Vec::new();
        let mut last_end = 0;
        for (index, (job, &start)) in workload.jobs.iter().zip(&schedule.starts).enumerate() {
            let wait = start - job.submit;
            waits.push(wait as f64);
            slowdowns.push(bounded_slowdown(wait, job.run));
            last_end = last_end.max(start + job.run);
            all.add(job, wait);
            sizes[size_class(job.processors, workload.processors)].add(job, wait);
            lengths[length_class(job.run)].add(job, wait);
            if job.user != UNKNOWN_USER {
                let place = job.user as usize;
                if users.len() <= place {
                    users.resize(place + 1, Sum::default());
                }
                users[place].add(job, wait);
            }
            if let Some(promise) = schedule.promise(index) {
                delays.push((start - promise).max(0) as f64);
            }
        }
        let capacity = f64::from(workload.processors) * last_end as f64;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let count = workload.jobs.len() as f64;
        waits.sort_unstable_by(f64::total_cmp);
        slowdowns.sort_unstable_by(f64::total_cmp);
        delays.sort_unstable_by(f64::total_cmp);
        let backfilled = schedule.backfilled.iter().filter(|&&backfilled| backfilled).count();
        let late = delays.iter().filter(|&&delay| delay > 0.0).count();
        let class = |sums: [Sum; 3], names: [&'static str; 3]| {
            sums.into_iter().zip(names).map(|(sum, name)| sum.class(name)).collect()
        };
        Metrics {
            name: policy.to_string(),
            estimates: estimates.to_owned(),
            jobs: workload.jobs.len(),
            average_wait_s: share(all.wait, count),
            median_wait_s: quantile(&waits, 0.5),
            p95_wait_s: quantile(&waits, 0.95),
            p99_wait_s: quantile(&waits, 0.99),
            maximum_wait_s: quantile(&waits, 1.0),
            average_bounded_slowdown: share(all.slowdown, count),
            median_bounded_slowdown: quantile(&slowdowns, 0.5),
            p95_bounded_slowdown: quantile(&slowdowns, 0.95),
            p99_bounded_slowdown: quantile(&slowdowns, 0.99),
            utilisation: share(all.area, capacity),
            makespan_s: last_end as f64,
            backfilled_share: share(backfilled as f64, count),
            reserved_heads: delays.len(),
            violation_mean_s: mean(&delays),
            violation_share: share(late as f64, delays.len() as f64),
            violation_p95_s: quantile(&delays, 0.95),
            loss_of_capacity: share(schedule.lost_processor_seconds, capacity),
            longest_queue: schedule.longest_queue,
            by_size: class(sizes, ["small", "middle", "large"]),
            by_length: class(lengths, ["short", "middle", "long"]),
            by_user: by_user(&users),
        }
    }
}

fn by_user(users: &[Sum]) -> Vec<UserMetrics> {
    let mut found: Vec<UserMetrics> = users
        .iter()
        .enumerate()
        .filter(|(_, sum)| sum.jobs > 0)
        .map(|(user, sum)| UserMetrics {
            user: user as u32,
            jobs: sum.jobs,
            processor_hours: sum.area / 3600.0,
            average_wait_s: sum.wait / sum.jobs as f64,
            average_bounded_slowdown: sum.slowdown / sum.jobs as f64,
        })
        .collect();
    found.sort_by(|a, b| b.processor_hours.total_cmp(&a.processor_hours).then(a.user.cmp(&b.user)));
    found
}

/// 0 below 10 %, 1 to 30 %, 2 above 30 % of the machine, as the cross-system study divides.
pub(crate) fn size_class(processors: u32, machine: u32) -> usize {
    let tenths = 10 * u64::from(processors);
    let machine = u64::from(machine);
    usize::from(tenths >= machine) + usize::from(tenths > 3 * machine)
}

/// 0 under one hour, 1 to a day, 2 over a day.
pub(crate) fn length_class(run: i64) -> usize {
    usize::from(run >= 3600) + usize::from(run > 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Requested, simulate};

    fn job(number: u64, submit: i64, run: i64, processors: u32, user: u32) -> SimJob {
        SimJob { number, submit, run, request: run, processors, user }
    }

    #[test]
    fn figures_of_a_schedule_worked_out_by_hand() {
        // 4 processors: job 1 fills them until 100; job 2 (all) waits until 100; job 3 (short, serial)
        // waits too, for the head may not be delayed and nothing is free
        let jobs = vec![job(1, 0, 100, 3, 0), job(2, 10, 50, 4, 1), job(3, 20, 5, 1, 0)];
        let workload = Workload::new(jobs, 4);
        let policy: Policy = "easy".parse().unwrap();
        let schedule = simulate(&workload, policy, &mut Requested);
        assert_eq!(schedule.starts, [0, 100, 20]);
        let metrics = Metrics::new(&workload, &schedule, policy, "requested");
        assert_eq!(metrics.average_wait_s, 30.0);
        assert_eq!(metrics.average_bounded_slowdown, (1.0 + 140.0 / 50.0 + 1.0) / 3.0);
        assert_eq!(metrics.makespan_s, 150.0);
        assert_eq!(metrics.utilisation, (300.0 + 200.0 + 5.0) / 600.0);
        assert_eq!((metrics.reserved_heads, metrics.violation_mean_s), (1, 0.0));
        assert_eq!(metrics.backfilled_share, 1.0 / 3.0);
        // one processor idle and wanted from 10 to 20 and from 25 to 100
        assert_eq!(metrics.loss_of_capacity, 85.0 / 600.0);
        assert_eq!(metrics.by_size.iter().map(|class| class.jobs).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(metrics.by_size[0].average_wait_s, None);
        assert_eq!(metrics.by_user[0].user, 0);
        assert_eq!(metrics.by_user[0].jobs, 2);
    }

    #[test]
    fn classes_follow_the_study() {
        assert_eq!([9, 10, 30, 31].map(|size| size_class(size, 100)), [0, 1, 1, 2]);
        assert_eq!([3599, 3600, 86_400, 86_401].map(length_class), [0, 1, 1, 2]);
    }
}
