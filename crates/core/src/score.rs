//! How good predictions were: the study's scores.

use serde::{Deserialize, Serialize};

/// Scores over cases whose truth is known. Percentages are 0 to 100.
///
/// UPP, UP_MAPE and OV_MAPE as in HARP (PEARC'23): the share of under-predicted cases, and the mean
/// absolute percentage error among under- and over-predicted ones. `None` where there is no such case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Cases scored.
    pub cases: usize,
    /// Mean squared error.
    pub mse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Mean absolute percentage error.
    pub mape: f64,
    /// Median absolute percentage error.
    pub median_ape: f64,
    /// Percentage of cases predicted below the truth.
    pub upp: f64,
    /// MAPE of the cases predicted below the truth.
    pub up_mape: Option<f64>,
    /// MAPE of the cases predicted at or above the truth.
    pub ov_mape: Option<f64>,
}

/// What is off by no more than this share is equal but for rounding.
const ROUNDING: f64 = 1e-9;

impl Scores {
    /// Scores `(predicted, actual)` pairs; pairs whose actual value is not positive are skipped,
    /// and with none left there is no score.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Scores> {
        let pairs: Vec<(f64, f64)> = pairs.iter().copied().filter(|&(_, actual)| actual > 0.0).collect();
        if pairs.is_empty() {
            return None;
        }
        let mean =
            |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let percentage = |&(predicted, actual): &(f64, f64)| 100.0 * (predicted - actual).abs() / actual;
        let (under, over): (Vec<_>, Vec<_>) =
            pairs.iter().partition(|(predicted, actual)| *predicted < actual * (1.0 - ROUNDING));
        let of = |pairs: &[(f64, f64)]| pairs.iter().map(percentage).collect::<Vec<_>>();
        let mut all = of(&pairs);
        let mape = mean(&all)?;
        all.sort_by(f64::total_cmp);
        let middle = all.len() / 2;
        let median_ape = if all.len() % 2 == 1 { all[middle] } else { (all[middle - 1] + all[middle]) / 2.0 };
        let errors: Vec<f64> = pairs.iter().map(|(predicted, actual)| predicted - actual).collect();
        Some(Scores {
            cases: pairs.len(),
            mse: mean(&errors.iter().map(|e| e * e).collect::<Vec<_>>())?,
            mae: mean(&errors.iter().map(|e| e.abs()).collect::<Vec<_>>())?,
            mape,
            median_ape,
            upp: 100.0 * under.len() as f64 / pairs.len() as f64,
            up_mape: mean(&of(&under)),
            ov_mape: mean(&of(&over)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        let scores = Scores::of(&[(90.0, 100.0), (120.0, 100.0), (100.0, 100.0), (50.0, 100.0)]).unwrap();
        assert_eq!(scores.cases, 4);
        assert_eq!(scores.mae, 20.0);
        assert_eq!(scores.mse, (100.0 + 400.0 + 0.0 + 2500.0) / 4.0);
        assert_eq!(scores.mape, 20.0);
        assert_eq!(scores.median_ape, 15.0);
        assert_eq!(scores.upp, 50.0);
        assert_eq!(scores.up_mape, Some(30.0));
        assert_eq!(scores.ov_mape, Some(10.0));
        assert_eq!(Scores::of(&[(1.0, 0.0)]), None);
        assert_eq!(Scores::of(&[(5.0 - 1e-15, 5.0)]).unwrap().upp, 0.0);
        assert_eq!(Scores::of(&[(3.0, 2.0)]).unwrap().up_mape, None);
    }
}
