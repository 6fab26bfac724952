//! What `scontrol show nodes`, `show partitions` and `show config` print, in one text or in several:
//! records of `Key=Value`, each beginning with `NodeName=` or `PartitionName=`, and lines `Key = Value`.

use harp_core::Bytes;
use std::collections::BTreeMap;

use crate::value::{TimeLimit, size};

/// A whole cluster as its controller describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterFacts {
    /// Nodes, in the order printed.
    pub nodes: Vec<NodeFacts>,
    /// Partitions, in the order printed.
    pub partitions: Vec<PartitionFacts>,
    /// The configuration.
    pub settings: Settings,
}

/// One node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeFacts {
    /// Its name.
    pub name: String,
    /// CPUs jobs can have: hardware threads where a core has several.
    pub cpus: Option<u32>,
    /// Hardware threads of a core.
    pub threads_per_core: Option<u32>,
    /// Memory jobs can have.
    pub memory: Option<Bytes>,
    /// GPUs by kind; a kind that is not named is empty.
    pub gpus: Vec<(String, u32)>,
    /// Features `--constraint` can ask for.
    pub features: Vec<String>,
    /// Partitions that lead to it.
    pub partitions: Vec<String>,
}

/// One partition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartitionFacts {
    /// Its name.
    pub name: String,
    /// Whether it takes jobs of everybody.
    pub open: bool,
    /// Whether jobs that name none go there.
    pub default: bool,
    /// Longest time.
    pub max_time: TimeLimit,
    /// Time of jobs that ask for none.
    pub default_time: TimeLimit,
    /// Fewest nodes of a job.
    pub min_nodes: Option<u32>,
    /// Most nodes of a job.
    pub max_nodes: Option<u32>,
    /// Most CPUs of a job on one node.
    pub max_cpus_per_node: Option<u32>,
    /// Most memory of a job on one node.
    pub max_memory_per_node: Option<Bytes>,
    /// Memory that comes with a CPU.
    pub default_memory_per_cpu: Option<Bytes>,
    /// Whether jobs get whole nodes.
    pub exclusive: bool,
    /// `TRESBillingWeights` as written, without its name.
    pub billing_weights: Option<String>,
    /// Who alone may use it, as written; `None` is everybody.
    pub restricted: Option<String>,
}

/// What harp uses of the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// `ClusterName`.
    pub cluster: Option<String>,
    /// `SLURM_VERSION`.
    pub version: Option<String>,
    /// Whether the largest weighted resource is billed (`MAX_TRES`) and not their sum.
    pub bills_largest: bool,
    /// `DefMemPerCPU`.
    pub default_memory_per_cpu: Option<Bytes>,
    /// `MaxMemPerNode`.
    pub max_memory_per_node: Option<Bytes>,
    /// `MaxArraySize`: one more than the largest index of an array.
    pub max_array_size: Option<u32>,
    /// Whether nodes are given whole (`select/linear`).
    pub whole_nodes: bool,
}

impl ClusterFacts {
    /// Reads all three from one text.
    pub fn parse(text: &str) -> ClusterFacts {
        ClusterFacts {
            nodes: read_nodes(text),
            partitions: read_partitions(text),
            settings: read_settings(text),
        }
    }
}

/// The records that begin with a key, as maps; of a key that comes twice the first counts.
fn records<'a>(text: &'a str, first: &str) -> Vec<BTreeMap<&'a str, &'a str>> {
    let mut found: Vec<BTreeMap<&str, &str>> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        // A record goes on in indented lines; `scontrol --oneliner` has none.
        let begins = line.starts_with(first) && line[first.len()..].starts_with('=');
        if begins {
            found.push(BTreeMap::new());
        }
        inside = begins || (inside && line.starts_with(char::is_whitespace) && !line.trim().is_empty());
        let Some(record) = found.last_mut().filter(|_| inside) else { continue };
        for (key, value) in line.split_whitespace().filter_map(|word| word.split_once('=')) {
            record.entry(key).or_insert(value);
        }
    }
    found
}

