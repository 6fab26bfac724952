//! The machine a run happened on.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// A description of one machine, as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Its network name.
    pub name: String,
    /// The processor as it calls itself.
    pub processor: Option<String>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Hardware threads the operating system sees.
    pub threads: Option<u32>,
    /// Largest clock in MHz.
    pub clock_mhz: Option<f64>,
    /// Data and unified caches, smallest first.
    pub caches: Vec<Cache>,
    /// Main memory.
    pub memory: Option<Bytes>,
    /// GPUs.
    pub gpus: Vec<Gpu>,
    /// Kernel name and release.
    pub kernel: Option<String>,
}

/// One level of processor cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3.
    pub level: u8,
    /// Size of one instance.
    pub size: Bytes,
}

/// One GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// The model as it calls itself.
    pub name: String,
    /// Its memory.
    pub memory: Bytes,
}
