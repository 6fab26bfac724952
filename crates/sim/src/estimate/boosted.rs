//! Boosted trees trained again and again on the jobs that have ended, as the simulation goes.

use std::collections::{HashMap, VecDeque};

use harp_trace::predict::{BoostOptions, Boosted, FEATURES, History, features};

use crate::estimate::last_two::{known_user, past, query};
use crate::{Estimator, SimJob};

/// Jobs between two trainings, and before the first.
const PERIOD: usize = 1000;

/// Ended jobs trained on, the latest.
const WINDOW: usize = 10_000;

/// Predicts with trees trained on the past only, under a loss that makes under-estimation dearer.
#[derive(Debug)]
pub struct OnlineBoosted {
    options: BoostOptions,
    history: History,
    /// What was known of jobs that have not ended, when they were submitted.
    asked: HashMap<(u64, i64), [f64; FEATURES]>,
    rows: VecDeque<([f64; FEATURES], f64)>,
    since_training: usize,
    model: Option<Boosted>,
}

impl Default for OnlineBoosted {
    fn default() -> Self {
        OnlineBoosted::new(BoostOptions { level: 0.6, trees: 60, ..BoostOptions::default() })
    }
}

impl OnlineBoosted {
    /// An estimator that has seen nothing; `options.level` above ½ makes under-estimation dearer.
    pub fn new(options: BoostOptions) -> Self {
        OnlineBoosted {
            options,
            history: History::default(),
            asked: HashMap::new(),
            rows: VecDeque::new(),
            since_training: 0,
            model: None,
        }
    }

    fn train(&mut self) {
        let (rows, targets): (Vec<[f64; FEATURES]>, Vec<f64>) = self.rows.iter().copied().unzip();
        self.model = Boosted::train(&rows, &targets, &self.options);
        self.since_training = 0;
    }
}

impl Estimator for OnlineBoosted {
    fn estimate(&mut self, job: &SimJob, now: i64) -> i64 {
        let question = query(job, now, None);
        let row = features(&self.history, &question);
        self.asked.insert((job.number, job.submit), row);
        match &self.model {
            Some(model) => (model.predict(&row).exp() - 1.0).ceil() as i64,
            None => self.history.last_two(&question).map_or(job.request, |mean| mean.ceil() as i64),
        }
    }

    fn correct(&mut self, job: &SimJob, elapsed: i64, _previous: i64) -> i64 {
        let mean = self.history.last_two(&query(job, 0, Some(elapsed)));
        mean.map_or(job.request, |mean| mean.ceil() as i64)
    }

    fn ended(&mut self, job: &SimJob, now: i64) {
        self.history.ended(known_user(job), past(job, now));
        let Some(row) = self.asked.remove(&(job.number, job.submit)) else { return };
        if self.rows.len() == WINDOW {
            self.rows.pop_front();
        }
        self.rows.push_back((row, (1.0 + job.run as f64).ln()));
        self.since_training += 1;
        if self.since_training == PERIOD {
            self.train();
        }
    }
}
