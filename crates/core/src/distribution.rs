//! A predictive distribution of a positive quantity, kept as a list of quantiles.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Quantiles of a positive quantity; between them the logarithm is interpolated linearly.
///
/// Below the first and above the last level it does not invent a tail: `quantile` holds the end
/// value, `probability_above` the remaining mass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(f64, f64)>", into = "Vec<(f64, f64)>")]
pub struct Distribution {
    quantiles: Vec<(f64, f64)>,
}

/// Quantiles that do not make a distribution.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DistributionError {
    /// There are none.
    #[error("a distribution needs at least one quantile")]
    Empty,
    /// A level outside (0, 1), a value that is not positive and finite, or an order that falls.
    #[error("quantile {index} is out of order or not a positive finite number")]
    Invalid {
        /// Which one, from 0.
        index: usize,
    },
}

impl Distribution {
    /// From `(level, value)` pairs with rising levels in (0, 1) and values that never fall.
    pub fn new(quantiles: Vec<(f64, f64)>) -> Result<Self, DistributionError> {
        if quantiles.is_empty() {
            return Err(DistributionError::Empty);
        }
        for (index, &(level, value)) in quantiles.iter().enumerate() {
            let positive = level > 0.0 && level < 1.0 && value > 0.0 && value.is_finite();
            let rising = index == 0 || {
                let (level_before, value_before) = quantiles[index - 1];
                level > level_before && value >= value_before
            };
            if !positive || !rising {
                return Err(DistributionError::Invalid { index });
            }
        }
        Ok(Distribution { quantiles })
    }

    /// The stored quantiles.
    pub fn quantiles(&self) -> &[(f64, f64)] {
        &self.quantiles
    }

    /// The value that is not exceeded with the given probability.
    pub fn quantile(&self, level: f64) -> f64 {
        let upper = self.quantiles.partition_point(|&(known, _)| known < level);
        match (upper.checked_sub(1).and_then(|i| self.quantiles.get(i)), self.quantiles.get(upper)) {
            (Some(&(l0, v0)), Some(&(l1, v1))) => {
                let share = (level - l0) / (l1 - l0);
                // Rounding must not carry it past its neighbours.
                (v0.ln() + share * (v1.ln() - v0.ln())).exp().clamp(v0, v1)
            }
            (None, Some(&(_, value))) | (Some(&(_, value)), None) => value,
            (None, None) => f64::NAN,
        }
    }

    /// The value above and below which it is equally likely to fall.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The central interval that holds the truth with the given probability.
    pub fn interval(&self, probability: f64) -> (f64, f64) {
        (self.quantile((1.0 - probability) / 2.0), self.quantile((1.0 + probability) / 2.0))
    }

    /// The probability that the quantity exceeds `limit`.
    pub fn probability_above(&self, limit: f64) -> f64 {
        let upper = self.quantiles.partition_point(|&(_, value)| value <= limit);
        match (upper.checked_sub(1).and_then(|i| self.quantiles.get(i)), self.quantiles.get(upper)) {
            (Some(&(l0, v0)), Some(&(l1, v1))) => {
                let share = (limit.ln() - v0.ln()) / (v1.ln() - v0.ln());
                1.0 - (l0 + share * (l1 - l0))
            }
            // Below everything known: certain to exceed it, as far as the quantiles tell.
            (None, Some(_)) => 1.0,
            (Some(&(level, _)), None) => 1.0 - level,
            (None, None) => 1.0,
        }
    }

    /// The same distribution with every value multiplied by a positive factor.
    pub fn scaled(&self, factor: f64) -> Result<Self, DistributionError> {
        Distribution::new(self.quantiles.iter().map(|&(level, value)| (level, value * factor)).collect())
    }
}

impl TryFrom<Vec<(f64, f64)>> for Distribution {
    type Error = DistributionError;

    fn try_from(quantiles: Vec<(f64, f64)>) -> Result<Self, Self::Error> {
        Distribution::new(quantiles)
    }
}

impl From<Distribution> for Vec<(f64, f64)> {
    fn from(distribution: Distribution) -> Self {
        distribution.quantiles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Distribution {
        Distribution::new(vec![(0.1, 10.0), (0.5, 20.0), (0.9, 80.0)]).unwrap()
    }

    #[test]
    fn quantiles_are_interpolated_in_the_logarithm() {
        let d = example();
        assert!((d.quantile(0.5) - 20.0).abs() < 1e-9);
        assert!((d.quantile(0.7) - 40.0).abs() < 1e-9);
        assert_eq!(d.quantile(0.99), 80.0);
        assert_eq!(d.quantile(0.01), 10.0);
    }

    #[test]
    fn probability_above_is_the_inverse_of_quantile() {
        let d = example();
        for level in [0.1, 0.3, 0.5, 0.62, 0.9] {
            assert!((d.probability_above(d.quantile(level)) - (1.0 - level)).abs() < 1e-9);
        }
        assert_eq!(d.probability_above(5.0), 1.0);
        assert!((d.probability_above(1000.0) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Distribution::new(vec![]).is_err());
        assert!(Distribution::new(vec![(0.5, 2.0), (0.4, 3.0)]).is_err());
        assert!(Distribution::new(vec![(0.5, 2.0), (0.6, 1.0)]).is_err());
        assert!(Distribution::new(vec![(0.5, -2.0)]).is_err());
        assert!(Distribution::new(vec![(0.5, f64::NAN)]).is_err());
    }
}
