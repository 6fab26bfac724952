//! Arguments of `harp site`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `harp site`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Site {
    #[command(subcommand)]
    pub command: Option<SiteCommand>,
    /// The site to show, by name or file.
    #[arg(value_name = "SITE")]
    pub site: Option<String>,
}

/// What to do with sites.
#[derive(Debug, Subcommand)]
pub enum SiteCommand {
    /// List the sites harp knows
    List,
    /// Show a site: node types, partitions, limits, what it charges, and what is not known
    #[command(
        after_help = "Examples:\n  harp site show tacc-stampede3\n  harp site show ./cluster.toml --json"
    )]
    Show {
        /// The site, by name or file.
        #[arg(value_name = "SITE")]
        site: String,
    },
    /// Check a profile of your own
    #[command(
        after_help = "Examples:\n  harp site check cluster.toml\n\nProfiles in ~/.config/harp/sites are known by their name and go before harp's own."
    )]
    Check {
        /// The profile.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Write a profile of the Slurm cluster at hand from what its controller says
    #[command(
        after_help = "Examples:\n  harp site discover --output cluster.toml\n  (scontrol show config; scontrol show partitions; scontrol show nodes) > saved.txt\n  harp site discover --file saved.txt"
    )]
    Discover(SiteDiscover),
    /// Measure this machine in a few seconds: what its threads compute, what memory and disk move
    #[command(
        after_help = "Examples:\n  harp site bench\n  harp site bench --json\n  srun -w node17 harp site bench --experiment ~/sweep\n\nRuns of several measured machines let a model predict on another: harp predict --node-type."
    )]
    Bench(SiteBench),
}

/// Arguments of `harp site bench`.
#[derive(Debug, Args)]
pub struct SiteBench {
    /// The experiment whose history keeps what was measured, if it exists.
    #[arg(long, value_name = "FILE", default_value = "harp.toml")]
    pub experiment: PathBuf,
    /// Write the line for a node type of a site profile to this file.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `harp site discover`.
#[derive(Debug, Args)]
pub struct SiteDiscover {
    /// Read what `scontrol show config`, `show partitions` and `show nodes` printed from this file; - is
    /// standard input. Without it they are called.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Write the profile to this file instead of printing it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// The site's name. Without it, the cluster's.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}
