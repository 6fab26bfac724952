//! Which configuration to try next when the best is wanted, not the least doubt: the one with the
//! largest expected improvement that meets the limits (Jones et al., Journal of Global Optimization
//! 1998; with constraints: Gardner et al., ICML 2014; while nothing meets them, the one most likely to:
//! Gelbart et al., UAI 2014). For configurations of cloud jobs: Alipourfard et al., NSDI 2017.
//!
//! ln T is a Gaussian process: a power law with unknown exponents and a smooth departure from it. Its
//! size, reach and noise are not known either: every choice of them counts as much as the runs are
//! likely under it (Snoek et al., NIPS 2012). How long a run takes decides what it is worth; the caller
//! says how.

use crate::Place;
use crate::next::coordinates;
use crate::regress::Cholesky;
use crate::statistics::normal_quantile;

/// Standard deviations of the level and of an exponent, as wide as for [`crate::Doubt`].
const LEVEL: f64 = 3.0;
const SLOPE: f64 = 1.5;
/// Departures, reaches and noises that may be.
const DEPARTURES: [f64; 4] = [0.05, 0.2, 0.6, 1.5];
const REACHES: [f64; 3] = [0.4, 1.0, 2.5];
const NOISES: [f64; 3] = [0.02, 0.06, 0.2];
/// Equally likely points of a normal distribution over which is averaged.
const POINTS: usize = 50;
/// What counts less than this is left out.
const SMALLEST_WEIGHT: f64 = 1e-3;

/// What is believed of one candidate: ln T is a mixture of normal distributions.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    parts: Vec<Part>,
}

/// One choice of departure, reach and noise.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    weight: f64,
    mean: f64,
    /// Without the noise of a single run.
    deviation: f64,
}

/// What is believed of every candidate, given runs and the seconds they took. Without runs nothing is.
pub fn outlooks(runs: &[(Place, f64)], candidates: &[Place]) -> Option<Vec<Outlook>> {
    let logs: Vec<f64> = runs.iter().map(|(_, seconds)| seconds.ln()).collect();
    if logs.is_empty() || !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let (mut places, _) =
        coordinates(&runs.iter().map(|(place, _)| place).chain(candidates).collect::<Vec<_>>());
    let candidates = places.split_off(runs.len());
    let centre = logs.iter().sum::<f64>() / logs.len() as f64;
    let logs: Vec<f64> = logs.iter().map(|log| log - centre).collect();
    let mut beliefs = Vec::new();
    for departure in DEPARTURES {
        for reach in REACHES {
            for noise in NOISES {
                beliefs.extend(Belief::of(&places, &logs, departure, reach, noise));
            }
        }
    }
    let likeliest = beliefs.iter().map(|belief| belief.likelihood).fold(f64::NEG_INFINITY, f64::max);
    let weight = |belief: &Belief| (belief.likelihood - likeliest).exp();
    beliefs.retain(|belief| weight(belief) >= SMALLEST_WEIGHT);
    let total: f64 = beliefs.iter().map(weight).sum();
    let outlook = |place: &Vec<f64>| {
        let parts = beliefs.iter().map(|belief| {
            let (mean, deviation) = belief.at(&places, place);
            Part { weight: weight(belief) / total, mean: centre + mean, deviation }
        });
        Outlook { parts: parts.collect() }
    };
    (!beliefs.is_empty()).then(|| candidates.iter().map(outlook).collect())
}

impl Outlook {
    /// The geometric mean of T.
    pub fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.weight * part.mean).sum::<f64>().exp()
    }

    /// The mean, over what T may be, of a figure of it.
    pub fn average(&self, of: impl Fn(f64) -> f64) -> f64 {
        let point = |index: usize| normal_quantile((index as f64 + 0.5) / POINTS as f64);
        let of_part = |part: &Part| {
            let values = (0..POINTS).map(|index| of((part.mean + part.deviation * point(index)).exp()));
            part.weight * values.sum::<f64>() / POINTS as f64
        };
        self.parts.iter().map(of_part).sum()
    }

    /// How much better than the best so far it is expected to be, as a share of that: from the mean of
    /// ln(best / worth), where that is positive and the limits hold. `worth` gives what is to be small,
    /// `None` beyond a limit.
    pub fn improvement(&self, best: f64, worth: impl Fn(f64) -> Option<f64>) -> f64 {
        let difference =
            self.average(|seconds| worth(seconds).map_or(0.0, |worth| (best / worth).ln().max(0.0)));
        -(-difference).exp_m1()
    }

    /// The probability that the limits hold.
    pub fn feasible(&self, worth: impl Fn(f64) -> Option<f64>) -> f64 {
        self.average(|seconds| f64::from(u8::from(worth(seconds).is_some())))
    }
}

/// A process with settled departure, reach and noise.
struct Belief {
    departure: f64,
    reach: f64,
    factor: Cholesky,
    weights: Vec<f64>,
    likelihood: f64,
}

impl Belief {
    fn of(places: &[Vec<f64>], logs: &[f64], departure: f64, reach: f64, noise: f64) -> Option<Belief> {
        let count = places.len();
        let kernel = (0..count).map(|row| {
            let mut values: Vec<f64> = places[..=row]
                .iter()
                .map(|other| covariance(&places[row], other, departure, reach))
                .collect();
            values[row] += noise * noise;
            values.resize(count, 0.0);
            values
        });
        let factor = Cholesky::of(&kernel.collect::<Vec<_>>())?;
        let weights = factor.solve(logs.to_vec());
        let fit: f64 = weights.iter().zip(logs).map(|(weight, log)| weight * log).sum();
        let likelihood = -0.5 * fit - factor.half_log_determinant();
        Some(Belief { departure, reach, factor, weights, likelihood })
    }

