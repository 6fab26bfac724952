//! The data of a file as it was written.

use std::collections::BTreeMap;
use std::ops::Range;

use harp_core::{Bytes, Policy, Scale, Seconds, Value};

/// Something that was written, and the bytes of the file it was written in.
#[derive(Debug, Clone)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

impl<T> Located<T> {
    /// Where it starts.
    pub(crate) fn start(&self) -> usize {
        self.span.start
    }
}

/// What may have been written.
pub(crate) type Written<T> = Option<Located<T>>;

/// The whole file.
#[derive(Debug, Default)]
pub(crate) struct Spec {
    pub(crate) name: Written<String>,
    /// The name was wrong and has been reported.
    pub(crate) name_reported: bool,
    pub(crate) constraints: Vec<Located<String>>,
    /// The program was wrong as a whole and has been reported.
    pub(crate) program_reported: bool,
    pub(crate) program: Written<ProgramSpec>,
    pub(crate) metrics: Vec<(Located<String>, MetricSpec)>,
    pub(crate) parameters: Vec<(Located<String>, ParameterSpec)>,
    pub(crate) allocation: AllocationSpec,
    pub(crate) scale_allocations: BTreeMap<Scale, AllocationSpec>,
    pub(crate) design: DesignSpec,
    pub(crate) scale_designs: BTreeMap<Scale, DesignSpec>,
    pub(crate) learn: LearnSpec,
}

#[derive(Debug, Default)]
pub(crate) struct ProgramSpec {
    pub(crate) command: Written<CommandSpec>,
    /// The command was wrong and has been reported.
    pub(crate) command_reported: bool,
    pub(crate) shell: Written<bool>,
    pub(crate) directory: Written<String>,
    pub(crate) setup: Vec<Located<String>>,
    pub(crate) after: Vec<Located<String>>,
    pub(crate) environment: Vec<(Located<String>, Located<String>)>,
    pub(crate) inputs: Vec<FileSpec>,
    pub(crate) templates: Vec<FileSpec>,
    pub(crate) own_directory: Written<bool>,
    pub(crate) version: Written<String>,
    pub(crate) mpi: Written<bool>,
    pub(crate) modules: Vec<Located<String>>,
    pub(crate) success_exit_code: Written<i64>,
    pub(crate) success_output: Written<String>,
    pub(crate) success_files: Vec<Located<String>>,
}

#[derive(Debug)]
pub(crate) enum CommandSpec {
    Line(String),
    Words(Vec<Located<String>>),
}

/// An entry of inputs or templates.
#[derive(Debug)]
pub(crate) struct FileSpec {
    pub(crate) path: Located<String>,
    pub(crate) to: Written<String>,
    pub(crate) how: Written<String>,
}

#[derive(Debug, Default)]
pub(crate) struct MetricSpec {
    pub(crate) pattern: Written<String>,
    pub(crate) json: Written<String>,
    pub(crate) csv: Written<String>,
    pub(crate) from: Written<String>,
    pub(crate) take: Written<String>,
    /// Something about it was wrong and has been reported.
    pub(crate) broken: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ParameterSpec {
    pub(crate) kind: Written<String>,
    pub(crate) values: Written<ValuesSpec>,
    pub(crate) scales: BTreeMap<Scale, Located<ValuesSpec>>,
    pub(crate) expression: Written<String>,
    pub(crate) option: Written<String>,
    pub(crate) argument: Written<bool>,
    pub(crate) environment: Written<String>,
    pub(crate) template: Written<String>,
    pub(crate) constraints: Vec<Located<String>>,
    /// Something about it was wrong and has been reported.
    pub(crate) broken: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum ValuesSpec {
    List(Vec<Located<Value>>),
    Range(RangeSpec),
}

#[derive(Debug, Clone)]
pub(crate) struct RangeSpec {
    pub(crate) from: Located<Value>,
    pub(crate) to: Located<Value>,
    pub(crate) count: Written<i64>,
    pub(crate) step: Written<Value>,
    pub(crate) spacing: Written<String>,
}

#[derive(Debug, Default)]
pub(crate) struct AllocationSpec {
    pub(crate) nodes: Written<Vec<u32>>,
    pub(crate) tasks: Written<Vec<u32>>,
    pub(crate) cores: Written<Vec<u32>>,
    pub(crate) threads: Written<Vec<u32>>,
    pub(crate) memory: Written<Vec<Bytes>>,
    pub(crate) gpus: Written<Vec<u32>>,
    pub(crate) gpu_kind: Written<Vec<String>>,
    pub(crate) node_type: Written<Vec<String>>,
    pub(crate) constraint: Written<Vec<String>>,
}

#[derive(Debug, Default)]
pub(crate) struct DesignSpec {
    pub(crate) method: Written<String>,
    pub(crate) runs: Written<i64>,
    pub(crate) budget_time: Written<Seconds>,
    pub(crate) budget_cost: Written<f64>,
    pub(crate) repetitions: Written<i64>,
    pub(crate) timeout: Written<Seconds>,
    pub(crate) seed: Written<i64>,
    pub(crate) total_timeout: Written<Seconds>,
    pub(crate) parallel: Written<ParallelSpec>,
    pub(crate) order: Written<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ParallelSpec {
    Count(i64),
    Auto,
}

#[derive(Debug, Default)]
pub(crate) struct LearnSpec {
    pub(crate) policy: Written<Policy>,
    pub(crate) targets: Option<Vec<Located<String>>>,
    pub(crate) interval: Written<f64>,
    pub(crate) site: Written<String>,
    pub(crate) formulas: Vec<(Located<String>, Located<String>)>,
}
