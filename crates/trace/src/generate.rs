//! Synthetic workloads for trying things out, after U. Lublin, D. G. Feitelson, "The workload on parallel
//! supercomputers: modeling the characteristics of rigid jobs", Journal of Parallel and Distributed
//! Computing 63(11), 2003.
//!
//! Sizes, run times and their correlation, and the arrivals with their daily cycle are the model's, with
//! the values that the authors' program (`m_lublin99.c` of the Parallel Workloads Archive) uses where
//! batch and interactive jobs are not told apart. That program ends at 128 processors; here the largest
//! size follows the machine, the middle of the sizes 2.5 below it as the authors advise. Users, requested
//! times and the load are not in the model: users are drawn with falling frequency, requests are the next
//! common limit above a multiple of the run time, and arrivals are spread or pressed together without
//! changing the hours of the day. The same seed gives the same jobs.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{Job, Status};

mod day;

use day::Day;

/// Shares of all jobs that are serial, and that have a power of two processors.
const SERIAL: f64 = 0.244;
const POWER_OF_TWO: f64 = 0.576;
/// Two-stage uniform distribution of the logarithm (base 2) of the size: from 0.8, the first stage with
/// probability 0.86 up to 2.5 below the largest.
const SIZE_LOW: f64 = 0.8;
const SIZE_MIDDLE_BELOW: f64 = 2.5;
const SIZE_FIRST_STAGE: f64 = 0.86;
/// Hyper-gamma distribution of the logarithm of the run time; the first gamma with probability
/// −0.0054 × size + 0.78. Longer ones than e¹² s (45 hours) are drawn again.
const RUN_FIRST: (f64, f64) = (4.2, 0.94);
const RUN_SECOND: (f64, f64) = (312.0, 0.03);
const RUN_SLOPE: f64 = -0.0054;
const RUN_INTERCEPT: f64 = 0.78;
const RUN_LONGEST: f64 = 12.0;
/// Gamma distribution of the logarithm of the time between arrivals: that of the rush hours, its shape
/// times 1.0225 to stand for the whole day. Longer ones than e¹³ s (five days) are drawn again.
const ARRIVAL: (f64, f64) = (10.2303 * 1.0225, 0.4871);
const ARRIVAL_LONGEST: f64 = 13.0;
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
    /// The offered load (work submitted / capacity) to bring arrivals to; the model's own if `None`.
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
    jobs(options).collect()
}

/// The same jobs one by one: however many, they need no memory. For a load they are drawn twice, the first
/// time for the work they ask for.
pub fn jobs(options: &GenerateOptions) -> impl Iterator<Item = Job> + use<> {
    let day = Day::new();
    let pace = options.load.map_or(1.0, |load| pace_for(load, options, &day));
    let draws = draws(options).enumerate();
    draws.map(move |(index, draw)| Job {
        number: index as u64 + 1,
        submit: day.second(draw.clock * pace) as i64,
        run: Some(draw.run),
        allocated_processors: Some(draw.processors),
        requested_processors: Some(draw.processors),
        requested_time: Some(draw.request),
        status: Status::Completed,
        user: Some(draw.user),
        group: Some(draw.user),
        ..Job::default()
    })
}

/// What is drawn for a job.
struct Draw {
    /// Seconds until its arrival, if every hour were alike.
    clock: f64,
    processors: u32,
    run: i64,
    user: u64,
    request: i64,
}

fn draws(options: &GenerateOptions) -> impl Iterator<Item = Draw> + use<> {
    let mut random = Pcg64Mcg::seed_from_u64(options.seed);
    let mut next = 0.0f64;
    let options = *options;
    (0..options.jobs).map(move |_| {
        let clock = next;
        next += gamma_below(&mut random, ARRIVAL, ARRIVAL_LONGEST).exp();
        let processors = size(&mut random, options.processors.max(1));
        let run = run_time(&mut random, processors);
        let user = user(&mut random, options.users.max(1));
        Draw { clock, processors, run, user, request: request(&mut random, run) }
    })
}

/// By how much to spread arrivals for an offered load.
fn pace_for(load: f64, options: &GenerateOptions, day: &Day) -> f64 {
    let (mut work, mut last) = (0.0, 0.0);
    for draw in draws(options) {
        work += draw.run as f64 * f64::from(draw.processors);
        last = draw.clock;
    }
    let span = work / (f64::from(options.processors.max(1)) * load);
    if !(last > 0.0 && span > 0.0 && span.is_finite()) {
        return 1.0;
    }
    // the last arrival moves with the hours of its day, so the first guess is mended a few times
    (0..4).fold(span / last, |pace, _| {
        let found = day.second(last * pace);
        if found > 0.0 { pace * span / found } else { pace }
    })
}

fn size(random: &mut Pcg64Mcg, largest: u32) -> u32 {
    let kind: f64 = random.random();
    if largest == 1 || kind < SERIAL {
        return 1;
    }
    let high = f64::from(largest).log2();
    let low = SIZE_LOW.min(high);
    let middle = (high - SIZE_MIDDLE_BELOW).max(low);
    let first = random.random::<f64>() < SIZE_FIRST_STAGE;
    let (from, to) = if first { (low, middle) } else { (middle, high) };
    let mut logarithm = from + (to - from) * random.random::<f64>();
    if kind < SERIAL + POWER_OF_TWO {
        logarithm = logarithm.round();
    }
    (logarithm.exp2().round() as u32).clamp(1, largest)
}

fn run_time(random: &mut Pcg64Mcg, processors: u32) -> i64 {
    let first = (RUN_SLOPE * f64::from(processors) + RUN_INTERCEPT).clamp(0.0, 1.0);
    let stage = if random.random::<f64>() < first { RUN_FIRST } else { RUN_SECOND };
    (gamma_below(random, stage, RUN_LONGEST).exp().round() as i64).max(1)
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

/// A gamma variable that is drawn again while it is above `most`.
fn gamma_below(random: &mut Pcg64Mcg, parameters: (f64, f64), most: f64) -> f64 {
    loop {
        let value = gamma(random, parameters);
        if value <= most {
            return value;
        }
    }
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
        // the smallest parallel logarithm, 0.8, is rounded to 1 processor never and to 2 at least
        assert!((0.234..0.254).contains(&share(&|job| size(job) == 1)));
        let of_two = share(&|job| size(job) > 1 && size(job).is_power_of_two());
        assert!((0.57..0.68).contains(&of_two), "{of_two}");
        assert!(jobs.iter().all(|job| job.run.unwrap() <= 162_755));
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
    fn the_load_changes_how_many_come_and_not_when() {
        for load in [None, Some(0.2), Some(2.0)] {
            let options = GenerateOptions { jobs: 20_000, load, ..GenerateOptions::default() };
            let mut hours = [0; 24];
            for job in jobs(&options) {
                hours[(job.submit % 86_400 / 3600) as usize] += 1;
            }
            let busiest = (0..24).max_by_key(|&hour| hours[hour]).unwrap();
            let quietest = (0..24).min_by_key(|&hour| hours[hour]).unwrap();
            assert!((11..18).contains(&busiest) && (3..8).contains(&quietest), "{load:?}: {hours:?}");
            assert!(hours[busiest] > 3 * hours[quietest], "{load:?}: {hours:?}");
        }
    }

    #[test]
    fn small_machines_and_no_jobs_are_fine() {
        assert!(generate(&GenerateOptions { jobs: 0, ..GenerateOptions::default() }).is_empty());
        let options = GenerateOptions { jobs: 50, processors: 1, users: 1, load: None, seed: 3 };
        assert!(generate(&options).iter().all(|job| job.requested_processors == Some(1)));
    }
}
