//! Several policies on one workload, with how sure the differences are.
//!
//! Weeks are drawn again and again with replacement, the same weeks for every policy; the spread of the
//! results is the interval (B. Efron, R. J. Tibshirani, "An introduction to the bootstrap", 1993). Jobs
//! of one week depend on each other, weeks hardly do, hence weeks and not jobs.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::Serialize;

use crate::figures::{Figures, Row, row};
use crate::series::{Moment, timeline, wait_percentiles};
use crate::statistics::quantile;
use crate::weeks::{self, Weeks};
use crate::{Changes, Metrics, Policy, Schedule, Source, Workload, simulate};

/// Beyond as many weeks (two centuries) the times of a trace are not right, and intervals mean nothing.
const MOST_WEEKS: usize = 10_000;

/// What to simulate.
#[derive(Debug, Clone)]
pub struct SimulateOptions {
    /// The policies; the first is what the others are compared with.
    pub policies: Vec<Policy>,
    /// The estimates they plan with.
    pub estimates: Source,
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
            estimates: Source::default(),
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
    /// 95 % intervals of the metrics; `None` with fewer than two weeks, and where there is nothing to tell.
    pub intervals: Figures<Interval>,
    /// The difference to the first policy; `None` for the first.
    pub against_first: Option<Difference>,
    /// Waits below which 0, 1, … 100 % of jobs stay.
    pub wait_percentiles_s: Vec<f64>,
    /// Queue length and busy processors over time.
    pub timeline: Vec<Moment>,
}

/// A 95 % interval.
pub type Interval = Option<(f64, f64)>;

/// How a policy differs from the first: its figures minus the first's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The differences, their keys beside the others; `None` where there is nothing to tell.
    #[serde(flatten)]
    pub values: Figures<Option<f64>>,
    /// Their 95 % intervals.
    pub intervals: Figures<Interval>,
}

/// The figures of each draw.
type Draws = Vec<Row>;

/// Simulates every policy, in parallel, and compares. The schedules come in the order of the policies.
pub fn compare(workload: &Workload, options: &SimulateOptions) -> (SimulateResult, Vec<Schedule>) {
    let schedules: Vec<Schedule> = options
        .policies
        .par_iter()
        .map(|&policy| simulate(workload, policy, options.estimates.estimator().as_mut()))
        .collect();
    let count = weeks::count(workload, &schedules);
    let times = draw(count, options);
    let drawn: Vec<Draws> = schedules.iter().map(|schedule| evaluate(workload, schedule, &times)).collect();
    let metrics: Vec<Metrics> = schedules
        .iter()
        .zip(&options.policies)
        .map(|(schedule, &policy)| Metrics::new(workload, schedule, policy, options.estimates.name()))
        .collect();
    let rows: Vec<Row> = metrics.iter().map(row).collect();
    let against_first = |place: usize| Difference {
        values: Figures::named(|figure| {
            Some(rows[place][figure] - rows[0][figure]).filter(|difference| difference.is_finite())
        }),
        intervals: Figures::named(|figure| {
            let pairs = drawn[place].iter().zip(&drawn[0]);
            interval(pairs.map(|(own, first)| own[figure] - first[figure]))
        }),
    };
    let policies = metrics
        .into_iter()
        .enumerate()
        .map(|(place, metrics)| PolicyResult {
            metrics,
            intervals: Figures::named(|figure| interval(drawn[place].iter().map(|row| row[figure]))),
            against_first: (place > 0).then(|| against_first(place)),
            wait_percentiles_s: wait_percentiles(workload, &schedules[place]),
            timeline: timeline(workload, &schedules[place], options.points),
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

/// How often each week is drawn, draw by draw; no draws where weeks are too few or too many.
fn draw(count: usize, options: &SimulateOptions) -> Vec<Vec<u32>> {
    if !(2..=MOST_WEEKS).contains(&count) {
        return Vec::new();
    }
    let mut random = Pcg64Mcg::seed_from_u64(options.seed);
    let one = |_| {
        let mut times = vec![0; count];
        for _ in 0..count {
            times[random.random_range(0..count)] += 1;
        }
        times
    };
    (0..options.resamples).map(one).collect()
}

/// The figures of a schedule in every draw.
fn evaluate(workload: &Workload, schedule: &Schedule, times: &[Vec<u32>]) -> Draws {
    let Some(first) = times.first() else { return Draws::new() };
    let weeks = Weeks::new(workload, schedule, first.len());
    times.par_iter().map(|times| weeks.figures(times)).collect()
}

/// The middle 95 % of the values that are known.
fn interval(values: impl Iterator<Item = f64>) -> Interval {
    let mut known: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    known.sort_unstable_by(f64::total_cmp);
    (!known.is_empty()).then(|| (quantile(&known, 0.025), quantile(&known, 0.975)))
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
            let holds = |interval: Interval, value: f64| {
                let (low, high) = interval.unwrap();
                assert!(low <= value && value <= high, "{value} is not in {low} to {high}");
            };
            holds(policy.intervals.average_wait_s, policy.metrics.average_wait_s);
            holds(policy.intervals.p95_wait_s, policy.metrics.p95_wait_s);
            holds(policy.intervals.median_bounded_slowdown, policy.metrics.median_bounded_slowdown);
            holds(policy.intervals.utilisation, policy.metrics.utilisation);
            holds(policy.intervals.loss_of_capacity, policy.metrics.loss_of_capacity);
            holds(policy.intervals.backfilled_share, policy.metrics.backfilled_share);
            holds(policy.intervals.violation_mean_s, policy.metrics.violation_mean_s);
            let small = policy.metrics.by_size[0].average_wait_s;
            assert_eq!(policy.intervals.by_size[0].average_wait_s.is_some(), small.is_some());
        }
        let difference = result.policies[1].against_first.as_ref().unwrap();
        let wait = difference.values.average_wait_s.unwrap();
        let expected = result.policies[1].metrics.average_wait_s - result.policies[0].metrics.average_wait_s;
        assert!(wait < 0.0 && wait == expected);
        let (low, high) = difference.intervals.average_wait_s.unwrap();
        assert!(low <= wait && wait <= high);
        assert_eq!(result, compare(&workload(), &options).0);
    }

    #[test]
    fn times_that_cannot_be_right_give_no_intervals() {
        let job = |submit| SimJob { number: 1, submit, run: 10, request: 10, processors: 1, user: 0 };
        let options =
            SimulateOptions { policies: vec!["easy".parse().unwrap()], ..SimulateOptions::default() };
        for submits in [vec![0, 900_000_000_000_000_000], vec![0, 100]] {
            let workload = Workload::new(submits.into_iter().map(job).collect(), 4);
            let (result, _) = compare(&workload, &options);
            assert_eq!(result.policies[0].intervals, Figures::named(|_| None));
        }
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
