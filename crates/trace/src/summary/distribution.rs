//! A distribution as a few numbers and a curve.

use serde::Serialize;

/// Of some quantity over jobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// How many values.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The smallest.
    pub minimum: f64,
    /// 5th percentile.
    pub p5: f64,
    /// 25th percentile.
    pub p25: f64,
    /// The median.
    pub median: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The largest.
    pub maximum: f64,
    /// The values below which 0, 1, … 100 % lie: the distribution function, read sideways.
    pub percentiles: Vec<f64>,
}

impl Distribution {
    /// Of whole numbers; sorts them. All zeros and no curve of nothing.
    pub(crate) fn of(values: &mut [u32]) -> Self {
        if values.is_empty() {
            return Distribution::default();
        }
        values.sort_unstable();
        let level = |level: f64| quantile(values, level);
        Distribution {
            count: values.len(),
            mean: values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64,
            minimum: level(0.0),
            p5: level(0.05),
            p25: level(0.25),
            median: level(0.5),
            p75: level(0.75),
            p95: level(0.95),
            p99: level(0.99),
            maximum: level(1.0),
            percentiles: (0..=100).map(|percent| level(f64::from(percent) / 100.0)).collect(),
        }
    }
}

/// The quantile of sorted values by linear interpolation (Hyndman and Fan, definition 7).
pub(crate) fn quantile(sorted: &[u32], level: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = level * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let (low, high) = (f64::from(sorted[below]), f64::from(sorted[above]));
    low + (high - low) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_and_of_nothing() {
        let distribution = Distribution::of(&mut [10, 1, 3, 2]);
        assert_eq!((distribution.mean, distribution.median, distribution.maximum), (4.0, 2.5, 10.0));
        assert_eq!(distribution.percentiles.len(), 101);
        assert_eq!(Distribution::of(&mut []), Distribution::default());
    }
}
