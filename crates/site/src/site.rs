//! A computing site as harp knows it.

use harp_core::{Allocation, Host, Money, Seconds};
use serde::Serialize;

use crate::{Charge, GpuType, NodeType, Partition, Placement, PriceUnknown, Rule, SiteError, check, write};

/// What a site offers, where the facts come from, and what it charges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Site {
    /// Short name, `osc-pitzer`.
    pub name: String,
    /// One sentence about it.
    pub description: String,
    /// Where the facts were read.
    pub source: Option<String>,
    /// When they were true, as written in the profile.
    pub date: Option<String>,
    /// The unit prices are in: `$`, `SU`, `core-hours`.
    pub unit: String,
    /// Who starts jobs.
    pub scheduler: Scheduler,
    /// Whether a job may, must or must not ask for memory.
    pub memory: MemoryOption,
    /// Jobs always get whole nodes.
    pub exclusive: bool,
    /// Facts that could not be found, in words.
    pub unknown: Vec<String>,
    /// What a job costs.
    pub charge: Charge,
    /// Kinds of nodes, in the profile's order.
    pub node_types: Vec<NodeType>,
    /// Partitions, in the profile's order; none where there is no scheduler.
    pub partitions: Vec<Partition>,
}

/// Who starts jobs at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// Slurm: jobs are submitted as `sbatch` scripts and killed at their limits.
    Slurm,
    /// Nobody: programs are started by hand and nothing enforces a limit.
    None,
}

/// Whether jobs may ask for memory (`--mem`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOption {
    /// They may.
    Allowed,
    /// They must not: the site refuses or ignores it.
    Forbidden,
    /// They must.
    Mandatory,
}

impl Site {
    /// Reads a profile. All mistakes that can be told apart are returned together, each with line,
    /// column and advice; `file_name` only appears in them.
    pub fn parse(file_name: &str, text: &str) -> Result<Site, Vec<SiteError>> {
        check::parse(file_name, text)
    }

    /// The profile as text that [`Site::parse`] reads back to the same site.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        write::to_toml(self)
    }

    /// The machine itself as a site: one node type named `local`, nobody in between, prices in
    /// core-hours. [`Site::with_charge`] puts real rates in.
    pub fn local(host: &Host) -> Site {
        let gpus = host.gpus.first().map(|first| GpuType {
            kind: first.name.clone(),
            count: u32::try_from(host.gpus.len()).unwrap_or(u32::MAX),
            memory: Some(first.memory),
            gres: None,
        });
        let node_type = NodeType {
            name: "local".to_owned(),
            // What the operating system can pin to: hardware threads where they are more than cores.
            cores: host.cores.max(host.threads),
            memory: host.memory,
            gpus,
            clock_mhz: host.clock_mhz,
            count: Some(1),
            ..NodeType::default()
        };
        Site {
            name: "local".to_owned(),
            description: "This machine, without a scheduler".to_owned(),
            source: None,
            date: None,
            unit: "core-hours".to_owned(),
            scheduler: Scheduler::None,
            memory: MemoryOption::Allowed,
            exclusive: false,
            unknown: vec!["what an hour of this machine costs; prices are plain core-hours".to_owned()],
            charge: Charge::per(Rule::core_hours(1.0, Some(0.0))),
            node_types: vec![node_type],
            partitions: Vec::new(),
        }
    }

    /// The same site with another unit and charge.
    pub fn with_charge(mut self, unit: impl Into<String>, charge: Charge) -> Site {
        self.unit = unit.into();
        self.charge = charge;
        self
    }

    /// The node type of that name.
    pub fn node_type(&self, name: &str) -> Option<&NodeType> {
        self.node_types.iter().find(|node_type| node_type.name == name)
    }

    /// The partition of that name.
    pub fn partition(&self, name: &str) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.name == name)
    }

    /// Where jobs go that name no partition, if the profile says.
    pub fn default_partition(&self) -> Option<&Partition> {
        self.partitions.iter().find(|partition| partition.default)
    }

    /// What an allocation costs for a time where it would be placed.
    pub fn price(
        &self,
        allocation: &Allocation,
        placement: &Placement,
        time: Seconds,
    ) -> Result<Money, PriceUnknown> {
        let node_type = self.node_type(&placement.node_type).ok_or_else(|| PriceUnknown {
            node_type: placement.node_type.clone(),
            reason: format!("`{}` has no such node type", self.name),
        })?;
        let partition = placement.partition.as_deref().and_then(|name| self.partition(name));
        self.charge.price(allocation, node_type, partition, time)
    }

    /// An amount with the site's unit: `$0.045`, `1.20 SU`.
    pub fn format_price(&self, amount: Money) -> String {
        format_amount(&self.unit, amount)
    }
}

/// An amount with a unit: a one-character unit is a currency sign and goes in front, others follow.
pub fn format_amount(unit: &str, amount: Money) -> String {
    if unit.chars().count() == 1 { format!("{unit}{amount}") } else { format!("{amount} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Bytes, Gpu};

    #[test]
    fn the_machine_itself_is_a_site() {
        let host = Host {
            cores: Some(4),
            threads: Some(8),
            memory: Some(Bytes(16 << 30)),
            gpus: vec![Gpu { name: "V100".into(), memory: Bytes(16 << 30) }],
            ..Host::default()
        };
        let site = Site::local(&host);
        assert_eq!(site.node_types[0].cores, Some(8));
        assert_eq!(site.node_types[0].gpu_count(), 1);
        let two_cores = Allocation { cores: Some(2), ..Allocation::default() };
        let here = Placement { node_type: "local".into(), partition: None };
        assert_eq!(site.price(&two_cores, &here, Seconds(1800.0)), Ok(Money(1.0)));
        assert_eq!(site.format_price(Money(1.0)), "1.00 core-hours");
        let priced = site.with_charge("$", Charge::per(Rule::core_hours(0.5, Some(0.0))));
        assert_eq!(priced.price(&two_cores, &here, Seconds(1800.0)), Ok(Money(0.5)));
        assert_eq!(priced.format_price(Money(0.5)), "$0.500");
    }

    #[test]
    fn an_unknown_place_has_no_price() {
        let site = Site::local(&Host::default());
        let elsewhere = Placement { node_type: "moon".into(), partition: None };
        assert!(site.price(&Allocation::default(), &elsewhere, Seconds(1.0)).is_err());
    }
}
