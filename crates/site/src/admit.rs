//! Which node types and partitions admit a request, and why the others do not.

use harp_core::{Allocation, Bytes, Seconds, counted};
use serde::Serialize;
use thiserror::Error;

use crate::{MemoryOption, NodeType, Partition, Site};

/// Where a job would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// Name of the node type.
    pub node_type: String,
    /// Name of the partition; `None` where there is no scheduler.
    pub partition: Option<String>,
}

/// Every place a request was tried at.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Admission {
    /// Places that admit it, in the profile's order.
    pub placements: Vec<Placement>,
    /// Places that do not, with the first reason each.
    pub refusals: Vec<Refusal>,
}

/// One place that does not admit a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// The node type, or the name asked for when there is none such.
    pub node_type: String,
    /// The partition, where one was tried.
    pub partition: Option<String>,
    /// Why.
    pub reason: RefusalReason,
}

/// Why a place does not admit a request.
#[derive(Debug, Clone, PartialEq, Serialize, Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum RefusalReason {
    /// The site has no node type of that name.
    #[error("the site has no node type `{name}`; it has {}", known.join(", "))]
    UnknownNodeType {
        /// The name asked for.
        name: String,
        /// Names that exist.
        known: Vec<String>,
    },
    /// No partition leads to the node type.
    #[error("no partition leads to node type `{name}`")]
    NoPartition {
        /// The node type.
        name: String,
    },
    /// More cores than a job can have on a node.
    #[error("{} asked for, a node gives {available}", counted(*asked as usize, "core"))]
    TooManyCores {
        /// Cores asked for.
        asked: u32,
        /// Cores there are.
        available: u32,
    },
    /// No cores at all.
    #[error("a job needs at least one core and one node")]
    NothingAskedFor,
    /// More memory than a node gives.
    #[error("{asked} of memory asked for, a node gives {available}")]
    TooMuchMemory {
        /// Memory asked for.
        asked: Bytes,
        /// Memory there is.
        available: Bytes,
    },
    /// More memory than comes with the cores, at a site where memory cannot be asked for.
    #[error("{asked} of memory needed, but only {share} comes with the cores and the site forbids asking")]
    MemoryNotAskable {
        /// Memory needed.
        asked: Bytes,
        /// What comes with the cores.
        share: Bytes,
    },
    /// More GPUs than a node has.
    #[error("{} asked for, a node has {available}", counted(*asked as usize, "GPU"))]
    TooManyGpus {
        /// GPUs asked for.
        asked: u32,
        /// GPUs there are.
        available: u32,
    },
    /// Fewer GPUs than the partition is for.
    #[error("{} asked for, the partition is for jobs with at least {least}", counted(*asked as usize, "GPU"))]
    TooFewGpus {
        /// GPUs asked for.
        asked: u32,
        /// Fewest admitted.
        least: u32,
    },
    /// GPUs of another kind.
    #[error("GPUs of kind `{asked}` asked for, a node has {}", available.as_deref().unwrap_or("none"))]
    OtherGpus {
        /// The kind asked for.
        asked: String,
        /// The kind there is.
        available: Option<String>,
    },
    /// Nodes without the feature.
    #[error("nodes with `{asked}` asked for, these are others")]
    NoFeature {
        /// The feature.
        asked: String,
    },
    /// More nodes than admitted.
    #[error("{} asked for, at most {most} are admitted", counted(*asked as usize, "node"))]
    TooManyNodes {
        /// Nodes asked for.
        asked: u32,
        /// Most admitted.
        most: u32,
    },
    /// Fewer nodes than admitted.
    #[error("{} asked for, at least {least} are needed", counted(*asked as usize, "node"))]
    TooFewNodes {
        /// Nodes asked for.
        asked: u32,
        /// Fewest admitted.
        least: u32,
    },
    /// A longer time than the partition gives.
    #[error("{asked} asked for, the longest time is {limit}")]
    TooLong {
        /// Time asked for.
        asked: Seconds,
        /// Longest admitted.
        limit: Seconds,
    },
}

