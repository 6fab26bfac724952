//! The table of candidates: every model, on every training mix, with every adjustment, and its scores.

use std::fmt;

use harp_core::{Reexecution, Scores};
use serde::{Deserialize, Serialize};

/// The kinds of model that compete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// The same for every case: the weighted median of the runs.
    Constant,
    /// Multiple linear regression, as in the study.
    Linear,
    /// Decision tree, as in the study.
    Tree,
    /// Neural network with layers of 128 and 64, as in the study.
    Network,
    /// Neural network with layers of 16 and 8, for few rows.
    SmallNetwork,
    /// Product of powers, with exponents that may differ by category and an additive constant.
    PowerLaw,
    /// The same with products of logarithms: exponents that change with size.
    CurvedPowerLaw,
    /// Least squares on the target itself with products of columns and reciprocals.
    Raw,
    /// Sum of power laws.
    Posynomial,
    /// Sum of phases, each a power law with round exponents.
    Phases,
    /// Gaussian process on logarithms.
    Process,
    /// Gaussian process on logarithms over a power law.
    TrendProcess,
    /// Power law, a curve of each feature, and a Gaussian process of all together.
    CurvesProcess,
    /// Power law, a curve of each feature, and a surface of every two.
    SurfacesProcess,
    /// Sum of power laws, and a Gaussian process of what it leaves.
    PosynomialProcess,
    /// Curved power law, and a Gaussian process of what it leaves.
    CurvedProcess,
    /// Boosted trees on the logarithm.
    Boosting,
    /// Sum of power laws, and boosted trees of what it leaves.
    PosynomialBoosting,
    /// Curved power law, and boosted trees of what it leaves.
    CurvedBoosting,
    /// The best few of the others together.
    Ensemble,
}

impl ModelKind {
    /// All of them, in the order of the table.
    pub const ALL: [ModelKind; 20] = [
        ModelKind::Constant,
        ModelKind::Linear,
        ModelKind::Tree,
        ModelKind::Network,
        ModelKind::SmallNetwork,
        ModelKind::PowerLaw,
        ModelKind::CurvedPowerLaw,
        ModelKind::Raw,
        ModelKind::Posynomial,
        ModelKind::Phases,
        ModelKind::Process,
        ModelKind::TrendProcess,
        ModelKind::CurvesProcess,
        ModelKind::SurfacesProcess,
        ModelKind::PosynomialProcess,
        ModelKind::CurvedProcess,
        ModelKind::Boosting,
        ModelKind::PosynomialBoosting,
        ModelKind::CurvedBoosting,
        ModelKind::Ensemble,
    ];

    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::Constant => "constant",
            ModelKind::Linear => "linear",
            ModelKind::Tree => "tree",
            ModelKind::Network => "network 128-64-1",
            ModelKind::SmallNetwork => "network 16-8-1",
            ModelKind::PowerLaw => "power law",
            ModelKind::CurvedPowerLaw => "curved power law",
            ModelKind::Raw => "sum of products",
            ModelKind::Posynomial => "sum of power laws",
            ModelKind::Phases => "sum of phases",
            ModelKind::Process => "Gaussian process",
            ModelKind::TrendProcess => "power law + Gaussian process",
            ModelKind::CurvesProcess => "curves + Gaussian process",
            ModelKind::SurfacesProcess => "curves + surfaces",
            ModelKind::PosynomialProcess => "power laws + Gaussian process",
            ModelKind::CurvedProcess => "curved law + Gaussian process",
            ModelKind::CurvedBoosting => "curved law + boosted trees",
            ModelKind::Boosting => "boosted trees",
            ModelKind::PosynomialBoosting => "power laws + boosted trees",
            ModelKind::Ensemble => "ensemble",
        }
    }

    /// Whether it goes on growing beyond the largest run it saw. The others level off there, and are
    /// right about larger runs only by luck.
    pub fn extrapolates(self) -> bool {
        !matches!(
            self,
            ModelKind::Constant
                | ModelKind::Tree
                | ModelKind::Network
                | ModelKind::SmallNetwork
                | ModelKind::Process
                | ModelKind::Boosting
        )
    }

    /// Whether it is trained with the loss that is asked for.
    pub(crate) fn knows_losses(self) -> bool {
        matches!(
            self,
            ModelKind::Linear
                | ModelKind::Network
                | ModelKind::SmallNetwork
                | ModelKind::Boosting
                | ModelKind::PosynomialBoosting
                | ModelKind::CurvedBoosting
        )
    }

    /// Whether it is a smooth function of all features over a power law or a sum of them.
    pub(crate) fn smooth_over_a_law(self) -> bool {
        matches!(
            self,
            ModelKind::TrendProcess
                | ModelKind::CurvesProcess
                | ModelKind::SurfacesProcess
                | ModelKind::PosynomialProcess
                | ModelKind::Ensemble
        )
    }

    /// Whether it is tried on every mix of the study, or only on all runs there are.
    pub fn in_every_mix(self) -> bool {
        matches!(
            self,
            ModelKind::Constant
                | ModelKind::Linear
                | ModelKind::Tree
                | ModelKind::Network
                | ModelKind::SmallNetwork
                | ModelKind::PowerLaw
                | ModelKind::CurvedPowerLaw
        )
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Which runs a candidate learned from: all scaled-down ones and a share of the full-scale ones,
/// the latter weighted so that both scales count the same (HARP, PEARC'23, up-samples them).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mix {
    /// Percentage of the full-scale configurations used: 0, 25, 50 or 75; 100 is all that are not
    /// being judged.
    pub full_scale_percent: u8,
}

