//! How a target grows with one parameter: measured runs, the predicted curve, the tested cases.

use harp_core::{Observed, Scale};
use serde::Serialize;

use super::Estimate;
use crate::Quantity;

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisView {
    /// What is along it: `n`, `walltime`.
    pub name: String,
    /// Its unit.
    pub quantity: Quantity,
    /// Logarithmic, unless a value is zero or negative.
    pub logarithmic: bool,
    /// Only whole numbers exist along it: threads, nodes.
    pub whole: bool,
}

impl AxisView {
    /// A logarithmic axis.
    pub fn logarithmic(name: impl Into<String>, quantity: Quantity) -> Self {
        AxisView { name: name.into(), quantity, logarithmic: true, whole: false }
    }

    /// A linear axis.
    pub fn linear(name: impl Into<String>, quantity: Quantity) -> Self {
        AxisView { name: name.into(), quantity, logarithmic: false, whole: false }
    }

    /// The same axis with ticks at whole numbers alone.
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.whole = true;
        self
    }
}

/// A run that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredPoint {
    /// The parameter's value.
    pub x: f64,
    /// The target; a lower bound when the run was killed at a limit.
    pub y: Observed,
    /// Scaled down or full scale.
    pub scale: Scale,
    /// Whether it was measured at other values of the features held, and `y` is what the model's ratio
    /// makes of it here.
    pub moved: bool,
}

/// The model along the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The parameter's value.
    pub x: f64,
    /// The prediction there.
    pub y: Estimate,
}

/// A tested case: predicted before it ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TestPoint {
    /// The parameter's value.
    pub x: f64,
    /// The prediction.
    pub predicted: Estimate,
    /// What happened, where it is known.
    pub actual: Option<Observed>,
}

/// The runs and curve of one category value, such as `method=pow`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ScalingSeries {
    /// The category value; empty when there is only one series.
    pub name: String,
    /// Measured runs.
    pub measured: Vec<MeasuredPoint>,
    /// The model, by rising `x`.
    pub curve: Vec<CurvePoint>,
    /// Tested cases.
    pub tests: Vec<TestPoint>,
}

/// A scaling curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScalingView {
    /// What the picture says.
    pub title: String,
    /// What else must be known to read it: fixed parameters, the machine.
    pub subtitle: String,
    /// The parameter.
    pub x: AxisView,
    /// The target.
    pub y: AxisView,
    /// Probability, 0 to 1, the intervals are meant to hold.
    pub coverage: f64,
    /// Largest measured value of the parameter in training; beyond it the curve extrapolates.
    pub measured_up_to: Option<f64>,
    /// One a category value.
    pub series: Vec<ScalingSeries>,
}
