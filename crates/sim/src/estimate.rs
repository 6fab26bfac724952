//! Run-time estimates a scheduler plans with. The limit at which a job is killed stays its request.
//!
//! An estimator learns only from jobs that have ended in the simulation: never from the future.

mod boosted;
mod last_two;
mod model;
mod source;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::SimJob;

pub use boosted::OnlineBoosted;
pub use last_two::LastTwo;
pub use model::FromModel;
pub use source::Source;

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

/// The steps by which an estimate that ran out is raised, one after another (Tsafrir, Etsion and
/// Feitelson, IEEE TPDS 18(6), 2007, section 3.2).
const STEPS: [i64; 11] = [60, 300, 900, 1800, 3600, 7200, 18_000, 36_000, 72_000, 180_000, 360_000];

/// The next longer estimate after `previous` ran out: the first step that takes it beyond `elapsed`,
/// beginning with the step that follows those already taken from `first`.
pub(crate) fn step_up(first: i64, previous: i64, elapsed: i64) -> i64 {
    let mut estimate = first;
    for step in STEPS {
        estimate = first.max(estimate) + step;
        if estimate > previous && estimate > elapsed {
            return estimate;
        }
    }
    i64::MAX
}

/// The estimates that come with harp, by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Estimates {
    /// The requested time.
    #[default]
    Requested,
    /// The real run time.
    Perfect,
    /// The mean of the user's last two, raised step by step when it runs out.
    LastTwo,
    /// The same; when it runs out, the mean of the last two that ran longer than the job has.
    LastTwoElapsed,
    /// Boosted trees trained as the simulation goes.
    Boosted,
}

impl Estimates {
    /// Every kind with its name.
    pub const NAMED: [(&'static str, Estimates); 5] = [
        ("requested", Estimates::Requested),
        ("perfect", Estimates::Perfect),
        ("last2", Estimates::LastTwo),
        ("last2-elapsed", Estimates::LastTwoElapsed),
        ("boosted", Estimates::Boosted),
    ];

    /// A fresh estimator that has seen nothing.
    pub fn estimator(self) -> Box<dyn Estimator> {
        match self {
            Estimates::Requested => Box::new(Requested),
            Estimates::Perfect => Box::new(Perfect),
            Estimates::LastTwo => Box::new(LastTwo::by_steps()),
            Estimates::LastTwoElapsed => Box::new(LastTwo::given_elapsed()),
            Estimates::Boosted => Box::new(OnlineBoosted::default()),
        }
    }
}

impl fmt::Display for Estimates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Estimates::NAMED.iter().find(|(_, known)| known == self).map_or("", |(name, _)| name);
        formatter.pad(name)
    }
}

/// A text that names no estimates.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a kind of estimate\n  hint: requested, perfect, last2, last2-elapsed, boosted")]
pub struct ParseEstimatesError(String);

impl FromStr for Estimates {
    type Err = ParseEstimatesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Estimates::NAMED.iter().find(|(name, _)| *name == text.trim());
        found.map(|(_, estimates)| *estimates).ok_or_else(|| ParseEstimatesError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_grow_one_after_another() {
        assert_eq!(step_up(100, 100, 100), 160);
        assert_eq!(step_up(100, 160, 160), 460);
        assert_eq!(step_up(100, 460, 460), 1360);
        assert_eq!(step_up(100, 100, 1000), 1360);
        assert_eq!(step_up(0, 0, i64::MAX - 1), i64::MAX);
    }

    #[test]
    fn names_are_read_and_written() {
        for (name, estimates) in Estimates::NAMED {
            assert_eq!(name.parse::<Estimates>().unwrap(), estimates);
            assert_eq!(estimates.to_string(), name);
        }
        assert!("oracle".parse::<Estimates>().unwrap_err().to_string().contains("hint: requested"));
    }
}
