//! A question as numbers for a learner.

use crate::predict::history::{History, PastRun, Query, mean_of_two};

/// How many numbers describe a question.
pub const FEATURES: usize = 20;

/// Where there is nothing to tell.
const ABSENT: f64 = -1.0;

/// Describes a question: the request, the user's last runs, those of the same shape, and (where the job
/// runs already) those of them that ran longer than it has. Times are logarithms, so that learners see
/// ratios.
pub fn features(history: &History, query: &Query) -> [f64; FEATURES] {
    let log = |seconds: f64| (1.0 + seconds.max(0.0)).ln();
    let log_of = |value: Option<f64>| value.map_or(ABSENT, log);
    let elapsed = query.elapsed.unwrap_or(-1);
    let all = history.latest(query.user);
    let same_shape =
        all.clone().filter(|past| past.request == query.request && past.processors == query.processors);
    let longer = |past: &&PastRun| past.run > elapsed;
    let nth = |index: usize| all.clone().nth(index).map(|past| past.run as f64);
    let (count, beyond, log_sum) =
        all.clone().take(50).fold((0.0, 0.0, 0.0), |(count, beyond, sum), past| {
            (count + 1.0, beyond + f64::from(u8::from(past.run > elapsed)), sum + log(past.run as f64))
        });
    let per_job = |sum: f64| if count > 0.0 { sum / count } else { ABSENT };
    let mut recent_longer: Vec<i64> = all.clone().filter(longer).take(9).map(|past| past.run).collect();
    recent_longer.sort_unstable();
    let median_longer = recent_longer.get(recent_longer.len() / 2).map(|&run| run as f64);
    let hits_limit = all.clone().take(10).filter(|past| past.run * 100 >= past.request * 98).count() as f64;
    let request = query.request as f64;
    let last_two = history.last_two(query);
    [
        log(request),
        f64::from(query.processors).ln(),
        log_of(last_two),
        last_two.map_or(ABSENT, |time| time / request.max(1.0)),
        log_of(nth(0)),
        log_of(nth(1)),
        log_of(mean_of_two(same_shape.clone())),
        log_of(mean_of_two(same_shape.clone().filter(longer))),
        log_of(same_shape.clone().next().map(|past| past.run as f64)),
        log_of(same_shape.clone().find(longer).map(|past| past.run as f64)),
        log_of(median_longer),
        per_job(log_sum),
        per_job(beyond),
        count,
        same_shape.take(50).count() as f64,
        hits_limit,
        log_of(all.clone().next().map(|past| (query.now - past.end) as f64)),
        log_of(all.clone().next().map(|past| past.request as f64)),
        (query.now.rem_euclid(86_400) / 3600) as f64,
        (query.now.div_euclid(86_400)).rem_euclid(7) as f64,
    ]
}
