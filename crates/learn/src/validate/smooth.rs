//! A distribution through sorted values that does not believe that the truth is one of them: each stands for what
//! lies around it, as in a kernel estimate (Silverman, Density Estimation, 1986, 3.4). The whole is drawn
//! together so that it is as wide as the values are.

use crate::statistics::normal_quantile;

/// Equally likely points through the values, and around each of them.
const THROUGH: usize = 200;
const AROUND: usize = 9;
/// Silverman's rule: this times the deviation, divided by the fifth root of the number of values.
const BANDWIDTH: f64 = 0.9;
/// Quartiles of a normal distribution are this many deviations apart.
const QUARTILES: f64 = 1.349;

/// Equally likely points, rising.
pub(super) struct Smooth(Vec<f64>);

impl Smooth {
    /// Of so many values with the given quantiles, location and standard deviation.
    pub(super) fn of(quantile: impl Fn(f64) -> f64, count: usize, location: f64, deviation: f64) -> Smooth {
        let level = |index: usize, of: usize| (index as f64 + 0.5) / of as f64;
        let narrow = deviation.min((quantile(0.75) - quantile(0.25)) / QUARTILES);
        let bandwidth = BANDWIDTH * narrow * (count.max(1) as f64).powf(-0.2);
        let together =
            if deviation > 0.0 { 1.0 / (1.0 + (bandwidth / deviation).powi(2)).sqrt() } else { 1.0 };
        let around: Vec<f64> =
            (0..AROUND).map(|index| bandwidth * normal_quantile(level(index, AROUND))).collect();
        let mut points: Vec<f64> = (0..THROUGH)
            .map(|index| quantile(level(index, THROUGH)))
            .flat_map(|value| around.iter().map(move |apart| value + apart))
            .map(|point| location + together * (point - location))
            .collect();
        points.sort_by(f64::total_cmp);
        Smooth(points)
    }

    pub(super) fn quantile(&self, level: f64) -> f64 {
        let last = self.0.len() - 1;
        let place = (level * self.0.len() as f64 - 0.5).clamp(0.0, last as f64);
        let below = place.floor();
        let (low, high) = (self.0[below as usize], self.0[(below as usize + 1).min(last)]);
        low + (place - below) * (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two heaps stay two heaps, and the spread what it was.
    #[test]
    fn gaps_are_bridged_and_the_spread_stays() {
        let quantile = |level: f64| if level < 0.6 { -0.2 } else { 0.3 };
        let deviation = (0.6 * 0.2f64.powi(2) + 0.4 * 0.3f64.powi(2)).sqrt();
        let smooth = Smooth::of(quantile, 40, 0.0, deviation);
        let levels: Vec<f64> = (0..1000).map(|index| (f64::from(index) + 0.5) / 1000.0).collect();
        let square = levels.iter().map(|&level| smooth.quantile(level).powi(2)).sum::<f64>() / 1000.0;
        assert!((square.sqrt() / deviation - 1.0).abs() < 0.02, "{} and {deviation}", square.sqrt());
        assert!(levels.windows(2).all(|pair| smooth.quantile(pair[0]) <= smooth.quantile(pair[1])));
        let between = smooth.quantile(0.62) - smooth.quantile(0.58);
        assert!(between > 0.0 && between < 0.5, "{between}");
    }

    #[test]
    fn equal_values_stay_what_they_are() {
        let smooth = Smooth::of(|_| 0.1, 30, 0.1, 0.0);
        assert_eq!([smooth.quantile(0.01), smooth.quantile(0.99)], [0.1, 0.1]);
    }
}
