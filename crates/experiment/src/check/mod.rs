//! From what was written to what can be relied on: every rule of the experiment file that its text
//! alone can break. Mistakes are collected, not thrown, so that one reading tells them all.

mod design;
mod expressions;
mod files;
mod formulas;
mod metrics;
mod names;
mod parameters;
mod parse;
mod program;
mod values;

#[cfg(test)]
mod tests;

pub use files::{Files, Startable};
pub(crate) use names::RESOURCES;
pub use parse::{Checked, parse};
pub(crate) use values::convert;
