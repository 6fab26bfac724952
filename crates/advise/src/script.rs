//! The script that asks for a plan and runs the program: `sbatch` for Slurm, plain shell elsewhere.
//!
//! Every word that comes from outside is quoted or restricted, so that a name cannot become a
//! command. Nothing is written or submitted here.

use std::collections::BTreeMap;
use std::fmt::Write;

use harp_core::Allocation;
use harp_site::{Scheduler, Site};
use thiserror::Error;

use crate::Plan;
use crate::quote::{is_variable_name, quote};

/// What is to be run.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Its name; characters a scheduler may not like become `-`.
    pub name: &'a str,
    /// The program and its arguments.
    pub command: &'a [String],
    /// Variables set for it.
    pub environment: &'a BTreeMap<String, String>,
    /// Where it runs; `None` is where the script is started or submitted.
    pub working_directory: Option<&'a str>,
    /// Modules to load first.
    pub modules: &'a [String],
    /// Whether it is many processes, which the scheduler starts.
    pub mpi: bool,
    /// The account that pays, where one must be named.
    pub account: Option<&'a str>,
    /// The version of harp that writes it, for the comment.
    pub harp_version: &'a str,
}

/// A job that no script can run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// There is no program.
    #[error("the job has no command")]
    NoCommand,
    /// A word holds a character that no argument can.
    #[error("`{0}` holds a NUL character, which no command line can carry")]
    Nul(String),
    /// A variable's name that no environment can hold.
    #[error("`{0}` cannot name an environment variable")]
    VariableName(String),
    /// An account's name that could be taken for something else.
    #[error("`{0}` cannot name an account: use letters, digits, `-`, `_` and `.`")]
    Account(String),
}

/// The text of the job script for a plan at a site.
pub fn script(site: &Site, plan: &Plan, job: &Job<'_>) -> Result<String, ScriptError> {
    check(job)?;
    let mut lines = vec!["#!/bin/bash".to_owned()];
    if site.scheduler == Scheduler::Slurm {
        lines.extend(directives(site, plan, job));
    }
    lines.push("#".to_owned());
    lines.extend(hints(site, plan, job).into_iter().map(|line| format!("# {}", one_line(&line))));
    lines.extend(comments(site, plan, job).into_iter().map(|line| format!("# {}", one_line(&line))));
    lines.extend(["".to_owned(), "set -eo pipefail".to_owned()]);
    if let Some(directory) = job.working_directory {
        lines.push(format!("cd -- {}", quote(directory)));
    }
    if site.scheduler == Scheduler::Slurm {
        lines.extend(harp_site::load_modules(job.modules));
    }
    lines.extend(exports(&plan.allocation, job.environment));
    let pinned = match (site.scheduler, plan.candidate.cores) {
        (Scheduler::None, Some(cores)) => Some(cores),
        _ => None,
    };
    if let Some(cores) = pinned {
        lines.extend(pinning(cores));
    }
    lines.push(String::new());
    let mut command = String::new();
    if pinned.is_some() {
        command.push_str("\"${pin[@]}\" ");
    }
    let tasks = plan.allocation.tasks.unwrap_or(1).max(1);
    if (job.mpi || plan.allocation.node_count() > 1) && site.scheduler == Scheduler::Slurm {
        command.push_str("srun ");
        // Since Slurm 22.05 srun no longer takes this from the batch job.
        if let Some(cores) = plan.allocation.cores {
            let _ = write!(command, "--cpus-per-task={} ", cores.div_ceil(tasks));
        }
    } else if job.mpi && tasks > 1 {
        let _ = write!(command, "mpirun -n {tasks} ");
    }
    command.push_str(&command_line(job));
    lines.push(command);
    lines.push(String::new());
    Ok(lines.join("\n"))
}

fn check(job: &Job<'_>) -> Result<(), ScriptError> {
    if job.command.first().is_none_or(String::is_empty) {
        return Err(ScriptError::NoCommand);
    }
    let words = job.command.iter().chain(job.environment.values()).map(String::as_str);
    if let Some(word) = words.chain(job.working_directory).find(|word| word.contains('\0')) {
        return Err(ScriptError::Nul(word.replace('\0', "\u{fffd}")));
    }
    let unusable = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    if let Some(name) = job.environment.keys().find(unusable) {
        return Err(ScriptError::VariableName(name.replace('\0', "\u{fffd}")));
    }
    match job.account.filter(|account| account.is_empty() || safe_name(account) != *account) {
        Some(account) => Err(ScriptError::Account(one_line(account))),
        None => Ok(()),
    }
}

/// The `#SBATCH` lines; without a number of tasks one a node, all of a node's cores for it.
fn directives(site: &Site, plan: &Plan, job: &Job<'_>) -> Vec<String> {
    let allocation = &plan.allocation;
    let node_type = site.node_type(&plan.placement.node_type);
    let partition = plan.placement.partition.as_deref().and_then(|name| site.partition(name));
    let gres = node_type.and_then(|node_type| node_type.gpus.as_ref()?.gres.as_deref());
    let kind = allocation.gpu_kind.as_deref().or(gres);
    let gpus = allocation.gpus.filter(|&gpus| gpus > 0).map(|gpus| match kind {
        Some(kind) => format!("{}:{gpus}", safe_name(kind)),
        None => gpus.to_string(),
    });
    let tasks = allocation.tasks.unwrap_or(1).max(1);
    let of_type = node_type.and_then(|node_type| node_type.constraint.as_deref());
    let constraints: Vec<&str> = [allocation.constraint.as_deref(), of_type].into_iter().flatten().collect();
    [
        ("job-name", Some(safe_name(job.name))),
        ("account", job.account.map(str::to_owned)),
        (
            "partition",
            partition.filter(|partition| !partition.automatic).map(|partition| partition.name.clone()),
        ),
        ("constraint", (!constraints.is_empty()).then(|| quote(&one_line(&constraints.join("&"))))),
        ("nodes", Some(allocation.node_count().to_string())),
        ("ntasks", Some(allocation.node_count().saturating_mul(tasks).to_string())),
        ("cpus-per-task", allocation.cores.map(|cores| cores.div_ceil(tasks).to_string())),
        ("mem", allocation.memory.map(|memory| format!("{}M", memory.mebibytes_rounded_up()))),
        ("gpus-per-node", gpus),
        ("time", Some(plan.time.request.to_walltime())),
    ]
    .into_iter()
    .filter_map(|(option, value)| Some(format!("#SBATCH --{option}={}", value?)))
    .collect()
}

