//! Weighted ridge regression whose penalty is chosen by leaving each row out in turn.
//!
//! Leaving out needs no refitting: with hat values hᵢ the left-out residual is rᵢ/(1 − hᵢ) (Allen's
//! PRESS, Technometrics 1974), and one eigendecomposition serves every penalty.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Columns, target and weights of a ridge regression.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub rows: &'a [Vec<f64>],
    pub targets: &'a [f64],
    pub weights: &'a [f64],
    /// How much harder than others each column is penalised.
    pub hardness: &'a [f64],
}

/// The fit with the best penalty.
#[derive(Debug, Clone)]
pub(super) struct Ridge {
    pub intercept: f64,
    /// In the columns' own units.
    pub coefficients: Vec<f64>,
    /// The score of the best penalty.
    pub error: f64,
}

impl Problem<'_> {
    /// Fits with each penalty (relative to the standardised columns) and keeps the one whose
    /// left-out predictions score lowest; `score` takes the row and its left-out prediction.
    /// `None` if the numbers cannot be computed with.
    pub(super) fn solve(&self, penalties: &[f64], score: impl Fn(usize, f64) -> f64) -> Option<Ridge> {
        let count = self.rows.len();
        let width = self.rows.first()?.len();
        let total: f64 = self.weights.iter().sum();
        let weights: Vec<f64> = self.weights.iter().map(|weight| weight * count as f64 / total).collect();
        let average = |of: &dyn Fn(usize) -> f64| {
            (0..count).map(|row| weights[row] * of(row)).sum::<f64>() / count as f64
        };
        let means: Vec<f64> = (0..width).map(|column| average(&|row| self.rows[row][column])).collect();
        let scales: Vec<f64> = (0..width)
            .map(|column| {
                let deviation = average(&|row| (self.rows[row][column] - means[column]).powi(2)).sqrt();
                // A column that does not vary gets no coefficient.
                if deviation > 1e-12 * (1.0 + means[column].abs()) {
                    1.0 / (deviation * self.hardness[column].sqrt())
                } else {
                    0.0
                }
            })
            .collect();
        let centre = average(&|row| self.targets[row]);
        let design = DMatrix::from_fn(count, width, |row, column| {
            (self.rows[row][column] - means[column]) * scales[column] * weights[row].sqrt()
        });
        // the product of matrices is blocked, which `tr_mul` is not
        let gram = design.transpose() * &design;
        if !gram.iter().all(|value| value.is_finite()) || !centre.is_finite() {
            return None;
        }
        let deviations = DVector::from_fn(count, |row, _| (self.targets[row] - centre) * weights[row].sqrt());
        let eigen = SymmetricEigen::try_new(gram, f64::EPSILON, 10_000)?;
        let moments = eigen.eigenvectors.tr_mul(&design.tr_mul(&deviations));
        let rotated = &design * &eigen.eigenvectors;
        let mut best: Option<(f64, DVector<f64>)> = None;
        for penalty in penalties {
            let inverse = DVector::from_fn(width, |index, _| {
                1.0 / (eigen.eigenvalues[index].max(0.0) + penalty * count as f64)
            });
            let along = moments.component_mul(&inverse);
            let mut error = 0.0;
            for row in 0..count {
                let (mut fitted, mut hat) = (0.0, weights[row] / count as f64);
                for column in 0..width {
                    let value = rotated[(row, column)];
                    fitted += value * along[column];
                    hat += value * value * inverse[column];
                }
                let residual = (self.targets[row] - centre) - fitted / weights[row].sqrt();
                let left_out = residual / (1.0 - hat.min(0.999));
                error += self.weights[row] * score(row, self.targets[row] - left_out);
            }
            error /= total;
            if best.as_ref().is_none_or(|(lowest, _)| error < *lowest) {
                best = Some((error, along));
            }
        }
        let (error, along) = best?;
        let standard = &eigen.eigenvectors * along;
        let coefficients: Vec<f64> = (0..width).map(|column| standard[column] * scales[column]).collect();
        let shift: f64 = coefficients.iter().zip(&means).map(|(c, mean)| c * mean).sum();
        let intercept = centre - shift;
        let finite = error.is_finite() && intercept.is_finite() && coefficients.iter().all(|c| c.is_finite());
        finite.then_some(Ridge { intercept, coefficients, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain<'a>(
        rows: &'a [Vec<f64>],
        targets: &'a [f64],
        weights: &'a [f64],
        one: &'a [f64],
    ) -> Problem<'a> {
        Problem { rows, targets, weights, hardness: one }
    }

    proptest! {
        /// The short cut for leaving a row out equals really leaving it out.
        #[test]
        fn leaving_out_by_hat_values_is_leaving_out(values in prop::collection::vec((0.0..5.0f64, -3.0..3.0f64), 5..12)) {
            let rows: Vec<Vec<f64>> = values.iter().map(|&(x, _)| vec![x]).collect();
            let targets: Vec<f64> = values.iter().map(|&(_, y)| y).collect();
            let count = rows.len();
            prop_assume!(rows.iter().any(|row| (row[0] - rows[0][0]).abs() > 0.5));
            let weights = vec![1.0; count];
            let found = std::cell::RefCell::new(vec![0.0; count]);
            plain(&rows, &targets, &weights, &[1.0])
                .solve(&[1e-13], |row, prediction| { found.borrow_mut()[row] = prediction; 0.0 })
                .unwrap();
            for left in 0..count {
                let without = |of: &[f64]| -> Vec<f64> {
                    of.iter().enumerate().filter(|(index, _)| *index != left).map(|(_, v)| *v).collect()
                };
                let others: Vec<Vec<f64>> = without(&rows.iter().map(|r| r[0]).collect::<Vec<_>>())
                    .into_iter().map(|x| vec![x]).collect();
                let varied = others.iter().any(|row| (row[0] - others[0][0]).abs() > 0.3);
                if !varied { continue; }
                let y = without(&targets);
                let fit = plain(&others, &y, &weights[1..], &[1.0]).solve(&[1e-13], |_, _| 0.0).unwrap();
                let slow = fit.intercept + fit.coefficients[0] * rows[left][0];
                prop_assert!((slow - found.borrow()[left]).abs() < 1e-4, "{slow} {}", found.borrow()[left]);
            }
        }
    }
}
