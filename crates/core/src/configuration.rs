//! One point of an experiment: which parameters, on which resources, at which scale.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Allocation, Bytes, Parameters, Scale, Value};

/// What is run, as opposed to a [`crate::Run`], which is what happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// The scale it belongs to.
    pub scale: Scale,
    /// The program's parameters.
    pub parameters: Parameters,
    /// The resources it gets.
    pub allocation: Allocation,
}

/// A stable name for a configuration: the same content has the same key on every machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigurationKey(pub String);

/// What a key is made of, every map in the order of its names.
#[derive(Serialize)]
struct Canonical<'a> {
    allocation: CanonicalAllocation<'a>,
    parameters: &'a Parameters,
    scale: Scale,
}

#[derive(Serialize)]
struct CanonicalAllocation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpus: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<u32>,
}

impl Configuration {
    /// Sixteen hexadecimal digits of the SHA-256 of the canonical JSON form.
    ///
    /// Maps are in name order and absent resources are left out, so a new optional resource does
    /// not change the keys of configurations that do not use it.
    pub fn key(&self) -> ConfigurationKey {
        let Allocation { nodes, tasks, cores, threads, memory, gpus, gpu_kind, node_type, constraint } =
            &self.allocation;
        let canonical = Canonical {
            allocation: CanonicalAllocation {
                constraint: constraint.as_deref(),
                cores: *cores,
                gpu_kind: gpu_kind.as_deref(),
                gpus: *gpus,
                memory: *memory,
                node_type: node_type.as_deref(),
                nodes: *nodes,
                tasks: *tasks,
                threads: *threads,
            },
            parameters: &self.parameters,
            scale: self.scale,
        };
        // Writing plain data into memory cannot fail.
        let canonical = serde_json::to_string(&canonical).unwrap_or_default();
        let digest = Sha256::digest(canonical.as_bytes());
        let first = digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        ConfigurationKey(format!("{first:016x}"))
    }

    /// Every parameter and every resource that was asked for, by name. Where a parameter and a resource
    /// share a name (`threads`), they mean the same and the parameter stands.
    pub fn values(&self) -> BTreeMap<String, Value> {
        let resources = self.allocation.entries().into_iter().map(|(name, value)| (name.to_owned(), value));
        resources.chain(self.parameters.0.clone()).collect()
    }

    /// What a model may learn from: the values, without the paths of files whose sizes are among them
    /// and without the memory limit. A path says nothing about a file that was not run yet; its size
    /// does. A limit ends a program that needs more and leaves any other as it is: what a program needs
    /// is to be predicted, not asked for.
    pub fn features(&self) -> BTreeMap<String, Value> {
        let mut features = self.values();
        let sized = |name: &String| self.parameters.0.contains_key(&format!("{name}_bytes"));
        let limit = |name: &String| name == "memory" && !self.parameters.0.contains_key(name);
        features.retain(|name, value| !(limit(name) || matches!(value, Value::Text(_)) && sized(name)));
        features
    }
}

impl fmt::Display for ConfigurationKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Display for Configuration {
    /// `method=pow n=1000 on 2 cores`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.allocation == Allocation::default() {
            self.parameters.to_string()
        } else {
            format!("{} on {}", self.parameters, self.allocation)
        };
        formatter.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_stable_and_tells_configurations_apart() {
        let configuration = Configuration {
            scale: Scale::Sd,
            parameters: [("n", Value::Integer(10)), ("method", Value::from("pow"))].into_iter().collect(),
            allocation: Allocation { cores: Some(2), ..Allocation::default() },
        };
        // Written down on purpose: a change here orphans every stored run.
        assert_eq!(configuration.key().0, "960019f8793a5426");
        let mut other = configuration.clone();
        other.allocation.cores = Some(1);
        assert_ne!(other.key(), configuration.key());
    }

    #[test]
    fn the_key_is_that_of_the_plain_json() {
        for (nodes, node_type, number) in
            [(None, None, 0.1), (Some(3), Some("a\"b"), f64::NAN), (Some(1), Some("é"), 1e300)]
        {
            let configuration = Configuration {
                scale: Scale::Test,
                parameters: [("x", Value::Real(number)), ("b", Value::from(true)), ("a", Value::from("t"))]
                    .into_iter()
                    .collect(),
                allocation: Allocation {
                    nodes,
                    cores: nodes,
                    threads: Some(7),
                    memory: Some(Bytes(u64::MAX)),
                    gpus: nodes,
                    tasks: nodes,
                    gpu_kind: node_type.map(str::to_owned),
                    constraint: node_type.map(str::to_owned),
                    node_type: node_type.map(str::to_owned),
                },
            };
            let plain = serde_json::json!({
                "scale": configuration.scale,
                "parameters": configuration.parameters,
                "allocation": configuration.allocation,
            })
            .to_string();
            let digest = Sha256::digest(plain.as_bytes());
            let expected: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(configuration.key().0, expected, "{plain}");
        }
    }

    #[test]
    fn a_file_teaches_by_its_size_not_by_its_name() {
        let configuration = Configuration {
            scale: Scale::Sd,
            parameters: [
                ("file", Value::from("a.txt")),
                ("file_bytes", Value::Integer(7)),
                ("m", Value::from("x")),
            ]
            .into_iter()
            .collect(),
            allocation: Allocation { threads: Some(2), memory: Some(Bytes(9)), ..Allocation::default() },
        };
        let names = |map: BTreeMap<String, Value>| map.into_keys().collect::<Vec<_>>();
        assert_eq!(names(configuration.features()), ["file_bytes", "m", "threads"]);
        assert_eq!(names(configuration.values()), ["file", "file_bytes", "m", "memory", "threads"]);
    }
}
