//! How much memory a job needed, from what accounting says of its steps.
//!
//! `MaxRSS` is the largest task of a step, on one node; `AveRSS` the mean of its tasks; `mem` in
//! `TRESUsageInTot` the sum over its tasks of each one's peak (`sacct` manual, "Job Accounting
//! Fields"). A request (`--mem`) is per node, and everything that runs on a node at one moment counts:
//! tasks side by side, and steps side by side.

use std::collections::BTreeMap;

use crate::hosts::expand_hosts;

/// Jobs with more nodes than this are not looked at node by node.
const MOST_NODES: usize = 4096;

/// What accounting says of one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StepMemory {
    /// `MaxRSS` in bytes.
    pub largest_task: Option<u64>,
    /// `AveRSS` in bytes.
    pub mean_task: Option<u64>,
    /// `mem` of `TRESUsageInTot` in bytes.
    pub all_tasks: Option<u64>,
    /// `NTasks`.
    pub tasks: Option<u64>,
    /// `NNodes`.
    pub nodes: Option<u64>,
    /// `NodeList`.
    pub hosts: Option<String>,
    /// When it began and ended; unknown is assumed to be all the time.
    pub start: Option<i64>,
    pub end: Option<i64>,
}

/// Peaks of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct JobMemory {
    /// On the fullest node.
    pub per_node: Option<u64>,
    /// All nodes together.
    pub total: Option<u64>,
}

impl StepMemory {
    /// All tasks together: as summed by Slurm, else from the mean, else at most the largest each.
    fn total(&self) -> Option<u64> {
        let tasks = self.tasks.unwrap_or(1).max(1);
        let mean = self.mean_task.map(|mean| mean.saturating_mul(tasks));
        let most = self.largest_task.map(|largest| largest.saturating_mul(tasks));
        let total = self.all_tasks.or(mean).or(most)?;
        Some(total.max(self.largest_task.unwrap_or(0)))
    }

    /// On the fullest node: no more than its tasks at the largest each, and no more than all.
    fn per_node(&self) -> Option<u64> {
        let total = self.total()?;
        let nodes = self.nodes.unwrap_or(1).max(1);
        let tasks_there = self.tasks.unwrap_or(1).max(1).div_ceil(nodes);
        let bound = self.largest_task.map_or(total, |largest| largest.saturating_mul(tasks_there));
        Some(if nodes == 1 { total } else { total.min(bound) })
    }
}

/// The peaks of a job from its steps. A step of which nothing is known adds nothing.
pub(crate) fn job_memory(steps: &[StepMemory], nodes: u64) -> JobMemory {
    let spans = |value: fn(&StepMemory) -> Option<u64>, steps: &[&StepMemory]| -> Vec<(i64, i64, u64)> {
        let span = |step: &&StepMemory| {
            Some((step.start.unwrap_or(i64::MIN), step.end.unwrap_or(i64::MAX), value(step)?))
        };
        steps.iter().filter_map(span).collect()
    };
    let all: Vec<&StepMemory> = steps.iter().collect();
    let total = peak(spans(StepMemory::total, &all));
    // Steps on different nodes do not add up on any of them.
    let apart = nodes > 1 && steps.iter().filter(|step| step.nodes.unwrap_or(1) < nodes).count() > 1;
    let by_node = if apart { steps_by_node(steps) } else { None };
    let per_node = match by_node {
        Some(by_node) => {
            by_node.into_values().filter_map(|steps| peak(spans(StepMemory::per_node, &steps))).max()
        }
        None => peak(spans(StepMemory::per_node, &all)),
    };
    JobMemory { per_node, total }
}

fn steps_by_node(steps: &[StepMemory]) -> Option<BTreeMap<String, Vec<&StepMemory>>> {
    let mut by_node: BTreeMap<String, Vec<&StepMemory>> = BTreeMap::new();
    for step in steps {
        for node in expand_hosts(step.hosts.as_deref()?, MOST_NODES)? {
            by_node.entry(node).or_default().push(step);
        }
    }
    Some(by_node)
}