impl RefusalReason {
    /// How much there is of what is not enough; nothing where it is no matter of amount.
    pub fn available(&self) -> Option<u64> {
        match self {
            RefusalReason::TooManyCores { available, .. } | RefusalReason::TooManyGpus { available, .. } => {
                Some(u64::from(*available))
            }
            RefusalReason::TooMuchMemory { available, .. } => Some(available.0),
            RefusalReason::TooLong { limit, .. } => Some(limit.0 as u64),
            _ => None,
        }
    }

    /// A stable word for the kind of reason, the same as `reason` in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            RefusalReason::UnknownNodeType { .. } => "unknown_node_type",
            RefusalReason::NoPartition { .. } => "no_partition",
            RefusalReason::TooManyCores { .. } => "too_many_cores",
            RefusalReason::NothingAskedFor => "nothing_asked_for",
            RefusalReason::TooMuchMemory { .. } => "too_much_memory",
            RefusalReason::MemoryNotAskable { .. } => "memory_not_askable",
            RefusalReason::TooManyGpus { .. } => "too_many_gpus",
            RefusalReason::TooFewGpus { .. } => "too_few_gpus",
            RefusalReason::OtherGpus { .. } => "other_gpus",
            RefusalReason::NoFeature { .. } => "no_feature",
            RefusalReason::TooManyNodes { .. } => "too_many_nodes",
            RefusalReason::TooFewNodes { .. } => "too_few_nodes",
            RefusalReason::TooLong { .. } => "too_long",
        }
    }
}

impl Site {
    /// Tries a request at every node type and partition. Without a time, time limits are not
    /// checked; an unset limit of the profile refuses nothing.
    pub fn admit(&self, allocation: &Allocation, time: Option<Seconds>) -> Admission {
        let mut admission = Admission::default();
        if let Some(name) = &allocation.node_type
            && self.node_type(name).is_none()
        {
            let known = self.node_types.iter().map(|node_type| node_type.name.clone()).collect();
            admission.refuse(name, None, RefusalReason::UnknownNodeType { name: name.clone(), known });
            return admission;
        }
        let wanted = |node_type: &&NodeType| {
            allocation.node_type.as_ref().is_none_or(|wanted| *wanted == node_type.name)
        };
        for node_type in self.node_types.iter().filter(wanted) {
            let partitions: Vec<&Partition> = self
                .partitions
                .iter()
                .filter(|partition| partition.node_types.contains(&node_type.name))
                .collect();
            if self.partitions.is_empty() {
                admission.note(node_type, None, self.refusal(allocation, node_type, None, time));
            } else if partitions.is_empty() {
                let reason = RefusalReason::NoPartition { name: node_type.name.clone() };
                admission.refuse(&node_type.name, None, reason);
            }
            for partition in partitions {
                let refusal = self.refusal(allocation, node_type, Some(partition), time);
                admission.note(node_type, Some(partition), refusal);
            }
        }
        admission
    }

