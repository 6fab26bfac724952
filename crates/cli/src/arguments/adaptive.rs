//! Arguments of `harp generate --adaptive`.

use clap::{Args, ValueEnum};
use harp_core::{Money, Seconds};

use super::{parse_money, parse_setting};

/// What a run is weighed by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Per {
    /// By the time it takes.
    #[default]
    Second,
    /// By its price at the experiment's site.
    Dollar,
}

/// What the best allocation is best at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Goal {
    /// The shortest time.
    Fastest,
    /// The lowest price.
    Cheapest,
}

/// How runs are chosen one at a time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choosing runs one at a time")]
pub struct Adaptive {
    /// Choose runs as results come: always the one that takes away most doubt about the target cases for
    /// what it costs. The target cases are the test cases of the experiment, or the one given by --for.
    #[arg(long)]
    pub adaptive: bool,
    /// Runs that are chosen before the first of them is made, each as if those before it had been: with
    /// --on slurm they wait side by side. Without it, 4 there and 1 here.
    #[arg(long, value_name = "NUMBER", requires = "adaptive", value_parser = clap::value_parser!(u32).range(1..))]
    pub together: Option<u32>,
    /// The target case. Resources that are not given stand for every value that is varied.
    #[arg(long = "for", value_name = "NAME=VALUE", num_args = 1.., value_parser = parse_setting, requires = "adaptive")]
    pub case: Vec<(String, String)>,
    /// Run time that all small and full-scale runs of the experiment may use together, earlier ones
    /// counted. A run that would exceed it is ended there.
    #[arg(long, value_name = "TIME", requires = "adaptive")]
    pub budget: Option<Seconds>,
    /// The same as a price at the experiment's site.
    #[arg(long, value_name = "AMOUNT", requires = "adaptive", value_parser = parse_money)]
    pub budget_cost: Option<Money>,
    /// Stop when the interval of every target case is this narrow: its upper end divided by its lower
    /// one, for example 1.3. Before enough runs were held back to tell where an interval ends (15 for 95 %, 8 for
    /// 90 %) it goes on, however narrow the interval looks.
    #[arg(long, value_name = "RATIO", requires = "adaptive", conflicts_with = "goal", value_parser = parse_ratio)]
    pub until_width: Option<f64>,
    /// What runs are weighed by.
    #[arg(long, value_enum, default_value_t, requires = "adaptive", conflicts_with = "goal")]
    pub per: Per,
    /// Look for the best allocation of the target case instead of the least doubt about it.
    #[arg(long, value_enum, requires = "adaptive")]
    pub goal: Option<Goal>,
    /// With --goal: the allocation must end within this time.
    #[arg(long, value_name = "TIME", requires = "goal")]
    pub max_time: Option<Seconds>,
    /// With --goal: the allocation may cost this much.
    #[arg(long, value_name = "AMOUNT", requires = "goal", value_parser = parse_money)]
    pub max_cost: Option<Money>,
}

fn parse_ratio(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('×').trim().parse::<f64>() {
        Ok(ratio) if ratio.is_finite() && ratio > 1.0 => Ok(ratio),
        _ => Err("a ratio of upper to lower end is larger than 1, for example 1.3".to_owned()),
    }
}
