//! What tells one machine from another, as far as run times go: measured rates, never names.

use serde::{Deserialize, Serialize};

/// Rates of a machine; `None` is not known. `harp site bench` measures all but the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Descriptors {
    /// Processors a job can have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cores: Option<f64>,
    /// Integer operations of one thread, in 10⁹ a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integer_gops: Option<f64>,
    /// Floating-point operations of one thread, in 10⁹ a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floating_gflops: Option<f64>,
    /// Bytes one thread moves to and from memory, in 10⁹ a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_one_gbs: Option<f64>,
    /// The same of all threads together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_gbs: Option<f64>,
    /// The largest cache, in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_mib: Option<f64>,
    /// Bytes written to disk and safe there, in 10⁹ a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_write_gbs: Option<f64>,
    /// What a GPU can do at most, in 10¹² operations a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_tflops: Option<f64>,
}

impl Descriptors {
    /// The better of two measurements of the same machine, rate by rate: others on it only slow it down.
    pub fn best_of(self, other: Descriptors) -> Descriptors {
        let best = |left: Option<f64>, right: Option<f64>| match (left, right) {
            (Some(left), Some(right)) => Some(left.max(right)),
            (one, none) => one.or(none),
        };
        Descriptors {
            cores: self.cores.or(other.cores),
            integer_gops: best(self.integer_gops, other.integer_gops),
            floating_gflops: best(self.floating_gflops, other.floating_gflops),
            bandwidth_one_gbs: best(self.bandwidth_one_gbs, other.bandwidth_one_gbs),
            bandwidth_gbs: best(self.bandwidth_gbs, other.bandwidth_gbs),
            cache_mib: self.cache_mib.or(other.cache_mib),
            disk_write_gbs: best(self.disk_write_gbs, other.disk_write_gbs),
            gpu_tflops: best(self.gpu_tflops, other.gpu_tflops),
        }
    }

    /// Names and values of those that are known, in a fixed order.
    pub fn entries(&self) -> Vec<(&'static str, f64)> {
        [
            ("cores", self.cores),
            ("integer_gops", self.integer_gops),
            ("floating_gflops", self.floating_gflops),
            ("bandwidth_one_gbs", self.bandwidth_one_gbs),
            ("bandwidth_gbs", self.bandwidth_gbs),
            ("cache_mib", self.cache_mib),
            ("disk_write_gbs", self.disk_write_gbs),
            ("gpu_tflops", self.gpu_tflops),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}
