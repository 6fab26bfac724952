//! The command line: one definition from which parsing, help, completions, man pages and the
//! reference all come.

mod adaptive;
mod backtest;
mod dnn;
mod estimates;
mod import;
mod learn;
mod recommend;
mod since;
mod site;
mod slurm;
mod trace;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use harp_core::{Money, Scale};

pub use adaptive::{Adaptive, Goal, Per};
pub use backtest::{Backtest, Judged};
pub use dnn::{Dnn, DnnMemory, DnnModel, DnnTime, DnnTraining, Offloaded};
pub use estimates::Wanted;
pub use import::{Import, ImportSlurm};
pub use learn::{Ablate, Build, BuildSettings, ModelChoice, Models};
pub use recommend::{Choosing, Recommend};
pub use since::Since;
pub use site::{Site, SiteBench, SiteCommand, SiteDiscover};
pub use slurm::{Advise, Growth, Jobs, Submit, SweepJobs, Where, WithinJob};
pub use trace::{
    Simulate, Trace, TraceCompare, TraceConvert, TraceGenerate, TraceOutput, TracePredict, TraceReading,
    TraceSummary,
};

use crate::terminal::Colour;

/// Tells what a job needs before you submit it.
///
/// harp runs your program small, learns how its time and memory grow, predicts the full-size run
/// with an honest interval, picks the allocation that fits a time or money limit, and writes the
/// job script.
#[derive(Debug, Parser)]
#[command(
    name = "harp",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Start here:\n  harp demo                            the whole story in a minute, nothing to set up\n  harp init -- ./program --size 1000   write harp.toml for your own program\n  harp run                             generate, build, predict, compare\n\nExit codes: 0 ok, 1 bug in harp, 2 bad input, 3 not enough evidence, 4 no plan fits the limits,\n5 outside the measured range, 6 scheduler out of reach, 7 some runs failed or some input was skipped. Documented in docs/exit-codes.md."
)]
pub struct Arguments {
    /// Print the result as JSON.
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Say nothing but results and errors.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
    /// When to use colours.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub color: Colour,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the whole story on a built-in program: run small, predict, run big, hit or miss
    #[command(
        after_help = "Examples:\n  harp demo\n  harp demo --keep euler-demo   keep the experiment and its report to look at"
    )]
    Demo(Demo),
    /// Write an experiment file from a command line
    #[command(
        after_help = "Examples:\n  harp init -- ./app --size 100\n  harp init --output sweep.toml -- mpirun -n 4 ./solver --grid 64 input.dat"
    )]
    Init(Init),
    /// Show what would run, how long it may take and what it costs; nothing is run
    #[command(after_help = "Examples:\n  harp plan\n  harp plan --scale fs --json")]
    Plan(Plan),
    /// Run what is missing of an experiment and record what it used
    #[command(
        after_help = "Examples:\n  harp generate\n  harp generate --scale sd --scale fs\n  harp generate --retry-failed\n  harp generate --adaptive --budget 30min --until-width 1.3\n  harp generate --adaptive --for n=4000 --goal cheapest --max-time 10m\n  harp generate --on slurm --partition batch --account physics\n  harp generate --on slurm --adaptive --together 8 --until-width 1.3\n  harp generate --on slurm --dry-run   the job scripts and what they cost\n\nInterrupted or killed, call it again: finished runs are kept and not run again."
    )]
    Generate(Generate),
    /// Show how far an experiment is
    #[command(after_help = "Examples:\n  harp status\n  watch -n 2 harp status")]
    Status(Status),
    /// Learn a model from the runs
    #[command(
        after_help = "Examples:\n  harp build\n  harp build --policy cost --seed 7\n  harp build --from ../mnist-mlp\n  harp build --from ../mnist-mlp --share 10%\n  harp build --since 2026-03-01   after the program or the machine has changed"
    )]
    Build(Build),
    /// Show every candidate model with its scores, and why the winner won
    #[command(after_help = "Examples:\n  harp models\n  harp models --target peak_memory --json")]
    Models(Models),
    /// Ask whether predictions would have been right: learn from some runs, judge on the others
    #[command(
        after_help = "Examples:\n  harp backtest\n  harp backtest --by time --target peak_memory\n  harp backtest --csv sweep.csv --target seconds --split split --ignore epoch_seconds --json"
    )]
    Backtest(Backtest),
    /// Say what each axis of an experiment is worth: the error without it, and how many runs it needs
    #[command(
        after_help = "Examples:\n  harp ablate\n  harp ablate --target peak_memory --json\n  harp ablate --axis input=samples,batch --axis network=layers,neurons"
    )]
    Ablate(Ablate),
    /// Predict time and memory of cases that were never run
    #[command(
        after_help = "Examples:\n  harp predict n=320000 precision=1200 method=pow\n  harp predict --csv cases.csv --json"
    )]
    Predict(Predict),
    /// Choose cores, memory, GPUs and node type for a case, and write the job script
    #[command(
        after_help = "Examples:\n  harp recommend size=4000\n  harp recommend size=4000 --max-time 10m\n  harp recommend size=4000 --max-cost 2 --site osc-pitzer --script job.sh"
    )]
    Recommend(Recommend),
    /// Recommend, show the price, submit the job to Slurm, and record what happened
    #[command(
        after_help = "Examples:\n  harp submit size=4000\n  harp submit size=4000 --max-time 2h --account physics --retry\n  harp submit size=4000 --retry 5 --grow model --max-cost 20 --yes\n  harp submit size=4000 --dry-run\n\nKilled or stopped, call it again: it finds its job and waits for it."
    )]
    Submit(Submit),
    /// Say what your past Slurm jobs asked for and did not need, and the lines to change
    #[command(
        after_help = "Examples:\n  harp advise\n  harp advise --since 90d --risk 0.01\n  sacct --parsable2 --format=ALL --starttime now-30days > saved.txt; harp advise --file saved.txt\n\nOn a machine with Slurm, `harp` alone does the same."
    )]
    Advise(Advise),
    /// Generate, build, predict the test cases, and compare with what really happened
    #[command(
        after_help = "Examples:\n  harp run\n  harp run examples/euler/harp.toml\n  harp run --json > result.json\n  harp run --on slurm --partition batch --account physics --yes"
    )]
    Run(Run),
    /// Write the runs of an experiment as CSV or JSON
    #[command(after_help = "Examples:\n  harp history\n  harp history --csv runs.csv")]
    History(History),
    /// Say what training a neural network needs, from its description: memory, where it fits, how long
    #[command(subcommand)]
    Dnn(Dnn),
    /// Read job traces of clusters: characterise, compare, convert, anonymise, make up, predict
    #[command(subcommand)]
    Trace(Trace),
    /// Play a job trace again under other scheduling policies or with other run-time estimates
    #[command(
        after_help = "Examples:\n  harp simulate KTH-SP2.swf.gz --procs 100 --policy easy\n  harp simulate jobs.csv --procs 4392 --compare fcfs easy relaxed adaptive-relaxed\n  harp simulate jobs.swf --policy sjf+easy --estimates last2 --schedule out.csv --charts charts\n\nPolicies, estimates and the rule for what happens within one second: docs/simulation.md."
    )]
    Simulate(Simulate),
    /// Learn from the past: put jobs that others ran into a history
    #[command(subcommand)]
    Import(Import),
    /// List the sites harp knows, show or check one, or describe the cluster at hand
    #[command(
        after_help = "Examples:\n  harp site\n  harp site osc-pitzer\n  harp site discover --output cluster.toml"
    )]
    Site(Site),
    /// Describe this machine as harp sees it
    Host,
    /// Print the JSON Schema of harp.toml, for editors
    #[command(after_help = "Examples:\n  harp schema > harp.schema.json")]
    Schema,
    /// Print the reference of harp.toml and of all commands as Markdown
    Reference,
    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  harp completions bash > ~/.local/share/bash-completion/completions/harp"
    )]
    Completions(Completions),
    /// Write the man pages into a folder
    #[command(after_help = "Examples:\n  harp man ~/.local/share/man/man1")]
    Man(Man),
    /// The built-in program of the demo
    #[command(hide = true)]
    Example(Example),
}

