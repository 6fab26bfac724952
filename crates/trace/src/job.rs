//! One job of a trace: the eighteen fields of the Standard Workload Format, missing ones as `None`.

use serde::{Deserialize, Serialize};

/// How a job ended, in the codes of the Standard Workload Format (field 11).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// 0: the job failed.
    Failed,
    /// 1: the job completed.
    Completed,
    /// 2: a part of a checkpointed job that was continued.
    PartialContinued,
    /// 3: the last part of a checkpointed job, completed.
    PartialCompleted,
    /// 4: the last part of a checkpointed job, failed.
    PartialFailed,
    /// 5: cancelled or killed, before or after its start.
    Cancelled,
    /// −1, or a code the format does not know.
    #[default]
    Unknown,
}

impl Status {
    /// The status of a code in the Standard Workload Format.
    pub fn from_code(code: i64) -> Self {
        match code {
            0 => Status::Failed,
            1 => Status::Completed,
            2 => Status::PartialContinued,
            3 => Status::PartialCompleted,
            4 => Status::PartialFailed,
            5 => Status::Cancelled,
            _ => Status::Unknown,
        }
    }

    /// The code in the Standard Workload Format.
    pub fn code(self) -> i64 {
        match self {
            Status::Failed => 0,
            Status::Completed => 1,
            Status::PartialContinued => 2,
            Status::PartialCompleted => 3,
            Status::PartialFailed => 4,
            Status::Cancelled => 5,
            Status::Unknown => -1,
        }
    }

    /// The status named by a word: `Pass`, `COMPLETED`, `CANCELLED by 1000`, `TIMEOUT`, a code …
    ///
    /// Slurm's states that mean "ended by somebody or by a limit" (cancelled, timeout, preempted,
    /// deadline, revoked) are [`Status::Cancelled`]; those that mean "broke" are [`Status::Failed`].
    pub fn from_word(word: &str) -> Self {
        let first = word.trim().split(|c: char| c.is_whitespace() || c == '+').next().unwrap_or("");
        match first.to_ascii_lowercase().as_str() {
            "completed" | "complete" | "pass" | "passed" | "success" | "succeeded" | "ok" | "done" => {
                Status::Completed
            }
            "failed" | "fail" | "failure" | "error" | "node_fail" | "out_of_memory" | "oom" | "boot_fail"
            | "launch_failed" => Status::Failed,
            "cancelled" | "canceled" | "killed" | "timeout" | "preempted" | "deadline" | "revoked" => {
                Status::Cancelled
            }
            "partial_continued" => Status::PartialContinued,
            "partial_completed" => Status::PartialCompleted,
            "partial_failed" => Status::PartialFailed,
            other => other.parse().map_or(Status::Unknown, Status::from_code),
        }
    }

    /// Pass, fail or killed, as the cross-system study counts them; `None` where it is not known.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Status::Completed | Status::PartialCompleted => Some(Verdict::Pass),
            Status::Failed | Status::PartialFailed => Some(Verdict::Fail),
            Status::Cancelled => Some(Verdict::Killed),
            Status::PartialContinued | Status::Unknown => None,
        }
    }
}

/// The three ends of a job that the characterisation tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It ran to its end.
    Pass,
    /// It broke.
    Fail,
    /// A person or a limit ended it.
    Killed,
}

/// One job. Times are whole seconds; a field the trace does not give is `None`, never 0 or −1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Field 1: the job's number in the trace.
    pub number: u64,
    /// The line it was read from, from 1; 0 for jobs that were not read from a file.
    #[serde(skip)]
    pub line: u64,
    /// Field 2: when it was submitted, in seconds from the trace's start or of the Unix clock.
    pub submit: i64,
    /// Field 3: how long it waited.
    pub wait: Option<i64>,
    /// Field 4: how long it ran.
    pub run: Option<i64>,
    /// Field 5: processors it was given.
    pub allocated_processors: Option<u32>,
    /// Field 6: processor time used, averaged over its processors, in seconds.
    pub average_cpu_time: Option<f64>,
    /// Field 7: memory used per processor, in kilobytes.
    pub used_memory: Option<f64>,
    /// Field 8: processors it asked for.
    pub requested_processors: Option<u32>,
    /// Field 9: run time it asked for.
    pub requested_time: Option<i64>,
    /// Field 10: memory it asked for per processor, in kilobytes.
    pub requested_memory: Option<f64>,
    /// Field 11: how it ended.
    pub status: Status,
    /// Field 12: who submitted it.
    pub user: Option<u64>,
    /// Field 13: the user's group or project.
    pub group: Option<u64>,
    /// Field 14: which program.
    pub executable: Option<u64>,
    /// Field 15: which queue.
    pub queue: Option<u64>,
    /// Field 16: which partition.
    pub partition: Option<u64>,
    /// Field 17: the job that had to end first.
    pub preceding_job: Option<u64>,
    /// Field 18: seconds between the end of the preceding job and this submission.
    pub think_time: Option<i64>,
    /// GPUs it was given; no field of the Standard Workload Format, other formats may tell.
    pub gpus: Option<u32>,
}

impl Job {
    /// The size a scheduler works with: processors requested, else allocated; `None` if neither is
    /// positive.
    pub fn processors(&self) -> Option<u32> {
        self.requested_processors.filter(|&n| n > 0).or(self.allocated_processors.filter(|&n| n > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes_become_statuses() {
        assert_eq!(Status::from_word("CANCELLED by 1000"), Status::Cancelled);
        assert_eq!(Status::from_word("OUT_OF_MEMORY"), Status::Failed);
        assert_eq!(Status::from_word("Pass"), Status::Completed);
        assert_eq!(Status::from_word("5"), Status::Cancelled);
        assert_eq!(Status::from_word("strange"), Status::Unknown);
        for code in -1..=5 {
            assert_eq!(Status::from_code(code).code(), code);
        }
    }

    #[test]
    fn size_prefers_the_request() {
        let job = Job { requested_processors: Some(8), allocated_processors: Some(16), ..Job::default() };
        assert_eq!(job.processors(), Some(8));
        let job = Job { requested_processors: Some(0), allocated_processors: Some(16), ..Job::default() };
        assert_eq!(job.processors(), Some(16));
        assert_eq!(Job::default().processors(), None);
    }
}
