//! A profile as written: what is read before it is checked, and what is written out. Keys are documented in `profiles/osc-pitzer.toml`.

use harp_core::Descriptors;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use toml::Spanned;

/// A whole profile.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    pub name: Spanned<String>,
    #[serde(default)]
    pub description: String,
    pub source: Option<String>,
    pub date: Option<String>,
    pub unit: Spanned<String>,
    pub scheduler: Option<Spanned<String>>,
    pub memory: Option<Spanned<String>>,
    #[serde(default)]
    pub exclusive: bool,
    #[serde(default)]
    pub unknown: Vec<String>,
    pub charge: Spanned<WrittenCharge>,
    #[serde(default, rename = "node_type")]
    pub node_types: Vec<WrittenNode>,
    #[serde(default, rename = "partition")]
    pub partitions: Vec<WrittenPartition>,
}

/// `[charge]`: the keys of every rule together; which belong is checked later.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenCharge {
    pub rule: Spanned<String>,
    pub core_hour: Option<Spanned<f64>>,
    pub gpu_hour: Option<Spanned<f64>>,
    pub memory_counts: Option<Spanned<bool>>,
    pub whole_cores: Option<Spanned<bool>>,
    pub whole_nodes: Option<Spanned<bool>>,
    pub node_hour: Option<Spanned<f64>>,
    pub hour: Option<Spanned<f64>>,
    pub minimum_time: Option<Spanned<Quantity>>,
    pub increment: Option<Spanned<Quantity>>,
    pub minimum_charge: Option<Spanned<f64>>,
    pub weights: Option<Spanned<WrittenWeights>>,
}

/// `weights`: of the site's charge or of a partition.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenWeights {
    pub core: Option<Spanned<f64>>,
    pub memory_gib: Option<Spanned<f64>>,
    pub gpu: Option<Spanned<f64>>,
    pub combine: Option<Spanned<String>>,
}

/// `[[node_type]]`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenNode {
    pub name: Spanned<String>,
    pub cores: Option<Spanned<i64>>,
    pub memory: Option<Spanned<Quantity>>,
    pub memory_per_core: Option<Spanned<Quantity>>,
    pub clock_mhz: Option<Spanned<f64>>,
    pub count: Option<Spanned<i64>>,
    pub constraint: Option<Spanned<String>>,
    pub core_hour: Option<Spanned<f64>>,
    pub gpu_hour: Option<Spanned<f64>>,
    pub node_hour: Option<Spanned<f64>>,
    pub price_unknown: Option<String>,
    pub gpus: Option<WrittenGpus>,
    pub descriptors: Option<Spanned<Descriptors>>,
}

/// `gpus = { kind = …, count = … }`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenGpus {
    pub kind: String,
    pub count: Spanned<i64>,
    pub memory: Option<Spanned<Quantity>>,
    pub gres: Option<Spanned<String>>,
}

/// `[[partition]]`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenPartition {
    pub name: Spanned<String>,
    pub node_types: Spanned<Vec<Spanned<String>>>,
    pub max_time: Option<Spanned<Quantity>>,
    pub default_time: Option<Spanned<Quantity>>,
    pub min_nodes: Option<Spanned<i64>>,
    pub max_nodes: Option<Spanned<i64>>,
    pub max_cores: Option<Spanned<i64>>,
    pub max_memory: Option<Spanned<Quantity>>,
    pub min_gpus: Option<Spanned<i64>>,
    pub factor: Option<Spanned<f64>>,
    #[serde(default)]
    pub automatic: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preemptible: bool,
    pub weights: Option<Spanned<WrittenWeights>>,
}

/// A time or a size: a bare number (seconds, bytes) or a text with a unit, kept as text.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Quantity(pub String);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsText;
        impl Visitor<'_> for AsText {
            type Value = Quantity;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number, or a text with a unit such as \"4G\" or \"48h\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity, E> {
                Ok(Quantity(text.to_owned()))
            }
        }
        deserializer.deserialize_any(AsText)
    }
}
