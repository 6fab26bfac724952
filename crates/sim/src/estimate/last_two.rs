//! The mean of a user's last two run times, the standard system-generated prediction.

use std::collections::HashMap;

use harp_trace::predict::{History, PastRun, Query};

use crate::estimate::step_up;
use crate::{Estimator, SimJob, UNKNOWN_USER};

/// Predicts the mean run time of the user's last two ended jobs, capped at the request; the request
/// where the user has no ended job.
#[derive(Debug, Default)]
pub struct LastTwo {
    history: History,
    given_elapsed: bool,
    /// First estimates of jobs that outlived one, from which the steps count.
    first: HashMap<(u64, i64), i64>,
}

/// The user as the history knows them.
pub(crate) fn known_user(job: &SimJob) -> Option<u64> {
    (job.user != UNKNOWN_USER).then_some(u64::from(job.user))
}

/// The job as a question.
pub(crate) fn query(job: &SimJob, now: i64, elapsed: Option<i64>) -> Query {
    Query { user: known_user(job), request: job.request, processors: job.processors, now, elapsed }
}

/// The job as a past run.
pub(crate) fn past(job: &SimJob, now: i64) -> PastRun {
    PastRun { run: job.run, request: job.request, processors: job.processors, end: now }
}

impl LastTwo {
    /// Estimates that run out are raised by the standard steps.
    pub fn by_steps() -> Self {
        LastTwo::default()
    }

    /// Estimates that run out are replaced by the mean of the last two runs longer than the elapsed time,
    /// and by the request where there are none.
    pub fn given_elapsed() -> Self {
        LastTwo { given_elapsed: true, ..LastTwo::default() }
    }
}

impl Estimator for LastTwo {
    fn estimate(&mut self, job: &SimJob, now: i64) -> i64 {
        let mean = self.history.last_two(&query(job, now, None));
        mean.map_or(job.request, |mean| mean.ceil() as i64)
    }

    fn correct(&mut self, job: &SimJob, elapsed: i64, previous: i64) -> i64 {
        if self.given_elapsed {
            let mean = self.history.last_two(&query(job, 0, Some(elapsed)));
            return mean.map_or(job.request, |mean| mean.ceil() as i64);
        }
        let first = *self.first.entry((job.number, job.submit)).or_insert(previous);
        step_up(first, previous, elapsed)
    }

    fn ended(&mut self, job: &SimJob, now: i64) {
        self.first.remove(&(job.number, job.submit));
        self.history.ended(known_user(job), past(job, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(run: i64, user: u32) -> SimJob {
        SimJob { number: 1, submit: 0, run, request: 5000, processors: 2, user }
    }

    #[test]
    fn learns_from_ended_jobs_and_corrects_in_two_ways() {
        for (mut estimator, corrected) in [(LastTwo::by_steps(), 260), (LastTwo::given_elapsed(), 300)] {
            assert_eq!(estimator.estimate(&job(9, 1), 0), 5000);
            estimator.ended(&job(300, 1), 10);
            estimator.ended(&job(100, 1), 20);
            assert_eq!(estimator.estimate(&job(9, 1), 30), 200);
            assert_eq!(estimator.estimate(&job(9, UNKNOWN_USER), 30), 5000);
            assert_eq!(estimator.correct(&job(900, 1), 200, 200), corrected);
        }
    }
}
