//! What rendering takes and gives.

use std::path::{Path, PathBuf};

use harp_core::Seconds;
use thiserror::Error;

use crate::{Input, MetricRule, SuccessRule};

/// The directories a run is rendered for; full paths, so that what is rendered can be run from anywhere.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Where the experiment file is.
    pub experiment_directory: &'a Path,
    /// The directory of this run, used if the experiment gives each run a directory of its own.
    pub run_directory: &'a Path,
}

/// Everything needed to do one run of a configuration and to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// What to execute.
    pub execute: Execute,
    /// Variables to add to the environment.
    pub environment: Vec<(String, String)>,
    /// Where to run.
    pub directory: PathBuf,
    /// Whether `directory` is the run's own: to be made before and free of other runs' files.
    pub own_directory: bool,
    /// Files to put in place before.
    pub inputs: Vec<Input>,
    /// Files to write before.
    pub files: Vec<FilledFile>,
    /// Lines for `sh -c` after the program ended, in `directory` with the same environment.
    pub after: Vec<String>,
    /// When to end it.
    pub timeout: Option<Seconds>,
    /// How success is judged.
    pub success: SuccessRule,
    /// Which figures to take.
    pub metrics: Vec<MetricRule>,
}

/// What to execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execute {
    /// A program and its arguments, without a shell. Never empty.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// A configuration file with its values filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledFile {
    /// Where it goes.
    pub path: PathBuf,
    /// Its content.
    pub content: String,
}

/// What is run once before a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Lines for `sh -c`, in order.
    pub lines: Vec<String>,
    /// Where they run.
    pub directory: PathBuf,
}

/// Why a configuration cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenderError {
    /// The configuration does not belong to the experiment.
    #[error("`{{{name}}}` has no value in {configuration}")]
    NoValue {
        /// The placeholder.
        name: String,
        /// The configuration.
        configuration: String,
    },
    /// A template file is not there.
    #[error("cannot read the template file `{}`", path.display())]
    NoTemplateFile {
        /// The file.
        path: PathBuf,
    },
    /// A parameter is said to be in a template file and is not.
    #[error("the template file `{}` does not contain `{{{name}}}`", path.display())]
    NotInTemplateFile {
        /// The file.
        path: PathBuf,
        /// The parameter.
        name: String,
    },
}
