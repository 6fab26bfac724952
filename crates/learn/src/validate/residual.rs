//! The distribution of the truth around a prediction, from what models said of runs they had not
//! seen: ln(actual/predicted).
//!
//! Residuals grow with the distance beyond the training range at which they were taken, so they are
//! first brought to distance 0 (divided by √(1 + 4·spans²)), and a prediction spreads them again by its
//! own distance. With at least twenty configurations they then speak for themselves: the i-th of n is
//! the i/(n+1) quantile, smoothed, mass 1/(n+1) stays beyond either end, and the tails follow Student's
//! t. With fewer they only give a location and a scale. The scale of so few is hardly known, so it is
//! pooled with what is known beforehand, the noise between repetitions and what a power law, or the
//! chosen models among the scaled-down runs, leave unexplained, as if that were the scale of a few residuals more (the scaled inverse-χ² prior:
//! Gelman et al., Bayesian Data Analysis, 2.6); Student's t with as many degrees of freedom follows.
//! Runs that something else slowed down add an upper tail of their own.

use serde::{Deserialize, Serialize};

use super::smooth::Smooth;
use super::{Character, Judged};
use crate::statistics::{median, robust_deviation, student_below, student_quantile};

/// Levels kept; the ends leave 0.5 % either side to the unknown.
const LEVELS: [f64; 23] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85,
    0.9, 0.95, 0.975, 0.99, 0.995,
];
/// From this many configurations on the residuals' own quantiles are used.
const ENOUGH: usize = 20;
/// What is known beforehand counts as this many residuals.
const PRIOR_FREEDOM: f64 = 4.0;
/// The winner is the one that happened to be close: as if this many residuals had been spent on it.
const SELECTION: f64 = 3.0;
/// No clock and no allocator is steadier than this.
const SMALLEST_SCALE: f64 = 0.003;
/// No quantile is farther than this, in logarithms; what is known so badly is not known.
const FARTHEST: f64 = 600.0;
/// A median residual is a bias by as much as it exceeds this many of its standard errors: on held-out
/// full-scale runs correcting smaller ones made predictions worse, not better.
const ERRORS: f64 = 3.0;
/// The share of disturbed runs is shrunk as if this many more had been seen undisturbed.
const UNDISTURBED: f64 = 4.0;

/// Upper quantiles are this many times as far where larger runs than any seen are predicted.
const RAISED: f64 = 1.3;

/// How much of a case lies beyond everything measured, from 0 to 1.
///
/// What was said of the largest scaled-down runs tells how far off a law is that was taken farther, but
/// not to which side: caches, memory and networks that small runs leave idle make large ones slower
/// than any law of the small ones. In seventeen of nineteen sweeps (twelve programs run for this, and
/// the given full-scale runs of seven published ones, each predicted from scaled-down runs alone) the
/// truth was above, and the 90 % intervals held 77 % of it. With the larger of both sides upwards, a
/// little wider, they hold 87 %.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Upwards(f64);

impl Upwards {
    /// Of a case with this many times the doubt there is inside the measured range.
    pub(crate) fn of(stretch: f64) -> Upwards {
        Upwards((1.0 - stretch.powi(-2)).max(0.0))
    }

    /// How much of what is only true beyond is true of the case: all from a quarter beyond on.
    pub(crate) fn share(self) -> f64 {
        (4.0 * self.0).min(1.0)
    }

    /// A value raised to a higher one by that share; not lowered.
    pub(crate) fn towards(self, value: f64, higher: f64) -> f64 {
        if higher > value { value * (higher / value).powf(self.share()) } else { value }
    }
}

/// Quantiles of ln(truth/prediction) for a case inside the measured range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Residuals {
    /// Level and logarithm, both rising.
    pub quantiles: Vec<(f64, f64)>,
    /// The middle they widen around.
    pub location: f64,
    /// Their standard deviation.
    pub scale: f64,
    /// The distance beyond the training range, in spans, that the quantiles are for.
    pub spans: f64,
}

/// Location, scale and degrees of freedom of the residuals of undisturbed runs.
struct Core {
    /// Residuals with their weights.
    sorted: Vec<(f64, f64)>,
    location: f64,
    /// Mean square distance from the location.
    square: f64,
    scale: f64,
    freedom: f64,
    /// Configurations.
    count: usize,
}

