//! What a sweep costs before it is submitted, and the question whether it may be.

use std::io::{BufRead, IsTerminal};

use harp_core::{Money, Seconds};
use harp_measure::slurm::{Array, BatchRun};
use harp_report::text::plural;
use serde::Serialize;

use super::Cluster;
use crate::failure::Failure;
use crate::sweep::Knowledge;
use crate::terminal::Terminal;

/// What arrays of jobs take; documented in docs/json.md. What is not known is `None`.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    site: String,
    runs: usize,
    jobs: usize,
    arrays: Vec<ArrayEstimate>,
    expected_core_hours: Option<f64>,
    longest_core_hours: Option<f64>,
    expected_cost: Option<f64>,
    highest_cost: Option<f64>,
    money_unit: String,
}

/// One array.
#[derive(Debug, Clone, Serialize)]
struct ArrayEstimate {
    runs: usize,
    jobs: usize,
    options: Vec<String>,
    time_seconds: Option<f64>,
    expected_core_hours: Option<f64>,
    longest_core_hours: Option<f64>,
    expected_cost: Option<f64>,
    highest_cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<String>,
}

impl Estimate {
    /// Adds up what is known.
    pub fn of(cluster: &Cluster, arrays: &[Array], knowledge: &Knowledge) -> Estimate {
        let arrays: Vec<ArrayEstimate> =
            arrays.iter().map(|array| ArrayEstimate::of(cluster, array, knowledge)).collect();
        let total = |of: fn(&ArrayEstimate) -> Option<f64>| arrays.iter().map(of).sum::<Option<f64>>();
        Estimate {
            site: cluster.site.name.clone(),
            runs: arrays.iter().map(|array| array.runs).sum(),
            jobs: arrays.iter().map(|array| array.jobs).sum(),
            expected_core_hours: total(|array| array.expected_core_hours),
            longest_core_hours: total(|array| array.longest_core_hours),
            expected_cost: total(|array| array.expected_cost),
            highest_cost: total(|array| array.highest_cost),
            money_unit: cluster.site.unit.clone(),
            arrays,
        }
    }

    /// The same with the script of each array.
    pub fn with_scripts(mut self, scripts: Vec<String>) -> Estimate {
        for (array, script) in self.arrays.iter_mut().zip(scripts) {
            array.script = Some(script);
        }
        self
    }

    /// In words, what it takes.
    pub fn in_words(&self) -> String {
        let mut text = format!(
            "{} as {} in {} on {}\n",
            plural(self.runs, "run"),
            plural(self.jobs, "job"),
            plural(self.arrays.len(), "array"),
            self.site
        );
        for array in &self.arrays {
            let jobs = format!("{} in {}", plural(array.runs, "run"), plural(array.jobs, "job"));
            text.push_str(&format!("  {jobs}: {}\n", array.options.join(" ")));
        }
        let money = |amount: Option<f64>| {
            amount.map(|amount| harp_site::format_amount(&self.money_unit, Money(amount)))
        };
        let hours =
            |hours: Option<f64>| hours.map(|hours| harp_site::format_amount("core-hours", Money(hours)));
        let line = |what: &str, hours: Option<String>, money: Option<String>| {
            let parts: Vec<String> = hours.into_iter().chain(money).collect();
            (!parts.is_empty()).then(|| format!("{what} {}\n", parts.join(", ")))
        };
        let expected = line("expected:", hours(self.expected_core_hours), money(self.expected_cost));
        let most = line("at most:", hours(self.longest_core_hours), money(self.highest_cost));
        match (expected, most) {
            (None, None) => text.push_str(
                "what it costs is not known: neither time-outs nor earlier runs say how long it takes\n",
            ),
            (expected, most) => text.extend([expected, most].into_iter().flatten()),
        }
        text.trim_end().to_owned()
    }
}

impl ArrayEstimate {
    fn of(cluster: &Cluster, array: &Array, knowledge: &Knowledge) -> ArrayEstimate {
        let request = &array.request;
        let options = request.options().into_iter().map(|(name, value)| format!("--{name}={value}"));
        let cores = f64::from(request.cores().unwrap_or(1));
        let runs = || array.tasks.iter().flatten();
        let expected = |run: &BatchRun| knowledge.time(&run.configuration);
        let expected_time: Option<Seconds> = runs().map(expected).sum();
        let jobs = array.tasks.len() as f64;
        let price = |run: &BatchRun, time: Seconds| {
            cluster.price(&run.configuration.allocation, array.request.time, time).map(|money| money.0)
        };
        let longest = request.time.map(|time| Seconds(time.0 * jobs));
        ArrayEstimate {
            runs: runs().count(),
            jobs: array.tasks.len(),
            options: options.collect(),
            time_seconds: request.time.map(|time| time.0),
            expected_core_hours: expected_time.map(|time| time.hours() * cores),
            longest_core_hours: longest.map(|time| time.hours() * cores),
            expected_cost: runs().map(|run| price(run, expected(run)?)).sum(),
            highest_cost: request
                .time
                .zip(runs().next())
                .and_then(|(time, run)| Some(price(run, time)? * jobs)),
            script: None,
        }
    }
}

/// Shows the price and asks; nothing is submitted without a yes.
pub fn confirm(estimate: &Estimate, yes: bool, terminal: &Terminal) -> Result<(), Failure> {
    ask(&estimate.in_words(), yes, terminal)
}

/// Shows something and asks whether to submit it.
pub fn ask(words: &str, yes: bool, terminal: &Terminal) -> Result<(), Failure> {
    terminal.say(words);
    if yes {
        return Ok(());
    }
    let refused = |message: &str| {
        Err(Failure::bad_input(message.to_owned())
            .hint("--yes submits without asking; --dry-run prints the scripts"))
    };
    if !std::io::stdin().is_terminal() {
        return refused("nothing was submitted: nobody is there to agree to the price");
    }
    terminal.say_even_if_quiet("submit this? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    refused("nothing was submitted")
}
