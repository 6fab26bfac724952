//! Several policies on one workload, with how sure the differences are.
//!
//! Weeks are drawn again and again with replacement, the same weeks for every policy; the spread of the
//! results is the interval (B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", 1993). Jobs
//! of one week depend on each other, weeks hardly do, hence weeks and not jobs.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::Serialize;

use crate::metrics::bounded_slowdown;
use crate::series::{Moment, timeline, wait_percentiles};
use crate::statistics::quantile;
use crate::{Changes, Estimates, Metrics, Policy, Schedule, Workload, simulate};

const WEEK: i64 = 7 * 86_400;

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulateOptions {
    /// The policies; the first is what the others are compared with.
    pub policies: Vec<Policy>,
    /// The estimates they plan with.
    pub estimates: Estimates,
    /// How often weeks are drawn; 0 for no intervals.
    pub resamples: usize,
    /// The seed of the drawing.
    pub seed: u64,
    /// Points of the series over time.
    pub points: usize,
}

impl Default for SimulateOptions {
    fn default() -> Self {
        SimulateOptions {
            policies: Vec::new(),
            estimates: Estimates::Requested,
            resamples: 1000,
            seed: 0,
            points: 400,
        }
    }
}

/// The result of `harp simulate`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulateResult {
    /// Jobs simulated.
    pub jobs: usize,
    /// Processors of the machine.
    pub processors: u32,
    /// What was changed to make a workload of the trace.
    pub changes: Changes,
    /// Weeks the bootstrap drew from.
    pub weeks: usize,
    /// One entry a policy, in the order asked for.
    pub policies: Vec<PolicyResult>,
}

/// The figures of one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyResult {
    /// The metrics, their keys beside the others.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// The 95 % interval of the mean wait; `None` with fewer than two weeks.
    pub average_wait_interval_s: Option<(f64, f64)>,
    /// The 95 % interval of the mean bounded slowdown.
    pub average_bounded_slowdown_interval: Option<(f64, f64)>,
    /// The difference to the first policy; `None` for the first.
    pub against_first: Option<Difference>,
    /// Waits below which 0, 1, … 100 % of jobs stay.
    pub wait_percentiles_s: Vec<f64>,
    /// Queue length and busy processors over time.
    pub timeline: Vec<Moment>,
}

/// How a policy differs from the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Mean wait minus the first's.
    pub average_wait_s: f64,
    /// Its 95 % interval.
    pub average_wait_interval_s: Option<(f64, f64)>,
    /// Mean bounded slowdown minus the first's.
    pub average_bounded_slowdown: f64,
    /// Its 95 % interval.
    pub average_bounded_slowdown_interval: Option<(f64, f64)>,
}

/// Mean wait and mean bounded slowdown of each policy in one draw of weeks.
type Draw = Vec<(f64, f64)>;

/// Sums of one week's jobs.
#[derive(Debug, Clone, Copy, Default)]
struct Week {
    jobs: f64,
    wait: f64,
    slowdown: f64,
}

/// Simulates every policy, in parallel, and compares. The schedules come in the order of the policies.
pub fn compare(workload: &Workload, options: &SimulateOptions) -> (SimulateResult, Vec<Schedule>) {
    let schedules: Vec<Schedule> = options
        .policies
        .par_iter()
        .map(|&policy| simulate(workload, policy, options.estimates.estimator().as_mut()))
        .collect();
    let weeks: Vec<Vec<Week>> = schedules.iter().map(|schedule| by_week(workload, schedule)).collect();
    let count = weeks.first().map_or(0, Vec::len);
    let drawn = draw(&weeks, options);
    let policies = schedules.iter().zip(&options.policies).enumerate();
    let policies = policies
        .map(|(place, (schedule, &policy))| {
            let metrics = Metrics::new(workload, schedule, policy, &options.estimates.to_string());
            let interval = |value: &dyn Fn(&Draw) -> f64| {
                let mut values: Vec<f64> = drawn.iter().map(value).collect();
                values.sort_unstable_by(f64::total_cmp);
                (count > 1 && !values.is_empty())
                    .then(|| (quantile(&values, 0.025), quantile(&values, 0.975)))
            };
            PolicyResult {
                average_wait_interval_s: interval(&|draw| draw[place].0),
                average_bounded_slowdown_interval: interval(&|draw| draw[place].1),
                against_first: (place > 0).then(|| {
                    let first = total(&weeks[0]);
                    let own = total(&weeks[place]);
                    Difference {
                        average_wait_s: own.0 - first.0,
                        average_wait_interval_s: interval(&|draw| draw[place].0 - draw[0].0),
                        average_bounded_slowdown: own.1 - first.1,
                        average_bounded_slowdown_interval: interval(&|draw| draw[place].1 - draw[0].1),
                    }
                }),
                wait_percentiles_s: wait_percentiles(workload, schedule),
                timeline: timeline(workload, schedule, options.points),
                metrics,
            }
        })
        .collect();
    let result = SimulateResult {
        jobs: workload.jobs.len(),
        processors: workload.processors,
        changes: workload.changes.clone(),
        weeks: count,
        policies,
    };
    (result, schedules)
}

