//! Arguments of commands that submit jobs or look at past ones.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use harp_core::{Bytes, Seconds};

use super::{Choosing, parse_probability};

/// Where runs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// On this machine.
    Here,
    /// As jobs of the Slurm cluster at hand.
    Slurm,
}

/// How jobs are submitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Slurm")]
pub struct Jobs {
    /// The partition. Without it, the cluster's own choice, or the first that admits what a run asks for.
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// The account to charge.
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// The site whose limits and prices hold. Without it, the experiment's, or what Slurm says of itself.
    #[arg(long, value_name = "SITE")]
    pub site: Option<String>,
    /// One more option of sbatch, as it is written there; may be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, value_parser = parse_extra)]
    pub sbatch: Vec<String>,
    /// Submit without asking; the price is shown all the same.
    #[arg(long, short)]
    pub yes: bool,
}

/// Arguments of a sweep as jobs.
#[derive(Debug, Args)]
pub struct SweepJobs {
    /// Where to run.
    #[arg(long, value_name = "WHERE", default_value = "here", help_heading = "Slurm")]
    pub on: Where,
    #[command(flatten)]
    pub jobs: Jobs,
    /// Jobs in the queue at most; a task of an array counts as one.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Slurm")]
    pub max_jobs: u32,
    /// Put short runs together until a job is expected to take this long; 0 gives each its own.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_span, help_heading = "Slurm")]
    pub pack: Seconds,
    /// The time each job asks for. Without it, what its runs may take.
    #[arg(long, value_name = "TIME", help_heading = "Slurm")]
    pub time: Option<Seconds>,
}

impl SweepJobs {
    /// No jobs: what runs is run on this machine.
    pub fn none() -> SweepJobs {
        let jobs = Jobs { partition: None, account: None, site: None, sbatch: Vec::new(), yes: false };
        SweepJobs { on: Where::Here, jobs, max_jobs: 1, pack: Seconds(0.0), time: None }
    }
}

/// How a request grows after a job was killed for time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Growth {
    /// To twice as much, as in the study.
    Double,
    /// To the model's next quantile: a fifth of the risk of the last.
    Model,
}

/// Arguments of `harp submit`.
#[derive(Debug, Args)]
pub struct Submit {
    #[command(flatten)]
    pub choosing: Choosing,
    #[command(flatten)]
    pub jobs: Jobs,
    /// Submit again, at most this often, when a job is killed for time (with more time) or memory (with
    /// more memory), or is lost with its node or preempted (unchanged). A program that fails is not tried
    /// again.
    #[arg(long, value_name = "TIMES", num_args = 0..=1, default_missing_value = "3", default_value_t = 0, hide_default_value = true)]
    pub retry: u32,
    /// How the time grows after a time-out.
    #[arg(long, value_name = "HOW", default_value = "double")]
    pub grow: Growth,
    /// Never ask for more time than this. Without it, than the partition allows.
    #[arg(long, value_name = "TIME")]
    pub cap_time: Option<Seconds>,
    /// Never ask for more memory on a node than this. Without it, than the node has.
    #[arg(long, value_name = "SIZE")]
    pub cap_memory: Option<Bytes>,
    /// Print the script and what it costs, and stop.
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `harp advise`.
#[derive(Debug, Args)]
pub struct Advise {
    /// How far to look back.
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub since: Seconds,
    /// Whose jobs. Without it, your own; others' need permission.
    #[arg(long, value_name = "USER", conflicts_with = "file")]
    pub user: Option<String>,
    /// Read what `sacct --parsable2 --format=ALL` printed from this file; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The site whose prices hold. Without it, what Slurm says of itself.
    #[arg(long, value_name = "SITE")]
    pub site: Option<String>,
    /// The accepted probability that a job is killed with what is advised, for time and for memory each.
    #[arg(long, value_name = "PROBABILITY", default_value = "0.05", value_parser = parse_probability)]
    pub risk: f64,
    /// Jobs of a kind before anything is said about it.
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    pub least: usize,
}

/// `harp within-job FOLDER TASK`, which harp's own jobs call. It is no command for people, and every task of
/// an array begins with it: that all the others are not even looked at saves much of the start.
#[derive(Debug, PartialEq, Eq)]
pub struct WithinJob {
    /// The folder of the submission.
    pub folder: PathBuf,
    /// The task.
    pub task: usize,
}

impl WithinJob {
    /// What a job calls harp with.
    pub const NAME: &str = "within-job";

    /// The arguments of this process, if it was started by a job.
    pub fn of_this_process() -> Option<WithinJob> {
        WithinJob::of(env::args_os().skip(1))
    }

    fn of(mut words: impl Iterator<Item = OsString>) -> Option<WithinJob> {
        let is_this = words.next()? == WithinJob::NAME;
        let (folder, task) = (words.next()?, words.next()?);
        let task = task.to_str()?.parse().ok()?;
        (is_this && words.next().is_none()).then(|| WithinJob { folder: folder.into(), task })
    }
}

fn parse_extra(text: &str) -> Result<String, String> {
    harp_slurm::check_extra(text).map(|()| text.to_owned())
}

fn parse_span(text: &str) -> Result<Seconds, String> {
    if text.trim() == "0" { Ok(Seconds(0.0)) } else { text.parse().map_err(|error| format!("{error}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_call_of_a_job_is_one() {
        let of = |line: &str| WithinJob::of(line.split_whitespace().map(OsString::from));
        let expected = WithinJob { folder: "/a/b".into(), task: 12 };
        assert_eq!(of("within-job /a/b 12"), Some(expected));
        for line in
            ["", "within-job", "within-job /a/b", "within-job /a/b x", "generate /a/b 12", "within-job a 1 2"]
        {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
