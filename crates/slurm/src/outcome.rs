//! How a job ended, in harp's words.

use harp_core::{Interruption, Outcome};

use crate::{AccountedJob, ExitCode, StateKind};

/// Whether a job's row is about a run, and how that ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// It ran and is over.
    Run(Outcome),
    /// It waits or runs, or what it does is not known.
    NotYet,
    /// It was taken away before it began.
    NeverStarted,
}

impl AccountedJob {
    /// How it ended.
    pub fn ended(&self) -> Ended {
        let outcome = match self.state.kind {
            StateKind::Unfinished | StateKind::Unknown => return Ended::NotYet,
            _ if !self.has_started() => return Ended::NeverStarted,
            StateKind::Completed => self.completed(),
            StateKind::Failed => self.failed(),
            StateKind::OutOfMemory => self.out_of_memory(),
            // an operator may have brought the end forward: then it ran for less than it was promised
            StateKind::Timeout => match (self.limit.seconds(), self.elapsed) {
                (Some(limit), Some(elapsed)) if elapsed < limit => Outcome::TimedOut { limit: elapsed },
                (Some(limit), _) | (None, Some(limit)) => Outcome::TimedOut { limit },
                (None, None) => Outcome::Interrupted { cause: Interruption::Unknown },
            },
            StateKind::Cancelled => Outcome::Interrupted { cause: Interruption::Cancelled },
            StateKind::Preempted => Outcome::Interrupted { cause: Interruption::Preempted },
            StateKind::Requeued => Outcome::Interrupted { cause: Interruption::Requeued },
            StateKind::NodeFail | StateKind::BootFail => {
                Outcome::Interrupted { cause: Interruption::NodeFailure }
            }
            StateKind::Deadline => Outcome::Interrupted { cause: Interruption::Deadline },
            StateKind::Revoked => return Ended::NeverStarted,
        };
        Ended::Run(outcome)
    }

    fn out_of_memory(&self) -> Outcome {
        Outcome::OutOfMemory { limit: self.memory_limit() }
    }

    /// A script may end well though one of its steps did not.
    fn completed(&self) -> Outcome {
        if self.step_out_of_memory {
            return self.out_of_memory();
        }
        match self.derived_exit {
            Some(ExitCode { code: 0, signal: 0 }) | None => Outcome::Completed,
            Some(ExitCode { code, signal: 0 }) => {
                Outcome::Rejected { reason: format!("a step ended with exit code {code}") }
            }
            Some(ExitCode { signal, .. }) => {
                Outcome::Rejected { reason: format!("a step was ended by signal {signal}") }
            }
        }
    }

    /// Without control groups Slurm kills a job over its memory and calls it failed.
    fn failed(&self) -> Outcome {
        const KILL: i32 = 9;
        let over = self.peak_memory.zip(self.memory_limit()).is_some_and(|(peak, limit)| peak > limit);
        let maybe_killed = self.exit.is_none_or(|exit| exit.signal == KILL || exit.code == KILL);
        if self.step_out_of_memory || (over && maybe_killed) {
            return self.out_of_memory();
        }
        match self.exit {
            Some(ExitCode { signal: 0, code }) => Outcome::Failed { exit_code: code },
            Some(ExitCode { signal, .. }) => Outcome::Signalled { signal },
            None => Outcome::Rejected { reason: "it failed; its exit code is not known".to_owned() },
        }
    }
}