/// Weeks with at least one submission.
fn by_week(workload: &Workload, schedule: &Schedule) -> Vec<Week> {
    let last = workload.jobs.last().map_or(0, |job| job.submit / WEEK) as usize;
    let mut weeks = vec![Week::default(); last + 1];
    for (job, start) in workload.jobs.iter().zip(&schedule.starts) {
        let week = &mut weeks[(job.submit / WEEK) as usize];
        week.jobs += 1.0;
        week.wait += (start - job.submit) as f64;
        week.slowdown += bounded_slowdown(start - job.submit, job.run);
    }
    weeks.retain(|week| week.jobs > 0.0);
    weeks
}

/// Mean wait and slowdown over weeks.
fn total<'a>(weeks: impl IntoIterator<Item = &'a Week>) -> (f64, f64) {
    let sum = weeks.into_iter().fold(Week::default(), |sum, week| Week {
        jobs: sum.jobs + week.jobs,
        wait: sum.wait + week.wait,
        slowdown: sum.slowdown + week.slowdown,
    });
    (sum.wait / sum.jobs.max(1.0), sum.slowdown / sum.jobs.max(1.0))
}

fn draw(weeks: &[Vec<Week>], options: &SimulateOptions) -> Vec<Draw> {
    let count = weeks.first().map_or(0, Vec::len);
    if count < 2 {
        return Vec::new();
    }
    let mut random = Pcg64Mcg::seed_from_u64(options.seed);
    (0..options.resamples)
        .map(|_| {
            let chosen: Vec<usize> = (0..count).map(|_| random.random_range(0..count)).collect();
            weeks.iter().map(|weeks| total(chosen.iter().map(|&week| &weeks[week]))).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimJob;

    fn workload() -> Workload {
        let job = |i: i64| SimJob {
            number: i as u64,
            submit: i * 4000,
            run: 1000 + 997 * i % 20_000,
            request: 30_000,
            processors: 1 + (i * 7 % 13) as u32,
            user: (i % 5) as u32,
        };
        Workload::new((0..2000).map(job).collect(), 16)
    }

    #[test]
    fn intervals_hold_the_estimate_and_repeat() {
        let policies = ["fcfs", "easy"].map(|name| name.parse().unwrap()).to_vec();
        let options = SimulateOptions { policies, resamples: 300, ..SimulateOptions::default() };
        let (result, schedules) = compare(&workload(), &options);
        assert_eq!(schedules.len(), 2);
        assert!(result.weeks > 10);
        for policy in &result.policies {
            let (low, high) = policy.average_wait_interval_s.unwrap();
            assert!(low <= policy.metrics.average_wait_s && policy.metrics.average_wait_s <= high);
        }
        let difference = result.policies[1].against_first.as_ref().unwrap();
        assert!(difference.average_wait_s < 0.0);
        let expected = result.policies[1].metrics.average_wait_s - result.policies[0].metrics.average_wait_s;
        assert!((difference.average_wait_s - expected).abs() < 1e-6 * expected.abs());
        assert_eq!(result, compare(&workload(), &options).0);
    }

    #[test]
    fn the_keys_others_rely_on_are_there() {
        let options =
            SimulateOptions { policies: vec!["easy".parse().unwrap()], ..SimulateOptions::default() };
        let json = serde_json::to_value(compare(&workload(), &options).0).unwrap();
        let policy = &json["policies"][0];
        assert_eq!(policy["name"], "easy");
        for key in ["average_wait_s", "average_bounded_slowdown", "utilisation", "violation_mean_s"] {
            assert!(policy[key].is_number(), "{key}");
        }
    }
}
