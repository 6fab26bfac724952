//! Why Slurm gave no answer, told from what its clients print. The sentences are those of Slurm 22.05.

use std::time::Duration;

use thiserror::Error;

/// A question Slurm did not answer.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The client is not installed here.
    #[error("there is no `{command}` here")]
    Missing {
        /// The client.
        command: &'static str,
    },
    /// The controller or the accounting database does not answer.
    #[error("`{command}` cannot reach Slurm: {said}")]
    Unreachable {
        /// The client.
        command: &'static str,
        /// Its complaint.
        said: String,
    },
    /// This cluster keeps no accounts.
    #[error("this Slurm keeps no accounting: {said}")]
    NoAccounting {
        /// What it said.
        said: String,
    },
    /// The question is not for this person to ask.
    #[error("`{command}` is not allowed: {said}")]
    NotAllowed {
        /// The client.
        command: &'static str,
        /// Its complaint.
        said: String,
    },
    /// No answer within the time.
    #[error("`{command}` has not answered within {} s", patience.as_secs())]
    TooSlow {
        /// The client.
        command: &'static str,
        /// The time.
        patience: Duration,
    },
    /// Something else.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// The client.
        command: &'static str,
        /// Its complaint.
        said: String,
    },
}

impl SlurmError {
    /// The error behind a complaint.
    pub(super) fn of_complaint(command: &'static str, complaint: &str) -> SlurmError {
        let lines: Vec<&str> = complaint.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let said = lines.last().copied().unwrap_or("it said nothing").to_owned();
        let heard = |words: &[&str]| {
            let complaint = complaint.to_ascii_lowercase();
            words.iter().any(|word| complaint.contains(word))
        };
        if heard(&["accounting storage is disabled"]) {
            SlurmError::NoAccounting { said }
        } else if heard(&["access/permission denied", "permission denied", "only admins", "not authorized"]) {
            SlurmError::NotAllowed { command, said }
        } else if heard(&[
            "unable to contact slurm controller",
            "connection refused",
            "connection timed out",
            "problem talking to the database",
            "could not establish a configuration source",
            "unable to establish control",
            "unable to process configuration file",
            "failed to open persistent connection",
            "munge encode failed",
            "socket timed out",
        ]) {
            SlurmError::Unreachable { command, said }
        } else {
            SlurmError::Failed { command, said }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            SlurmError::Missing { .. } => {
                "call harp on a login node of the cluster; `harp import slurm` and `harp advise` also read a saved answer of sacct (--file)"
            }
            SlurmError::Unreachable { .. } | SlurmError::TooSlow { .. } => {
                "try again later, or ask the site whether Slurm is down; SLURM_CONF may name another cluster's file"
            }
            SlurmError::NoAccounting { .. } => {
                "without accounting harp learns from its own runs: `harp generate`"
            }
            SlurmError::NotAllowed { .. } => {
                "leave out --user to ask for your own jobs, or ask an operator for a file"
            }
            SlurmError::Failed { .. } => "call it by hand to see more, and give its answer with --file",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_told_apart() {
        let kind = |text: &str| SlurmError::of_complaint("sacct", text);
        assert!(matches!(
            kind("slurm_load_partitions: Unable to contact slurm controller (connect failure)\n"),
            SlurmError::Unreachable { .. }
        ));
        assert!(matches!(kind("Slurm accounting storage is disabled"), SlurmError::NoAccounting { .. }));
        assert!(matches!(kind("sacct: error: Access/permission denied"), SlurmError::NotAllowed { .. }));
        let other = kind("sacct: error: Invalid field requested: \"X\"");
        assert_eq!(other.to_string(), "`sacct` failed: sacct: error: Invalid field requested: \"X\"");
        assert_eq!(kind("").to_string(), "`sacct` failed: it said nothing");
    }
}
