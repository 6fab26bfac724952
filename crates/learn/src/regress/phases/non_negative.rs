//! Least squares with coefficients that are not negative, of a handful of columns and the target 1: every
//! subset of columns is solved, and the best without a negative coefficient taken. With so few columns that
//! is exact and fast, as rows are only looked at once.

/// Most columns.
pub(super) const MOST_COLUMNS: usize = 4;
/// What is added to the diagonal, relative to it, for columns that are nearly the same.
const RIDGE: f64 = 1e-10;

/// The weighted products of the columns with each other and with 1.
#[derive(Debug, Clone)]
pub(super) struct Squares {
    columns: usize,
    products: [[f64; MOST_COLUMNS]; MOST_COLUMNS],
    sums: [f64; MOST_COLUMNS],
    total: f64,
}

impl Squares {
    pub(super) fn new(columns: usize) -> Squares {
        assert!(columns <= MOST_COLUMNS);
        Squares {
            columns,
            products: [[0.0; MOST_COLUMNS]; MOST_COLUMNS],
            sums: [0.0; MOST_COLUMNS],
            total: 0.0,
        }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, values: impl Iterator<Item = f64>, weight: f64) {
        let mut row = [0.0; MOST_COLUMNS];
        row.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        for left in 0..self.columns {
            let weighted = weight * row[left];
            self.sums[left] += weighted;
            let products = self.products[left].iter_mut().zip(&row).take(left + 1);
            products.for_each(|(product, value)| *product += weighted * value);
        }
        self.total += weight;
    }

    /// The same with one column more, of which the products with 1, with the others and with itself are given.
    pub(super) fn with_last(&self, sum: f64, others: impl Iterator<Item = f64>, own: f64) -> Squares {
        let mut wider = self.clone();
        let last = self.columns;
        assert!(last < MOST_COLUMNS);
        wider.columns += 1;
        wider.sums[last] = sum;
        wider.products[last].iter_mut().zip(others).for_each(|(place, product)| *place = product);
        wider.products[last][last] = own;
        wider
    }

    /// The coefficients and the weighted squares of what they leave; `None` without a finite solution.
    pub(super) fn solve(&self) -> Option<(Vec<f64>, f64)> {
        let (coefficients, error) = self.best()?;
        Some((coefficients[..self.columns].to_vec(), error))
    }

    /// The weighted squares of what the best coefficients leave; infinite without a finite solution.
    pub(super) fn least(&self) -> f64 {
        self.best().map_or(f64::INFINITY, |(_, error)| error)
    }

    /// In place, as it is asked for a hundred thousand times.
    fn best(&self) -> Option<([f64; MOST_COLUMNS], f64)> {
        let mut best: Option<([f64; MOST_COLUMNS], f64)> = None;
        for subset in 1u32..1 << self.columns {
            let Some(coefficients) = self.solve_chosen(subset) else { continue };
            if coefficients.iter().any(|&coefficient| coefficient < 0.0 || !coefficient.is_finite()) {
                continue;
            }
            // Sums of columns that were not chosen may have overflowed.
            let chosen = self.sums.iter().zip(&coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
            let explained: f64 = chosen.map(|(sum, coefficient)| sum * coefficient).sum();
            let error = (self.total - explained).max(0.0);
            if explained.is_finite()
                && error.is_finite()
                && best.as_ref().is_none_or(|(_, lowest)| error < *lowest)
            {
                best = Some((coefficients, error));
            }
        }
        best
    }

    /// Coefficients of the columns whose bits are set, by Cholesky's factors, scaled to a diagonal of 1; of the
    /// others 0.
    fn solve_chosen(&self, subset: u32) -> Option<[f64; MOST_COLUMNS]> {
        let mut chosen = [0; MOST_COLUMNS];
        let mut scale = [0.0; MOST_COLUMNS];
        let mut size = 0;
        for column in (0..self.columns).filter(|column| subset & 1 << column != 0) {
            (chosen[size], scale[size]) = (column, self.products[column][column].sqrt());
            if !(scale[size] > 0.0 && scale[size].is_finite()) {
                return None;
            }
            size += 1;
        }
        let mut lower = [[0.0; MOST_COLUMNS]; MOST_COLUMNS];
        let mut solution = [0.0; MOST_COLUMNS];
        for row in 0..size {
            for column in 0..=row {
                let product = self.products[chosen[row]][chosen[column]] / scale[row] / scale[column];
                let ridge = if row == column { RIDGE } else { 0.0 };
                let before: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
                let rest = product + ridge - before;
                lower[row][column] = if row == column {
                    if rest <= 0.0 {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / lower[column][column]
                };
            }
            let before: f64 = (0..row).map(|k| lower[row][k] * solution[k]).sum();
            solution[row] = (self.sums[chosen[row]] / scale[row] - before) / lower[row][row];
        }
        let mut coefficients = [0.0; MOST_COLUMNS];
        for row in (0..size).rev() {
            let after: f64 = (row + 1..size).map(|k| lower[k][row] * solution[k]).sum();
            solution[row] = (solution[row] - after) / lower[row][row];
            coefficients[chosen[row]] = solution[row] / scale[row];
        }
        Some(coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_would_be_negative_is_left_out() {
        // 1 = the first − 0.3 · the second.
        let rows = [[1.0, 0.0, 0.5], [1.3, 1.0, 0.9], [1.6, 2.0, 0.2], [1.9, 3.0, 0.4]];
        let mut squares = Squares::new(3);
        rows.iter().for_each(|row| squares.add(row.iter().copied(), 1.0));
        let (found, error) = squares.solve().unwrap();
        let left = |c: &[f64]| -> f64 {
            rows.iter().map(|row| (1.0 - row.iter().zip(c).map(|(x, c)| x * c).sum::<f64>()).powi(2)).sum()
        };
        assert!((left(&found) - error).abs() < 1e-7, "{error}");
        assert!(found[0] > 0.0 && found[1] == 0.0, "{found:?}");
        // Slow and obvious: nothing on a grid is better.
        let steps = 60;
        for i in 0..=steps {
            for j in 0..=steps {
                for k in 0..=steps {
                    let c = [i, j, k].map(|step| f64::from(step) / f64::from(steps) * 1.5);
                    assert!(left(&c) >= error - 1e-7, "{c:?} {found:?}");
                }
            }
        }
    }
}
