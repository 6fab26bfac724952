//! A small expression language for computed parameters and constraints: `n * n`,
//! `n % threads == 0`, `method == "pow" and terms <= 1e6`.
//!
//! Numbers, texts and truth values; `+ - * / % **`, comparisons, `and or not`, a dozen functions.
//! Whole numbers stay whole while that is exact; what has no value (division by zero, overflow) is an
//! error with a place, never a panic, an infinity or a wrong number. There are no loops, no
//! assignments and no way to reach anything outside the values handed in.

mod evaluate;
mod function;
mod lexer;
mod parser;
mod sort;
mod tree;

#[cfg(test)]
mod tests;

pub(crate) use sort::Sort;
pub use tree::{Expression, ExpressionError};
use tree::{Form, Node, Operator};
