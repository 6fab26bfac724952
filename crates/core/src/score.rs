//! How good predictions were: the study's scores, and the cost of being killed and run again.

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
            pairs.iter().partition(|(predicted, actual)| predicted < actual);
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

/// What happens to a job that is killed at its limit: it is run again with more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reexecution {
    /// The next limit is this times the last one; the study doubles.
    pub growth: f64,
}

impl Default for Reexecution {
    fn default() -> Self {
        Reexecution { growth: 2.0 }
    }
}

impl Reexecution {
    /// Limits asked for, one an attempt, until one holds the actual need.
    pub fn attempts(self, first: f64, actual: f64) -> Vec<f64> {
        let growth = if self.growth > 1.0 { self.growth } else { 2.0 };
        // A request of nothing would never grow; a thousandth of the need is as good a start.
        let mut limit = if first > 0.0 { first } else { actual / 1000.0 };
        let mut limits = vec![limit];
        while limit < actual {
            limit *= growth;
            limits.push(limit);
        }
        limits
    }

    /// All that was asked for, in units of the target.
    pub fn reserved(self, first: f64, actual: f64) -> f64 {
        self.attempts(first, actual).iter().sum()
    }

    /// All that was used: killed attempts whole, the last one only as long as it ran.
    pub fn used(self, first: f64, actual: f64) -> f64 {
        let attempts = self.attempts(first, actual);
        attempts[..attempts.len() - 1].iter().sum::<f64>() + actual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_costs_what_the_study_says() {
        // HARP, PEARC'23: first request and true seconds, cumulative seconds of all attempts.
        let doubling = Reexecution::default();
        assert_eq!(doubling.used(180.0, 685.0), 1225.0);
        assert_eq!(doubling.used(95.0, 516.0), 1181.0);
        assert_eq!(doubling.used(103.0, 516.0), 1237.0);
        assert_eq!(doubling.used(700.0, 685.0), 685.0);
        assert_eq!(doubling.reserved(700.0, 685.0), 700.0);
        assert_eq!(doubling.reserved(400.0, 685.0), 1200.0);
        assert!(doubling.used(0.0, 10.0).is_finite());
    }

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
        assert_eq!(Scores::of(&[(3.0, 2.0)]).unwrap().up_mape, None);
    }
}