/// Arguments of `harp demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Keep the experiment, its runs and its report in this new folder.
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
}

/// Arguments of `harp init`.
#[derive(Debug, Args)]
pub struct Init {
    /// Where to write: a file, or a folder to put harp.toml into.
    #[arg(long, short, value_name = "FILE", default_value = "harp.toml")]
    pub output: PathBuf,
    /// Replace a file that exists.
    #[arg(long)]
    pub force: bool,
    /// The command line, as you run it by hand.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// The experiment file, common to many commands.
#[derive(Debug, Args)]
pub struct ExperimentFile {
    /// The experiment file, or the folder its harp.toml is in.
    #[arg(value_name = "FILE", default_value = "harp.toml")]
    pub file: PathBuf,
}

/// Arguments of `harp plan`.
#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Only this scale: sd, fs or test. May be repeated.
    #[arg(long, value_name = "SCALE")]
    pub scale: Vec<Scale>,
}

/// Arguments of `harp generate`.
#[derive(Debug, Args)]
pub struct Generate {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Only this scale: sd, fs or test. May be repeated.
    #[arg(long, value_name = "SCALE")]
    pub scale: Vec<Scale>,
    /// Run again what failed, timed out or ran out of memory.
    #[arg(long)]
    pub retry_failed: bool,
    /// Show what would run, and stop.
    #[arg(long)]
    pub dry_run: bool,
    /// Exit with 0 though some runs failed; without it, with 7.
    #[arg(long)]
    pub allow_failed: bool,
    /// Exit with 7 also when runs were ended at their limit of time or memory.
    #[arg(long, conflicts_with = "allow_failed")]
    pub strict: bool,
    #[command(flatten)]
    pub adaptive: Adaptive,
    #[command(flatten)]
    pub slurm: SweepJobs,
}

