//! What a cell of a table says of how a run ended.

use harp_core::Target;

/// How a run ended, as far as its target is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself: the target was measured.
    Finished,
    /// At a limit: the target is at least what stands there.
    Killed,
    /// Otherwise: it says nothing of the target.
    Failed,
}

const FINISHED: [&str; 13] =
    ["", "0", "f", "false", "n", "no", "na", "completed", "complete", "done", "finished", "ok", "success"];
const KILLED: [&str; 8] = ["1", "t", "true", "y", "yes", "killed", "censored", "limit"];
const OUT_OF_TIME: [&str; 2] = ["timedout", "timeout"];
const OUT_OF_MEMORY: [&str; 2] = ["outofmemory", "oom"];
const FAILED: [&str; 8] =
    ["failed", "signalled", "rejected", "notstarted", "interrupted", "cancelled", "preempted", "nodefail"];

impl Ended {
    /// The forms that are understood, for people.
    pub(crate) const FORMS: &str = "true, yes, 1, killed, timed_out or out_of_memory for a run killed at a limit, \
                                    false, no, 0, completed or nothing for one that finished";

    /// Reads a cell: yes or no, or an outcome as harp's history and Slurm write it. What a run used up to a
    /// limit of another kind is no bound, but for the memory of one out of time, as in the history.
    pub(crate) fn read(cell: &str, target: &Target) -> Option<Ended> {
        let letters = cell.chars().filter(|letter| letter.is_alphanumeric());
        let word = letters.collect::<String>().to_ascii_lowercase();
        let is_in = |words: &[&str]| words.contains(&word.as_str());
        let is_time = matches!(target, Target::Walltime | Target::CpuTime);
        if is_in(&FINISHED) {
            Some(Ended::Finished)
        } else if is_in(&KILLED) || is_in(&OUT_OF_TIME) {
            Some(Ended::Killed)
        } else if is_in(&OUT_OF_MEMORY) {
            Some(if is_time { Ended::Failed } else { Ended::Killed })
        } else {
            // Slurm says by whom a job was cancelled.
            FAILED.iter().any(|failed| word.starts_with(failed)).then_some(Ended::Failed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_understood_as_people_harp_and_slurm_write_them() {
        let read = |cell| Ended::read(cell, &Target::Walltime);
        for cell in ["true", "1", "Yes", "killed", "timeout", "TIMEOUT", "timed_out", "time-out"] {
            assert_eq!(read(cell), Some(Ended::Killed), "{cell}");
        }
        for cell in ["", "0", "No", "FALSE", "COMPLETED", "ok", "N/A"] {
            assert_eq!(read(cell), Some(Ended::Finished), "{cell}");
        }
        assert_eq!((read("NODE_FAIL"), read("CANCELLED by 7")), (Some(Ended::Failed), Some(Ended::Failed)));
        assert_eq!((read("OUT_OF_MEMORY"), read("maybe")), (Some(Ended::Failed), None));
        assert_eq!(Ended::read("oom", &Target::PeakMemory), Some(Ended::Killed));
    }
}
