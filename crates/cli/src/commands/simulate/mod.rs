//! `harp simulate`: a trace played again under other policies or estimates.

mod command;
mod tables;

pub use command::simulate;