    /// The first reason why one place does not admit a request; `None` when it does.
    pub fn refusal(
        &self,
        allocation: &Allocation,
        node_type: &NodeType,
        partition: Option<&Partition>,
        time: Option<Seconds>,
    ) -> Option<RefusalReason> {
        let nodes = allocation.node_count();
        if nodes == 0 || allocation.cores == Some(0) {
            return Some(RefusalReason::NothingAskedFor);
        }
        let limit_of = |limit: fn(&Partition) -> Option<u32>| partition.and_then(limit);
        let most_cores = smaller(node_type.cores, limit_of(|partition| partition.max_cores));
        let most_nodes = smaller(node_type.count, limit_of(|partition| partition.max_nodes));
        let gpus = allocation.gpus.unwrap_or(0);
        match (allocation.cores, most_cores) {
            (Some(asked), Some(available)) if asked > available => {
                return Some(RefusalReason::TooManyCores { asked, available });
            }
            _ => {}
        }
        match most_nodes {
            Some(most) if nodes > most => return Some(RefusalReason::TooManyNodes { asked: nodes, most }),
            _ => {}
        }
        match limit_of(|partition| partition.min_nodes) {
            Some(least) if nodes < least => return Some(RefusalReason::TooFewNodes { asked: nodes, least }),
            _ => {}
        }
        if gpus > node_type.gpu_count() {
            return Some(RefusalReason::TooManyGpus { asked: gpus, available: node_type.gpu_count() });
        }
        if let Some(reason) = self.kind_refusal(allocation, node_type) {
            return Some(reason);
        }
        match limit_of(|partition| partition.min_gpus) {
            Some(least) if gpus < least => return Some(RefusalReason::TooFewGpus { asked: gpus, least }),
            _ => {}
        }
        if let Some(refusal) = self.memory_refusal(allocation, node_type, partition) {
            return Some(refusal);
        }
        match (time, partition.and_then(|partition| partition.max_time)) {
            (Some(asked), Some(limit)) if asked > limit => Some(RefusalReason::TooLong { asked, limit }),
            _ => None,
        }
    }

    /// Nodes of another kind than asked for: other GPUs, or without a feature that other nodes have.
    fn kind_refusal(&self, allocation: &Allocation, node_type: &NodeType) -> Option<RefusalReason> {
        let wants_gpus = allocation.gpus.is_some_and(|gpus| gpus > 0);
        if let Some(asked) = allocation.gpu_kind.as_ref().filter(|_| wants_gpus) {
            let is_this = |name: &str| name.eq_ignore_ascii_case(asked);
            let has = node_type.gpus.as_ref();
            if !has.is_some_and(|gpus| is_this(&gpus.kind) || gpus.gres.as_deref().is_some_and(is_this)) {
                let available = has.map(|gpus| gpus.kind.clone());
                return Some(RefusalReason::OtherGpus { asked: asked.clone(), available });
            }
        }
        let asked = allocation.constraint.as_ref()?;
        let elsewhere = self.node_types.iter().any(|other| other.constraint.as_ref() == Some(asked));
        (elsewhere && node_type.constraint.as_ref() != Some(asked))
            .then(|| RefusalReason::NoFeature { asked: asked.clone() })
    }

    fn memory_refusal(
        &self,
        allocation: &Allocation,
        node_type: &NodeType,
        partition: Option<&Partition>,
    ) -> Option<RefusalReason> {
        let asked = allocation.memory?;
        let limits = [node_type.memory, partition.and_then(|partition| partition.max_memory)];
        if let Some(available) = limits.into_iter().flatten().min()
            && asked > available
        {
            return Some(RefusalReason::TooMuchMemory { asked, available });
        }
        let shared = self.memory == MemoryOption::Forbidden && !self.exclusive;
        let share = allocation.cores.filter(|_| shared).and_then(|cores| node_type.memory_share(cores))?;
        (asked > share).then_some(RefusalReason::MemoryNotAskable { asked, share })
    }
}

impl Admission {
    fn note(&mut self, node_type: &NodeType, partition: Option<&Partition>, refusal: Option<RefusalReason>) {
        let partition = partition.map(|partition| partition.name.clone());
        match refusal {
            Some(reason) => self.refuse(&node_type.name, partition, reason),
            None => self.placements.push(Placement { node_type: node_type.name.clone(), partition }),
        }
    }

    fn refuse(&mut self, node_type: &str, partition: Option<String>, reason: RefusalReason) {
        self.refusals.push(Refusal { node_type: node_type.to_owned(), partition, reason });
    }
}

fn smaller(left: Option<u32>, right: Option<u32>) -> Option<u32> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (limit, None) | (None, limit) => limit,
    }
}

#[cfg(test)]
mod tests;
