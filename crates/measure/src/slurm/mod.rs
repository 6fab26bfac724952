//! Asking Slurm, and running sweeps on it: its clients are called, what they print is handed on, and what
//! they complain about becomes an error a person can act on. One call answers for many jobs.

mod batch;
mod call;
mod client;
mod error;
mod inside;
mod pace;
mod pack;
mod sweep;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;
use std::time::Duration;

pub use batch::{Batch, BatchId, BatchRun, OpenBatch};
pub use client::{cancel, test_only};
pub use error::SlurmError;
pub use inside::{InsideEnd, InsideError, InsideResult, InsideRun, exit_code, run_task};
pub use pack::{Array, Candidate, Packing, arrays};
pub use sweep::{Describe, Ledger, SlurmSummary, SlurmSweep, SlurmSweepError};

/// How long a client may take that asks the controller. Slurm's own patience is shorter.
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(120);

/// How long the accounting database may take: months of jobs are no small question.
const ACCOUNTING_PATIENCE: Duration = Duration::from_secs(1800);

/// The separator `sacct` is told to use: nobody writes it into a job's name.
const SEPARATOR: &str = "\u{1f}";

/// Which jobs accounting is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountingQuery {
    /// Jobs that were there within this time up to now.
    pub since: Duration,
    /// Whose; `None` is the person who asks.
    pub user: Option<String>,
}

/// What the controller says about its nodes, partitions and configuration, as one text for
/// `harp_slurm::ClusterFacts`.
pub fn describe_cluster() -> Result<String, SlurmError> {
    let mut text = String::new();
    for what in ["config", "partitions", "nodes"] {
        text.push_str(&call::text("scontrol", &["show", what], CONTROLLER_PATIENCE)?);
        text.push('\n');
    }
    Ok(text)
}

/// Asks accounting once and hands what it prints to `read` while it comes: rows parted by a character
/// that no name holds, times in seconds since 1970.
pub fn accounting<T>(
    query: &AccountingQuery,
    wanted: &[&str],
    read: impl FnOnce(&mut dyn Read) -> T,
) -> Result<T, SlurmError> {
    let fields = known_fields(wanted)?;
    let since = format!("--starttime=now-{}", query.since.as_secs());
    let format = format!("--format={}", fields.join(","));
    let separator = format!("--delimiter={SEPARATOR}");
    let mut arguments =
        vec!["--duplicates", "--parsable2", "--noconvert", "--endtime=now", &since, &separator, &format];
    // An operator who names nobody would be told about everybody.
    let own = || rustix::process::getuid().as_raw().to_string();
    let user = format!("--user={}", query.user.clone().unwrap_or_else(own));
    arguments.push(&user);
    call::stream("sacct", &arguments, ACCOUNTING_PATIENCE, read)
}

/// Whether an answer without jobs means that another's jobs are not shown to the person who asks. Accounting
/// that keeps jobs private complains of nothing: it leaves out what it does not show.
pub fn check_shown(query: &AccountingQuery) -> Result<(), SlurmError> {
    let Some(user) = query.user.as_ref().filter(|user| !is_own(user)) else { return Ok(()) };
    let Ok(configuration) = call::text("sacctmgr", &["show", "configuration"], CONTROLLER_PATIENCE) else {
        return Ok(());
    };
    if keeps_jobs_private(&configuration) {
        return Err(SlurmError::NotAllowed {
            command: "sacct",
            said: format!(
                "it shows jobs to those who submitted them alone (PrivateData=jobs), and none of {user}"
            ),
        });
    }
    Ok(())
}

/// Whether a name or number is that of the person who asks.
fn is_own(user: &str) -> bool {
    let is_name = |name: &str| std::env::var(name).is_ok_and(|name| name == user);
    user == rustix::process::getuid().as_raw().to_string() || is_name("USER") || is_name("LOGNAME")
}

/// Whether the accounting database, which is told of last, keeps jobs from others.
fn keeps_jobs_private(configuration: &str) -> bool {
    let value = |line: &str| {
        line.split_once('=').filter(|(key, _)| key.trim() == "PrivateData").map(|(_, value)| value.to_owned())
    };
    let last = configuration.lines().filter_map(value).next_back();
    last.is_some_and(|kept| kept.split(',').any(|what| what.trim() == "jobs"))
}

/// The fields among some that this Slurm knows: one it does not know would make it refuse the whole call.
fn known_fields<'a>(wanted: &[&'a str]) -> Result<Vec<&'a str>, SlurmError> {
    static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
    if KNOWN.get().is_none() {
        let text = call::text("sacct", &["--helpformat"], CONTROLLER_PATIENCE)?;
        let _ = KNOWN.set(text.split_whitespace().map(str::to_ascii_lowercase).collect());
    }
    let known = KNOWN.get().map(Vec::as_slice).unwrap_or_default();
    Ok(wanted.iter().copied().filter(|field| known.contains(&field.to_ascii_lowercase())).collect())
}

/// The scripts of jobs, by the ids they were asked for; a cluster may keep none.
pub fn scripts(ids: &[String]) -> Result<BTreeMap<String, String>, SlurmError> {
    /// Ids in one call: a command line has an end.
    const AT_ONCE: usize = 2000;
    let mut found = BTreeMap::new();
    for ids in ids.chunks(AT_ONCE) {
        let jobs = format!("--jobs={}", ids.join(","));
        found.extend(parted(&call::text("sacct", &["--batch-script", &jobs], ACCOUNTING_PATIENCE)?));
    }
    Ok(found)
}

/// Parts what `sacct --batch-script` prints: each script below its job's id and a line of dashes.
fn parted(text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut current: Option<&mut String> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let id = line.strip_prefix("Batch Script for ");
        let is_rule = |line: &&str| line.len() > 20 && line.bytes().all(|byte| byte == b'-');
        if let Some(id) = id.filter(|_| lines.peek().is_some_and(is_rule)) {
            lines.next();
            current = Some(found.entry(id.trim().to_owned()).or_default());
        } else if let Some(script) = &mut current {
            script.push_str(line);
            script.push('\n');
        }
    }
    found.retain(|_, script| !matches!(script.trim(), "" | "NONE"));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounting_that_keeps_jobs_private_is_known() {
        let told = |clients: &str, database: &str| {
            format!(
                "MessageTimeout         = 10 sec\nPrivateData            = {clients}\n\nSlurmDBD configuration:\nPrivateData            = {database}\nTrackWCKey             = No\n"
            )
        };
        assert!(keeps_jobs_private(&told("none", "accounts,jobs")));
        assert!(!keeps_jobs_private(&told("jobs", "none")), "that holds for the queue");
        assert!(!keeps_jobs_private(""));
    }

    #[test]
    fn scripts_are_parted_by_their_jobs() {
        let rule = "-".repeat(80);
        let text = format!(
            "Batch Script for 14\n{rule}\n#!/bin/sh\nsleep 1\n\nBatch Script for 15\n{rule}\nNONE\nBatch Script for 8_1\n{rule}\necho Batch Script for 9\n"
        );
        let found = parted(&text);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["14", "8_1"]);
        assert_eq!(found["8_1"], "echo Batch Script for 9\n");
        assert!(found["14"].starts_with("#!/bin/sh\nsleep 1\n"));
    }
}
