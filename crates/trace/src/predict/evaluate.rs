//! How well run times can be predicted while jobs run, on a trace: the earlier jobs teach, the later
//! ones are asked about.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::Job;
use crate::predict::{BoostOptions, Boosted, FEATURES, History, Linear, PastRun, Query, features};

/// What to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictOptions {
    /// Elapsed times as shares of the trace's mean run time.
    pub at: Vec<f64>,
    /// The share of jobs, the earliest, that only teach.
    pub training_share: f64,
    /// How the boosted trees are grown.
    pub boost: BoostOptions,
}

impl Default for PredictOptions {
    fn default() -> Self {
        let boost = BoostOptions { level: 0.6, ..BoostOptions::default() };
        PredictOptions { at: vec![0.125, 0.25, 0.5], training_share: 0.6, boost }
    }
}

/// Accuracy of all methods at all elapsed times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictResult {
    /// Jobs of the trace that could be used.
    pub jobs: usize,
    /// The earliest of them, that only taught.
    pub training_jobs: usize,
    /// The mean run time of the trace.
    pub mean_run_s: f64,
    /// One entry an elapsed time.
    pub at: Vec<ElapsedResult>,
}

/// Accuracy of all methods at one elapsed time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ElapsedResult {
    /// The elapsed time as a share of the mean run time.
    pub share: f64,
    /// The elapsed time in seconds.
    pub elapsed_s: f64,
    /// Later jobs that were still running then: the ones predicted.
    pub jobs: usize,
    /// One entry a method.
    pub methods: Vec<MethodResult>,
}

/// Accuracy of one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResult {
    /// `last2`, `last2-elapsed`, `linear`, `boosted`, `boosted-elapsed`.
    pub name: &'static str,
    /// Mean of min(predicted, real) / max(predicted, real); `None` where nothing was predicted.
    pub accuracy: Option<f64>,
    /// Share of predictions below the real run time.
    pub underestimation_rate: Option<f64>,
}

/// A job of the trace that can be used: it has a size and ran, and its start is known or taken to be its
/// submission.
#[derive(Debug, Clone, Copy)]
struct Past {
    user: Option<u64>,
    submit: i64,
    start: i64,
    run: i64,
    request: i64,
    processors: u32,
}

impl Past {
    fn query(&self, now: i64, elapsed: Option<i64>) -> Query {
        Query { user: self.user, request: self.request, processors: self.processors, now, elapsed }
    }
}

/// Evaluates the methods on the later jobs of a trace.
pub fn evaluate(jobs: &[Job], options: &PredictOptions) -> PredictResult {
    let mut usable: Vec<Past> = jobs.iter().filter_map(usable).collect();
    usable.sort_by_key(|job| job.submit);
    let total: f64 = usable.iter().map(|job| job.run as f64).sum();
    let mean = if usable.is_empty() { 0.0 } else { total / usable.len() as f64 };
    let training = (usable.len() as f64 * options.training_share) as usize;
    let at =
        options.at.iter().map(|&share| at_elapsed(&usable, training, share, mean, &options.boost)).collect();
    PredictResult { jobs: usable.len(), training_jobs: training, mean_run_s: mean, at }
}

fn usable(job: &Job) -> Option<Past> {
    let run = job.run.filter(|&run| run > 0)?;
    let request = job.requested_time.filter(|&request| request > 0).unwrap_or(run).max(run);
    let start = job.submit + job.wait.unwrap_or(0);
    Some(Past { user: job.user, submit: job.submit, start, run, request, processors: job.processors()? })
}

/// A row: what was known, and what came of it.
struct Row {
    job: usize,
    plain: [f64; FEATURES],
    informed: [f64; FEATURES],
    last_two: f64,
    last_two_informed: f64,
}

