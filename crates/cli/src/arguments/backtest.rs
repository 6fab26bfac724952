//! Arguments of `harp backtest`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{BuildSettings, Since, parse_probability};

/// Which runs are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Judged {
    /// Those of scale test.
    Scale,
    /// The latest, by models that know only the earlier ones.
    Time,
}

/// Arguments of `harp backtest`.
#[derive(Debug, Args)]
pub struct Backtest {
    /// The experiment file whose history is judged.
    #[arg(value_name = "FILE", default_value = "harp.toml", conflicts_with = "csv")]
    pub file: PathBuf,
    /// Judge a sweep in a CSV file instead, one run a row, with commas, semicolons or tabs between
    /// cells; between semicolons numbers may have a decimal comma. - is standard input.
    #[arg(long, value_name = "FILE", requires = "target")]
    pub csv: Option<PathBuf>,
    /// What is predicted: a column of the CSV file; else walltime, peak_memory, cpu_time or a metric.
    /// Without it, the experiment's first target.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// The column of the CSV file that holds sd, fs or test. Without it the rows are in order of time.
    #[arg(long, value_name = "COLUMN", requires = "csv")]
    pub split: Option<String>,
    /// The column of the CSV file that says which runs were killed at a limit (yes, 1, timed_out, …): what they
    /// needed is at least what stands there. They are learned from and not judged on.
    #[arg(long, value_name = "COLUMN", requires = "csv")]
    pub killed: Option<String>,
    /// Columns of the CSV file that are no features, such as what was measured after the run.
    #[arg(long, value_name = "COLUMN", requires = "csv", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Which runs are judged.
    #[arg(long, value_name = "HOW", default_value = "scale", conflicts_with = "csv")]
    pub by: Judged,
    /// In order of time, the share of the runs that is judged: the latest.
    #[arg(long, value_name = "SHARE", default_value = "0.25", value_parser = parse_probability, conflicts_with = "split")]
    pub latest: f64,
    /// Show every run judged on: what was predicted of it, what would have been asked for, and the truth.
    #[arg(long)]
    pub cases: bool,
    /// Learn from and judge only runs that began since then: a date or a moment (UTC), or a time ago such
    /// as 30d.
    #[arg(long, value_name = "WHEN", conflicts_with = "csv")]
    pub since: Option<Since>,
    #[command(flatten)]
    pub settings: BuildSettings,
}