/// Arguments of `harp status`.
#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    pub experiment: ExperimentFile,
}

/// Arguments of `harp predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// The case: parameters and resources.
    #[arg(value_name = "NAME=VALUE", value_parser = parse_setting, required_unless_present = "csv")]
    pub case: Vec<(String, String)>,
    /// Cases from a CSV file, one a row, with names in the first line; - is standard input.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The experiment file, or the folder its harp.toml is in.
    #[arg(long = "experiment", value_name = "FILE", default_value = "harp.toml")]
    pub file: PathBuf,
    #[command(flatten)]
    pub model: ModelChoice,
    /// The machine or node type to predict on, where the model knows several: a machine that `harp site
    /// bench` measured, or a node type of the site with `descriptors`. Without it, this machine.
    #[arg(long, value_name = "NAME")]
    pub node_type: Option<String>,
    /// The site whose node types hold. Without it, the experiment's.
    #[arg(long, value_name = "SITE")]
    pub site: Option<String>,
    /// The probability the interval holds.
    #[arg(long, value_name = "PROBABILITY", default_value = "0.9", value_parser = parse_probability)]
    pub interval: f64,
    /// Answer even far outside what was measured.
    #[arg(long)]
    pub extrapolate: bool,
}

/// Arguments of `harp run`.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    #[command(flatten)]
    pub settings: BuildSettings,
    /// Where to write the page. Without it, .harp/report.html beside the experiment file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the charts as SVG files into this folder, for papers and slides.
    #[arg(long, value_name = "FOLDER")]
    pub charts: Option<PathBuf>,
    /// Run again what failed, timed out or ran out of memory.
    #[arg(long)]
    pub retry_failed: bool,
    /// Exit with 0 though some runs failed; without it, with 7.
    #[arg(long)]
    pub allow_failed: bool,
    #[command(flatten)]
    pub slurm: SweepJobs,
}

/// Arguments of `harp history`.
#[derive(Debug, Args)]
pub struct History {
    #[command(flatten)]
    pub experiment: ExperimentFile,
    /// Write CSV to this file; - is standard output.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Arguments of `harp completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Arguments of `harp man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The folder; it is made if it does not exist.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Arguments of the built-in program.
#[derive(Debug, Args)]
pub struct Example {
    /// Which program.
    #[arg(value_parser = ["euler"])]
    pub program: String,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it as NAME=VALUE, for example n=1000".to_owned()),
    }
}

fn parse_probability(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|number| number / 100.0),
        None => text.parse::<f64>(),
    };
    match number {
        Ok(probability) if probability > 0.0 && probability < 1.0 => Ok(probability),
        _ => Err("give a share between 0 and 1 or in percent, for example 0.9 or 90%".to_owned()),
    }
}

fn parse_money(text: &str) -> Result<Money, String> {
    match text.trim_start_matches(['$', '€']).trim().parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(Money(amount)),
        _ => Err("an amount is a number, for example 2.50".to_owned()),
    }
}
