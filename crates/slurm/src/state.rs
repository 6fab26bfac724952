//! The state of a job or step.

/// A state, and who ended it where that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Which.
    pub kind: StateKind,
    /// The user's number in `CANCELLED by 1000`.
    pub by: Option<u32>,
}

/// The states Slurm's accounting knows (`sacct` manual, "JOB STATE CODES").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateKind {
    /// It ran to its end with exit code 0.
    Completed,
    /// It ended with another exit code or by a signal.
    Failed,
    /// It was ended at its time limit.
    Timeout,
    /// It was ended for its memory.
    OutOfMemory,
    /// A person ended it.
    Cancelled,
    /// It had to make room.
    Preempted,
    /// It was put back into the queue; this run of it is over.
    Requeued,
    /// Its node broke.
    NodeFail,
    /// Its node did not start.
    BootFail,
    /// It was ended at its deadline.
    Deadline,
    /// Another cluster of the federation took it.
    Revoked,
    /// It has not begun, or is not over.
    Unfinished,
    /// A word that is not known here.
    Unknown,
}

const NAMES: [(&str, StateKind); 23] = [
    ("COMPLETED", StateKind::Completed),
    ("FAILED", StateKind::Failed),
    ("LAUNCH_FAILED", StateKind::Failed),
    ("TIMEOUT", StateKind::Timeout),
    ("OUT_OF_MEMORY", StateKind::OutOfMemory),
    ("CANCELLED", StateKind::Cancelled),
    ("PREEMPTED", StateKind::Preempted),
    ("REQUEUED", StateKind::Requeued),
    ("REQUEUE_HOLD", StateKind::Unfinished),
    ("REQUEUE_FED", StateKind::Unfinished),
    ("SPECIAL_EXIT", StateKind::Unfinished),
    ("NODE_FAIL", StateKind::NodeFail),
    ("BOOT_FAIL", StateKind::BootFail),
    ("DEADLINE", StateKind::Deadline),
    ("REVOKED", StateKind::Revoked),
    ("PENDING", StateKind::Unfinished),
    ("RUNNING", StateKind::Unfinished),
    ("SUSPENDED", StateKind::Unfinished),
    ("COMPLETING", StateKind::Unfinished),
    ("CONFIGURING", StateKind::Unfinished),
    ("RESIZING", StateKind::Unfinished),
    ("SIGNALING", StateKind::Unfinished),
    ("STAGE_OUT", StateKind::Unfinished),
];

impl State {
    /// Reads one. A word cut off by the width of a column (`OUT_OF_ME+`) is known where only one state
    /// begins like it.
    pub fn parse(text: &str) -> State {
        if text == "COMPLETED" {
            return State { kind: StateKind::Completed, by: None }; // nearly all are
        }
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or("");
        let by = match words.next() {
            Some("by") => words.next().and_then(|user| user.parse().ok()),
            _ => None,
        };
        let kind = match first.strip_suffix('+') {
            Some(beginning) if !beginning.is_empty() => {
                let mut alike =
                    NAMES.iter().filter(|(name, _)| name.starts_with(beginning)).map(|(_, kind)| *kind);
                let kind = alike.next();
                kind.filter(|kind| alike.all(|other| other == *kind))
            }
            _ => NAMES.iter().find(|(name, _)| *name == first).map(|(_, kind)| *kind),
        };
        State { kind: kind.unwrap_or(StateKind::Unknown), by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_cut_words() {
        for (text, kind, by) in [
            ("COMPLETED", StateKind::Completed, None),
            ("CANCELLED by 0", StateKind::Cancelled, Some(0)),
            ("CANCELLED+", StateKind::Cancelled, None),
            ("OUT_OF_ME+", StateKind::OutOfMemory, None),
            ("RE+", StateKind::Unknown, None),
            ("REQUEUED", StateKind::Requeued, None),
            ("COMPLET+", StateKind::Unknown, None),
            ("NEW_STATE", StateKind::Unknown, None),
            ("", StateKind::Unknown, None),
            ("+", StateKind::Unknown, None),
        ] {
            assert_eq!(State::parse(text), State { kind, by }, "{text}");
        }
    }
}
