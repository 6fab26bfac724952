//! The experiment file as it was written: every key that has the right form, with its place, and
//! nothing concluded from it yet.

mod read;
mod sections;
mod sink;
mod unclosed;
mod written;

pub(crate) use read::read;
pub(crate) use sink::Sink;
pub(crate) use written::{
    AllocationSpec, CommandSpec, DesignSpec, FileSpec, LearnSpec, Located, MetricSpec, ParallelSpec,
    ParameterSpec, ProgramSpec, RangeSpec, Spec, ValuesSpec, Written,
};
