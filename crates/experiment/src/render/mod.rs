//! From a configuration to what is executed: words, environment, files, and how the end is judged.
//!
//! Only texts and paths are made here; nothing is created, linked or started.

mod filler;
mod types;

#[cfg(test)]
mod tests;

pub use types::{Execute, FilledFile, Place, RenderError, Rendered, Setup};
