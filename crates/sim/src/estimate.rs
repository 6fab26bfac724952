//! Run-time estimates a scheduler plans with. The limit at which a job is killed stays its request.
//!
//! An estimator learns only from jobs that have ended in the simulation: never from the future.

use crate::SimJob;

/// Says how long jobs will run, and learns from those that have ended.
pub trait Estimator {
    /// The estimate for a job at its submission. The scheduler uses at least 1 and at most the request.
    fn estimate(&mut self, job: &SimJob, now: i64) -> i64;

    /// A new estimate of the whole run time for a job that has run `elapsed` seconds, longer than
    /// `previous` said. The scheduler uses at least `elapsed` + 1 and at most the request.
    fn correct(&mut self, job: &SimJob, elapsed: i64, previous: i64) -> i64;

    /// A job has ended now; its run time may be learned from.
    fn ended(&mut self, _job: &SimJob, _now: i64) {}
}

/// The requested time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Requested;

impl Estimator for Requested {
    fn estimate(&mut self, job: &SimJob, _now: i64) -> i64 {
        job.request
    }

    fn correct(&mut self, job: &SimJob, _elapsed: i64, _previous: i64) -> i64 {
        job.request
    }
}

/// The real run time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Perfect;

impl Estimator for Perfect {
    fn estimate(&mut self, job: &SimJob, _now: i64) -> i64 {
        job.run
    }

    fn correct(&mut self, job: &SimJob, _elapsed: i64, _previous: i64) -> i64 {
        job.request
    }
}
