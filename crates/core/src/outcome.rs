//! How a run ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Bytes, Seconds};

/// How a run ended, with what is needed to know why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The program ran to its end and was judged a success.
    Completed,
    /// The program ended by itself with an exit code that means failure.
    Failed {
        /// The exit code.
        exit_code: i32,
    },
    /// A signal ended the program and harp had not sent it.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// harp ended it at its time limit: its walltime is a lower bound.
    TimedOut {
        /// The limit.
        limit: Seconds,
    },
    /// It was ended for using more memory than allowed: its peak memory is a lower bound.
    OutOfMemory {
        /// The limit, where known.
        limit: Option<Bytes>,
    },
    /// It exited with success but its output or files say otherwise.
    Rejected {
        /// Which check failed.
        reason: String,
    },
    /// It could not be started at all.
    NotStarted {
        /// Why.
        reason: String,
    },
    /// Somebody or something outside ended it; it says nothing about the program.
    Interrupted {
        /// What.
        cause: Interruption,
    },
}

/// What ended a run from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// A person.
    Cancelled,
    /// A job that goes before it.
    Preempted,
    /// It was put back into the queue to run again.
    Requeued,
    /// Its node broke.
    NodeFailure,
    /// A point of time after which it was not wanted any more.
    Deadline,
    /// Not said.
    Unknown,
}

impl Interruption {
    /// In words, after "the run was".
    fn words(self) -> &'static str {
        match self {
            Interruption::Cancelled => "cancelled",
            Interruption::Preempted => "preempted",
            Interruption::Requeued => "put back into the queue",
            Interruption::NodeFailure => "lost with its node",
            Interruption::Deadline => "ended at its deadline",
            Interruption::Unknown => "ended from outside",
        }
    }
}

impl Outcome {
    /// Whether the run may be learned from as a finished run.
    pub fn is_completed(&self) -> bool {
        matches!(self, Outcome::Completed)
    }

    /// Whether the walltime is only a lower bound of what the program needs.
    pub fn walltime_is_lower_bound(&self) -> bool {
        matches!(self, Outcome::TimedOut { .. })
    }

    /// Whether the peak memory is only a lower bound of what the program needs.
    pub fn memory_is_lower_bound(&self) -> bool {
        matches!(self, Outcome::OutOfMemory { .. })
    }

    /// One word for tables and the store.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Failed { .. } => "failed",
            Outcome::Signalled { .. } => "signalled",
            Outcome::TimedOut { .. } => "timed_out",
            Outcome::OutOfMemory { .. } => "out_of_memory",
            Outcome::Rejected { .. } => "rejected",
            Outcome::NotStarted { .. } => "not_started",
            Outcome::Interrupted { .. } => "interrupted",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Outcome::Completed => "completed".to_owned(),
            Outcome::Failed { exit_code } => format!("failed with exit code {exit_code}"),
            Outcome::Signalled { signal } => match signal_name(*signal) {
                Some(name) => format!("ended by signal {signal} ({name})"),
                None => format!("ended by signal {signal}"),
            },
            Outcome::TimedOut { limit } => format!("timed out after {limit}"),
            Outcome::OutOfMemory { limit: Some(limit) } => format!("out of memory at {limit}"),
            Outcome::OutOfMemory { limit: None } => "out of memory".to_owned(),
            Outcome::Rejected { reason } => format!("rejected: {reason}"),
            Outcome::NotStarted { reason } => format!("not started: {reason}"),
            Outcome::Interrupted { cause } => cause.words().to_owned(),
        };
        formatter.pad(&text)
    }
}

/// The names of the signals programs are usually ended by.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names() {
        assert_eq!(Outcome::Signalled { signal: 11 }.to_string(), "ended by signal 11 (SIGSEGV)");
        assert_eq!(Outcome::Signalled { signal: 99 }.to_string(), "ended by signal 99");
    }
}
