//! A law, and a second model of what it leaves: the law carries the prediction beyond the measured
//! range, the second model mends it inside.

use serde::{Deserialize, Serialize};

use super::boosting::Boosted;
use super::posynomial::Posynomial;
use super::power_law::{PowerLaw, PowerLawRegression};
use super::process::{Process, Shape};
use super::{Fitted, Regressor, Training};

/// Stands between the words of a law and those of the model of what it leaves.
pub(crate) const MENDED: &str = ", mended by a model with ";

/// Which law, and which model learns what it leaves.
pub(crate) struct TrendedRegression {
    pub law: LawKind,
    pub rest: RestKind,
}

/// Laws that may lie underneath.
pub(crate) enum LawKind {
    Posynomial,
    Curved,
}

/// Models of what a law leaves.
pub(crate) enum RestKind {
    Process,
    Boosting,
}

/// ln T = law + rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trended {
    pub law: Law,
    pub rest: Rest,
}

/// The law underneath.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Law {
    Posynomial(Posynomial),
    PowerLaw(PowerLaw),
}

/// The model of what the law leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rest {
    Process(Process),
    Boosted(Boosted),
}

impl Regressor for TrendedRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let law = match self.law {
            LawKind::Posynomial => Law::Posynomial(training.posynomial()?),
            LawKind::Curved => Law::PowerLaw(PowerLaw::fit(training, PowerLawRegression { products: true })?),
        };
        let left: Vec<f64> = training
            .inputs
            .iter()
            .zip(training.targets)
            .map(|(row, target)| target.ln() - law.logarithm(row))
            .collect();
        if !left.iter().all(|value| value.is_finite()) {
            return Err("the law leaves what is not a number".to_owned());
        }
        let rest = match self.rest {
            RestKind::Process => Rest::Process(Process::fit(training, &left, Shape::SMOOTH)?),
            RestKind::Boosting => Rest::Boosted(Boosted::fit(training, &left)?),
        };
        Ok(Fitted::Trended(Trended { law, rest }))
    }
}

impl Law {
    /// ln T.
    fn logarithm(&self, row: &[f64]) -> f64 {
        match self {
            Law::Posynomial(law) => law.logarithm(row),
            Law::PowerLaw(law) => law.predict(row).max(1e-300).ln(),
        }
    }
}

impl Trended {
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let rest = match &self.rest {
            Rest::Process(process) => process.logarithm(row),
            Rest::Boosted(boosted) => boosted.logarithm(row),
        };
        (self.law.logarithm(row) + rest).min(700.0).exp()
    }

    pub(super) fn parameters(&self) -> usize {
        let law = match &self.law {
            Law::Posynomial(law) => law.parameters(),
            Law::PowerLaw(law) => law.parameters(),
        };
        law + match &self.rest {
            Rest::Process(process) => process.parameters(),
            Rest::Boosted(boosted) => boosted.parameters(),
        }
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        match &self.law {
            Law::Posynomial(law) => law.check(width)?,
            Law::PowerLaw(law) => law.check(width)?,
        }
        match &self.rest {
            Rest::Process(process) => process.check(width),
            Rest::Boosted(boosted) => boosted.check(width),
        }
    }

    /// The law's formula, and what the second model says of itself.
    pub(crate) fn describe(&self, name: impl Fn(usize) -> String) -> String {
        let rest = match &self.rest {
            Rest::Process(process) => process.describe(&name),
            Rest::Boosted(boosted) => boosted.describe(&name),
        };
        let law = match &self.law {
            Law::Posynomial(law) => law.formula(&name),
            Law::PowerLaw(law) => law.formula(&name),
        };
        format!("{law}{MENDED}{rest}")
    }
}
