//! What jobs needed of one resource, and what to ask for.

use serde::Serialize;

use super::{Care, PastEnd, PastJob};

/// How values spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Half are below.
    pub median: f64,
    /// Nine of ten are below.
    pub most: f64,
    /// The largest.
    pub largest: f64,
}

/// What jobs of a kind needed of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Need {
    /// Jobs that say something about it.
    pub jobs: usize,
    /// Those that were killed for it: they needed more than they had.
    pub killed: usize,
    /// What most of them asked for.
    pub asked: Option<f64>,
    /// What they used.
    pub used: Spread,
    /// What to ask for.
    pub advised: f64,
    /// The probability at most that the next such job needs more than that.
    pub risk: f64,
}

impl Spread {
    /// Of some values; `None` of none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize - 1;
            values.get(rank.min(values.len().saturating_sub(1))).copied()
        };
        Some(Spread { median: at(0.5)?, most: at(0.9)?, largest: *values.last()? })
    }
}

impl Need {
    /// What some jobs needed. `killed` is the end that means they needed more; jobs that failed for other
    /// reasons say nothing.
    ///
    /// Of n + 1 jobs that are alike, the next is the largest with probability 1 / (n + 1): so the k-th
    /// smallest of n is exceeded with probability 1 − k / (n + 1), whatever the distribution (order
    /// statistics; the same rule as split conformal prediction).
    pub(super) fn of(
        jobs: &[&PastJob],
        care: &Care,
        killed: PastEnd,
        asked: impl Fn(&PastJob) -> Option<f64>,
        used: impl Fn(&PastJob) -> Option<f64>,
    ) -> Option<Need> {
        let needed: Vec<f64> =
            jobs.iter().filter(|job| job.end == PastEnd::Completed).filter_map(|job| used(job)).collect();
        let over: Vec<f64> = jobs
            .iter()
            .filter(|job| job.end == killed && killed != PastEnd::Other)
            .filter_map(|job| used(job).into_iter().chain(asked(job)).reduce(f64::max))
            .collect();
        let spread = Spread::of(needed.iter().chain(&over).copied())?;
        let count = needed.len() + over.len();
        let mut sorted: Vec<f64> = needed.iter().copied().chain(over.iter().map(|_| f64::INFINITY)).collect();
        sorted.sort_by(f64::total_cmp);
        let rank = (((count + 1) as f64) * (1.0 - care.risk)).ceil() as usize;
        let rank = rank.min(count).max(1);
        let chosen = sorted.get(rank - 1).copied().filter(|value| value.is_finite());
        let (advised, risk) = match chosen {
            Some(value) => (value * (1.0 + care.headroom), 1.0 - rank as f64 / (count + 1) as f64),
            // Too many were killed to know how much is enough: twice what they had, and the share of
            // those that may not suffice even then.
            None => (2.0 * spread.largest, (over.len() as f64 + 1.0) / (count as f64 + 1.0)),
        };
        let asked = most_common(jobs.iter().filter_map(|job| asked(job)));
        Some(Need { jobs: count, killed: over.len(), asked, used: spread, advised, risk })
    }
}

/// The value that occurs most often; of equals the larger.
fn most_common(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let runs = values.chunk_by(|left, right| left == right);
    runs.max_by_key(|run| run.len()).and_then(|run| run.first().copied())
}
