//! Learning from runs that were killed at a limit: of each only a lower bound is known.
//!
//! A power law through the finished runs tells where a killed run would have ended, were it not for
//! the limit; given that it needed more than the limit, what it needed on average is a little more
//! still. With these values in place of the bounds the law is fitted again, and so on, until they
//! settle (iterative least squares: Schmee and Hahn, Technometrics 1979). Bounds that the law exceeds
//! anyway say nothing and are left out; so are those far above it: a run that hung is not a law.

use super::{Known, Prepared};
use crate::killed::HANGS;
use crate::pipeline::Pipeline;
use crate::table::Table;
use crate::{BuildOptions, ModelKind};

const ROUNDS: usize = 5;
/// Bounds this many deviations below what the law says tell nothing new.
const TELLS_NOTHING: f64 = -2.0;
/// Least deviation of the law, in logarithms.
const SMALLEST_DEVIATION: f64 = 0.05;

impl Prepared {
    /// These rows and, beside them, bounds raised to what the killed runs probably needed.
    pub(super) fn raised(self, table: &Table, rows: &[(usize, f64)]) -> Prepared {
        let kept = |row: usize| !self.outliers.iter().any(|outlier| outlier.row == row);
        let measured: Vec<Known<'_>> = rows
            .iter()
            .filter(|(row, _)| kept(*row))
            .map(|&(row, weight)| Known { row: &table.rows[row], target: table.rows[row].target, weight })
            .collect();
        let heaviest = rows.iter().map(|&(_, weight)| weight).fold(1.0, f64::max);
        let mut all = measured.clone();
        let mut raised: Option<Prepared> = None;
        let mut hung = vec![false; table.lower_bounds.len()];
        for round in 0..ROUNDS {
            let prepared = raised.as_ref().unwrap_or(&self);
            let Ok(law) = Pipeline::fit(ModelKind::PowerLaw, prepared, &BuildOptions::default(), 0) else {
                return self;
            };
            let said = |known: &Known<'_>| {
                let cells: Vec<_> = known.row.cells.iter().map(Option::as_ref).collect();
                law.fitted_logarithm(&cells)
            };
            let squares: f64 = measured.iter().map(|known| (known.target.ln() - said(known)).powi(2)).sum();
            let freedom = measured.len().saturating_sub(law.fitted.parameters()).max(1);
            let deviation = (squares / freedom as f64).sqrt().max(SMALLEST_DEVIATION);
            if !deviation.is_finite() {
                return self;
            }
            all.truncate(measured.len());
            for (row, hung) in table.lower_bounds.iter().zip(&mut hung) {
                let weight = if row.full_scale { heaviest } else { 1.0 };
                let bound = Known { row, target: row.target, weight };
                let expected = said(&bound);
                let above = row.target.ln() - expected;
                // Told by the law of the finished runs alone.
                *hung |= round == 0 && above > HANGS.ln();
                let beyond = above / deviation;
                if !*hung && beyond > TELLS_NOTHING && beyond.is_finite() {
                    let target = (expected + deviation * mean_above(beyond)).exp().max(row.target);
                    all.push(Known { target, ..bound });
                }
            }
            if all.len() == measured.len() {
                return self;
            }
            raised = Some(Prepared::from(table.columns.len(), &all, measured.len()));
        }
        match raised {
            Some(raised) => Prepared { outliers: self.outliers, ..raised },
            None => self,
        }
    }
}

/// The mean of a standard normal variable that is known to exceed `bound`: φ(b)/(1 − Φ(b)), by its
/// continued fraction far out (Abramowitz and Stegun, 26.2.14) and by Simpson's rule elsewhere.
fn mean_above(bound: f64) -> f64 {
    if bound > 4.0 {
        // 1 − Φ(b) = φ(b) / (b + 1/(b + 2/(b + 3/(b + …))))
        return (1..=30).rev().fold(bound, |rest, term| bound + f64::from(term) / rest);
    }
    let steps = 400;
    let (low, high) = (bound, bound.max(0.0) + 9.0);
    let width = (high - low) / f64::from(steps);
    let density = |x: f64| (-0.5 * x * x).exp();
    let above: f64 = (0..=steps)
        .map(|step| {
            let weight = if step == 0 || step == steps {
                1.0
            } else if step % 2 == 1 {
                4.0
            } else {
                2.0
            };
            weight * density(low + f64::from(step) * width)
        })
        .sum::<f64>()
        * width
        / 3.0;
    density(bound) / above
}

#[cfg(test)]
mod tests {
    use super::*;

    /// φ(b)/(1 − Φ(b)) from tables of the normal distribution.
    #[test]
    fn means_above_a_bound_are_those_of_the_tables() {
        let known = [
            (-3.0, 0.004_438),
            (-1.0, 0.287_600),
            (0.0, 0.797_885),
            (1.0, 1.525_135),
            (3.0, 3.283_099),
            (6.0, 6.158_483),
        ];
        for (bound, mean) in known {
            assert!((mean_above(bound) - mean).abs() < 2e-5, "{bound}: {}", mean_above(bound));
        }
    }
}