fn known<'a>(record: &BTreeMap<&'a str, &'a str>, key: &str) -> Option<&'a str> {
    let value = record.get(key).copied()?;
    (!matches!(value, "" | "(null)" | "N/A" | "n/a" | "UNLIMITED" | "NONE" | "None")).then_some(value)
}

fn count(record: &BTreeMap<&str, &str>, key: &str) -> Option<u32> {
    known(record, key)?.parse().ok().filter(|&count| count > 0)
}

/// Memory as Slurm writes it here: mebibytes.
fn mebibytes(record: &BTreeMap<&str, &str>, key: &str) -> Option<Bytes> {
    let count: u64 = known(record, key)?.parse().ok()?;
    count.checked_mul(1 << 20).filter(|&bytes| bytes > 0).map(Bytes)
}

fn words(text: Option<&str>) -> Vec<String> {
    text.map_or_else(Vec::new, |text| {
        text.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    })
}

/// The nodes of a text.
fn read_nodes(text: &str) -> Vec<NodeFacts> {
    let node = |record: BTreeMap<&str, &str>| {
        let reserved = mebibytes(&record, "MemSpecLimit").unwrap_or_default();
        Some(NodeFacts {
            name: known(&record, "NodeName")?.to_owned(),
            // what is left for jobs where cores are kept for the system
            cpus: count(&record, "CPUEfctv").or_else(|| count(&record, "CPUTot")),
            threads_per_core: count(&record, "ThreadsPerCore"),
            memory: mebibytes(&record, "RealMemory").map(|memory| Bytes(memory.0.saturating_sub(reserved.0))),
            gpus: gpus(known(&record, "Gres").unwrap_or("")),
            features: words(known(&record, "AvailableFeatures")),
            partitions: words(known(&record, "Partitions")),
        })
    };
    records(text, "NodeName").into_iter().filter_map(node).collect()
}

/// The GPUs of `gpu:a100:2(S:0-1),gpu:4,shard:8`.
fn gpus(gres: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut depth = 0;
    let entries = gres.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    for entry in entries {
        let entry = entry.split('(').next().unwrap_or("");
        let mut parts = entry.split(':');
        if parts.next() != Some("gpu") {
            continue;
        }
        let parts: Vec<&str> = parts.collect();
        let (kind, number) = match parts[..] {
            [] => ("", Some(1)),
            [number] => ("", number.parse().ok()),
            [kind, number, ..] => (kind, number.parse().ok()),
        };
        if let Some(number) = number.filter(|&number: &u32| number > 0) {
            found.push((kind.to_owned(), number));
        }
    }
    found
}

/// The partitions of a text.
fn read_partitions(text: &str) -> Vec<PartitionFacts> {
    let partition = |record: BTreeMap<&str, &str>| {
        let is = |key: &str, word: &str| record.get(key).is_some_and(|value| value.starts_with(word));
        let time = |key: &str| record.get(key).map_or(TimeLimit::Unknown, |text| TimeLimit::parse(text));
        let restricted = ["AllowGroups", "AllowAccounts", "AllowQos", "DenyAccounts", "DenyQos"].into_iter();
        let restricted: Vec<String> = restricted
            .filter_map(|key| Some(format!("{key}={}", known(&record, key).filter(|value| *value != "ALL")?)))
            .collect();
        Some(PartitionFacts {
            name: known(&record, "PartitionName")?.to_owned(),
            open: is("State", "UP") && !is("RootOnly", "YES") && !is("ReqResv", "YES"),
            default: is("Default", "YES"),
            max_time: time("MaxTime"),
            default_time: time("DefaultTime"),
            min_nodes: count(&record, "MinNodes"),
            max_nodes: count(&record, "MaxNodes"),
            max_cpus_per_node: count(&record, "MaxCPUsPerNode"),
            max_memory_per_node: mebibytes(&record, "MaxMemPerNode"),
            default_memory_per_cpu: mebibytes(&record, "DefMemPerCPU"),
            exclusive: is("OverSubscribe", "EXCLUSIVE"),
            billing_weights: known(&record, "TRESBillingWeights").map(str::to_owned),
            restricted: (!restricted.is_empty()).then(|| restricted.join(" ")),
        })
    };
    records(text, "PartitionName").into_iter().filter_map(partition).collect()
}

