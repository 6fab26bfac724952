//! A site's profile from what its Slurm controller says about nodes and partitions.
//!
//! What Slurm does not say stays unset and is named among the unknown: what an hour costs, and who may
//! use a partition that is not for everybody.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::Bytes;
use harp_slurm::{ClusterFacts, NodeFacts, PartitionFacts, TimeLimit};
use thiserror::Error;

use crate::check::is_word;
use crate::{Charge, Combine, GpuType, MemoryOption, NodeType, Partition, Rule, Scheduler, Site, Weights};

/// A cluster no profile can be made of.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DiscoverError {
    /// No node was described.
    #[error("no nodes are described: a line beginning with `NodeName=` is missing")]
    NoNodes,
    /// No partition that takes jobs was described.
    #[error("no partition that takes jobs is described: a line beginning with `PartitionName=` is missing")]
    NoPartitions,
}

/// Nodes that a job cannot tell apart.
struct Kind<'a> {
    first: &'a NodeFacts,
    names: Vec<&'a str>,
    partitions: BTreeSet<&'a str>,
}

impl Site {
    /// The profile of a cluster; `date` is when it was asked.
    pub fn discover(facts: &ClusterFacts, date: &str) -> Result<Site, DiscoverError> {
        if facts.nodes.is_empty() {
            return Err(DiscoverError::NoNodes);
        }
        let kinds = kinds(&facts.nodes);
        let mut unknown = vec!["what an hour costs in money: prices are Slurm's billing units".to_owned()];
        let mut usable: Vec<&PartitionFacts> = Vec::new();
        for partition in &facts.partitions {
            let leads = kinds.iter().any(|kind| kind.partitions.contains(partition.name.as_str()));
            if partition.open && leads && is_word(&partition.name) {
                usable.push(partition);
                let who = partition.restricted.as_ref();
                unknown.extend(who.map(|who| {
                    format!("whether you may use partition {}: it is only for {who}", partition.name)
                }));
            } else {
                unknown.push(format!("partition {}: it takes no jobs or leads to no nodes", partition.name));
            }
        }
        if usable.is_empty() {
            return Err(DiscoverError::NoPartitions);
        }
        let combine = if facts.settings.bills_largest { Combine::Max } else { Combine::Sum };
        let names = type_names(&kinds);
        let reached = |kind: &Kind<'_>| {
            usable.iter().any(|partition| kind.partitions.contains(partition.name.as_str()))
        };
        let node_types: Vec<NodeType> = kinds
            .iter()
            .zip(&names)
            .filter(|(kind, _)| reached(kind))
            .map(|(kind, name)| node_type(kind, name, &kinds, facts, &usable, &mut unknown))
            .collect();
        let partitions = usable
            .iter()
            .map(|facts_of| partition(facts_of, &kinds, &names, facts, combine, &mut unknown))
            .collect();
        let exclusive = facts.settings.whole_nodes || usable.iter().all(|partition| partition.exclusive);
        for partition in usable.iter().filter(|partition| partition.exclusive && !exclusive) {
            unknown
                .push(format!("partition {} gives whole nodes, others of this site do not", partition.name));
        }
        let cluster = facts.settings.cluster.as_deref().filter(|name| is_word(name)).unwrap_or("cluster");
        Ok(Site {
            name: cluster.to_owned(),
            description: match &facts.settings.version {
                Some(version) => format!("The cluster {cluster}, as its Slurm {version} describes it"),
                None => format!("The cluster {cluster}, as its Slurm describes it"),
            },
            source: Some("scontrol show config, show partitions, show nodes".to_owned()),
            date: Some(date.to_owned()),
            unit: "billing-hours".to_owned(),
            scheduler: Scheduler::Slurm,
            memory: MemoryOption::Allowed,
            exclusive,
            unknown,
            // without weights a job is billed for its CPUs (slurm.conf manual, TRESBillingWeights)
            charge: Charge::per(Rule::Weights {
                hour: 1.0,
                weights: Weights { core: 1.0, memory_gib: 0.0, gpu: 0.0, combine },
            }),
            node_types,
            partitions,
        })
    }
}

fn kinds(nodes: &[NodeFacts]) -> Vec<Kind<'_>> {
    let mut found: Vec<Kind<'_>> = Vec::new();
    for node in nodes {
        let alike = |kind: &Kind<'_>| {
            (kind.first.cpus, kind.first.memory, kind.first.threads_per_core)
                == (node.cpus, node.memory, node.threads_per_core)
                && (&kind.first.gpus, &kind.first.features) == (&node.gpus, &node.features)
        };
        let kind = match found.iter().position(alike) {
            Some(place) => &mut found[place],
            None => {
                found.push(Kind { first: node, names: Vec::new(), partitions: BTreeSet::new() });
                let last = found.len() - 1;
                &mut found[last]
            }
        };
        kind.names.push(&node.name);
        kind.partitions.extend(node.partitions.iter().map(String::as_str));
    }
    found
}

