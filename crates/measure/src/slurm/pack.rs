//! Which runs go into which job: grouped by what they ask for, short ones many to a job, so that a
//! sweep is a few arrays and not a flood.

use harp_core::Seconds;
use harp_slurm::JobRequest;

use super::batch::BatchRun;

/// Time a job needs beside its runs: to start, to end, and for Slurm's whole minutes.
const MARGIN: Seconds = Seconds(60.0);

/// A run without a time-out may take so many times what is expected before its job is over.
const PATIENCE: f64 = 4.0;

/// Runs in one job at most: what is lost with it must stay small.
const MOST_IN_A_JOB: usize = 500;

/// How runs become jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packing {
    /// Short runs are put together until a job is expected to take this long; 0 puts none together.
    pub target: Seconds,
    /// The time every job asks for, where a person says so.
    pub time: Option<Seconds>,
    /// Tasks of one array at most.
    pub most_tasks: usize,
}

/// A run and what is known about it before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The run.
    pub run: BatchRun,
    /// What its job must ask for; the time is not looked at.
    pub request: JobRequest,
    /// When it will be ended.
    pub limit: Option<Seconds>,
    /// How long it may take.
    pub expected: Option<Seconds>,
    /// The longest time a job may ask for there.
    pub longest: Option<Seconds>,
}

/// Tasks with one request, submitted together.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// What each task asks for.
    pub request: JobRequest,
    /// The runs of each task.
    pub tasks: Vec<Vec<BatchRun>>,
    /// What each task is expected to take, where that is known.
    pub expected: Option<Seconds>,
}

impl Candidate {
    /// What it takes as far as anybody knows.
    fn estimate(&self) -> Option<Seconds> {
        match (self.expected, self.limit) {
            (Some(expected), Some(limit)) => Some(if expected < limit { expected } else { limit }),
            (estimate, other) => estimate.or(other),
        }
    }

    /// The longest it can take before something is wrong.
    fn bound(&self) -> Option<Seconds> {
        self.limit.or(self.expected.map(|expected| Seconds(PATIENCE * expected.0)))
    }

    /// One that was lost with others is tried alone.
    fn goes_alone(&self, packing: &Packing) -> bool {
        self.run.returned > 0 || packing.target.0 <= 0.0 || self.estimate().is_none()
    }
}

/// A job being filled.
struct Filling {
    request: JobRequest,
    runs: Vec<BatchRun>,
    estimate: f64,
    bound: f64,
    largest_bound: f64,
    by_expectation: bool,
}

impl Filling {
    fn of(candidate: &Candidate) -> Filling {
        let bound = candidate.bound().unwrap_or_default().0;
        Filling {
            request: candidate.request.clone(),
            runs: vec![candidate.run.clone()],
            estimate: candidate.estimate().unwrap_or_default().0,
            bound,
            largest_bound: bound,
            by_expectation: candidate.expected.is_some(),
        }
    }

    /// What the job asks for: enough for all runs to be as slow as they may, or, where it is known how
    /// long they take, for twice that and one that takes its whole time-out.
    fn time(bound: f64, estimate: f64, largest: f64, by_expectation: bool) -> f64 {
        if by_expectation { bound.min(2.0 * estimate + largest) } else { bound }
    }

    fn add(&mut self, candidate: &Candidate, packing: &Packing) -> bool {
        let (Some(estimate), Some(bound)) = (candidate.estimate(), candidate.bound()) else { return false };
        let estimate = self.estimate + estimate.0;
        let largest = self.largest_bound.max(bound.0);
        let bound = self.bound + bound.0;
        let by_expectation = self.by_expectation && candidate.expected.is_some();
        let time = Filling::time(bound, estimate, largest, by_expectation) + MARGIN.0;
        let most = packing.time.or(candidate.longest).map_or(f64::INFINITY, |longest| longest.0);
        let fits = self.request == candidate.request
            && estimate <= packing.target.0
            && time <= most
            && self.runs.len() < MOST_IN_A_JOB;
        if fits {
            self.runs.push(candidate.run.clone());
            (self.estimate, self.bound, self.largest_bound) = (estimate, bound, largest);
            self.by_expectation = by_expectation;
        }
        fits
    }
}

