//! Plain pictures of numbers: lines over an axis, bars in groups, and jobs on processors over time.

use serde::Serialize;

use super::AxisView;

/// One line.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LineSeries {
    /// What it is; shown in the key where there are several.
    pub name: String,
    /// Its points by rising x.
    pub points: Vec<(f64, f64)>,
}

/// Lines over a common axis: distributions, or something over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinesView {
    /// What the picture says.
    pub title: String,
    /// What else must be known to read it.
    pub subtitle: String,
    /// Along the bottom.
    pub x: AxisView,
    /// Along the side.
    pub y: AxisView,
    /// The lines.
    pub series: Vec<LineSeries>,
}

/// Bars that stand together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BarGroup {
    /// What is written below; a group without a name is a gap.
    pub name: String,
    /// One value a series; `None` has no bar.
    pub values: Vec<Option<f64>>,
}

/// Bars in groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarsView {
    /// What the picture says.
    pub title: String,
    /// What else must be known to read it.
    pub subtitle: String,
    /// Along the side; it begins at 0.
    pub y: AxisView,
    /// What the bars of a group are; shown in the key where there are several.
    pub series: Vec<String>,
    /// The groups from left to right.
    pub groups: Vec<BarGroup>,
}

/// Parts that add up, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaterfallView {
    /// What the picture says.
    pub title: String,
    /// What else must be known to read it.
    pub subtitle: String,
    /// Along the side; it begins at 0.
    pub y: AxisView,
    /// The parts from left to right.
    pub parts: Vec<(String, f64)>,
    /// What all of them are together.
    pub total: String,
    /// Limits they are compared with.
    pub limits: Vec<(String, f64)>,
}

/// A job in a picture of processors over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GanttBar {
    /// Its name.
    pub name: String,
    /// When it starts, in seconds.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Its processors: first and count, several where they are not next to each other.
    pub processors: Vec<(u32, u32)>,
}

/// Which job ran where and when.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GanttView {
    /// What the picture says.
    pub title: String,
    /// What else must be known to read it.
    pub subtitle: String,
    /// What time counts from.
    pub time_name: String,
    /// The window's length in seconds; it begins at 0.
    pub length: f64,
    /// Processors of the machine.
    pub processors: u32,
    /// The jobs.
    pub jobs: Vec<GanttBar>,
}
