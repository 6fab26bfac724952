//! Targets that are put together from components: `load + epochs * epoch_time`, each component with a
//! model of its own (the "custom" estimators of HARP, PEARC'23), compared with one model of the whole
//! on runs neither saw.

mod compare;
mod formula;
mod parts;
mod rest;

pub use compare::{BothWays, Comparison, Kept, build_both_ways};
pub use formula::{Formula, FormulaError};
pub use parts::Custom;
pub use rest::Rest;
