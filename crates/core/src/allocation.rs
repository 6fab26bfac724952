//! What a job asks for: nodes, cores, threads, memory, GPUs, node type.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// The resources a run is given. What is `None` was not asked for: the whole node is available.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allocation {
    /// Whole nodes; `None` is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Processes per node, for programs that are many processes (MPI); `None` is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Processor cores per node, pinned; those of all its processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Threads the program is told to use; may differ from cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Memory limit per node, enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// GPUs per node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// The kind of the GPUs, as the scheduler calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_kind: Option<String>,
    /// Name of a node type of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_type: Option<String>,
    /// Features the scheduler is to look for in nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
}

impl Allocation {
    /// Number of nodes, one unless said otherwise.
    pub fn node_count(&self) -> u32 {
        self.nodes.unwrap_or(1)
    }

    /// Name and value of each resource that was asked for, in a fixed order; memory in bytes.
    pub fn entries(&self) -> Vec<(&'static str, crate::Value)> {
        let number = |value: Option<u32>| value.map(|v| crate::Value::Integer(i64::from(v)));
        [
            ("nodes", number(self.nodes)),
            ("tasks", number(self.tasks)),
            ("cores", number(self.cores)),
            ("threads", number(self.threads)),
            ("memory", self.memory.map(|bytes| crate::Value::Integer(bytes.0.min(i64::MAX as u64) as i64))),
            ("gpus", number(self.gpus)),
            ("gpu_kind", self.gpu_kind.as_deref().map(crate::Value::from)),
            ("node_type", self.node_type.as_deref().map(crate::Value::from)),
            ("constraint", self.constraint.as_deref().map(crate::Value::from)),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)))
        .collect()
    }
}

impl fmt::Display for Allocation {
    /// `2 cores, 4.00 GiB`, or `whole node` when nothing was asked for.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted =
            |count: Option<u32>, noun: &str| count.map(|count| crate::counted(count as usize, noun));
        let parts: Vec<String> = [
            counted(self.nodes, "node"),
            counted(self.tasks, "task"),
            counted(self.cores, "core"),
            counted(self.threads, "thread"),
            self.memory.map(|memory| memory.to_string()),
            counted(self.gpus, "GPU"),
            self.gpu_kind.clone(),
            self.node_type.clone(),
            self.constraint.clone(),
        ]
        .into_iter()
        .flatten()
        .collect();
        formatter.pad(&if parts.is_empty() { "whole node".to_owned() } else { parts.join(", ") })
    }
}
