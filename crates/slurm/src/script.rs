//! The script of a job array: what it asks Slurm for, and the one command each of its tasks runs.
//!
//! Words that come from outside are quoted or refused, so that a name cannot become a command or
//! another option. Nothing is written or submitted here.

use harp_core::{Bytes, Seconds};
use serde::{Deserialize, Serialize};

/// What a job asks of Slurm; what is `None` is left to the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobRequest {
    /// The partition.
    pub partition: Option<String>,
    /// Who pays.
    pub account: Option<String>,
    /// Features the nodes must have.
    pub constraint: Option<String>,
    /// Nodes; `None` is one.
    pub nodes: Option<u32>,
    /// Processes on each node; `None` is one.
    pub tasks_per_node: Option<u32>,
    /// Cores of each process.
    pub cores_per_task: Option<u32>,
    /// Memory on each node.
    pub memory: Option<Bytes>,
    /// GPUs on each node.
    pub gpus: Option<u32>,
    /// Their kind, as Slurm calls it.
    pub gpu_kind: Option<String>,
    /// How long it may run.
    pub time: Option<Seconds>,
    /// Further options of `sbatch`, with their dashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

/// Options that harp sets itself, and those that would take its jobs away from it.
const OWN: [&str; 23] = [
    "account",
    "array",
    "batch",
    "chdir",
    "clusters",
    "comment",
    "constraint",
    "cpus-per-task",
    "error",
    "gpus-per-node",
    "job-name",
    "mem",
    "nodes",
    "ntasks",
    "ntasks-per-node",
    "no-requeue",
    "open-mode",
    "output",
    "parsable",
    "partition",
    "requeue",
    "time",
    "wrap",
];

/// Whether a word can be added to the options of a job; what is wrong with it otherwise.
pub fn check_extra(word: &str) -> Result<(), String> {
    let name = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
    let is_name = |name: &str| {
        name.len() > 1
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match name {
        Some(name) if OWN.contains(&name) => Err(format!("harp sets --{name} itself")),
        Some(name) if is_name(name) && !word.contains(char::is_control) => Ok(()),
        _ => Err("an option of sbatch is written in full, for example --qos=long".to_owned()),
    }
}

/// A script that runs one command for each task of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayScript<'a> {
    /// The job's name; after a crash the job is found by it.
    pub name: &'a str,
    /// What people and accounting are told about it.
    pub comment: &'a str,
    /// The folder it runs in, where its output goes.
    pub folder: &'a str,
    /// How many tasks.
    pub tasks: usize,
    /// What each of them asks for.
    pub request: &'a JobRequest,
    /// Modules to load first.
    pub modules: &'a [String],
    /// The command; the task's number is added to it.
    pub command: &'a [String],
}

/// A word quoted where it needs to be, so that a shell, or `sbatch` in an `#SBATCH` line, takes it as one.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a text may stand behind an option of `sbatch`: none of Slurm's names holds anything else.
pub fn is_plain_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:+@%/".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

/// Whether a text may stand behind `--constraint`, which combines features by `&`, `|`, `*` and brackets.
pub fn is_constraint(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:&|,*[]()!".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

impl JobRequest {
    /// The options of `sbatch`, without dashes.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let gpus = self.gpus.filter(|&gpus| gpus > 0).map(|gpus| match &self.gpu_kind {
            Some(kind) => format!("{kind}:{gpus}"),
            None => gpus.to_string(),
        });
        [
            ("partition", self.partition.clone()),
            ("account", self.account.clone()),
            ("constraint", self.constraint.as_deref().map(quote)),
            ("nodes", Some(self.nodes.unwrap_or(1).to_string())),
            ("ntasks-per-node", Some(self.tasks_per_node.unwrap_or(1).to_string())),
            ("cpus-per-task", self.cores_per_task.map(|cores| cores.to_string())),
            ("mem", self.memory.map(|memory| format!("{}M", memory.mebibytes_rounded_up()))),
            ("gpus-per-node", gpus),
            ("time", self.time.map(whole_minutes)),
        ]
        .into_iter()
        .filter_map(|(option, value)| Some((option, value?)))
        .collect()
    }

    /// Processes, all nodes together.
    pub fn processes(&self) -> u32 {
        self.nodes.unwrap_or(1).saturating_mul(self.tasks_per_node.unwrap_or(1))
    }

    /// Cores, all nodes together, where they are asked for.
    pub fn cores(&self) -> Option<u32> {
        self.cores_per_task.map(|cores| cores.saturating_mul(self.processes()))
    }
}

/// Slurm counts in minutes: a time as it will be kept.
fn whole_minutes(time: Seconds) -> String {
    Seconds((time.0 / 60.0).ceil().max(1.0) * 60.0).to_walltime()
}

impl ArrayScript<'_> {
    /// The text.
    pub fn text(&self) -> String {
        let mut lines = vec!["#!/bin/bash".to_owned()];
        let last = self.tasks.max(1) - 1;
        let fixed = [
            ("job-name", self.name.to_owned()),
            ("comment", quote(self.comment)),
            ("array", format!("0-{last}")),
            ("chdir", quote(self.folder)),
            ("output", "%a.log".to_owned()),
            // a task that is put back into the queue goes on where it was
            ("open-mode", "append".to_owned()),
        ];
        let options = fixed.into_iter().chain(self.request.options());
        lines.extend(options.map(|(option, value)| format!("#SBATCH --{option}={value}")));
        lines.push("#SBATCH --requeue".to_owned());
        lines.extend(self.request.extra.iter().map(|word| format!("#SBATCH {}", quote(word))));
        lines.push(String::new());
        lines.extend(load(self.modules));
        let command: Vec<String> = self.command.iter().map(|word| quote(word)).collect();
        lines.push(format!("exec {} \"$SLURM_ARRAY_TASK_ID\"", command.join(" ")));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// Lines that load modules. A job's shell may not know `module` yet; where nothing does, the job ends.
pub fn load(modules: &[String]) -> Vec<String> {
    if modules.is_empty() {
        return Vec::new();
    }
    let files = "/etc/profile.d/lmod.sh /etc/profile.d/modules.sh /usr/share/lmod/lmod/init/bash \
                 /usr/share/modules/init/bash";
    let names: Vec<String> = modules.iter().map(|name| quote(name)).collect();
    vec![
        format!("for file in {files}; do"),
        "  type module >/dev/null 2>&1 || { [ -r \"$file\" ] && . \"$file\"; }".to_owned(),
        "done".to_owned(),
        format!("module load {} || exit 1", names.join(" ")),
    ]
}

#[cfg(test)]
mod tests;
