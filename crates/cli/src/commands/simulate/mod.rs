//! `harp simulate`: a trace played again under other policies or estimates.

mod charts;
mod command;
mod estimates;
mod tables;

pub use command::simulate;
