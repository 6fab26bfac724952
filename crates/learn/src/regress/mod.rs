//! The regressors behind one trait, and their fitted forms, which are plain data.
//!
//! The study's models (linear, tree, network) see standardised features and learn the target in its
//! own unit, as in HARP (PEARC'23). The power law sees the features themselves and learns the
//! logarithm of the target.

mod boosting;
mod cholesky;
mod constant;
mod linear;
mod log_space;
mod minimise;
mod network;
mod penalty;
mod phases;
mod posynomial;
mod power_law;
mod process;
mod raw;
mod ridge;
mod tree;
mod trended;

pub(crate) use boosting::Boosted;
pub(crate) use cholesky::Cholesky;
pub(crate) use linear::Linear;
pub(crate) use network::{Network, ROWS_FOR_WIDE_NETWORK};
pub(crate) use penalty::Penalty;
pub(crate) use phases::Phases;
pub(crate) use posynomial::Posynomial;
pub(crate) use power_law::{PowerLaw, number};
pub(crate) use process::Process;
pub(crate) use raw::Raw;
pub(crate) use tree::Tree;
pub(crate) use trended::{MENDED, Trended};

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::ModelKind;
use crate::prepare::ColumnRole;
use process::Shape;
use trended::{LawKind, RestKind, TrendedRegression};

/// What a regressor learns from.
pub(crate) struct Training<'a> {
    /// One vector a row, all of one width.
    pub inputs: &'a [Vec<f64>],
    /// Positive.
    pub targets: &'a [f64],
    /// Positive; a weight of 3 counts as the row three times over.
    pub weights: &'a [f64],
    /// What each input column is; empty when columns are mixtures of features.
    pub roles: &'a [ColumnRole],
    /// Different configurations among the rows.
    pub configurations: usize,
    /// For what is random.
    pub seed: u64,
    /// What errors cost, to models that ask: linear, neural and boosted ones.
    pub penalty: Penalty,
    /// The posynomial of these rows once one has been fitted; several models start from it.
    pub law: Option<&'a OnceLock<Result<Posynomial, String>>>,
}

#[cfg(test)]
impl<'a> Training<'a> {
    /// Rows that are all different configurations, of columns that are plain numbers.
    fn plain(inputs: &'a [Vec<f64>], targets: &'a [f64], weights: &'a [f64]) -> Training<'a> {
        Training {
            inputs,
            targets,
            weights,
            roles: &[],
            configurations: inputs.len(),
            seed: 1,
            penalty: Penalty::Squares,
            law: None,
        }
    }
}

impl Training<'_> {
    /// The posynomial of these rows, fitted once.
    fn posynomial(&self) -> Result<Posynomial, String> {
        match self.law {
            Some(law) => law.get_or_init(|| Posynomial::fit(self)).clone(),
            None => Posynomial::fit(self),
        }
    }
}

/// A kind of model that can be fitted.
pub(crate) trait Regressor: Sync {
    /// Whether it learns from standardised features or from the features themselves.
    fn standardised(&self) -> bool;

