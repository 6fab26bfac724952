//! How well run times can be predicted while jobs run, on a trace: the earlier jobs teach, the later
//! ones are asked about.

use serde::Serialize;

use crate::Job;
use crate::predict::{BoostOptions, Boosted, FEATURES, History, Linear, PastRun, Query, features};

/// Most jobs that models are trained on: the latest of those that teach.
const MOST_TRAINING_ROWS: usize = 100_000;

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

/// Collects jobs while a trace is visited, then evaluates.
#[derive(Debug, Default)]
pub struct Evaluation {
    jobs: Vec<Past>,
}

impl Evaluation {
    /// Takes in one job; those without run time or size cannot be used.
    pub fn add(&mut self, job: &Job) {
        self.jobs.extend(usable(job));
    }

    /// Evaluates the methods on the later jobs.
    pub fn finish(mut self, options: &PredictOptions) -> PredictResult {
        let jobs = &mut self.jobs;
        jobs.sort_by_key(|job| job.submit);
        let total: f64 = jobs.iter().map(|job| job.run as f64).sum();
        let mean = if jobs.is_empty() { 0.0 } else { total / jobs.len() as f64 };
        let training = (jobs.len() as f64 * options.training_share) as usize;
        let at = options.at.iter().map(|&share| at_elapsed(jobs, training, share, mean, &options.boost));
        PredictResult { jobs: jobs.len(), training_jobs: training, mean_run_s: mean, at: at.collect() }
    }
}

/// Evaluates the methods on the later jobs of a trace.
pub fn evaluate(jobs: &[Job], options: &PredictOptions) -> PredictResult {
    let mut evaluation = Evaluation::default();
    for job in jobs {
        evaluation.add(job);
    }
    evaluation.finish(options)
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

/// The trained models; `None` where there was nothing to learn from.
struct Models {
    linear: Option<Linear>,
    boosted: Option<Boosted>,
    boosted_informed: Option<Boosted>,
}

fn train(jobs: &[Past], training: usize, elapsed: i64, boost: &BoostOptions) -> Models {
    let first = training.saturating_sub(MOST_TRAINING_ROWS);
    // what was still running when the first question came could not have taught
    let asked_from = jobs.get(training).map_or(i64::MAX, |job| job.submit);
    let taught = |index: usize| {
        (first..training).contains(&index) && jobs[index].start + jobs[index].run <= asked_from
    };
    let (mut plain, mut targets, mut informed, mut informed_targets) = (vec![], vec![], vec![], vec![]);
    sweep(jobs, elapsed, taught, |row| {
        let run = jobs[row.job].run;
        let target = (1.0 + run as f64).ln();
        plain.push(row.plain);
        targets.push(target);
        if run > elapsed {
            informed.push(row.informed);
            informed_targets.push(target);
        }
    });
    Models {
        linear: Linear::train(&plain, &targets),
        boosted: Boosted::train(&plain, &targets, boost),
        boosted_informed: Boosted::train(&informed, &informed_targets, boost),
    }
}

const METHODS: [&str; 5] = ["last2", "last2-elapsed", "linear", "boosted", "boosted-elapsed"];

fn at_elapsed(jobs: &[Past], training: usize, share: f64, mean: f64, boost: &BoostOptions) -> ElapsedResult {
    let elapsed_s = share * mean;
    let elapsed = elapsed_s as i64;
    let models = train(jobs, training, elapsed, boost);
    let mut asked = 0usize;
    let (mut accuracies, mut unders) = ([0.0; 5], [0.0; 5]);
    let still_running = |index: usize| index >= training && jobs[index].run as f64 > elapsed_s;
    sweep(jobs, elapsed, still_running, |row| {
        asked += 1;
        let (request, real) = (jobs[row.job].request as f64, jobs[row.job].run as f64);
        let seconds = |logarithm: Option<f64>, least: i64| {
            logarithm.map_or(request, |logarithm| logarithm.exp() - 1.0).min(request).max(least as f64)
        };
        let predictions = [
            row.last_two,
            row.last_two_informed,
            seconds(models.linear.as_ref().map(|model| model.predict(&row.plain)), 1),
            seconds(models.boosted.as_ref().map(|model| model.predict(&row.plain)), 1),
            seconds(models.boosted_informed.as_ref().map(|model| model.predict(&row.informed)), elapsed + 1),
        ];
        for (method, predicted) in predictions.into_iter().enumerate() {
            accuracies[method] += predicted.min(real) / predicted.max(real);
            unders[method] += f64::from(u8::from(predicted < real));
        }
    });
    let per_job = |sum: f64| (asked > 0).then(|| sum / asked as f64);
    let methods = METHODS
        .into_iter()
        .enumerate()
        .map(|(method, name)| MethodResult {
            name,
            accuracy: per_job(accuracies[method]),
            underestimation_rate: per_job(unders[method]),
        })
        .collect();
    ElapsedResult { share, elapsed_s, jobs: asked, methods }
}

/// Asks about every wanted job when it has run for `elapsed` (shorter jobs: when they start), in the order
/// of those moments, each time knowing only the jobs that have ended by then.
fn sweep(jobs: &[Past], elapsed: i64, wanted: impl Fn(usize) -> bool, mut visit: impl FnMut(Row)) {
    let moment = |job: &Past| if job.run > elapsed { job.start + elapsed } else { job.start };
    let mut order: Vec<usize> = (0..jobs.len()).filter(|&index| wanted(index)).collect();
    order.sort_by_key(|&index| (moment(&jobs[index]), index));
    let mut by_end: Vec<usize> = (0..jobs.len()).collect();
    by_end.sort_by_key(|&index| (jobs[index].start + jobs[index].run, index));
    let mut ended = by_end.into_iter().peekable();
    let mut history = History::default();
    for index in order {
        let job = &jobs[index];
        let now = moment(job);
        let end = |index: usize| jobs[index].start + jobs[index].run;
        while let Some(past) = ended.next_if(|&past| end(past) <= now) {
            let Past { user, run, request, processors, .. } = jobs[past];
            history.ended(user, PastRun { run, request, processors, end: end(past) });
        }
        let plain = job.query(now, None);
        let informed = job.query(now, Some(elapsed));
        let request = job.request as f64;
        visit(Row {
            job: index,
            plain: features(&history, &plain),
            informed: features(&history, &informed),
            last_two: history.last_two(&plain).unwrap_or(request),
            last_two_informed: history.last_two(&informed).unwrap_or(request),
        });
    }
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