impl Core {
    fn of(judged: &[Judged], character: &Character) -> Core {
        let mut sorted: Vec<(f64, f64)> = judged.iter().map(|said| (said.residual(), said.weight)).collect();
        sorted.sort_by(|left, right| left.0.total_cmp(&right.0));
        let configurations = configurations(judged);
        // Full-scale runs are what is to be predicted; where there are some, they alone tell a bias.
        let full_scale: Vec<Judged> = judged.iter().copied().filter(|said| said.full_scale).collect();
        let of = if full_scale.is_empty() { judged } else { &full_scale };
        let mut by_group: Vec<(usize, f64)> =
            of.iter().map(|said| (said.group, (said.actual / said.predicted).ln())).collect();
        by_group.sort_by_key(|&(group, _)| group);
        let mut medians: Vec<f64> = by_group
            .chunk_by(|left, right| left.0 == right.0)
            .filter_map(|members| median(&mut members.iter().map(|&(_, r)| r).collect::<Vec<_>>()))
            .collect();
        let location = bias(&mut medians);
        let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
        let square = sorted.iter().map(|(r, weight)| weight * (r - location).powi(2)).sum::<f64>() / total;
        let square = if square.is_finite() { square } else { 0.0 };
        let count = configurations as f64;
        let (known, weight) = match character.prior {
            Some(prior) => (prior * prior, PRIOR_FREEDOM),
            None => (0.0, 0.0),
        };
        // Without a prior one residual is spent on the location.
        let freedom = (weight + count - f64::from(weight == 0.0)).max(1.0);
        let pooled = ((weight * known + count * square) / freedom).sqrt();
        // Where there was nothing to choose from, only the location was.
        let spent = if character.flat { 1.0 } else { SELECTION };
        let scale = pooled.max(character.noise).max(SMALLEST_SCALE) * (1.0 + spent / count.max(1.0)).sqrt();
        Core { sorted, location, square, scale, freedom, count: configurations }
    }

    fn student(&self, level: f64) -> f64 {
        (self.location + self.scale * student_quantile(level, self.freedom)).clamp(-FARTHEST, FARTHEST)
    }
}

