//! Arguments of commands that choose an allocation for a case.

use std::path::PathBuf;

use clap::Args;
use harp_core::{Money, Seconds};

use super::{parse_money, parse_probability, parse_setting};

/// A case and what its allocation is chosen by, whether it is then shown or submitted.
#[derive(Debug, Args)]
pub struct Choosing {
    /// The case: parameters of the program; resources given here are fixed.
    #[arg(value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub case: Vec<(String, String)>,
    /// The experiment file, or the folder its harp.toml is in.
    #[arg(long = "experiment", value_name = "FILE", default_value = "harp.toml")]
    pub file: PathBuf,
    /// The job must end within this time: the cheapest such allocation is chosen.
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<Seconds>,
    /// The job may cost this much, all attempts together: the fastest such allocation is chosen.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_money)]
    pub max_cost: Option<Money>,
    /// The job may be killed with at most this probability.
    #[arg(long, value_name = "PROBABILITY", value_parser = parse_probability)]
    pub max_risk: Option<f64>,
    /// The machine or node type to predict on, where the model knows several: a machine that `harp site
    /// bench` measured, or a node type of the site with `descriptors`. Without it, this machine.
    #[arg(long, value_name = "NAME")]
    pub node_type: Option<String>,
    /// Answer even far outside what was measured.
    #[arg(long)]
    pub extrapolate: bool,
}

/// Arguments of `harp recommend`.
#[derive(Debug, Args)]
pub struct Recommend {
    #[command(flatten)]
    pub choosing: Choosing,
    /// The site whose machines, limits and prices hold: a name (`harp site` lists them) or a file.
    #[arg(long, value_name = "SITE")]
    pub site: Option<String>,
    /// The account to charge, for the job script.
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Write the job script to this file.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Write a page with the time–cost chart to this file.
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
}
