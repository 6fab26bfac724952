//! A curve of one feature.

use serde::{Deserialize, Serialize};

/// Σ weight · exp(−½ ((place − at)/length)²) along one feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Curve {
    pub length: f64,
    pub at: Vec<f64>,
    pub weights: Vec<f64>,
}

impl Curve {
    pub(super) fn value(&self, x: f64) -> f64 {
        let one = |(at, weight): (&f64, &f64)| weight * (-0.5 * ((x - at) / self.length).powi(2)).exp();
        self.at.iter().zip(&self.weights).map(one).sum()
    }
}