/// What the site may want that only the person who submits can know.
fn hints(site: &Site, plan: &Plan, job: &Job<'_>) -> Vec<String> {
    if site.scheduler != Scheduler::Slurm {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if job.account.is_none() {
        lines.push(
            "Where jobs must name who pays, add  #SBATCH --account=NAME  (harp: --account NAME).".to_owned(),
        );
    }
    let node_type = site.node_type(&plan.placement.node_type);
    // A kind of GPU asked for selects its nodes by itself.
    let is_selected = plan.allocation.gpus.is_some() || site.node_types.len() < 2;
    if !is_selected && node_type.is_some_and(|node_type| node_type.constraint.is_none()) {
        lines.push(match plan.other_node_types.as_slice() {
            [] => format!(
                "Meant for {}: the profile of {} knows no --constraint that asks for it.",
                plan.placement.node_type, site.name
            ),
            others => format!("Any of {}, {} will do.", plan.placement.node_type, others.join(", ")),
        });
    }
    let partition = plan.placement.partition.as_deref().and_then(|name| site.partition(name));
    if let Some(partition) = partition.filter(|partition| partition.automatic) {
        lines.push(format!("The scheduler chooses the partition ({}) by what is asked for.", partition.name));
    }
    lines
}

/// What the reader of the script should know about its figures.
fn comments(site: &Site, plan: &Plan, job: &Job<'_>) -> Vec<String> {
    let time = &plan.time;
    let evidence = &plan.evidence;
    let mut lines = vec![
        format!("Written by harp {} for {}: {}.", job.harp_version, site.name, plan.allocation),
        format!("Predicted time: {}, between {} and {}.", time.expected, time.low, time.high),
    ];
    if let Some(memory) = &plan.memory
        && let (Some(expected), Some(high)) = (memory.expected, memory.high)
    {
        lines.push(format!("Predicted peak memory: {expected} a node, up to {high}."));
    }
    lines.push(format!(
        "Expected price: {}; risk of being killed: {:.1} %.",
        site.format_price(plan.price.expected_use),
        100.0 * plan.risk.killed,
    ));
    lines.push(format!(
        "Learned from {}; {} of them, held back in turn, judged the model{}.",
        evidence.runs_in_words(),
        evidence.validation_runs,
        if plan.extrapolates() { "; outside the measured range" } else { "" },
    ));
    lines
}

/// Variables a shell can set; the others go through `env` in front of the command.
fn exports(allocation: &Allocation, environment: &BTreeMap<String, String>) -> Vec<String> {
    let threads = allocation.threads.filter(|_| !environment.contains_key("OMP_NUM_THREADS"));
    let threads = threads.map(|threads| format!("export OMP_NUM_THREADS={threads}"));
    let settable = environment.iter().filter(|(name, _)| is_variable_name(name));
    threads
        .into_iter()
        .chain(settable.map(|(name, value)| format!("export {name}={}", quote(value))))
        .collect()
}

/// Shell lines that fill the array `pin` with a command that keeps the program to the first cores
/// this machine allows, as it was measured; empty where `taskset` is missing.
fn pinning(cores: u32) -> Vec<String> {
    let text = format!(
        r#"
# Keep to {cores} of the cores allowed here, as measured.
pin=()
if command -v taskset >/dev/null && [ -r /proc/self/status ]; then
  allowed=()
  while IFS=- read -r first last; do
    for ((core = first; core <= ${{last:-first}}; core++)); do allowed+=("$core"); done
  done < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n')
  pin=(taskset --cpu-list "$(IFS=,; echo "${{allowed[*]:0:{cores}}}")")
fi"#
    );
    text.lines().map(str::to_owned).collect()
}

fn command_line(job: &Job<'_>) -> String {
    let mut line = String::new();
    let through_env: Vec<_> = job.environment.iter().filter(|(name, _)| !is_variable_name(name)).collect();
    if !through_env.is_empty() {
        line.push_str("env ");
    }
    for (name, value) in through_env {
        let _ = write!(line, "{} ", quote(&format!("{name}={value}")));
    }
    let words: Vec<String> = job
        .command
        .iter()
        .enumerate()
        .map(|(position, word)| if position == 0 { quote_program(word) } else { quote(word) })
        .collect();
    line.push_str(&words.join(" "));
    line
}

/// The first word must not be read as an assignment or as shell syntax.
fn quote_program(word: &str) -> String {
    const RESERVED: [&str; 17] = [
        "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
        "select", "then", "time", "until", "while",
    ];
    let quoted = quote(word);
    if quoted == word && (word.contains('=') || RESERVED.contains(&word)) {
        format!("'{word}'")
    } else {
        quoted
    }
}

/// A name a scheduler and a shell comment can carry.
fn safe_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(safe).collect();
    if name.is_empty() { "harp".to_owned() } else { name }
}

/// Control characters, line ends among them, become spaces.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests;
