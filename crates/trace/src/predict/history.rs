//! What users' ended jobs say about the next one.

use std::collections::{HashMap, VecDeque};

/// How many ended jobs of a user are remembered.
const REMEMBERED: usize = 500;

/// An ended job, as far as predictions need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastRun {
    /// How long it ran.
    pub run: i64,
    /// How long it asked for.
    pub request: i64,
    /// Its processors.
    pub processors: u32,
    /// When it ended.
    pub end: i64,
}

/// A job whose run time is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// Its user; `None` has no past.
    pub user: Option<u64>,
    /// How long it asked for.
    pub request: i64,
    /// Its processors.
    pub processors: u32,
    /// The moment of the question.
    pub now: i64,
    /// How long it has run; `None` before its start.
    pub elapsed: Option<i64>,
}

/// The ended jobs of every user, the last five hundred of each.
#[derive(Debug, Clone, Default)]
pub struct History {
    users: HashMap<u64, VecDeque<PastRun>>,
}

impl History {
    /// Takes in a job that has ended. Jobs must come in the order of their ends.
    pub fn ended(&mut self, user: Option<u64>, run: PastRun) {
        let Some(user) = user else { return };
        let runs = self.users.entry(user).or_default();
        if runs.len() == REMEMBERED {
            runs.pop_front();
        }
        runs.push_back(run);
    }

    /// A user's ended jobs, the latest first.
    pub fn latest(&self, user: Option<u64>) -> impl Iterator<Item = &PastRun> + Clone {
        user.and_then(|user| self.users.get(&user)).into_iter().flatten().rev()
    }

    /// The mean run time of the user's last two ended jobs (of the last, if there is one only), capped at
    /// the request: D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using system-generated
    /// predictions rather than user runtime estimates", IEEE TPDS 18(6), 2007. With an elapsed time, of
    /// the last two that ran longer than it, and never less than it. `None` where there is no such job.
    pub fn last_two(&self, query: &Query) -> Option<f64> {
        let elapsed = query.elapsed.unwrap_or(-1);
        let longer = self.latest(query.user).filter(|past| past.run > elapsed);
        let mean = mean_of_two(longer)?;
        Some(mean.min(query.request as f64).max(elapsed as f64))
    }
}

/// The mean run time of the first two.
pub(crate) fn mean_of_two<'a>(runs: impl Iterator<Item = &'a PastRun>) -> Option<f64> {
    let (count, sum) = runs.take(2).fold((0, 0.0), |(count, sum), past| (count + 1, sum + past.run as f64));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_are_averaged_and_capped() {
        let mut history = History::default();
        let mut query = Query { user: Some(1), request: 1000, processors: 1, now: 0, elapsed: None };
        assert_eq!(history.last_two(&query), None);
        for run in [500, 100, 300, 40] {
            history.ended(Some(1), PastRun { run, request: 1000, processors: 1, end: 0 });
        }
        assert_eq!(history.last_two(&query), Some(170.0));
        query.elapsed = Some(50);
        assert_eq!(history.last_two(&query), Some(200.0));
        query.elapsed = Some(400);
        assert_eq!(history.last_two(&query), Some(500.0));
        query.elapsed = Some(600);
        assert_eq!(history.last_two(&query), None);
        query = Query { request: 60, elapsed: None, ..query };
        assert_eq!(history.last_two(&query), Some(60.0));
        assert_eq!(history.last_two(&Query { user: None, ..query }), None);
    }
}
