//! Linear least squares with a little shrinkage, solved by Cholesky's decomposition.

/// Shrinkage of the coefficients of standardised features.
const RIDGE: f64 = 1e-3;

/// A trained linear model.
#[derive(Debug, Clone)]
pub struct Linear {
    means: Vec<f64>,
    scales: Vec<f64>,
    coefficients: Vec<f64>,
    intercept: f64,
}

impl Linear {
    /// Trains on rows of features and a target each. `None` of no rows.
    pub fn train<const N: usize>(rows: &[[f64; N]], targets: &[f64]) -> Option<Self> {
        if rows.is_empty() || rows.len() != targets.len() {
            return None;
        }
        let count = rows.len() as f64;
        let means: Vec<f64> = (0..N).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / count).collect();
        let scale = |i: usize| {
            let variance = rows.iter().map(|row| (row[i] - means[i]).powi(2)).sum::<f64>() / count;
            if variance > 1e-12 { variance.sqrt() } else { 1.0 }
        };
        let scales: Vec<f64> = (0..N).map(scale).collect();
        let intercept = targets.iter().sum::<f64>() / count;
        let mut matrix = vec![vec![0.0; N]; N];
        let mut right = vec![0.0; N];
        for (row, target) in rows.iter().zip(targets) {
            let standard: Vec<f64> = (0..N).map(|i| (row[i] - means[i]) / scales[i]).collect();
            for i in 0..N {
                right[i] += standard[i] * (target - intercept);
                for j in 0..=i {
                    matrix[i][j] += standard[i] * standard[j];
                }
            }
        }
        for (i, line) in matrix.iter_mut().enumerate() {
            line[i] += RIDGE * count;
        }
        let coefficients = solve(matrix, right);
        Some(Linear { means, scales, coefficients, intercept })
    }

    /// The prediction for one row.
    pub fn predict(&self, row: &[f64]) -> f64 {
        let terms = self.coefficients.iter().zip(row).zip(self.means.iter().zip(&self.scales));
        self.intercept + terms.map(|((c, x), (mean, scale))| c * (x - mean) / scale).sum::<f64>()
    }
}

/// Solves A x = b for a positive definite A given by its lower half.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        for j in 0..=i {
            let sum = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum::<f64>();
            let value = matrix[i][j] - sum;
            matrix[i][j] = if i == j { value.max(f64::MIN_POSITIVE).sqrt() } else { value / matrix[j][j] };
        }
    }
    for i in 0..size {
        let sum = (0..i).map(|k| matrix[i][k] * right[k]).sum::<f64>();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let sum = (i + 1..size).map(|k| matrix[k][i] * right[k]).sum::<f64>();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_found_again() {
        let rows: Vec<[f64; 3]> = (0..200).map(|i| [f64::from(i % 7), f64::from(i % 11), 4.0]).collect();
        let targets: Vec<f64> = rows.iter().map(|row| 2.0 + 3.0 * row[0] - row[1]).collect();
        let model = Linear::train(&rows, &targets).unwrap();
        assert!((model.predict(&[3.0, 5.0, 4.0]) - 6.0).abs() < 0.05);
        assert!(Linear::train::<1>(&[], &[]).is_none());
    }
}