/// The arrays for some runs, in their order as far as grouping allows.
pub fn arrays(candidates: &[Candidate], packing: &Packing) -> Vec<Array> {
    let even =
        |request: &JobRequest| Packing { target: even_target(candidates, request, packing), ..*packing };
    let mut targets: Vec<(&JobRequest, Packing)> = Vec::new();
    let mut jobs: Vec<(Filling, Option<Seconds>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for candidate in candidates {
        let alone = candidate.goes_alone(packing);
        let known = targets.iter().find(|(request, _)| **request == candidate.request);
        let packing = match known {
            Some((_, packing)) => *packing,
            None => {
                let packing = even(&candidate.request);
                targets.push((&candidate.request, packing));
                packing
            }
        };
        let joined = !alone
            && open.iter().rev().any(|&index| {
                jobs.get_mut(index).is_some_and(|(filling, _)| filling.add(candidate, &packing))
            });
        if joined {
            continue;
        }
        if !alone {
            open.retain(|&index| jobs.get(index).is_some_and(|(job, _)| job.request != candidate.request));
            open.push(jobs.len());
        }
        jobs.push((Filling::of(candidate), candidate.longest));
    }
    let mut arrays: Vec<Array> = Vec::new();
    for (job, longest) in jobs {
        let known = job.bound > 0.0;
        let needed = Filling::time(job.bound, job.estimate, job.largest_bound, job.by_expectation) + MARGIN.0;
        // Jobs that differ by seconds must not become arrays of their own: Slurm counts minutes, and
        // harp in steps of a quarter.
        let time = packing.time.or(known.then(|| rounded_up(Seconds(needed))));
        let time = time.map(|time| Seconds(longest.map_or(time.0, |longest| time.0.min(longest.0))));
        let request = JobRequest { time, ..job.request };
        let expected = (job.estimate > 0.0).then_some(Seconds(job.estimate));
        let room =
            |array: &&mut Array| array.request == request && array.tasks.len() < packing.most_tasks.max(1);
        match arrays.iter_mut().find(room) {
            Some(array) => {
                array.expected =
                    array.expected.zip(expected).map(|(left, right)| if left > right { left } else { right });
                array.tasks.push(job.runs);
            }
            None => arrays.push(Array { request, tasks: vec![job.runs], expected }),
        }
    }
    arrays
}

/// How full jobs of one request are to be, so that they are about equal: a last one with little in it
/// would be an array of its own.
fn even_target(candidates: &[Candidate], request: &JobRequest, packing: &Packing) -> Seconds {
    let packed = candidates.iter().filter(|one| one.request == *request && !one.goes_alone(packing));
    let estimates: Vec<f64> = packed.filter_map(|one| one.estimate()).map(|time| time.0).collect();
    let total: f64 = estimates.iter().sum();
    let by_time = (total / packing.target.0).ceil().max(1.0);
    let by_number = (estimates.len() as f64 / MOST_IN_A_JOB as f64).ceil().max(1.0);
    let share = total / by_time.max(by_number);
    // a rounding error must not leave the last run over
    Seconds((share * (1.0 + 1e-9)).min(packing.target.0))
}

/// A time in whole minutes, in steps of about a quarter.
fn rounded_up(time: Seconds) -> Seconds {
    let minutes = (time.0 / 60.0).ceil().max(1.0);
    let step = 2f64.powf(minutes.log2().floor() - 2.0).max(1.0);
    Seconds((minutes / step).ceil() * step * 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Allocation, Scale};

    fn candidate(n: i64, cores: u32, limit: Option<f64>, expected: Option<f64>) -> Candidate {
        let configuration = harp_core::Configuration {
            scale: Scale::Sd,
            parameters: [("n", n)].into_iter().collect(),
            allocation: Allocation { cores: Some(cores), ..Allocation::default() },
        };
        Candidate {
            run: BatchRun { configuration, repetition: 0, returned: 0 },
            request: JobRequest { cores_per_task: Some(cores), ..JobRequest::default() },
            limit: limit.map(Seconds),
            expected: expected.map(Seconds),
            longest: None,
        }
    }

    const PACKING: Packing = Packing { target: Seconds(300.0), time: None, most_tasks: 100 };

    fn shape(arrays: &[Array]) -> Vec<Vec<usize>> {
        arrays.iter().map(|array| array.tasks.iter().map(Vec::len).collect()).collect()
    }

    #[test]
    fn short_runs_share_a_job_and_long_ones_have_their_own() {
        let short: Vec<Candidate> = (0..500).map(|n| candidate(n, 1, Some(60.0), Some(1.0))).collect();
        assert_eq!(shape(&arrays(&short, &PACKING)), [[250, 250]]);
        let long: Vec<Candidate> = (0..3).map(|n| candidate(n, 1, Some(3600.0), Some(1000.0))).collect();
        let long = arrays(&long, &PACKING);
        assert_eq!(shape(&long), [[1, 1, 1]]);
        assert!(long[0].request.time.unwrap().0 >= 3660.0);
    }

    #[test]
    fn runs_are_grouped_by_what_they_ask_for() {
        let mixed: Vec<Candidate> =
            (0..10).map(|n| candidate(n, 1 + n as u32 % 2, Some(400.0), None)).collect();
        assert_eq!(shape(&arrays(&mixed, &PACKING)), [[1; 5], [1; 5]]);
        let few = Packing { most_tasks: 3, ..PACKING };
        assert_eq!(shape(&arrays(&mixed, &few)), [vec![1; 3], vec![1; 3], vec![1; 2], vec![1; 2]]);
    }

    #[test]
    fn nothing_is_packed_that_is_unknown_unwanted_or_was_lost_before() {
        let unknown: Vec<Candidate> = (0..3).map(|n| candidate(n, 1, None, None)).collect();
        let packed = arrays(&unknown, &PACKING);
        assert_eq!(shape(&packed), [[1, 1, 1]]);
        assert_eq!(packed[0].request.time, None);
        let none = Packing { target: Seconds(0.0), ..PACKING };
        let mut short: Vec<Candidate> = (0..3).map(|n| candidate(n, 1, Some(1.0), None)).collect();
        assert_eq!(shape(&arrays(&short, &none)), [[1, 1, 1]]);
        short[1].run.returned = 1;
        assert_eq!(shape(&arrays(&short, &PACKING)), [[2, 1]]);
    }

    #[test]
    fn a_job_never_asks_for_more_than_it_may() {
        let longest = Some(Seconds(300.0));
        let runs: Vec<Candidate> =
            (0..20).map(|n| Candidate { longest, ..candidate(n, 1, Some(100.0), None) }).collect();
        for array in arrays(&runs, &PACKING) {
            assert!(array.request.time.unwrap() <= Seconds(300.0), "{array:?}");
            assert!(array.tasks.iter().all(|task| task.len() <= 2));
        }
    }

    #[test]
    fn every_run_is_in_one_job_and_its_time_suffices() {
        for seed in 0..50i64 {
            let runs: Vec<Candidate> = (0..40)
                .map(|n| {
                    let chance = (seed * 7919 + n * 104_729) % 97;
                    let limit = (chance % 3 > 0).then_some(5.0 + chance as f64 * 3.0);
                    let expected = (chance % 5 > 1).then_some(0.5 + chance as f64);
                    candidate(n, 1 + (chance % 2) as u32, limit, expected)
                })
                .collect();
            let packed = arrays(&runs, &PACKING);
            let mut seen: Vec<&BatchRun> = packed.iter().flat_map(|a| a.tasks.iter().flatten()).collect();
            assert_eq!(seen.len(), runs.len());
            seen.dedup();
            assert_eq!(seen.len(), runs.len());
            for array in &packed {
                for task in &array.tasks {
                    let expected: f64 = task
                        .iter()
                        .filter_map(|run| runs.iter().find(|c| c.run == *run)?.estimate())
                        .map(|time| time.0)
                        .sum();
                    assert!(array.request.time.is_none_or(|time| time.0 >= expected), "{array:?}");
                }
            }
        }
    }
}
