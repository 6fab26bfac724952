//! The arguments of `harp trace` and `harp simulate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use harp_sim::Policy;
use harp_trace::summary::Machine;
use harp_trace::{ColumnMap, Format, Zone};

use super::estimates::Wanted;

/// What to do with a job trace.
#[derive(Debug, Subcommand)]
pub enum Trace {
    /// Say how a cluster behaves: geometry of jobs, failures, users, and what follows
    #[command(
        after_help = "Examples:\n  harp trace summary KTH-SP2.swf.gz\n  harp trace summary jobs.csv --machine procs=49152 --html jobs.html\n  sacct -aP --format=ALL | harp trace summary - --machine procs=2048\n\nThe kind of trace is told from its content. How to use it: docs/traces.md; what is computed: docs/simulation.md."
    )]
    Summary(TraceSummary),
    /// Put several traces side by side
    #[command(
        after_help = "Examples:\n  harp trace compare Mira.swf.gz Theta.swf.gz\n  harp trace compare a.csv b.csv --machine procs=49152 --machine procs=4392"
    )]
    Compare(TraceCompare),
    /// Write a trace in another format: SWF, CSV or JSON lines
    #[command(
        after_help = "Examples:\n  harp trace convert jobs.swf.gz --output jobs.csv\n  harp trace convert sacct.txt --to swf | gzip > jobs.swf.gz"
    )]
    Convert(TraceConvert),
    /// Write a trace without what could tell who ran what
    #[command(
        after_help = "Examples:\n  harp trace anonymise jobs.swf --output shared.swf.gz\n\nPeople, projects, programs, queues and dates become numbers; sizes and times stay."
    )]
    Anonymise(TraceConvert),
    /// Make up a trace (Lublin and Feitelson's model), for trying things out
    #[command(
        after_help = "Examples:\n  harp trace generate --jobs 5000 --procs 256 --output try.swf\n  harp trace generate --seed 7 --load 0.9 --output busy.csv"
    )]
    Generate(TraceGenerate),
    /// Say how well run times can be predicted while jobs run
    #[command(
        after_help = "Examples:\n  harp trace predict Mira.swf.gz\n  harp trace predict jobs.csv --at 1/8,1/4,1/2 --json"
    )]
    Predict(TracePredict),
}

/// How a trace is read, common to all commands that read one.
#[derive(Debug, Args)]
pub struct TraceReading {
    /// The kind of trace: swf, sacct, sacct-json, csv or jsonl. Without it, told from the content.
    #[arg(long, value_name = "KIND", value_parser = parse_format)]
    pub format: Option<Format>,
    /// Which column is which field, for tables: submit=SubmittedAt,processors=CPUs,run=WallClock.
    #[arg(long, value_name = "FIELD=COLUMN,…", value_parser = parse_columns)]
    pub columns: Option<ColumnMap>,
    /// The time zone of dates without an offset, and of hours of the day: Europe/Berlin or +02:00.
    /// Without it, what the trace's header says, else UTC.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub timezone: Option<Zone>,
    /// Exit with 7 when some lines could not be used.
    #[arg(long)]
    pub strict: bool,
}

/// Arguments of `harp trace summary`.
#[derive(Debug, Args)]
pub struct TraceSummary {
    /// The trace, plain or compressed with gzip; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The machine's size: procs=N, or gpus=N where sizes count GPUs. Without it, what the header says.
    #[arg(long, value_name = "procs=N", value_parser = parse_machine)]
    pub machine: Option<Machine>,
    /// Write one page with the charts to this file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub reading: TraceReading,
}

/// Arguments of `harp trace compare`.
#[derive(Debug, Args)]
pub struct TraceCompare {
    /// The traces.
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    pub files: Vec<PathBuf>,
    /// The machines' sizes, once for each trace in their order. Without it, what the headers say.
    #[arg(long, value_name = "procs=N", value_parser = parse_machine)]
    pub machine: Vec<Machine>,
    #[command(flatten)]
    pub reading: TraceReading,
}

/// Where a trace is written.
#[derive(Debug, Args)]
pub struct TraceOutput {
    /// The file to write; compressed if its name ends in .gz. Without it, standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format to write: swf, csv or jsonl. Without it, told from the file's name, else swf.
    #[arg(long, value_name = "FORMAT", value_parser = parse_written_format)]
    pub to: Option<Format>,
}

/// Arguments of `harp trace convert` and `harp trace anonymise`.
#[derive(Debug, Args)]
pub struct TraceConvert {
    /// The trace, plain or compressed with gzip; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub output: TraceOutput,
    #[command(flatten)]
    pub reading: TraceReading,
}

