//! What Slurm's clients print, as values: accounting (`sacct`), nodes and partitions (`scontrol`).
//!
//! It also writes the script of a job array. Text and numbers only: no process is started, no file opened, no clock read. A cell that is empty,
//! cut off or a word such as `Unknown` is missing, never 0; a row that cannot be used is counted with
//! its line.

mod accounting;
mod assemble;
mod cluster;
mod columns;
mod hosts;
mod identifier;
mod job;
mod json;
mod memory;
mod outcome;
mod own;
mod queue;
mod rows;
mod script;
mod state;
mod tres;
mod value;

pub use accounting::{AccountingError, BadRow, FIELDS, LISTED, Reading, read_accounting};
pub use cluster::{ClusterFacts, NodeFacts, PartitionFacts, Settings};
pub use hosts::expand_hosts;
pub use identifier::{JobId, Part, Step};
pub use job::{AccountedJob, ExitCode};
pub use json::number as json_number;
pub use outcome::Ended;
pub use own::{batch_of_job_name, own_job_name};
pub use queue::{QUEUE_FORMAT, Queue};
pub use rows::{Cells, RowError, Rows};
pub use script::{ArrayScript, JobRequest, check_extra, is_constraint, is_plain_name, load, quote};
pub use state::{State, StateKind};
pub use tres::Tres;
pub use value::{MemoryRequest, Per, TimeLimit, point, size, span};
