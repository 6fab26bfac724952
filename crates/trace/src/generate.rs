//! Synthetic workloads for trying things out, after U. Lublin, D. G. Feitelson, "The workload on parallel
//! supercomputers: modeling the characteristics of rigid jobs", Journal of Parallel and Distributed
//! Computing 63(11), 2003 (the parameters of its batch jobs).
//!
//! Sizes, run times and their correlation, and the arrivals with their daily cycle are the model's. Users
//! and requested times are not in the model: users are drawn with falling frequency, requests are the
//! next common limit above a multiple of the run time. The same seed gives the same jobs.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{Job, Status};

/// Probability of a serial job, and of a size that is a power of two.
const SERIAL: f64 = 0.244;
const POWER_OF_TWO: f64 = 0.576;
/// Two-stage uniform distribution of the logarithm (base 2) of the size: from 0.8, the first stage with
/// probability 0.86 up to 2.5 below the largest.
const SIZE_LOW: f64 = 0.8;
const SIZE_MIDDLE_BELOW: f64 = 2.5;
const SIZE_FIRST_STAGE: f64 = 0.86;
/// Hyper-gamma distribution of the logarithm of the run time; the first gamma with probability
/// −0.0054 × size + 0.78.
const RUN_FIRST: (f64, f64) = (4.2, 0.94);
const RUN_SECOND: (f64, f64) = (312.0, 0.03);
const RUN_SLOPE: f64 = -0.0054;
const RUN_INTERCEPT: f64 = 0.78;
/// Gamma distribution of the logarithm of the time between arrivals at the peak of the day.
const ARRIVAL: (f64, f64) = (10.2303, 0.4871);
/// Gamma distribution of arrivals over the day, in half hours from five in the morning.
const DAY: (f64, f64) = (8.1737, 3.9631);
/// Limits users choose from, in seconds.
const LIMITS: [i64; 14] =
    [300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 28_800, 43_200, 64_800, 86_400, 172_800];

/// What to generate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GenerateOptions {
    /// How many jobs.
    pub jobs: usize,
    /// Processors of the machine; the largest job asks for at most as many.
    pub processors: u32,
    /// How many users.
    pub users: u64,
    /// The offered load (work submitted / capacity) to scale arrivals to; the model's own if `None`.
    pub load: Option<f64>,
    /// The seed.
    pub seed: u64,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        GenerateOptions { jobs: 10_000, processors: 256, users: 50, load: Some(0.7), seed: 0 }
    }
}

/// Draws the jobs, sorted by submission, the first at 0.
pub fn generate(options: &GenerateOptions) -> Vec<Job> {
    let mut random = Pcg64Mcg::seed_from_u64(options.seed);
    let weights = day_weights();
    let mut clock = 0.0f64;
    let mut submits = Vec::with_capacity(options.jobs);
    let mut jobs: Vec<Job> = Vec::with_capacity(options.jobs);
    for index in 0..options.jobs {
        submits.push(clock);
        let half_hour = ((clock / 1800.0) as usize) % 48;
        clock += gamma(&mut random, ARRIVAL).exp() / weights[half_hour];
        let processors = size(&mut random, options.processors.max(1));
        let run = run_time(&mut random, processors);
        let user = user(&mut random, options.users.max(1));
        jobs.push(Job {
            number: index as u64 + 1,
            run: Some(run),
            allocated_processors: Some(processors),
            requested_processors: Some(processors),
            requested_time: Some(request(&mut random, run)),
            status: Status::Completed,
            user: Some(user),
            group: Some(user),
            ..Job::default()
        });
    }
    let scale = options.load.map_or(1.0, |load| scale_for(load, &jobs, &submits, options.processors));
    for (job, submit) in jobs.iter_mut().zip(submits) {
        job.submit = (submit * scale) as i64;
    }
    jobs
}

/// By how much to stretch time for an offered load.
fn scale_for(load: f64, jobs: &[Job], submits: &[f64], processors: u32) -> f64 {
    let work: f64 = jobs
        .iter()
        .map(|job| job.run.unwrap_or(0) as f64 * f64::from(job.requested_processors.unwrap_or(0)))
        .sum();
    let span = submits.last().copied().unwrap_or(0.0);
    if span > 0.0 && load > 0.0 { work / (f64::from(processors.max(1)) * span * load) } else { 1.0 }
}

