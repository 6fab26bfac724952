//! One value for every case: the weighted median of the targets. A program whose memory does not
//! depend on its arguments has no better law, and with few runs every other law only learns noise.

use super::power_law::PowerLaw;
use super::{Fitted, Regressor, Training};

/// Fits a [`PowerLaw`] without terms.
pub(crate) struct ConstantRegression;

impl Regressor for ConstantRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let mut rows: Vec<(f64, f64)> =
            training.targets.iter().copied().zip(training.weights.iter().copied()).collect();
        rows.sort_by(|left, right| left.0.total_cmp(&right.0));
        let half = training.weights.iter().sum::<f64>() / 2.0;
        let mut below = 0.0;
        let upper = rows.iter().position(|&(_, weight)| {
            below += weight;
            below > half * (1.0 - 1e-12)
        });
        let upper = upper.ok_or("there are no rows")?;
        // Exactly half of the weight on either side: the middle of the two.
        let even = below <= half * (1.0 + 1e-12);
        let other = if even { rows.get(upper + 1).unwrap_or(&rows[upper]) } else { &rows[upper] };
        let intercept = (rows[upper].0.ln() + other.0.ln()) / 2.0;
        Ok(Fitted::PowerLaw(PowerLaw { offset: 0.0, intercept, terms: Vec::new() }))
    }
}