/// Arguments of `harp trace generate`.
#[derive(Debug, Args)]
pub struct TraceGenerate {
    /// How many jobs.
    #[arg(long, value_name = "NUMBER", default_value = "10000")]
    pub jobs: usize,
    /// Processors of the machine.
    #[arg(long, value_name = "NUMBER", default_value = "256", value_parser = clap::value_parser!(u32).range(1..))]
    pub procs: u32,
    /// How many users.
    #[arg(long, value_name = "NUMBER", default_value = "50", value_parser = clap::value_parser!(u64).range(1..))]
    pub users: u64,
    /// Work submitted over what the machine can do.
    #[arg(long, value_name = "SHARE", default_value = "0.7", value_parser = parse_load)]
    pub load: f64,
    /// The seed: the same gives the same jobs.
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub seed: u64,
    #[command(flatten)]
    pub output: TraceOutput,
}

/// Arguments of `harp trace predict`.
#[derive(Debug, Args)]
pub struct TracePredict {
    /// The trace, plain or compressed with gzip; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Elapsed times as shares of the mean run time.
    #[arg(long, value_name = "SHARE,…", default_value = "1/8,1/4,1/2", value_delimiter = ',', value_parser = parse_share)]
    pub at: Vec<f64>,
    #[command(flatten)]
    pub reading: TraceReading,
}

/// Arguments of `harp simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// The trace, plain or compressed with gzip; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Processors of the machine. Without it, what the trace's header says.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub procs: Option<u32>,
    /// The policy: ORDER, BACKFILL or ORDER+BACKFILL, as docs/simulation.md lists them. Without it,
    /// easy.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<Policy>,
    /// Several policies, compared with the first (with --policy, with that one).
    #[arg(long, value_name = "POLICY", num_args = 1.., value_delimiter = ',')]
    pub compare: Vec<Policy>,
    /// What policies plan with: requested, perfect, last2, last2-elapsed, boosted, model:FILE (a harp
    /// model) or file:FILE (a table with the columns job,seconds).
    #[arg(long, value_name = "ESTIMATES", default_value = "requested")]
    pub estimates: Wanted,
    /// What a model is to know of each job beyond processors and requested_time: a table with the column
    /// job and the model's features.
    #[arg(long, value_name = "FILE")]
    pub cases: Option<PathBuf>,
    /// Write when each job started as CSV; with several policies one file each, the policy in its name.
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Write the charts as SVG files into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub charts: Option<PathBuf>,
    /// The window of the chart of processors over time, in seconds from the first submission. Without
    /// it, twelve hours around the longest queue.
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window, requires = "charts")]
    pub window: Option<(i64, i64)>,
    /// Leave out jobs that ask for more than the machine has.
    #[arg(long)]
    pub drop_oversized: bool,
    /// The seed of the intervals.
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub seed: u64,
    #[command(flatten)]
    pub reading: TraceReading,
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("the kinds are {}", names.join(", "))
    })
}

fn parse_written_format(text: &str) -> Result<Format, String> {
    match parse_format(text) {
        Ok(format @ (Format::Swf | Format::Csv | Format::JsonLines)) => Ok(format),
        _ => Err("traces are written as swf, csv or jsonl".to_owned()),
    }
}

fn parse_columns(text: &str) -> Result<ColumnMap, String> {
    ColumnMap::parse(text)
}

fn parse_machine(text: &str) -> Result<Machine, String> {
    Machine::parse(text)
}

fn parse_load(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(load) if load.is_finite() && load > 0.0 => Ok(load),
        _ => Err("a load is a number above 0, for example 0.7".to_owned()),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match text.split_once('/') {
        Some((part, whole)) => number(part).zip(number(whole)).map(|(part, whole)| part / whole),
        None => number(text),
    };
    share
        .filter(|share| share.is_finite() && *share >= 0.0)
        .ok_or_else(|| "write it as 1/8 or 0.125".to_owned())
}

fn parse_window(text: &str) -> Result<(i64, i64), String> {
    let ends = text
        .split_once("..")
        .and_then(|(from, to)| Some((from.trim().parse::<i64>().ok()?, to.trim().parse::<i64>().ok()?)));
    ends.filter(|(from, to)| from < to)
        .ok_or_else(|| "write it as FROM..TO in seconds, for example 0..86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_windows_are_read() {
        assert_eq!(parse_share("1/8"), Ok(0.125));
        assert_eq!(parse_share("0.5"), Ok(0.5));
        assert!(parse_share("1/0").is_err() && parse_share("-1").is_err() && parse_share("half").is_err());
        assert_eq!(parse_window("0..86400"), Ok((0, 86_400)));
        assert!(parse_window("5..5").is_err() && parse_window("5").is_err());
        assert!(parse_written_format("sacct").is_err());
    }
}
