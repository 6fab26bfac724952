//! How good predictions of test rows were, and many of such figures together.

use harp_learn::{EvaluatedCase, Evaluation};

/// Errors in percent: MAPE, mean distance of the logarithms, requests too small; what was reserved until done as a
/// multiple of the truth; the share of the 90 % intervals that held.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    pub mape: f64,
    pub distance: f64,
    pub too_small: f64,
    pub reserved: f64,
    pub coverage: f64,
}

impl Figures {
    /// Of what a model said of test rows; `None` without any.
    pub fn of(evaluation: &Evaluation) -> Option<Figures> {
        let distance = |case: &EvaluatedCase| (case.prediction.estimate / case.actual).ln().abs();
        let distances = evaluation.cases.iter().map(distance).sum::<f64>() / evaluation.cases.len() as f64;
        Some(Figures {
            mape: evaluation.estimate.as_ref()?.mape,
            distance: 100.0 * distances,
            too_small: evaluation.request.as_ref()?.upp,
            reserved: evaluation.reserved_ratio?,
            coverage: evaluation.coverage_90?,
        })
    }

    /// The mean of each.
    pub fn mean(all: &[Figures]) -> Figures {
        let mean = |of: fn(&Figures) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Figures {
            mape: mean(|figures| figures.mape),
            distance: mean(|figures| figures.distance),
            too_small: mean(|figures| figures.too_small),
            reserved: mean(|figures| figures.reserved),
            coverage: mean(|figures| figures.coverage),
        }
    }

    /// Geometric means of what is a ratio, the others as in [`Figures::mean`].
    pub fn geometric(all: &[Figures]) -> Figures {
        let logarithms = |figures: &Figures| Figures {
            mape: figures.mape.max(0.1).ln(),
            distance: figures.distance.max(0.1).ln(),
            reserved: figures.reserved.ln(),
            ..*figures
        };
        let mean = Figures::mean(&all.iter().map(logarithms).collect::<Vec<_>>());
        Figures {
            mape: mean.mape.exp(),
            distance: mean.distance.exp(),
            reserved: mean.reserved.exp(),
            ..mean
        }
    }

    /// Above [`Figures::columns`].
    pub const HEADER: &str = " MAPE %  |ln| %  UPP % reserved cover90";

    /// As columns of a table.
    pub fn columns(&self) -> String {
        format!(
            "{:7.2} {:7.2} {:6.1} {:8.3} {:7.1}",
            self.mape, self.distance, self.too_small, self.reserved, self.coverage
        )
    }
}
