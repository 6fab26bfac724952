//! Asking Slurm: its clients are called, what they print is handed on, and what they complain about
//! becomes an error a person can act on. One call answers for many jobs; nothing is submitted here.

mod call;
mod error;

use std::io::Read;
use std::time::Duration;

pub use error::SlurmError;

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
    // One field that this version does not know would make it refuse the whole call.
    let known = call::text("sacct", &["--helpformat"], CONTROLLER_PATIENCE)?;
    let known: Vec<String> = known.split_whitespace().map(str::to_ascii_lowercase).collect();
    let fields: Vec<&str> =
        wanted.iter().copied().filter(|field| known.contains(&field.to_ascii_lowercase())).collect();
    let since = format!("--starttime=now-{}", query.since.as_secs());
    let format = format!("--format={}", fields.join(","));
    let separator = format!("--delimiter={SEPARATOR}");
    let mut arguments =
        vec!["--duplicates", "--parsable2", "--noconvert", "--endtime=now", &since, &separator, &format];
    let user = query.user.as_ref().map(|user| format!("--user={user}"));
    arguments.extend(user.as_deref());
    call::stream("sacct", &arguments, ACCOUNTING_PATIENCE, read)
}
