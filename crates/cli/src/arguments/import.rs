//! Arguments of `harp import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use harp_core::Seconds;

/// Where jobs come from.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Put jobs of Slurm's accounting into a history: your own, from one call of sacct or a saved file
    #[command(
        after_help = "Examples:\n  harp import slurm --dry-run\n  harp import slurm --since 30d --rules rules.toml\n  harp import slurm --file saved.txt --time-zone America/New_York --runs\n\nA job already in the history is not imported twice. Rules, and how memory is counted: docs/import.md."
    )]
    Slurm(ImportSlurm),
}

/// Arguments of `harp import slurm`.
#[derive(Debug, Args)]
pub struct ImportSlurm {
    /// Jobs of this time up to now.
    #[arg(long, value_name = "TIME", default_value = "90d", conflicts_with = "file")]
    pub since: Seconds,
    /// Whose jobs, by name or number; others than your own need permission. Without it, yours.
    #[arg(long, value_name = "USER", conflicts_with = "file")]
    pub user: Option<String>,
    /// Read what `sacct --parsable2`, `sacct` or `sacct --json` printed from this file; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The time zone of a saved file's times, as in Europe/Berlin. Without it, this machine's.
    #[arg(long, value_name = "ZONE", requires = "file")]
    pub time_zone: Option<String>,
    /// Rules that say which application a job was and with which parameters.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// The history to put them into.
    #[arg(long, value_name = "FILE", default_value = ".harp/history.sqlite")]
    pub history: PathBuf,
    /// Show what would be imported; keep nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// List every run.
    #[arg(long)]
    pub runs: bool,
    /// Exit with 7 when some rows could not be used.
    #[arg(long)]
    pub strict: bool,
}