/// The configuration of a text.
fn read_settings(text: &str) -> Settings {
    let mut settings = Settings::default();
    for line in text.lines() {
        // records of nodes and partitions have keys of the same names, but no blanks around `=`
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let (key, value) = (key.trim(), value.trim());
        let memory = || size(&format!("{value}M")).filter(|memory| memory.0 > 0);
        match key {
            "ClusterName" => settings.cluster = Some(value.to_owned()).filter(|name| !name.is_empty()),
            "SLURM_VERSION" => settings.version = Some(value.to_owned()),
            "PriorityFlags" => {
                settings.bills_largest = value.split(',').any(|flag| flag.eq_ignore_ascii_case("MAX_TRES"));
            }
            "DefMemPerCPU" => settings.default_memory_per_cpu = memory(),
            "MaxMemPerNode" => settings.max_memory_per_node = memory(),
            "MaxArraySize" => settings.max_array_size = value.parse().ok().filter(|&size| size > 0),
            "SelectType" => settings.whole_nodes = value == "select/linear",
            _ => {}
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../samples/scontrol.txt");

    #[test]
    fn a_cluster_is_read_from_its_controller() {
        let facts = ClusterFacts::parse(TEXT);
        let names: Vec<&str> = facts.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["big1", "gpu1", "gpu2", "n1", "n2", "n3"]);
        let gpu = &facts.nodes[1];
        assert_eq!(
            (gpu.cpus, gpu.memory, gpu.threads_per_core),
            (Some(8), Some(Bytes(64_000 << 20)), Some(1))
        );
        assert_eq!((&gpu.gpus, &gpu.features), (&vec![("a100".to_owned(), 2)], &vec!["a100".to_owned()]));
        assert_eq!(facts.nodes[5].partitions, ["debug", "batch", "spare"]);
        let gpu = facts.partitions.iter().find(|partition| partition.name == "gpu").unwrap();
        assert_eq!(gpu.max_time.seconds().map(|time| time.0), Some(86_400.0));
        assert_eq!((gpu.max_cpus_per_node, gpu.max_nodes, gpu.min_nodes), (Some(6), None, None));
        assert_eq!(gpu.billing_weights.as_deref(), Some("CPU=1.0,Mem=0.1G,GRES/gpu=8.0"));
        let large = facts.partitions.iter().find(|partition| partition.name == "large").unwrap();
        assert_eq!(
            (large.max_time, large.max_memory_per_node),
            (TimeLimit::Unlimited, Some(Bytes(400_000 << 20)))
        );
        assert_eq!(facts.settings.cluster.as_deref(), Some("testbed"));
        assert_eq!(facts.settings.default_memory_per_cpu, Some(Bytes(500 << 20)));
    }

    #[test]
    fn gpus_in_every_form() {
        assert_eq!(gpus("gpu:a100:2(S:0,1),shard:8,gpu:4"), [("a100".to_owned(), 2), (String::new(), 4)]);
        assert_eq!(gpus("gpu"), [(String::new(), 1)]);
        assert!(gpus("").is_empty() && gpus("tmpdisk:100,gpu:x").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "((NodeName|PartitionName|Gres|MaxTime| )=?[a-z0-9:,(=\\[ \n]{0,10}){0,20}") {
            let _ = ClusterFacts::parse(&text);
        }
    }
}
