//! Multiple linear regression by weighted least squares, as in the study.

use serde::{Deserialize, Serialize};

use super::ridge::Problem;
use super::{Fitted, Penalty, Regressor, Training};

/// A hair of ridge keeps columns that nearly repeat one another from blowing up.
const HAIR: f64 = 1e-9;
/// Losses other than squares are minimised by weighing rows anew this often.
const REWEIGHTINGS: usize = 40;
/// Residuals closer to a quantile than this share of the largest count as this far from it.
const NEAR: f64 = 1e-5;

/// Fits a [`Linear`].
pub(crate) struct LinearRegression;

/// Intercept + Σ coefficient · column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Linear {
    pub intercept: f64,
    pub coefficients: Vec<f64>,
}

impl Regressor for LinearRegression {
    fn standardised(&self) -> bool {
        true
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let width = training.inputs.first().map_or(0, Vec::len);
        let problem = Problem {
            rows: training.inputs,
            targets: training.targets,
            weights: training.weights,
            hardness: &vec![1.0; width],
        };
        let none = "least squares has no finite solution";
        let solve = |problem: &Problem<'_>| -> Result<Linear, String> {
            let fit = problem.solve(&[HAIR], |_, _| 0.0).ok_or(none)?;
            Ok(Linear { intercept: fit.intercept, coefficients: fit.coefficients })
        };
        let mut linear = solve(&problem)?;
        if training.penalty != Penalty::Squares {
            let residual =
                |linear: &Linear, row: usize| training.targets[row] - linear.predict(&training.inputs[row]);
            let largest =
                (0..training.targets.len()).map(|row| residual(&linear, row).abs()).fold(0.0, f64::max);
            for _ in 0..REWEIGHTINGS {
                let weight = |row: usize| {
                    training.weights[row] * training.penalty.weight(residual(&linear, row), NEAR * largest)
                };
                let weights: Vec<f64> = (0..training.targets.len()).map(weight).collect();
                if largest == 0.0 || !weights.iter().all(|weight| weight.is_finite()) {
                    break;
                }
                linear = solve(&Problem { weights: &weights, ..problem })?;
            }
        }
        Ok(Fitted::Linear(linear))
    }
}

impl Linear {
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        self.intercept + self.coefficients.iter().zip(row).map(|(c, value)| c * value).sum::<f64>()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let finite = self.intercept.is_finite() && self.coefficients.iter().all(|c| c.is_finite());
        if finite && self.coefficients.len() == width {
            Ok(())
        } else {
            Err(format!("the linear model does not fit {width} columns"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(inputs: &[Vec<f64>], targets: &[f64], weights: &[f64]) -> Linear {
        let training = Training::plain(inputs, targets, weights);
        match LinearRegression.fit(&training).unwrap() {
            Fitted::Linear(linear) => linear,
            other => panic!("{other:?}"),
        }
    }

    /// Under a quantile's loss about that share of the rows lies below the line.
    #[test]
    fn a_quantile_has_its_share_below() {
        let inputs: Vec<Vec<f64>> = (0..200).map(|index| vec![f64::from(index)]).collect();
        let swing = |index: usize| (index as f64 * 0.618).fract() * (1.0 + index as f64 / 50.0);
        let targets: Vec<f64> = (0..200).map(|index| 5.0 + index as f64 + swing(index)).collect();
        let weights = vec![1.0; 200];
        for (penalty, low, high) in [
            (Penalty::Quantile { level: 0.9 }, 0.87, 0.93),
            (Penalty::Weighted { below: 9.0 }, 0.65, 0.9),
            (Penalty::Squares, 0.4, 0.6),
        ] {
            let training = Training { penalty, ..Training::plain(&inputs, &targets, &weights) };
            let Fitted::Linear(line) = LinearRegression.fit(&training).unwrap() else { panic!() };
            let below = inputs.iter().zip(&targets).filter(|(row, target)| **target <= line.predict(row));
            let share = below.count() as f64 / 200.0;
            assert!((low..=high).contains(&share), "{penalty:?} {share}");
        }
    }

    proptest! {
        /// A weight of k is the row k times.
        #[test]
        fn weights_are_repetitions(rows in prop::collection::vec((0.0..9.0f64, 0.0..9.0f64, 1usize..4), 6..20)) {
            let inputs: Vec<Vec<f64>> = rows.iter().map(|&(x, _, _)| vec![x]).collect();
            prop_assume!(inputs.iter().any(|row| (row[0] - inputs[0][0]).abs() > 1.0));
            let targets: Vec<f64> = rows.iter().map(|&(_, y, _)| y).collect();
            let weights: Vec<f64> = rows.iter().map(|&(_, _, k)| k as f64).collect();
            let weighted = fit(&inputs, &targets, &weights);
            let mut repeated = (Vec::new(), Vec::new());
            for &(x, y, k) in &rows {
                for _ in 0..k {
                    repeated.0.push(vec![x]);
                    repeated.1.push(y);
                }
            }
            let slow = fit(&repeated.0, &repeated.1, &vec![1.0; repeated.1.len()]);
            prop_assert!((weighted.predict(&[3.0]) - slow.predict(&[3.0])).abs() < 1e-6);
        }

        /// The textbook formula for one column.
        #[test]
        fn one_column_is_the_textbook_line(rows in prop::collection::vec((0.0..9.0f64, 0.0..9.0f64), 4..20)) {
            let inputs: Vec<Vec<f64>> = rows.iter().map(|&(x, _)| vec![x]).collect();
            prop_assume!(inputs.iter().any(|row| (row[0] - inputs[0][0]).abs() > 1.0));
            let n = rows.len() as f64;
            let (mx, my) = (rows.iter().map(|r| r.0).sum::<f64>() / n, rows.iter().map(|r| r.1).sum::<f64>() / n);
            let sxy: f64 = rows.iter().map(|r| (r.0 - mx) * (r.1 - my)).sum();
            let sxx: f64 = rows.iter().map(|r| (r.0 - mx).powi(2)).sum();
            let targets: Vec<f64> = rows.iter().map(|r| r.1).collect();
            let line = fit(&inputs, &targets, &vec![1.0; rows.len()]);
            prop_assert!((line.coefficients[0] - sxy / sxx).abs() < 1e-5);
            prop_assert!((line.predict(&[mx]) - my).abs() < 1e-6);
        }
    }
}
