//! Estimates from anything that can tell a job's run time: a harp model, a table, a guess.

use crate::{Estimator, SimJob};

/// Asks a function for the run time in seconds at submission; where it has no answer, and when its
/// answer runs out, the request is used.
pub struct FromModel<F>(pub F);

impl<F: FnMut(&SimJob) -> Option<f64>> Estimator for FromModel<F> {
    fn estimate(&mut self, job: &SimJob, _now: i64) -> i64 {
        (self.0)(job)
            .filter(|seconds| seconds.is_finite())
            .map_or(job.request, |seconds| seconds.ceil() as i64)
    }

    fn correct(&mut self, job: &SimJob, _elapsed: i64, _previous: i64) -> i64 {
        job.request
    }
}
