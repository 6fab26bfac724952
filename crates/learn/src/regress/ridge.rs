//! Weighted ridge regression whose penalty is chosen by leaving each row out in turn.
//!
//! Leaving out needs no refitting: with hat values hᵢ the left-out residual is rᵢ/(1 − hᵢ) (Allen's
//! PRESS, Technometrics 1974), and one eigendecomposition serves every penalty: of the columns' products, or of
//! the rows' where these are fewer.

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
        let deviations = DVector::from_fn(count, |row, _| (self.targets[row] - centre) * weights[row].sqrt());
        if !centre.is_finite() {
            return None;
        }
        let turned = Turned::of(&design)?;
        let moments = turned.columns.tr_mul(&deviations);
        let inverse = DMatrix::from_fn(turned.squares.len(), penalties.len(), |index, penalty| {
            1.0 / (turned.squares[index] + penalties[penalty] * count as f64)
        });
        let along = DMatrix::from_fn(turned.squares.len(), penalties.len(), |index, penalty| {
            moments[index] * inverse[(index, penalty)]
        });
        let fitted = &turned.columns * &along;
        let hats = turned.columns.map(|value| value * value) * &inverse;
        let mut best: Option<(f64, usize)> = None;
        for penalty in 0..penalties.len() {
            let mut error = 0.0;
            for row in 0..count {
                let hat = weights[row] / count as f64 + hats[(row, penalty)];
                let residual = (self.targets[row] - centre) - fitted[(row, penalty)] / weights[row].sqrt();
                let left_out = residual / (1.0 - hat.min(0.999));
                error += self.weights[row] * score(row, self.targets[row] - left_out);
            }
            error /= total;
            if best.is_none_or(|(lowest, _)| error < lowest) {
                best = Some((error, penalty));
            }
        }
        let (error, penalty) = best?;
        let standard = &turned.back * along.column(penalty);
        let coefficients: Vec<f64> = (0..width).map(|column| standard[column] * scales[column]).collect();
        let shift: f64 = coefficients.iter().zip(&means).map(|(c, mean)| c * mean).sum();
        let intercept = centre - shift;
        let finite = error.is_finite() && intercept.is_finite() && coefficients.iter().all(|c| c.is_finite());
        finite.then_some(Ridge { intercept, coefficients, error })
    }
}

/// A matrix turned so that its columns stand at right angles to each other.
struct Turned {
    columns: DMatrix<f64>,
    /// The square of each column's length.
    squares: Vec<f64>,
    /// What turns coefficients of these columns into those of the matrix.
    back: DMatrix<f64>,
}

impl Turned {
    /// By the eigenvectors of the columns' products, or of the rows' where there are fewer rows; `None` if
    /// the numbers cannot be computed with.
    fn of(matrix: &DMatrix<f64>) -> Option<Turned> {
        if matrix.is_empty() {
            return None;
        }
        let wide = matrix.ncols() > matrix.nrows();
        // the product of matrices is blocked, which `tr_mul` is not
        let transposed = matrix.transpose();
        let products = if wide { matrix * &transposed } else { &transposed * matrix };
        if !products.iter().all(|value| value.is_finite()) {
            return None;
        }
        let eigen = SymmetricEigen::try_new(products, f64::EPSILON, 10_000)?;
        let vectors = eigen.eigenvectors;
        let squares: Vec<f64> = eigen.eigenvalues.iter().map(|square| square.max(0.0)).collect();
        if !wide {
            return Some(Turned { columns: matrix * &vectors, squares, back: vectors });
        }
        let longest = squares.iter().copied().fold(0.0, f64::max);
        let mut columns = vectors.clone();
        let mut back = vectors;
        for (index, square) in squares.iter().enumerate() {
            columns.column_mut(index).scale_mut(square.sqrt());
            // A direction without length is rounding.
            let shorter = if *square > f64::EPSILON * longest { square.sqrt().recip() } else { 0.0 };
            back.column_mut(index).scale_mut(shorter);
        }
        Some(Turned { columns, squares, back: transposed * back })
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

    /// A wide problem is solved by its rows, a narrow one by its columns: filled up with columns that do not
    /// vary, the second becomes the first.
    #[test]
    fn wide_and_narrow_problems_have_the_same_answer() {
        let row = |x: i32| vec![f64::from(x), f64::from(x * x % 7), f64::from(x % 3)];
        let narrow: Vec<Vec<f64>> = (1..=6).map(row).collect();
        let wide: Vec<Vec<f64>> =
            narrow.iter().map(|row| row.iter().copied().chain([4.0; 7]).collect()).collect();
        let targets: Vec<f64> = (1..=6).map(|x| f64::from(x * 3 % 5)).collect();
        let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0];
        let penalties = [1e-4, 1e-2, 1.0];
        let score = |row: usize, said: f64| (said - targets[row]).powi(2);
        let [narrow, wide] = [narrow, wide]
            .map(|rows| plain(&rows, &targets, &weights, &[1.0; 10]).solve(&penalties, score).unwrap());
        assert!((narrow.error - wide.error).abs() < 1e-9 && (narrow.intercept - wide.intercept).abs() < 1e-9);
        for (narrow, wide) in narrow.coefficients.iter().zip(&wide.coefficients) {
            assert!((narrow - wide).abs() < 1e-9, "{narrow} {wide}");
        }
        assert!(wide.coefficients[3..].iter().all(|coefficient| *coefficient == 0.0));
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