fn at_elapsed(jobs: &[Past], training: usize, share: f64, mean: f64, boost: &BoostOptions) -> ElapsedResult {
    let elapsed_s = share * mean;
    let elapsed = elapsed_s as i64;
    let rows = rows(jobs, elapsed);
    let (teaching, asked): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.job < training);
    let asked: Vec<Row> = asked.into_iter().filter(|row| jobs[row.job].run as f64 > elapsed_s).collect();
    let target = |row: &Row| (1.0 + jobs[row.job].run as f64).ln();
    let plain: Vec<[f64; FEATURES]> = teaching.iter().map(|row| row.plain).collect();
    let targets: Vec<f64> = teaching.iter().map(target).collect();
    let still_running: Vec<&Row> = teaching.iter().filter(|row| jobs[row.job].run > elapsed).collect();
    let informed: Vec<[f64; FEATURES]> = still_running.iter().map(|row| row.informed).collect();
    let informed_targets: Vec<f64> = still_running.iter().map(|row| target(row)).collect();
    let linear = Linear::train(&plain, &targets);
    let boosted = Boosted::train(&plain, &targets, boost);
    let boosted_informed = Boosted::train(&informed, &informed_targets, boost);
    let seconds = |log: Option<f64>, row: &Row, least: i64| {
        let request = jobs[row.job].request as f64;
        log.map_or(request, |log| log.exp() - 1.0).min(request).max(least.max(1) as f64)
    };
    let score = |name: &'static str, predict: &dyn Fn(&Row) -> f64| {
        let (mut accuracy, mut under) = (0.0, 0.0);
        for row in &asked {
            let (predicted, real) = (predict(row), jobs[row.job].run as f64);
            accuracy += predicted.min(real) / predicted.max(real);
            under += f64::from(u8::from(predicted < real));
        }
        let per_job = |sum: f64| (!asked.is_empty()).then(|| sum / asked.len() as f64);
        MethodResult { name, accuracy: per_job(accuracy), underestimation_rate: per_job(under) }
    };
    let methods = vec![
        score("last2", &|row| row.last_two),
        score("last2-elapsed", &|row| row.last_two_informed),
        score("linear", &|row| seconds(linear.as_ref().map(|model| model.predict(&row.plain)), row, 1)),
        score("boosted", &|row| seconds(boosted.as_ref().map(|model| model.predict(&row.plain)), row, 1)),
        score("boosted-elapsed", &|row| {
            seconds(boosted_informed.as_ref().map(|model| model.predict(&row.informed)), row, elapsed + 1)
        }),
    ];
    ElapsedResult { share, elapsed_s, jobs: asked.len(), methods }
}

/// Asks about every job when it has run for `elapsed` (shorter jobs: when they start), in the order of
/// those moments, each time knowing only the jobs that have ended by then.
fn rows(jobs: &[Past], elapsed: i64) -> Vec<Row> {
    let moment = |job: &Past| if job.run > elapsed { job.start + elapsed } else { job.start };
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&index| (moment(&jobs[index]), index));
    let mut history = History::default();
    let mut ends: BinaryHeap<Reverse<(i64, usize)>> =
        jobs.iter().enumerate().map(|(index, job)| Reverse((job.start + job.run, index))).collect();
    let mut rows = Vec::with_capacity(jobs.len());
    for index in order {
        let job = &jobs[index];
        let now = moment(job);
        while let Some(&Reverse((end, ended))) = ends.peek().filter(|Reverse((end, _))| *end <= now) {
            ends.pop();
            let Past { user, run, request, processors, .. } = jobs[ended];
            history.ended(user, PastRun { run, request, processors, end });
        }
        let plain = job.query(now, None);
        let informed = job.query(now, Some(elapsed));
        let request = job.request as f64;
        rows.push(Row {
            job: index,
            plain: features(&history, &plain),
            informed: features(&history, &informed),
            last_two: history.last_two(&plain).unwrap_or(request),
            last_two_informed: history.last_two(&informed).unwrap_or(request),
        });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u64, submit: i64, run: i64, user: u64) -> Job {
        Job {
            number,
            submit,
            wait: Some(0),
            run: Some(run),
            requested_processors: Some(1),
            requested_time: Some(10_000),
            user: Some(user),
            ..Job::default()
        }
    }

    #[test]
    fn a_user_who_alternates_is_predicted_once_the_short_runs_are_over() {
        let runs = |i: i64| if i % 2 == 0 { 100 } else { 5000 };
        let jobs: Vec<Job> = (0..400).map(|i| job(i as u64, i * 6000, runs(i), 1)).collect();
        let result = evaluate(&jobs, &PredictOptions { at: vec![0.5], ..PredictOptions::default() });
        assert_eq!((result.jobs, result.training_jobs, result.mean_run_s), (400, 240, 2550.0));
        let at = &result.at[0];
        assert_eq!(at.jobs, 80);
        let accuracy = |name: &str| at.methods.iter().find(|m| m.name == name).unwrap().accuracy.unwrap();
        assert!((accuracy("last2") - 0.51).abs() < 1e-9);
        assert_eq!(accuracy("last2-elapsed"), 1.0);
        assert!(accuracy("boosted-elapsed") > 0.99);
    }

    #[test]
    fn nothing_to_predict_gives_nothing() {
        let result = evaluate(&[], &PredictOptions::default());
        assert_eq!(result.at[0].methods[0].accuracy, None);
    }
}
