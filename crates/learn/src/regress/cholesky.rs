//! Symmetric positive matrices as a triangle of rows: factors, solutions, inverses. Sums run over
//! contiguous rows in a fixed order, so that results do not depend on threads.

/// A lower triangle with L·Lᵀ the matrix it came from; rows of full length.
pub(crate) struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// Factors a matrix of which the lower triangle is given; `None` if it is not positive.
    pub(crate) fn of(mut rows: Vec<Vec<f64>>) -> Option<Cholesky> {
        for row in 0..rows.len() {
            let (done, rest) = rows.split_at_mut(row);
            let current = rest.first_mut()?;
            for column in 0..row {
                let sum = dot(&done[column][..column], &current[..column]);
                current[column] = (current[column] - sum) / done[column][column];
            }
            let square = current[row] - dot(&current[..row], &current[..row]);
            if !(square > 0.0 && square.is_finite()) {
                return None;
            }
            current[row] = square.sqrt();
            current[row + 1..].fill(0.0);
        }
        Some(Cholesky { rows })
    }

    /// Σ ln of the diagonal: half the logarithm of the determinant.
    pub(crate) fn half_log_determinant(&self) -> f64 {
        self.rows.iter().enumerate().map(|(index, row)| row[index].ln()).sum()
    }

    /// x with L·x = b.
    pub(crate) fn half_solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        for row in 0..b.len() {
            let sum = dot(&self.rows[row][..row], &b[..row]);
            b[row] = (b[row] - sum) / self.rows[row][row];
        }
        b
    }

    /// x with L·Lᵀ·x = b.
    pub(crate) fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let mut b = self.half_solve(b);
        for row in (0..b.len()).rev() {
            b[row] /= self.rows[row][row];
            let value = b[row];
            b[..row].iter_mut().zip(&self.rows[row]).for_each(|(b, factor)| *b -= factor * value);
        }
        b
    }

    /// The inverse of L·Lᵀ, whole.
    pub(super) fn inverse(&self) -> Vec<Vec<f64>> {
        let size = self.rows.len();
        // Columns of L⁻¹ as rows: column j starts at j.
        let mut columns = vec![vec![0.0; size]; size];
        for (index, column) in columns.iter_mut().enumerate() {
            column[index] = 1.0 / self.rows[index][index];
            for row in index + 1..size {
                let sum = dot(&self.rows[row][index..row], &column[index..row]);
                column[row] = -sum / self.rows[row][row];
            }
        }
        let mut inverse = vec![vec![0.0; size]; size];
        for left in 0..size {
            for right in 0..=left {
                let value = dot(&columns[left][left..], &columns[right][left..]);
                inverse[left][right] = value;
                inverse[right][left] = value;
            }
        }
        inverse
    }
}

/// A dot product in eight lanes: the compiler turns them into vector instructions, enough of them that none
/// waits for the one before.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (left_chunks, right_chunks) = (left.chunks_exact(8), right.chunks_exact(8));
    let rest: f64 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(l, r)| l * r).sum();
    for (l, r) in left_chunks.zip(right_chunks) {
        for lane in 0..8 {
            lanes[lane] += l[lane] * r[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let size = 7;
        let matrix: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                (0..size).map(|j| if i == j { 9.0 + i as f64 } else { 1.0 / (1 + i + j) as f64 }).collect()
            })
            .collect();
        let factor = Cholesky::of(matrix.clone()).unwrap();
        let inverse = factor.inverse();
        for (i, row) in matrix.iter().enumerate() {
            let solved = factor.solve(row.clone());
            for j in 0..size {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(row, &inverse[j]) - expected).abs() < 1e-12);
                assert!((solved[j] - expected).abs() < 1e-12);
            }
        }
        assert!(Cholesky::of(vec![vec![-1.0]]).is_none());
    }
}
