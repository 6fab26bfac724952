//! A queue of a site: which nodes it leads to, and what it admits.

use harp_core::{Bytes, Seconds};
use serde::Serialize;

use crate::Weights;

/// A partition (queue). What is `None` is not limited, or not known to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Names of the node types it leads to.
    pub node_types: Vec<String>,
    /// Longest time a job may ask for.
    pub max_time: Option<Seconds>,
    /// Time a job gets that asks for none.
    pub default_time: Option<Seconds>,
    /// Fewest nodes of a job.
    pub min_nodes: Option<u32>,
    /// Most nodes of a job.
    pub max_nodes: Option<u32>,
    /// Most cores a job may have on one node, where fewer than the node has.
    pub max_cores: Option<u32>,
    /// Most memory a job may have on one node, where less than the node has.
    pub max_memory: Option<Bytes>,
    /// Fewest GPUs per node of a job.
    pub min_gpus: Option<u32>,
    /// What the site's price is multiplied by here.
    pub factor: f64,
    /// Billing weights of this partition, where they differ from the site's.
    pub weights: Option<Weights>,
    /// The site chooses the partition from the request; a job script must not name it.
    pub automatic: bool,
    /// Where jobs go that name none; one of a site's at most.
    pub default: bool,
    /// Jobs here may be stopped to make room for those of other partitions.
    pub preemptible: bool,
}

impl Partition {
    /// A partition without limits.
    pub fn new(name: impl Into<String>, node_types: Vec<String>) -> Self {
        Partition {
            name: name.into(),
            node_types,
            max_time: None,
            default_time: None,
            min_nodes: None,
            max_nodes: None,
            max_cores: None,
            max_memory: None,
            min_gpus: None,
            factor: 1.0,
            weights: None,
            automatic: false,
            default: false,
            preemptible: false,
        }
    }
}
