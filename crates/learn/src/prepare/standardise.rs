//! Columns with mean 0 and deviation 1, optionally turned into the principal components that hold
//! 99 % of their variance (HARP, PEARC'23, does so).

use nalgebra::{DMatrix, SymmetricEigen};
use serde::{Deserialize, Serialize};

/// Share of the variance the components must hold.
const VARIANCE_KEPT: f64 = 0.99;

/// Fitted on training rows, applied to any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standardiser {
    pub means: Vec<f64>,
    pub deviations: Vec<f64>,
    /// One row a component; `None` leaves the standardised columns as they are.
    pub components: Option<Vec<Vec<f64>>>,
}

impl Standardiser {
    /// Learns weighted means and deviations, and components if wanted.
    pub(crate) fn fit(rows: &[Vec<f64>], weights: &[f64], principal_components: bool) -> Standardiser {
        let width = rows.first().map_or(0, Vec::len);
        let total: f64 = weights.iter().sum();
        let average = |of: &dyn Fn(&[f64]) -> f64| {
            rows.iter().zip(weights).map(|(row, weight)| weight * of(row)).sum::<f64>() / total
        };
        let means: Vec<f64> = (0..width).map(|column| average(&|row| row[column])).collect();
        let deviations: Vec<f64> = (0..width)
            .map(|column| average(&|row| (row[column] - means[column]).powi(2)).sqrt())
            .map(|deviation| if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 })
            .collect();
        let mut standardiser = Standardiser { means, deviations, components: None };
        if principal_components && width > 1 {
            let standard: Vec<Vec<f64>> = rows.iter().map(|row| standardiser.apply(row)).collect();
            standardiser.components = components(&standard, weights, total);
        }
        standardiser
    }

    /// One row standardised.
    pub(crate) fn apply(&self, row: &[f64]) -> Vec<f64> {
        let scales = self.means.iter().zip(&self.deviations);
        let standard: Vec<f64> =
            row.iter().zip(scales).map(|(value, (mean, dev))| (value - mean) / dev).collect();
        match &self.components {
            None => standard,
            Some(components) => components
                .iter()
                .map(|component| component.iter().zip(&standard).map(|(c, value)| c * value).sum())
                .collect(),
        }
    }

    /// Whether it fits rows of the given width; the width it gives.
    pub(crate) fn check(&self, width: usize) -> Result<usize, String> {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let sound = self.means.len() == width
            && self.deviations.len() == width
            && finite(&self.means)
            && self.deviations.iter().all(|&deviation| deviation > 0.0 && deviation.is_finite());
        let components = self.components.as_deref().unwrap_or_default();
        if !sound || !components.iter().all(|component| component.len() == width && finite(component)) {
            return Err("the standardisation does not fit the features".to_owned());
        }
        Ok(self.components.as_ref().map_or(width, Vec::len))
    }
}

/// `None` if the covariance has no eigenvectors that can be computed.
fn components(standard: &[Vec<f64>], weights: &[f64], total: f64) -> Option<Vec<Vec<f64>>> {
    let width = standard.first().map_or(0, Vec::len);
    let mut covariance = DMatrix::zeros(width, width);
    for (row, weight) in standard.iter().zip(weights) {
        for left in 0..width {
            for right in 0..width {
                covariance[(left, right)] += weight * row[left] * row[right] / total;
            }
        }
    }
    if width == 0 || !covariance.iter().all(|value: &f64| value.is_finite()) {
        return None;
    }
    let eigen = SymmetricEigen::try_new(covariance, f64::EPSILON, 10_000)?;
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]).then(a.cmp(&b)));
    let all: f64 = eigen.eigenvalues.iter().map(|value| value.max(0.0)).sum();
    let mut held = 0.0;
    let mut components = Vec::new();
    for index in order {
        components.push(eigen.eigenvectors.column(index).iter().copied().collect());
        held += eigen.eigenvalues[index].max(0.0);
        if held >= VARIANCE_KEPT * all {
            break;
        }
    }
    Some(components)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_correlated_columns_become_one_component() {
        let rows: Vec<Vec<f64>> = (0..20)
            .map(|index| vec![f64::from(index), f64::from(index) + 0.01 * f64::from(index % 3)])
            .collect();
        let standardiser = Standardiser::fit(&rows, &[1.0; 20], true);
        assert_eq!(standardiser.components.as_ref().unwrap().len(), 1);
        assert_eq!(standardiser.apply(&rows[3]).len(), 1);
        let plain = Standardiser::fit(&rows, &[1.0; 20], false);
        let mean: f64 = rows.iter().map(|row| plain.apply(row)[0]).sum();
        assert!(mean.abs() < 1e-9);
    }
}
