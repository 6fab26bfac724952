//! The distribution of the truth around a prediction, from what models said of runs they had not
//! seen: ln(actual/predicted).
//!
//! With at least twenty configurations the residuals speak for themselves: the i-th of n is the
//! i/(n+1) quantile, so that mass 1/(n+1) stays beyond either end, and the tails follow Student's t.
//! With fewer they only give a location and a scale, and Student's t with n − 1 degrees of freedom
//! says how little is known. The scale is never below the noise between repetitions.

use serde::{Deserialize, Serialize};

use super::Judged;
use crate::statistics::{mean, student_quantile};
use crate::table::Table;

/// Levels kept; the ends leave 0.5 % either side to the unknown.
const LEVELS: [f64; 23] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85,
    0.9, 0.95, 0.975, 0.99, 0.995,
];
/// From this many configurations on the residuals' own quantiles are used.
const ENOUGH: usize = 20;
/// No clock and no allocator is steadier than this.
const SMALLEST_SCALE: f64 = 0.003;
/// No quantile is farther than this, in logarithms; what is known so badly is not known.
const FARTHEST: f64 = 600.0;
/// Counted as this many residuals of zero: with few, a mean is not yet a bias.
const SHRINKAGE: f64 = 4.0;

/// Quantiles of ln(truth/prediction) for a case inside the measured range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Residuals {
    /// Level and logarithm, both rising.
    pub quantiles: Vec<(f64, f64)>,
    /// The middle they widen around.
    pub location: f64,
    /// Their standard deviation.
    pub scale: f64,
    /// Mean distance beyond the training range at which they were taken, in spans.
    pub spans: f64,
}

impl Residuals {
    /// From what a candidate said; `noise` is the standard deviation between repetitions.
    pub(crate) fn of(judged: &[Judged], noise: f64) -> Residuals {
        let mut residuals: Vec<f64> = judged.iter().map(|said| (said.actual / said.predicted).ln()).collect();
        residuals.sort_by(f64::total_cmp);
        let mut groups: Vec<usize> = judged.iter().map(|said| said.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let count = groups.len() as f64;
        let middle = mean(residuals.iter().copied()).unwrap_or(0.0);
        let location = middle * count / (count + SHRINKAGE);
        let square = mean(residuals.iter().map(|r| (r - location).powi(2))).unwrap_or(0.0);
        let freedom = (count - 1.0).max(1.0);
        // Predictive: the scale's own uncertainty and the location's.
        let scale = (square * count / freedom).sqrt().max(noise).max(SMALLEST_SCALE)
            * (1.0 + 1.0 / count.max(1.0)).sqrt();
        let student =
            |level: f64| (location + scale * student_quantile(level, freedom)).clamp(-FARTHEST, FARTHEST);
        let mut quantiles: Vec<(f64, f64)> = LEVELS.iter().map(|&level| (level, student(level))).collect();
        if groups.len() >= ENOUGH {
            let stretch = (noise.max(SMALLEST_SCALE) / square.sqrt()).max(1.0);
            let own = |level: f64| location + stretch * (empirical(&residuals, level) - location);
            let ends = (1.0 / (count + 1.0), count / (count + 1.0));
            for (level, value) in &mut quantiles {
                *value = match *level {
                    low if low < ends.0 => value.min(own(ends.0)),
                    high if high > ends.1 => value.max(own(ends.1)),
                    level => own(level),
                };
            }
            // Where the residuals end and Student's t begins the order must hold.
            for index in 1..quantiles.len() {
                quantiles[index].1 = quantiles[index].1.max(quantiles[index - 1].1);
            }
        }
        let spans = mean(judged.iter().map(|said| said.spans)).unwrap_or(0.0);
        Residuals { quantiles, location, scale, spans }
    }

    /// The logarithm at a level, by linear interpolation; the ends hold beyond them.
    pub(crate) fn quantile(&self, level: f64) -> f64 {
        let upper = self.quantiles.partition_point(|&(known, _)| known < level);
        match (upper.checked_sub(1).and_then(|below| self.quantiles.get(below)), self.quantiles.get(upper)) {
            (Some(&(l0, v0)), Some(&(l1, v1))) => v0 + (level - l0) / (l1 - l0) * (v1 - v0),
            (None, Some(&(_, value))) | (Some(&(_, value)), None) => value,
            (None, None) => 0.0,
        }
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

/// The quantile of sorted values that puts the i-th of n at i/(n+1).
fn empirical(sorted: &[f64], level: f64) -> f64 {
    let Some(&last) = sorted.last() else { return 0.0 };
    let position = (level * (sorted.len() + 1) as f64 - 1.0).max(0.0);
    let below = position.floor() as usize;
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) => low + (position - below as f64) * (high - low),
        _ => last,
    }
}

/// Standard deviation of ln(target) between repetitions, pooled over the larger half of the repeated
/// configurations: small runs are noisier than the ones that matter. 0 where nothing is repeated.
pub(crate) fn repetition_noise(table: &Table) -> f64 {
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); table.groups];
    table.rows.iter().for_each(|row| groups[row.group].push(row.target.ln()));
    groups.retain(|group| group.len() >= 2);
    let average = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    groups.sort_by(|a, b| average(b).total_cmp(&average(a)));
    groups.truncate(groups.len().div_ceil(2));
    let squares: f64 =
        groups.iter().map(|group| group.iter().map(|y| (y - average(group)).powi(2)).sum::<f64>()).sum();
    let freedom: usize = groups.iter().map(|group| group.len() - 1).sum();
    if freedom > 0 { (squares / freedom as f64).sqrt() } else { 0.0 }
}