    /// Fits, or says why it cannot.
    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String>;
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fitted {
    Linear(Linear),
    Tree(Tree),
    Network(Network),
    PowerLaw(PowerLaw),
    Raw(Raw),
    Posynomial(Posynomial),
    Phases(Phases),
    Process(Process),
    Boosted(Boosted),
    Trended(Trended),
}

/// The regressor of a kind; the ensemble has none of its own.
pub(crate) fn regressor(kind: ModelKind) -> Option<Box<dyn Regressor>> {
    let trended = |law, rest| -> Box<dyn Regressor> { Box::new(TrendedRegression { law, rest }) };
    let process = |shape| -> Box<dyn Regressor> { Box::new(process::ProcessRegression(shape)) };
    Some(match kind {
        ModelKind::Ensemble => return None,
        ModelKind::Constant => Box::new(constant::ConstantRegression),
        ModelKind::Linear => Box::new(linear::LinearRegression),
        ModelKind::Tree => Box::new(tree::DecisionTree),
        ModelKind::Network => Box::new(network::NeuralNetwork::WIDE),
        ModelKind::SmallNetwork => Box::new(network::NeuralNetwork::SMALL),
        ModelKind::PowerLaw => Box::new(power_law::PowerLawRegression { products: false }),
        ModelKind::CurvedPowerLaw => Box::new(power_law::PowerLawRegression { products: true }),
        ModelKind::Raw => Box::new(raw::RawRegression),
        ModelKind::Posynomial => Box::new(posynomial::PosynomialRegression),
        ModelKind::Phases => Box::new(phases::PhasesRegression),
        ModelKind::Process => process(Shape { own_noise: true, ..Shape::SMOOTH }),
        ModelKind::TrendProcess => process(Shape { trend: true, own_noise: true, ..Shape::SMOOTH }),
        ModelKind::CurvesProcess => process(Shape { trend: true, curves: true, ..Shape::SMOOTH }),
        ModelKind::SurfacesProcess => {
            process(Shape { smooth: false, trend: true, curves: true, surfaces: true, own_noise: true })
        }
        ModelKind::PosynomialProcess => trended(LawKind::Posynomial, RestKind::Process),
        ModelKind::CurvedProcess => trended(LawKind::Curved, RestKind::Process),
        ModelKind::Boosting => Box::new(boosting::BoostingRegression),
        ModelKind::PosynomialBoosting => trended(LawKind::Posynomial, RestKind::Boosting),
        ModelKind::CurvedBoosting => trended(LawKind::Curved, RestKind::Boosting),
    })
}

impl Fitted {
    /// The prediction for one row; may be anything a float can be, the caller clips it.
    pub(crate) fn predict(&self, row: &[f64]) -> f64 {
        match self {
            Fitted::Linear(model) => model.predict(row),
            Fitted::Tree(model) => model.predict(row),
            Fitted::Network(model) => model.predict(row),
            Fitted::PowerLaw(model) => model.predict(row),
            Fitted::Raw(model) => model.predict(row),
            Fitted::Posynomial(model) => model.predict(row),
            Fitted::Phases(model) => model.predict(row),
            Fitted::Process(model) => model.predict(row),
            Fitted::Boosted(model) => model.predict(row),
            Fitted::Trended(model) => model.predict(row),
        }
    }

    /// Whether it goes on growing beyond the largest run; see [`ModelKind::extrapolates`].
    pub(crate) fn extrapolates(&self) -> bool {
        match self {
            Fitted::Tree(_) | Fitted::Network(_) | Fitted::Boosted(_) => false,
            Fitted::Process(process) => process.slopes.iter().any(|slope| *slope != 0.0),
            Fitted::Linear(_)
            | Fitted::PowerLaw(_)
            | Fitted::Raw(_)
            | Fitted::Posynomial(_)
            | Fitted::Phases(_)
            | Fitted::Trended(_) => true,
        }
    }

    /// Numbers fitted.
    pub(crate) fn parameters(&self) -> usize {
        match self {
            Fitted::Linear(model) => model.coefficients.len() + 1,
            Fitted::Tree(model) => model.nodes.len(),
            Fitted::Network(model) => model.parameters(),
            Fitted::PowerLaw(model) => model.parameters(),
            Fitted::Raw(model) => model.terms.len() + 1,
            Fitted::Posynomial(model) => model.parameters(),
            Fitted::Phases(model) => model.parameters(),
            Fitted::Process(model) => model.parameters(),
            Fitted::Boosted(model) => model.parameters(),
            Fitted::Trended(model) => model.parameters(),
        }
    }

    /// Whether it can predict rows of the given width without going astray.
    pub(crate) fn check(&self, width: usize) -> Result<(), String> {
        match self {
            Fitted::Linear(model) => model.check(width),
            Fitted::Tree(model) => model.check(width),
            Fitted::Network(model) => model.check(width),
            Fitted::PowerLaw(model) => model.check(width),
            Fitted::Raw(model) => model.check(width),
            Fitted::Posynomial(model) => model.check(width),
            Fitted::Phases(model) => model.check(width),
            Fitted::Process(model) => model.check(width),
            Fitted::Boosted(model) => model.check(width),
            Fitted::Trended(model) => model.check(width),
        }
    }
}
