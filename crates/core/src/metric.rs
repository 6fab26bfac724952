//! Figures a program reports about itself: seconds per epoch, residuals, counts.

use std::collections::BTreeMap;

/// Figures by name.
pub type Metrics = BTreeMap<String, f64>;
