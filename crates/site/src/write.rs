//! A site as the text of a profile, so that what harp found out can be kept and edited.

use harp_core::{Bytes, Seconds};
use toml::Spanned;

use crate::written::{
    Quantity, Written, WrittenCharge, WrittenGpus, WrittenNode, WrittenPartition, WrittenWeights,
};
use crate::{Charge, Combine, MemoryOption, NodeType, Partition, Rule, Scheduler, Site, Weights};

/// The profile of a site; unset facts are left out.
pub(crate) fn to_toml(site: &Site) -> Result<String, toml::ser::Error> {
    let scheduler = match site.scheduler {
        Scheduler::Slurm => "slurm",
        Scheduler::None => "none",
    };
    let memory = match site.memory {
        MemoryOption::Allowed => "allowed",
        MemoryOption::Forbidden => "forbidden",
        MemoryOption::Mandatory => "mandatory",
    };
    toml::to_string_pretty(&Written {
        name: placed(site.name.clone()),
        description: site.description.clone(),
        source: site.source.clone(),
        date: site.date.clone(),
        unit: placed(site.unit.clone()),
        scheduler: Some(placed(scheduler.to_owned())),
        memory: Some(placed(memory.to_owned())),
        exclusive: site.exclusive,
        unknown: site.unknown.clone(),
        charge: placed(charge(&site.charge)),
        node_types: site.node_types.iter().map(node).collect(),
        partitions: site.partitions.iter().map(partition).collect(),
    })
}

fn charge(charge: &Charge) -> WrittenCharge {
    let billing = &charge.billing;
    let mut written = WrittenCharge {
        rule: placed(String::new()),
        core_hour: None,
        gpu_hour: None,
        memory_counts: None,
        whole_cores: None,
        whole_nodes: None,
        node_hour: None,
        hour: None,
        minimum_time: (billing.minimum_time.0 > 0.0).then(|| placed(time(billing.minimum_time))),
        increment: (billing.increment.0 > 0.0).then(|| placed(time(billing.increment))),
        minimum_charge: (billing.minimum_charge.0 > 0.0).then(|| placed(billing.minimum_charge.0)),
        weights: None,
    };
    match &charge.rule {
        Rule::CoreHours { core_hour, gpu_hour, memory_counts, whole_cores, whole_nodes } => {
            written.rule = placed("core_hours".to_owned());
            written.core_hour = Some(placed(*core_hour));
            written.gpu_hour = gpu_hour.map(placed);
            written.memory_counts = Some(placed(*memory_counts));
            written.whole_cores = Some(placed(*whole_cores));
            written.whole_nodes = Some(placed(*whole_nodes));
        }
        Rule::NodeHours { node_hour } => {
            written.rule = placed("node_hours".to_owned());
            written.node_hour = node_hour.map(placed);
        }
        Rule::Weights { hour, weights: of_site } => {
            written.rule = placed("weights".to_owned());
            written.hour = Some(placed(*hour));
            written.weights = Some(placed(weights(of_site)));
        }
    }
    written
}

fn weights(weights: &Weights) -> WrittenWeights {
    let combine = match weights.combine {
        Combine::Sum => "sum",
        Combine::Max => "max",
    };
    WrittenWeights {
        core: Some(placed(weights.core)),
        memory_gib: Some(placed(weights.memory_gib)),
        gpu: Some(placed(weights.gpu)),
        combine: Some(placed(combine.to_owned())),
    }
}

fn node(node: &NodeType) -> WrittenNode {
    WrittenNode {
        name: placed(node.name.clone()),
        cores: node.cores.map(count),
        memory: node.memory.map(|memory| placed(size(memory))),
        memory_per_core: node.memory_per_core.map(|memory| placed(size(memory))),
        clock_mhz: node.clock_mhz.map(placed),
        count: node.count.map(count),
        constraint: node.constraint.clone().map(placed),
        core_hour: node.core_hour.map(placed),
        gpu_hour: node.gpu_hour.map(placed),
        node_hour: node.node_hour.map(placed),
        price_unknown: node.price_unknown.clone(),
        gpus: node.gpus.as_ref().map(|gpus| WrittenGpus {
            kind: gpus.kind.clone(),
            count: count(gpus.count),
            memory: gpus.memory.map(|memory| placed(size(memory))),
            gres: gpus.gres.clone().map(placed),
        }),
        descriptors: node.descriptors.map(placed),
    }
}

fn partition(partition: &Partition) -> WrittenPartition {
    WrittenPartition {
        name: placed(partition.name.clone()),
        node_types: placed(partition.node_types.iter().cloned().map(placed).collect()),
        max_time: partition.max_time.map(|limit| placed(time(limit))),
        default_time: partition.default_time.map(|limit| placed(time(limit))),
        min_nodes: partition.min_nodes.map(count),
        max_nodes: partition.max_nodes.map(count),
        max_cores: partition.max_cores.map(count),
        max_memory: partition.max_memory.map(|memory| placed(size(memory))),
        min_gpus: partition.min_gpus.map(count),
        factor: Some(placed(partition.factor)),
        automatic: partition.automatic,
        default: partition.default,
        preemptible: partition.preemptible,
        weights: partition.weights.as_ref().map(|own| placed(weights(own))),
    }
}

/// A value that is written, not read: its place does not matter.
fn placed<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

fn count(count: u32) -> Spanned<i64> {
    placed(i64::from(count))
}

/// The largest unit that divides it: `4G`, `4556M`, `1000`.
fn size(bytes: Bytes) -> Quantity {
    Quantity(match bytes.0 {
        b if b > 0 && b % (1 << 30) == 0 => format!("{}G", b >> 30),
        b if b > 0 && b % (1 << 20) == 0 => format!("{}M", b >> 20),
        b => b.to_string(),
    })
}

/// The largest unit that divides it: `168h`, `15m`, `1s`.
fn time(seconds: Seconds) -> Quantity {
    Quantity(match seconds.0 {
        s if s > 0.0 && s % 3600.0 == 0.0 => format!("{}h", s / 3600.0),
        s if s > 0.0 && s % 60.0 == 0.0 => format!("{}m", s / 60.0),
        s => format!("{s}s"),
    })
}