/// The largest sum at any moment of amounts that each count from a start to an end. What ends in the
/// second in which another begins was there before it; what begins and ends within one second counts
/// with what else runs then.
fn peak(mut spans: Vec<(i64, i64, u64)>) -> Option<u64> {
    if spans.len() < 2 {
        return spans.pop().map(|(_, _, amount)| amount);
    }
    spans.sort_unstable();
    let mut ends: Vec<(i64, u64)> =
        spans.iter().filter(|(start, end, _)| end > start).map(|&(_, end, amount)| (end, amount)).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let (mut now, mut most) = (0u64, 0u64);
    for (place, &(start, end, amount)) in spans.iter().enumerate() {
        while let Some((_, gone)) = ends.next_if(|&(end, _)| end <= start) {
            now = now.saturating_sub(gone);
        }
        if end > start {
            now = now.saturating_add(amount);
            most = most.max(now);
        } else {
            // those that begin in the same second and go on are later in the order
            let same_second = spans[place..].iter().take_while(|(other, _, _)| *other == start);
            let beside: u64 =
                same_second.filter(|(_, end, _)| *end > start).map(|(_, _, amount)| amount).sum();
            most = most.max(now.saturating_add(beside).saturating_add(amount));
        }
    }
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(largest: u64, tasks: u64, nodes: u64, span: (i64, i64)) -> StepMemory {
        StepMemory {
            largest_task: Some(largest),
            tasks: Some(tasks),
            nodes: Some(nodes),
            start: Some(span.0),
            end: Some(span.1),
            ..StepMemory::default()
        }
    }

    #[test]
    fn tasks_of_a_node_count_together() {
        // four tasks on one node, as measured: MaxRSS 107552K, TRESUsageInTot mem=429892K
        let exact = StepMemory { all_tasks: Some(429_892), ..step(107_552, 4, 1, (0, 4)) };
        assert_eq!(job_memory(&[exact], 1), JobMemory { per_node: Some(429_892), total: Some(429_892) });
        // two tasks on two nodes: the larger one, not their sum
        let two = StepMemory { all_tasks: Some(214_568), ..step(107_320, 2, 2, (0, 4)) };
        assert_eq!(job_memory(&[two], 2), JobMemory { per_node: Some(107_320), total: Some(214_568) });
        // without the sum: from the mean, else at most the largest each
        let mean = StepMemory { mean_task: Some(90), ..step(100, 3, 1, (0, 4)) };
        assert_eq!(job_memory(&[mean], 1).per_node, Some(270));
        assert_eq!(job_memory(&[step(100, 5, 2, (0, 4))], 2).per_node, Some(300));
    }

    #[test]
    fn steps_side_by_side_add_up_and_steps_in_turn_do_not() {
        let batch = step(10, 1, 1, (0, 6));
        let in_turn = [batch.clone(), step(158, 1, 1, (0, 3)), step(128, 1, 1, (3, 6))];
        assert_eq!(job_memory(&in_turn, 1).per_node, Some(168));
        let together = [batch, step(158, 1, 1, (1, 5)), step(128, 1, 1, (1, 5))];
        assert_eq!(job_memory(&together, 1).per_node, Some(296));
        // a step without times may have run at any moment
        let unknown = StepMemory { start: None, end: None, ..step(5, 1, 1, (0, 0)) };
        assert_eq!(job_memory(&[unknown, step(7, 1, 1, (3, 4))], 1).per_node, Some(12));
        // many short steps within one second are not together
        let short = [step(5, 1, 1, (2, 2)), step(5, 1, 1, (2, 2)), step(1, 1, 1, (0, 9))];
        assert_eq!(job_memory(&short, 1).per_node, Some(6));
    }

    #[test]
    fn steps_on_different_nodes_do_not_add_up() {
        let on = |hosts: &str, amount| StepMemory { hosts: Some(hosts.into()), ..step(amount, 1, 1, (0, 5)) };
        let steps = [on("n1", 10), on("n1", 100), on("n2", 120)];
        assert_eq!(job_memory(&steps, 2), JobMemory { per_node: Some(120), total: Some(230) });
        let unknown = StepMemory { hosts: None, ..steps[2].clone() };
        assert_eq!(job_memory(&[steps[0].clone(), steps[1].clone(), unknown], 2).per_node, Some(230));
    }

    #[test]
    fn nothing_known_is_not_nothing_used() {
        assert_eq!(job_memory(&[], 1), JobMemory::default());
        let blank = StepMemory { largest_task: None, ..step(0, 1, 1, (0, 1)) };
        assert_eq!(job_memory(std::slice::from_ref(&blank), 1), JobMemory::default());
        assert_eq!(job_memory(&[blank, step(7, 1, 1, (0, 1))], 1).per_node, Some(7));
    }

    proptest! {
        #[test]
        fn the_peak_lies_between_the_largest_and_the_sum(
            spans in prop::collection::vec((0i64..20, 0i64..20, 1u64..1000), 1..12),
        ) {
            let spans: Vec<(i64, i64, u64)> =
                spans.into_iter().map(|(start, length, amount)| (start, start + length, amount)).collect();
            let largest = spans.iter().map(|span| span.2).max().unwrap();
            let sum: u64 = spans.iter().map(|span| span.2).sum();
            let found = peak(spans.clone()).unwrap();
            prop_assert!(found >= largest && found <= sum);
            // the plain way: every second with all that is there
            let lasting: Vec<_> = spans.iter().filter(|(start, end, _)| end > start).collect();
            let at = |time: i64| -> u64 {
                lasting.iter().filter(|(start, end, _)| *start <= time && time < *end).map(|span| span.2).sum()
            };
            let plain = (0..40).map(at).max().unwrap();
            let beside = spans.iter().filter(|(start, end, _)| end == start).map(|span| at(span.0) + span.2).max();
            prop_assert_eq!(found, plain.max(beside.unwrap_or(0)));
        }
    }
}
