//! What `squeue` prints: which jobs and tasks of arrays are still there.

use std::collections::{BTreeMap, BTreeSet};

/// The format to ask `squeue` for: array, task, state, name. One line a task (`--array`).
pub const QUEUE_FORMAT: &str = "%F|%K|%T|%j";

/// The jobs of a queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue {
    tasks: BTreeSet<(u64, u64)>,
    running: usize,
    names: BTreeMap<String, u64>,
}

impl Queue {
    /// Reads what was printed. Lines that are not understood are left out: a job that is only in one of
    /// them is looked for in accounting, and found to be unfinished there.
    pub fn parse(text: &str) -> Queue {
        let mut queue = Queue::default();
        for line in text.lines() {
            let mut cells = line.splitn(4, '|').map(str::trim);
            let (Some(job), Some(task), Some(state), Some(name)) =
                (cells.next(), cells.next(), cells.next(), cells.next())
            else {
                continue;
            };
            let Ok(job) = job.parse() else { continue };
            queue.names.insert(name.to_owned(), job);
            // a job without tasks has `N/A` there
            queue.tasks.insert((job, task.parse().unwrap_or(0)));
            queue.running += usize::from(state == "RUNNING");
        }
        queue
    }

    /// Whether a task waits, runs or is being ended.
    pub fn holds(&self, job: u64, task: u64) -> bool {
        self.tasks.contains(&(job, task))
    }

    /// The number of the job of a name.
    pub fn job_named(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied()
    }

    /// How many tasks run.
    pub fn running(&self) -> usize {
        self.running
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_names_are_found() {
        let queue =
            Queue::parse("12|3|PENDING|harp-a\n12|4|RUNNING|harp-a\n15|N/A|COMPLETING|x|y\nnonsense\n");
        assert!(queue.holds(12, 3) && queue.holds(12, 4) && queue.holds(15, 0));
        assert!(!queue.holds(12, 5) && !queue.holds(13, 3));
        assert_eq!((queue.len(), queue.running(), queue.is_empty()), (3, 1, false));
        assert_eq!((queue.job_named("harp-a"), queue.job_named("x|y")), (Some(12), Some(15)));
        assert_eq!(queue.job_named("harp-b"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[0-9|A-Z/\n]{0,60}") {
            let _ = Queue::parse(&text);
        }
    }
}