    fn at(&self, places: &[Vec<f64>], place: &[f64]) -> (f64, f64) {
        let known = |other: &[f64]| covariance(place, other, self.departure, self.reach);
        let along: Vec<f64> = places.iter().map(|other| known(other)).collect();
        let mean = along.iter().zip(&self.weights).map(|(known, weight)| known * weight).sum();
        let explained: f64 = self.factor.half_solve(along).iter().map(|value| value * value).sum();
        (mean, (known(place) - explained).max(0.0).sqrt())
    }
}

fn covariance(left: &[f64], right: &[f64], departure: f64, reach: f64) -> f64 {
    let product: f64 = left.iter().zip(right).map(|(l, r)| l * r).sum();
    let distance: f64 = left.iter().zip(right).map(|(l, r)| (l - r).powi(2)).sum();
    LEVEL.powi(2) + SLOPE.powi(2) * product + departure.powi(2) * (-0.5 * distance / reach.powi(2)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::Value;

    fn place(threads: i64) -> Place {
        vec![Some(Value::Integer(threads))]
    }

    /// Work shared by threads, and a price for each of them: a minimum in the middle.
    fn seconds(threads: i64) -> f64 {
        0.1 + 8.0 / threads as f64 + 0.05 * threads as f64
    }

    const GRID: [i64; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

    /// Tries by expected improvement until it is small; gives what was tried.
    fn search(worth: impl Fn(i64, f64) -> Option<f64>) -> Vec<i64> {
        let mut tried = vec![1, 64];
        loop {
            let runs: Vec<(Place, f64)> = tried.iter().map(|&at| (place(at), seconds(at))).collect();
            let left: Vec<i64> = GRID.into_iter().filter(|at| !tried.contains(at)).collect();
            let Some(found) = outlooks(&runs, &left.iter().map(|&at| place(at)).collect::<Vec<_>>()) else {
                return tried;
            };
            let best = tried.iter().filter_map(|&at| worth(at, seconds(at))).reduce(f64::min);
            let value = |index: usize| match best {
                Some(best) => found[index].improvement(best, |time| worth(left[index], time)),
                None => found[index].feasible(|time| worth(left[index], time)),
            };
            let next = (0..left.len()).max_by(|&l, &r| value(l).total_cmp(&value(r)));
            match next {
                Some(index) if best.is_none() || value(index) > 0.01 => tried.push(left[index]),
                _ => return tried,
            }
        }
    }

    #[test]
    fn the_fastest_is_found_with_fewer_runs_than_the_grid_has() {
        let tried = search(|_, time| Some(time));
        let best = GRID.into_iter().min_by(|&l, &r| seconds(l).total_cmp(&seconds(r))).unwrap();
        assert!(tried.contains(&best), "{best} is not in {tried:?}");
        assert!(tried.len() <= 8, "{tried:?}");
    }

    #[test]
    fn the_cheapest_within_a_time_is_found() {
        // Paid by threads and seconds: few threads are cheap but slow.
        let worth = |threads: i64, time: f64| (time <= 1.6).then_some(threads as f64 * time);
        let tried = search(worth);
        let cost = |at: i64| worth(at, seconds(at)).unwrap_or(f64::INFINITY);
        let best = GRID.into_iter().min_by(|&l, &r| cost(l).total_cmp(&cost(r))).unwrap();
        assert!(tried.contains(&best), "{best} is not in {tried:?}");
        assert!(tried.len() <= 8, "{tried:?}");
    }

    #[test]
    fn what_was_run_is_known_and_what_is_far_is_not() {
        let runs: Vec<(Place, f64)> = [1, 2, 4].into_iter().map(|at| (place(at), seconds(at))).collect();
        let found = outlooks(&runs, &[place(2), place(64)]).unwrap();
        assert!((found[0].seconds() / seconds(2)).ln().abs() < 0.1, "{found:?}");
        let spread = |outlook: &Outlook| outlook.average(|time| (time / outlook.seconds()).ln().powi(2));
        assert!(spread(&found[1]) > 9.0 * spread(&found[0]), "{found:?}");
        assert_eq!(outlooks(&[], &[place(1)]), None);
        assert_eq!(outlooks(&[(place(1), 0.0)], &[place(1)]), None);
    }

    #[test]
    fn the_points_are_those_of_a_normal_distribution() {
        let standard = Outlook { parts: vec![Part { weight: 1.0, mean: 0.0, deviation: 1.0 }] };
        assert!(standard.average(f64::ln).abs() < 1e-9);
        assert!((standard.average(|value| value.ln().powi(2)) - 1.0).abs() < 0.05);
        // The improvement on the median of a standard normal is 1/√(2π), in logarithms.
        assert!((standard.improvement(1.0, Some) - (1.0 - f64::exp(-0.3989))).abs() < 0.01);
    }

    #[test]
    fn an_improvement_is_a_share_of_the_best() {
        // Two cores for 267 ms were the best so far, one is known to take 274 ms: 49 % cheaper.
        let known = Outlook { parts: vec![Part { weight: 1.0, mean: f64::ln(0.274), deviation: 0.0 }] };
        let cheaper = known.improvement(2.0 * 0.267, Some);
        assert!((cheaper - 0.487).abs() < 0.001, "{cheaper}");
        assert_eq!(known.improvement(0.2, Some), 0.0);
    }
}
