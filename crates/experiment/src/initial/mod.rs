//! A first experiment file from a command line, for `harp init -- ./app --size 100 input.dat`.
//!
//! What looks like a size is varied, everything else is kept; every guess is commented so that a
//! person can put it right. Nothing is run and no file is looked at: whether a word names a file is
//! asked of the caller.

mod guess;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use guess::is_interpreter;
pub use write::{Initial, init_from_command};