/// Different configurations among those judged.
pub(crate) fn configurations(judged: &[Judged]) -> usize {
    let mut groups: Vec<usize> = judged.iter().map(|said| said.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}

/// What predictions are off by, surely. The standard error of a median is 1.2533 σ/√n for normal
/// residuals.
fn bias(residuals: &mut [f64]) -> f64 {
    let count = residuals.len() as f64;
    let middle = median(residuals).unwrap_or(0.0);
    let deviation = robust_deviation(residuals).unwrap_or(0.0);
    let doubt = ERRORS * 1.2533 * deviation / count.max(1.0).sqrt();
    let bias = (middle.abs() - doubt).max(0.0);
    // One residual has no deviation, and two hardly one.
    if count < 3.0 { 0.0 } else { bias.copysign(middle) }
}

impl Residuals {
    /// From what a candidate said and what the runs say by themselves.
    pub(crate) fn of(judged: &[Judged], character: &Character) -> Residuals {
        let core = Core::of(judged, character);
        let tail = Tail::of(character);
        let mut quantiles: Vec<(f64, f64)> =
            LEVELS.iter().map(|&level| (level, tail.quantile(&core, level))).collect();
        if core.count >= ENOUGH {
            let count = core.count as f64;
            let stretch = (character.noise.max(SMALLEST_SCALE) / core.square.sqrt()).max(1.0);
            let plain = |level: f64| empirical(&core.sorted, level);
            // Where the largest scaled-down runs judge, residuals lie in heaps, one for each way they were
            // held out, and the truth in one or another: what lies between them is not filled.
            let smooth = judged
                .iter()
                .any(|said| said.full_scale)
                .then(|| Smooth::of(plain, core.count, core.location, core.square.sqrt()));
            let own = |level: f64| {
                let value = smooth.as_ref().map_or_else(|| plain(level), |smooth| smooth.quantile(level));
                core.location + stretch * (value - core.location)
            };
            let ends = (1.0 / (count + 1.0), count / (count + 1.0));
            for (level, value) in &mut quantiles {
                *value = match *level {
                    low if low < ends.0 => value.min(own(ends.0)),
                    high if high > ends.1 => value.max(own(ends.1)),
                    level => own(level),
                };
            }
        }
        // Where the residuals end and Student's t begins the order must hold, and the middle is the
        // location.
        for (level, value) in &mut quantiles {
            *value = match *level {
                low if low < 0.5 => value.min(core.location),
                high if high > 0.5 => value.max(core.location),
                _ => core.location,
            };
        }
        for index in 1..quantiles.len() {
            quantiles[index].1 = quantiles[index].1.max(quantiles[index - 1].1);
        }
        Residuals { quantiles, location: core.location, scale: core.scale, spans: 0.0 }
    }

    /// Level and logarithm, with the upper half raised as far as larger runs than were ever seen ask for.
    pub(crate) fn quantiles(&self, upwards: Upwards) -> impl Iterator<Item = (f64, f64)> {
        let mirrored = self.quantiles.iter().rev().map(|&(_, logarithm)| -logarithm);
        self.quantiles.iter().zip(mirrored).map(move |(&(level, own), mirrored)| {
            let raised = self.location + RAISED * (own.max(mirrored) - self.location);
            (level, if level > 0.5 { own + upwards.0 * (raised - own).max(0.0) } else { own })
        })
    }

    /// Whether they make a distribution.
    pub(crate) fn check(&self) -> Result<(), String> {
        let inside = self
            .quantiles
            .iter()
            .all(|&(level, value)| level > 0.0 && level < 1.0 && value.abs() <= FARTHEST);
        let rising = self.quantiles.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        let numbers = self.location.abs() <= FARTHEST
            && self.scale > 0.0
            && self.scale.is_finite()
            && self.spans >= 0.0
            && self.spans.is_finite();
        if inside && rising && numbers && (1..=1000).contains(&self.quantiles.len()) {
            Ok(())
        } else {
            Err("the residuals do not make a distribution".to_owned())
        }
    }
}

/// Runs slowed down by something else: their share, and how much slower they are.
struct Tail {
    share: f64,
    /// Equally likely slowdowns, as logarithms.
    slowdowns: Vec<f64>,
}

impl Tail {
    fn of(character: &Character) -> Tail {
        let seen = character.slowdowns.len() as f64;
        let share = seen / (character.repeated_runs as f64 + UNDISTURBED);
        Tail { share: if seen > 0.0 { share } else { 0.0 }, slowdowns: character.slowdowns.clone() }
    }

    /// The quantile of the mixture of undisturbed and slowed runs, by bisection.
    fn quantile(&self, core: &Core, level: f64) -> f64 {
        if self.slowdowns.is_empty() {
            return core.student(level);
        }
        let below = |value: f64| student_below((value - core.location) / core.scale, core.freedom);
        let mixture = |value: f64| {
            let slowed: f64 = self.slowdowns.iter().map(|slowdown| below(value - slowdown)).sum();
            (1.0 - self.share) * below(value) + self.share * slowed / self.slowdowns.len() as f64
        };
        let slowest = self.slowdowns.iter().copied().fold(0.0, f64::max);
        let (mut low, mut high) = (core.student(level), core.student(level) + slowest);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if mixture(middle) < level {
                low = middle;
            } else {
                high = middle;
            }
        }
        ((low + high) / 2.0).clamp(-FARTHEST, FARTHEST)
    }
}

/// The quantile of sorted values with weights that, where all weigh the same, puts the i-th of n at
/// i/(n+1).
fn empirical(sorted: &[(f64, f64)], level: f64) -> f64 {
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let average = total / sorted.len() as f64;
    let mut below = 0.0;
    let mut last: Option<(f64, f64)> = None;
    for &(value, weight) in sorted {
        // Where this value stands: all before it, and as much of it as leaves the rest beyond the ends.
        let place = (below + weight / 2.0 + average / 2.0) / (total + average);
        if place >= level {
            return match last {
                Some((before, at)) if place > at => before + (level - at) / (place - at) * (value - before),
                _ => value,
            };
        }
        last = Some((value, place));
        below += weight;
    }
    last.map_or(0.0, |(value, _)| value)
}
