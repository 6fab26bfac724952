//! What is to be executed, and within which limits.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harp_core::{Bytes, Seconds};
use serde::{Deserialize, Serialize};

/// The program, with or without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// A program and its arguments, started as they are.
    Direct(Vec<String>),
    /// One line for `/bin/sh -c`.
    Shell(String),
}

/// How the peak of memory is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemoryMethod {
    /// A control group where one can be made, else sampling.
    #[default]
    Best,
    /// Sampling of /proc only, as where no control group can be made.
    Sampling,
    /// The same with hardly any work: where a scheduler measures, too, and this only fills its gaps.
    GentleSampling,
}

/// One program to execute and measure with all processes it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What to start.
    pub program: Program,
    /// Environment variables on top of those of this process.
    pub environment: BTreeMap<String, String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// File for its standard output, made anew; thrown away when `None`.
    pub stdout: Option<PathBuf>,
    /// File for its standard error, made anew; thrown away when `None`.
    pub stderr: Option<PathBuf>,
    /// The processors it may use, by the system's numbers; empty is all.
    pub cores: Vec<usize>,
    /// The most memory the whole tree may use.
    pub memory_limit: Option<Bytes>,
    /// The longest it may take.
    pub time_limit: Option<Seconds>,
    /// How the peak of memory is found.
    pub memory_method: MemoryMethod,
}

impl Task {
    /// A task without limits that runs in the current directory and whose output is thrown away.
    pub fn new(program: Program) -> Self {
        Self {
            program,
            environment: BTreeMap::new(),
            directory: PathBuf::from("."),
            stdout: None,
            stderr: None,
            cores: Vec::new(),
            memory_limit: None,
            time_limit: None,
            memory_method: MemoryMethod::default(),
        }
    }
}
