//! Symmetric positive matrices: factors, solutions, inverses, a block of columns after the other (Golub and
//! Van Loan, Matrix Computations, 4.2.5). Everything runs in a fixed order, so that results do not depend on
//! threads.

use nalgebra::DMatrix;

/// Columns that are worked on together: the rest is products of matrices.
const BLOCK: usize = 48;

/// A lower triangle with L·Lᵀ the matrix it came from.
pub(crate) struct Cholesky {
    lower: DMatrix<f64>,
    /// The inverses of the blocks on its diagonal.
    inverses: Vec<DMatrix<f64>>,
}

impl Cholesky {
    /// Factors a matrix of which the lower triangle is given; `None` if it is not positive.
    pub(crate) fn of(rows: &[Vec<f64>]) -> Option<Cholesky> {
        let size = rows.len();
        let mut lower = DMatrix::zeros(size, size);
        for (index, row) in rows.iter().enumerate() {
            row[..=index].iter().enumerate().for_each(|(column, value)| lower[(index, column)] = *value);
        }
        let mut inverses = Vec::new();
        for start in (0..size).step_by(BLOCK) {
            let end = (start + BLOCK).min(size);
            let (done, mut block) = lower.columns_range_pair_mut(0..start, start..end);
            if start > 0 {
                let across = done.rows(start, end - start).transpose();
                block.rows_mut(start, size - start).gemm(-1.0, &done.rows(start, size - start), &across, 1.0);
            }
            let corner = factor(block.rows(start, end - start).into_owned())?;
            let inverse = inverse_of_triangle(&corner);
            block.rows_mut(start, end - start).copy_from(&corner);
            if end < size {
                let below = block.rows(end, size - end).into_owned();
                block.rows_mut(end, size - end).gemm(1.0, &below, &inverse.transpose(), 0.0);
            }
            inverses.push(inverse);
        }
        Some(Cholesky { lower, inverses })
    }

    /// Σ ln of the diagonal: half the logarithm of the determinant.
    pub(crate) fn half_log_determinant(&self) -> f64 {
        self.lower.diagonal().iter().map(|value| value.ln()).sum()
    }

    /// x with L·x = b.
    pub(crate) fn half_solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        for column in 0..b.len() {
            let factors = self.lower.column(column);
            b[column] /= factors[column];
            let value = b[column];
            let below = b[column + 1..].iter_mut().zip(factors.iter().skip(column + 1));
            below.for_each(|(b, factor)| *b -= factor * value);
        }
        b
    }

    /// x with L·Lᵀ·x = b.
    pub(crate) fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let mut b = self.half_solve(b);
        for column in (0..b.len()).rev() {
            let factors = &self.lower.as_slice()[column * self.lower.nrows()..][..self.lower.nrows()];
            let after = dot(&factors[column + 1..], &b[column + 1..]);
            b[column] = (b[column] - after) / factors[column];
        }
        b
    }

    /// The inverse of L·Lᵀ, whole.
    pub(super) fn inverse(&self) -> DMatrix<f64> {
        let size = self.lower.nrows();
        // L⁻¹, a block of rows after the other.
        let mut triangle = DMatrix::zeros(size, size);
        for (block, corner) in self.inverses.iter().enumerate() {
            let (start, count) = (block * BLOCK, corner.nrows());
            if start > 0 {
                let before =
                    self.lower.view((start, 0), (count, start)) * triangle.view((0, 0), (start, start));
                triangle.view_mut((start, 0), (count, start)).gemm(-1.0, corner, &before, 0.0);
            }
            triangle.view_mut((start, start), (count, count)).copy_from(corner);
        }
        let mut inverse = DMatrix::zeros(size, size);
        for (block, corner) in self.inverses.iter().enumerate() {
            let (start, count) = (block * BLOCK, corner.nrows());
            let across = triangle.view((start, start), (size - start, count)).transpose();
            let up_to = triangle.view((start, 0), (size - start, start + count));
            inverse.view_mut((start, 0), (count, start + count)).gemm(1.0, &across, &up_to, 0.0);
        }
        inverse.fill_upper_triangle_with_lower_triangle();
        inverse
    }
}

/// The factor of a small matrix of which the lower triangle is given.
fn factor(mut matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    let size = matrix.nrows();
    for column in 0..size {
        let square = matrix[(column, column)];
        if !(square > 0.0 && square.is_finite()) {
            return None;
        }
        let diagonal = square.sqrt();
        let (mut own, mut rest) = matrix.columns_range_pair_mut(column..=column, column + 1..);
        own.rows_mut(0, column).fill(0.0);
        own[column] = diagonal;
        own.rows_mut(column + 1, size - column - 1).unscale_mut(diagonal);
        for (index, mut other) in rest.column_iter_mut().enumerate() {
            let row = column + 1 + index;
            let factor = own[row];
            other.rows_mut(row, size - row).axpy(-factor, &own.rows(row, size - row).column(0), 1.0);
        }
    }
    Some(matrix)
}

/// The inverse of a small lower triangle.
fn inverse_of_triangle(lower: &DMatrix<f64>) -> DMatrix<f64> {
    let size = lower.nrows();
    let mut inverse = DMatrix::identity(size, size);
    for mut solved in inverse.column_iter_mut() {
        for column in 0..size {
            let value: f64 = solved[column] / lower[(column, column)];
            solved[column] = value;
            if value != 0.0 {
                let below = size - column - 1;
                solved.rows_mut(column + 1, below).axpy(
                    -value,
                    &lower.view((column + 1, column), (below, 1)).column(0),
                    1.0,
                );
            }
        }
    }
    inverse
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
        [1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5].into_iter().for_each(check);
        assert!(Cholesky::of(&[vec![-1.0]]).is_none());
    }

    fn check(size: usize) {
        let matrix: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                (0..size).map(|j| if i == j { 9.0 + i as f64 } else { 1.0 / (1 + i + j) as f64 }).collect()
            })
            .collect();
        let factor = Cholesky::of(&matrix).unwrap();
        let inverse = factor.inverse();
        for (i, row) in matrix.iter().enumerate() {
            let solved = factor.solve(row.clone());
            for (j, solved) in solved.into_iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(row, inverse.column(j).as_slice()) - expected).abs() < 1e-12);
                assert!((solved - expected).abs() < 1e-12);
            }
        }
        // Pivots of elimination, slow and obvious.
        let mut rest = matrix;
        let mut determinant = 0.0;
        while let Some(pivot) = rest.pop() {
            let Some(&last) = pivot.last() else { break };
            determinant += last.ln();
            for row in &mut rest {
                let factor = row.pop().unwrap() / last;
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
        assert!((2.0 * factor.half_log_determinant() - determinant).abs() < 1e-10 * size as f64);
    }
}