impl Mix {
    /// The study's mixes.
    pub const ALL: [Mix; 4] = [
        Mix { full_scale_percent: 0 },
        Mix { full_scale_percent: 25 },
        Mix { full_scale_percent: 50 },
        Mix { full_scale_percent: 75 },
    ];
    /// Everything that is not being judged; used when there are too few runs for the others.
    pub const EVERYTHING: Mix = Mix { full_scale_percent: 100 };
}

impl fmt::Display for Mix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.full_scale_percent {
            0 => "SD".to_owned(),
            100 => "SD + all FS".to_owned(),
            percent => format!("SD + {percent} % FS"),
        };
        formatter.pad(&text)
    }
}

/// How a prediction is raised before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdjustmentKind {
    /// Not at all.
    None,
    /// The study's factor: 1 + MAPE of the under-predicted validation runs.
    Study,
}

impl AdjustmentKind {
    /// All of them, in the order of the table.
    pub const ALL: [AdjustmentKind; 2] = [AdjustmentKind::None, AdjustmentKind::Study];

    /// The name shown to people.
    pub fn name(self) -> &'static str {
        match self {
            AdjustmentKind::None => "none",
            AdjustmentKind::Study => "study",
        }
    }
}

impl fmt::Display for AdjustmentKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// An adjustment and its factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Adjustment {
    /// How the factor was found.
    pub kind: AdjustmentKind,
    /// What predictions are multiplied by; at least 1.
    pub factor: f64,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The model.
    pub model: ModelKind,
    /// What it learned from.
    pub mix: Mix,
    /// How its predictions are raised.
    pub adjustment: Adjustment,
    /// Numbers fitted, as a measure of its size; 0 when excluded.
    pub parameters: usize,
    /// Scores on validation runs it had not seen, adjustment included; `None` when excluded.
    pub scores: Option<Scores>,
    /// Mean over the validation runs of everything reserved until the run fits, divided by the
    /// truth, when each request is the prediction times the one factor that is best for that.
    pub reserved_ratio: Option<f64>,
    /// What its adjusted predictions would have cost as requests; `None` when excluded.
    #[serde(default)]
    pub reexecution: Option<Reexecuted>,
    /// What it says of itself, fitted on all runs: a formula, length scales or importances; `None` where it was
    /// not asked to, see [`crate::explain_candidates`].
    #[serde(default)]
    pub formula: Option<String>,
    /// Why it was not fitted.
    pub excluded: Option<String>,
}

/// Predictions taken as requests, and killed jobs run again: what it costs and what comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reexecuted {
    /// Mean attempts until a run fits.
    pub attempts: f64,
    /// Cost: everything used until the runs are done (killed attempts whole, the last as long as it
    /// ran), divided by what the runs need.
    pub cost: f64,
    /// Reward: percentage of everything reserved that did work which was kept.
    pub reward: f64,
}

impl Reexecuted {
    /// Of predicted and actual values; `None` of none.
    pub(crate) fn of(pairs: &[(f64, f64)], rule: Reexecution) -> Option<Reexecuted> {
        let needed: f64 = pairs.iter().map(|(_, actual)| actual).sum();
        let first = |predicted: f64, actual: f64| predicted.max(1e-6 * actual);
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            pairs.iter().map(|&(predicted, actual)| of(first(predicted, actual), actual)).sum()
        };
        let attempts = sum(&|first, actual| rule.attempts(first, actual).len() as f64) / pairs.len() as f64;
        let cost = sum(&|first, actual| rule.used(first, actual)) / needed;
        let reward = 100.0 * needed / sum(&|first, actual| rule.reserved(first, actual));
        let finite = attempts.is_finite() && cost.is_finite() && reward.is_finite();
        finite.then_some(Reexecuted { attempts, cost, reward })
    }
}

impl fmt::Display for Candidate {
    /// `power law on SD + 75 % FS, adjusted ×1.06`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let adjustment = match self.adjustment.kind {
            AdjustmentKind::None => String::new(),
            AdjustmentKind::Study => format!(", adjusted ×{:.3}", self.adjustment.factor),
        };
        formatter.pad(&format!("{} on {}{adjustment}", self.model, self.mix))
    }
}
