//! One kind of machine at a site.

use harp_core::{Bytes, Descriptors};
use serde::Serialize;

/// A kind of node. What is `None` is not known, except for `gpus`, where it means there are none.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodeType {
    /// Its name at the site, or one harp gives it.
    pub name: String,
    /// Cores a job can have.
    pub cores: Option<u32>,
    /// Memory a job can have; less than what is built in.
    pub memory: Option<Bytes>,
    /// Memory that comes with a core, where the site states it.
    pub memory_per_core: Option<Bytes>,
    /// The GPUs in one node.
    pub gpus: Option<GpuType>,
    /// Clock of the processor.
    pub clock_mhz: Option<f64>,
    /// How many such nodes there are.
    pub count: Option<u32>,
    /// The scheduler's feature name that selects this kind (`--constraint`).
    pub constraint: Option<String>,
    /// Price of a core-hour here, where it differs from the site's.
    pub core_hour: Option<f64>,
    /// Price of a GPU-hour here, where it differs from the site's.
    pub gpu_hour: Option<f64>,
    /// Price of a node-hour here, where it differs from the site's.
    pub node_hour: Option<f64>,
    /// What `harp site bench` measured on it, to predict on it before anything was run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptors: Option<Descriptors>,
    /// Set when the site charges this kind by a rate that is not known: why.
    pub price_unknown: Option<String>,
}

/// The GPUs of a node type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GpuType {
    /// The model, `V100`.
    pub kind: String,
    /// How many in one node.
    pub count: u32,
    /// Memory of one.
    pub memory: Option<Bytes>,
    /// What the scheduler calls the kind in a request, where it must be named.
    pub gres: Option<String>,
}

impl NodeType {
    /// GPUs in one node.
    pub fn gpu_count(&self) -> u32 {
        self.gpus.as_ref().map_or(0, |gpus| gpus.count)
    }

    /// Memory that comes with one core: as stated, or an even share of the node.
    pub fn memory_per_core(&self) -> Option<f64> {
        match (self.memory_per_core, self.memory, self.cores) {
            (Some(stated), _, _) => Some(stated.as_f64()),
            (None, Some(memory), Some(cores)) if cores > 0 => Some(memory.as_f64() / f64::from(cores)),
            _ => None,
        }
    }

    /// Memory a job with this many cores gets when it asks for none.
    pub fn memory_share(&self, cores: u32) -> Option<Bytes> {
        if self.cores == Some(cores) && self.memory.is_some() {
            return self.memory;
        }
        let share = Bytes((self.memory_per_core()? * f64::from(cores)).floor() as u64);
        Some(self.memory.map_or(share, |whole| share.min(whole)))
    }
}