/// How much busier than the mean each half hour of the day is, from five in the morning.
fn day_weights() -> [f64; 48] {
    let density = |x: f64| x.powf(DAY.0 - 1.0) * (-x / DAY.1).exp();
    let mut weights: [f64; 48] = std::array::from_fn(|half_hour| density(half_hour as f64 + 0.5));
    let mean = weights.iter().sum::<f64>() / 48.0;
    for weight in &mut weights {
        // nights are quiet, not dead
        *weight = (*weight / mean).max(0.05);
    }
    weights
}

fn size(random: &mut Pcg64Mcg, largest: u32) -> u32 {
    if largest == 1 || random.random::<f64>() < SERIAL {
        return 1;
    }
    let high = f64::from(largest).log2();
    let low = SIZE_LOW.min(high);
    let middle = (high - SIZE_MIDDLE_BELOW).max(low);
    let first = random.random::<f64>() < SIZE_FIRST_STAGE;
    let (from, to) = if first { (low, middle) } else { (middle, high) };
    let mut logarithm = from + (to - from) * random.random::<f64>();
    if random.random::<f64>() < POWER_OF_TWO {
        logarithm = logarithm.round();
    }
    (logarithm.exp2().round() as u32).clamp(1, largest)
}

fn run_time(random: &mut Pcg64Mcg, processors: u32) -> i64 {
    let first = (RUN_SLOPE * f64::from(processors) + RUN_INTERCEPT).clamp(0.0, 1.0);
    let stage = if random.random::<f64>() < first { RUN_FIRST } else { RUN_SECOND };
    (gamma(random, stage).exp().round() as i64).max(1)
}

/// The smallest common limit above one to four times the run time.
fn request(random: &mut Pcg64Mcg, run: i64) -> i64 {
    let wanted = (run as f64 * (1.0 + 3.0 * random.random::<f64>())) as i64;
    LIMITS.into_iter().find(|&limit| limit >= wanted).unwrap_or(wanted.max(run))
}

/// User k with a probability that falls as 1/k (Zipf's law).
fn user(random: &mut Pcg64Mcg, users: u64) -> u64 {
    let top = (users as f64 + 1.0).ln();
    ((top * random.random::<f64>()).exp() as u64).clamp(1, users)
}

/// A gamma variable of the given shape (at least 1) and scale: G. Marsaglia, W. W. Tsang, "A simple
/// method for generating gamma variables", ACM TOMS 26(3), 2000.
fn gamma(random: &mut Pcg64Mcg, (shape, scale): (f64, f64)) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        let u: f64 = random.random();
        if v > 0.0 && u.max(f64::MIN_POSITIVE).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v * scale;
        }
    }
}

/// A standard normal variable (G. E. P. Box, M. E. Muller, 1958).
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * u.max(f64::MIN_POSITIVE).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_follow_the_model() {
        let options = GenerateOptions { jobs: 20_000, processors: 256, ..GenerateOptions::default() };
        let jobs = generate(&options);
        assert_eq!(jobs, generate(&options));
        assert_ne!(jobs[..100], generate(&GenerateOptions { seed: 1, ..options })[..100]);
        assert!(jobs.is_sorted_by_key(|job| job.submit));
        let share =
            |wanted: &dyn Fn(&Job) -> bool| jobs.iter().filter(|job| wanted(job)).count() as f64 / 20_000.0;
        let size = |job: &Job| job.requested_processors.unwrap();
        // serial by choice, or parallel and rounded to 1
        assert!((0.24..0.34).contains(&share(&|job| size(job) == 1)));
        assert!(jobs.iter().all(|job| (1..=256).contains(&size(job))));
        assert!(jobs.iter().all(|job| job.requested_time >= job.run));
        let load: f64 = jobs.iter().map(|job| job.run.unwrap() as f64 * f64::from(size(job))).sum::<f64>()
            / (256.0 * jobs.last().unwrap().submit as f64);
        assert!((load - 0.7).abs() < 0.01, "{load}");
        // the means of the two gammas of the run time
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mean = (0..20_000).map(|_| gamma(&mut random, RUN_FIRST)).sum::<f64>() / 20_000.0;
        assert!((mean - 4.2 * 0.94).abs() < 0.05, "{mean}");
    }

    #[test]
    fn small_machines_and_no_jobs_are_fine() {
        assert!(generate(&GenerateOptions { jobs: 0, ..GenerateOptions::default() }).is_empty());
        let options = GenerateOptions { jobs: 50, processors: 1, users: 1, load: None, seed: 3 };
        assert!(generate(&options).iter().all(|job| job.requested_processors == Some(1)));
    }
}