/// A feature that this kind has and no other: `--constraint` with it asks for the kind.
fn own_feature<'a>(kind: &Kind<'a>, kinds: &[Kind<'_>]) -> Option<&'a str> {
    let only_here = |feature: &&String| {
        let holders = kinds.iter().filter(|other| other.first.features.contains(feature));
        holders.count() == 1 && is_word(feature)
    };
    kind.first.features.iter().find(only_here).map(String::as_str)
}

/// A name for each kind: its own feature, else what its nodes' names begin with; never the same twice.
fn type_names(kinds: &[Kind<'_>]) -> Vec<String> {
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    let mut name = |kind: &Kind<'_>| {
        let node = kind.names.first().copied().unwrap_or("node");
        let stem = node.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        let stem = if is_word(stem) { stem } else { "node" };
        let base = own_feature(kind, kinds).unwrap_or(stem).to_owned();
        let count = used.entry(base.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { base } else { format!("{base}.{count}") }
    };
    kinds.iter().map(&mut name).collect()
}

fn node_type(
    kind: &Kind<'_>,
    name: &str,
    kinds: &[Kind<'_>],
    facts: &ClusterFacts,
    partitions: &[&PartitionFacts],
    unknown: &mut Vec<String>,
) -> NodeType {
    let node = kind.first;
    if let Some(threads) = node.threads_per_core.filter(|&threads| threads > 1) {
        unknown.push(format!(
            "node type {name} has {threads} hardware threads a core, and Slurm counts them as CPUs: so does `cores` here"
        ));
    }
    if node.gpus.len() > 1 {
        unknown.push(format!("node type {name} has several kinds of GPU; only the first is described"));
    }
    let gpus = node.gpus.first().map(|(kind, count)| GpuType {
        kind: if kind.is_empty() { "gpu".to_owned() } else { kind.clone() },
        count: *count,
        memory: None,
        gres: (!kind.is_empty() && is_word(kind)).then(|| kind.clone()),
    });
    // The memory that comes with a CPU, where all partitions that lead here give the same.
    let default = |partition: &&&PartitionFacts| {
        partition.default_memory_per_cpu.or(facts.settings.default_memory_per_cpu)
    };
    let leading = partitions.iter().filter(|partition| kind.partitions.contains(partition.name.as_str()));
    let defaults: BTreeSet<Option<Bytes>> = leading.map(|partition| default(&partition)).collect();
    let memory_per_core = if defaults.len() == 1 { defaults.into_iter().next().flatten() } else { None };
    NodeType {
        name: name.to_owned(),
        cores: node.cpus,
        memory: node.memory,
        memory_per_core,
        gpus,
        count: u32::try_from(kind.names.len()).ok(),
        constraint: own_feature(kind, kinds).map(str::to_owned),
        ..NodeType::default()
    }
}

fn partition(
    of: &PartitionFacts,
    kinds: &[Kind<'_>],
    names: &[String],
    facts: &ClusterFacts,
    combine: Combine,
    unknown: &mut Vec<String>,
) -> Partition {
    let leads = kinds.iter().zip(names).filter(|(kind, _)| kind.partitions.contains(of.name.as_str()));
    let mut partition = Partition::new(&of.name, leads.map(|(_, name)| name.clone()).collect());
    partition.default = of.default;
    partition.max_time = of.max_time.seconds();
    partition.default_time = of.default_time.seconds();
    if of.max_time == TimeLimit::Unknown {
        unknown.push(format!("the longest time of partition {}", of.name));
    }
    partition.min_nodes = of.min_nodes;
    partition.max_nodes = of.max_nodes;
    partition.max_cores = of.max_cpus_per_node;
    partition.max_memory = of.max_memory_per_node.or(facts.settings.max_memory_per_node);
    partition.weights = of.billing_weights.as_deref().map(|text| {
        let (weights, ignored) = weights(text, combine);
        if !ignored.is_empty() {
            unknown.push(format!("partition {} also bills {}", of.name, ignored.join(", ")));
        }
        weights
    });
    partition
}

/// Reads `CPU=1.0,Mem=0.25G,GRES/gpu=8.0`, and what of it cannot be said in a profile. A memory weight
/// counts mebibytes unless its suffix says otherwise (slurm.conf manual, TRESBillingWeights).
fn weights(text: &str, combine: Combine) -> (Weights, Vec<String>) {
    let mut weights = Weights { core: 0.0, memory_gib: 0.0, gpu: 0.0, combine };
    let mut ignored = Vec::new();
    for entry in text.split(',').filter(|entry| !entry.is_empty()) {
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let per_gib = match &value[digits.len()..] {
            "K" | "k" => Some(1024.0 * 1024.0),
            "" | "M" | "m" => Some(1024.0),
            "G" | "g" => Some(1.0),
            "T" | "t" => Some(1.0 / 1024.0),
            "P" | "p" => Some(1.0 / 1024.0 / 1024.0),
            _ => None,
        };
        let number = digits.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        match (name.to_ascii_lowercase().as_str(), number, per_gib) {
            ("cpu", Some(number), _) => weights.core = number,
            ("gres/gpu", Some(number), _) => weights.gpu = number,
            ("mem", Some(number), Some(per_gib)) => weights.memory_gib = number * per_gib,
            _ => ignored.push(entry.to_owned()),
        }
    }
    (weights, ignored)
}

#[cfg(test)]
mod tests;
