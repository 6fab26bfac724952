//! Candidate allocations: every combination of the values that were measured.

use std::collections::BTreeSet;

use harp_core::{Allocation, Bytes};

/// Values to combine. An empty list means the resource was not varied and stays unset; a resource
/// that is unset in a candidate is filled in by the plan (cores: threads or the whole node; memory:
/// from the prediction; node type: each of the site's).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// Numbers of nodes.
    pub nodes: BTreeSet<u32>,
    /// Processes per node.
    pub tasks: BTreeSet<u32>,
    /// Cores per node.
    pub cores: BTreeSet<u32>,
    /// Threads of the program.
    pub threads: BTreeSet<u32>,
    /// Memory limits per node.
    pub memory: BTreeSet<Bytes>,
    /// GPUs per node.
    pub gpus: BTreeSet<u32>,
    /// Kinds of GPU.
    pub gpu_kinds: BTreeSet<String>,
    /// Node types.
    pub node_types: BTreeSet<String>,
    /// Features of nodes.
    pub constraints: BTreeSet<String>,
}

impl Choices {
    /// The values that occur in some allocations, for instance those an experiment ran with.
    pub fn seen_in<'a>(allocations: impl IntoIterator<Item = &'a Allocation>) -> Choices {
        let mut choices = Choices::default();
        for allocation in allocations {
            choices.nodes.extend(allocation.nodes);
            choices.tasks.extend(allocation.tasks);
            choices.cores.extend(allocation.cores);
            choices.threads.extend(allocation.threads);
            choices.memory.extend(allocation.memory);
            choices.gpus.extend(allocation.gpus);
            choices.gpu_kinds.extend(allocation.gpu_kind.clone());
            choices.node_types.extend(allocation.node_type.clone());
            choices.constraints.extend(allocation.constraint.clone());
        }
        choices
    }

    /// Every combination, in rising order of the values; one empty allocation when nothing varies.
    pub fn allocations(&self) -> Vec<Allocation> {
        let mut combinations = vec![Allocation::default()];
        combinations = vary(combinations, &self.node_types, |a, value| a.node_type = Some(value));
        combinations = vary(combinations, &self.constraints, |a, value| a.constraint = Some(value));
        combinations = vary(combinations, &self.nodes, |a, value| a.nodes = Some(value));
        combinations = vary(combinations, &self.tasks, |a, value| a.tasks = Some(value));
        combinations = vary(combinations, &self.cores, |a, value| a.cores = Some(value));
        combinations = vary(combinations, &self.threads, |a, value| a.threads = Some(value));
        combinations = vary(combinations, &self.memory, |a, value| a.memory = Some(value));
        combinations = vary(combinations, &self.gpu_kinds, |a, value| a.gpu_kind = Some(value));
        vary(combinations, &self.gpus, |a, value| a.gpus = Some(value))
    }
}

fn vary<T: Clone>(
    combinations: Vec<Allocation>,
    values: &BTreeSet<T>,
    set: impl Fn(&mut Allocation, T),
) -> Vec<Allocation> {
    if values.is_empty() {
        return combinations;
    }
    let with_each = |allocation: Allocation| {
        values.iter().map(move |value| (allocation.clone(), value.clone())).collect::<Vec<_>>()
    };
    combinations
        .into_iter()
        .flat_map(with_each)
        .map(|(mut allocation, value)| {
            set(&mut allocation, value);
            allocation
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_once() {
        let allocation =
            |cores, gpus| Allocation { cores: Some(cores), gpus: Some(gpus), ..Allocation::default() };
        let measured = [allocation(1, 0), allocation(2, 1), allocation(2, 0), Allocation::default()];
        let choices = Choices::seen_in(&measured);
        let expected = [allocation(1, 0), allocation(1, 1), allocation(2, 0), allocation(2, 1)];
        assert_eq!(choices.allocations(), expected);
        assert_eq!(Choices::default().allocations(), [Allocation::default()]);
    }
}
