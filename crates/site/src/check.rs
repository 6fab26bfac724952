//! From a profile as written to a [`Site`]: every value in range, every name known.

use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

use harp_core::{Descriptors, Money, ParseUnitError};
use toml::Spanned;

use crate::written::{
    Quantity, Written, WrittenCharge, WrittenGpus, WrittenNode, WrittenPartition, WrittenWeights,
};
use crate::{
    Billing, Charge, Combine, GpuType, MemoryOption, NodeType, Partition, Rule, Scheduler, Site, SiteError,
    Weights,
};

/// Reads and checks a profile.
pub(crate) fn parse(file: &str, text: &str) -> Result<Site, Vec<SiteError>> {
    let written: Written = toml::from_str(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or("not a valid profile").to_owned();
        let hint = "`harp site show osc-pitzer` prints a profile with every key explained";
        vec![SiteError::at(file, text, error.span(), message).with_hint(hint)]
    })?;
    let mut checker = Checker { file, text, errors: Vec::new() };
    let site = checker.site(written);
    if checker.errors.is_empty() {
        Ok(site)
    } else {
        checker.errors.sort_by_key(|error| (error.line, error.column));
        Err(checker.errors)
    }
}

/// Collects mistakes while it converts; a mistaken value becomes a harmless one.
struct Checker<'a> {
    file: &'a str,
    text: &'a str,
    errors: Vec<SiteError>,
}

impl Checker<'_> {
    fn error(&mut self, span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(SiteError::at(self.file, self.text, Some(span), message).with_hint(hint));
    }

    fn site(&mut self, written: Written) -> Site {
        let name = self.identifier(&written.name, "site");
        let unit = self.filled(&written.unit, "unit", "write unit = \"$\", \"SU\" or \"core-hours\"");
        let scheduler = self.one_of(
            written.scheduler.as_ref(),
            "scheduler",
            &[("slurm", Scheduler::Slurm), ("none", Scheduler::None)],
            Scheduler::None,
        );
        let memory = self.one_of(
            written.memory.as_ref(),
            "memory",
            &[
                ("allowed", MemoryOption::Allowed),
                ("forbidden", MemoryOption::Forbidden),
                ("mandatory", MemoryOption::Mandatory),
            ],
            MemoryOption::Allowed,
        );
        self.unique(written.node_types.iter().map(|node| &node.name), "node type");
        self.unique(written.partitions.iter().map(|partition| &partition.name), "partition");
        if written.node_types.is_empty() {
            self.error(written.name.span(), "a site needs at least one node type", "add a [[node_type]]");
        }
        for second in written.partitions.iter().filter(|partition| partition.default).skip(1) {
            let message = "two partitions are the default";
            self.error(
                second.name.span(),
                message,
                "leave `default = true` to the one jobs go to that name none",
            );
        }
        if scheduler == Scheduler::Slurm && written.partitions.is_empty() {
            self.error(written.name.span(), "a Slurm site needs a partition", "add a [[partition]]");
        }
        let charge = self.charge(written.charge.into_inner());
        let node_types: Vec<NodeType> = written.node_types.into_iter().map(|node| self.node(node)).collect();
        let partitions =
            written.partitions.into_iter().map(|partition| self.partition(partition, &node_types)).collect();
        Site {
            name,
            description: written.description,
            source: written.source,
            date: written.date,
            unit,
            scheduler,
            memory,
            exclusive: written.exclusive,
            unknown: written.unknown,
            charge,
            node_types,
            partitions,
        }
    }

    fn charge(&mut self, written: WrittenCharge) -> Charge {
        let rule_name = written.rule.get_ref().clone();
        let of_rule = |rules: &[&str]| rules.contains(&rule_name.as_str());
        let known = ["core_hours", "node_hours", "weights"];
        if !of_rule(&known) {
            let message = format!("there is no charge rule `{rule_name}`");
            self.error(written.rule.span(), message, format!("use one of {}", known.join(", ")));
        } else {
            // Keys that belong to another rule would be silently ignored.
            let spans = [
                ("core_hour", written.core_hour.as_ref().map(Spanned::span), "core_hours"),
                ("gpu_hour", written.gpu_hour.as_ref().map(Spanned::span), "core_hours"),
                ("memory_counts", written.memory_counts.as_ref().map(Spanned::span), "core_hours"),
                ("whole_cores", written.whole_cores.as_ref().map(Spanned::span), "core_hours"),
                ("whole_nodes", written.whole_nodes.as_ref().map(Spanned::span), "core_hours"),
                ("node_hour", written.node_hour.as_ref().map(Spanned::span), "node_hours"),
                ("hour", written.hour.as_ref().map(Spanned::span), "weights"),
                ("weights", written.weights.as_ref().map(Spanned::span), "weights"),
            ];
            for (key, span, rule) in spans {
                if let Some(span) = span.filter(|_| rule != rule_name) {
                    let message = format!("`{key}` belongs to the rule `{rule}`, not to `{rule_name}`");
                    self.error(span, message, format!("remove `{key}` or write rule = \"{rule}\""));
                }
            }
        }
        let rule_span = written.rule.span();
        let rule = match rule_name.as_str() {
            "node_hours" => Rule::NodeHours { node_hour: self.rate(written.node_hour.as_ref()) },
            "weights" => Rule::Weights {
                hour: self.rate(written.hour.as_ref()).unwrap_or(1.0),
                weights: match written.weights {
                    Some(weights) => self.weights(weights.into_inner()),
                    None => {
                        self.error(
                            rule_span,
                            "the rule `weights` needs weights",
                            "add weights = { core = 1.0 }",
                        );
                        Weights { core: 0.0, memory_gib: 0.0, gpu: 0.0, combine: Combine::Sum }
                    }
                },
            },
            _ => {
                if rule_name == "core_hours" && written.core_hour.is_none() {
                    self.error(rule_span, "the rule `core_hours` needs a rate", "add core_hour = 1.0");
                }
                let truth = |value: &Option<Spanned<bool>>| value.as_ref().is_some_and(|v| *v.get_ref());
                Rule::CoreHours {
                    core_hour: self.rate(written.core_hour.as_ref()).unwrap_or(0.0),
                    gpu_hour: self.rate(written.gpu_hour.as_ref()),
                    memory_counts: truth(&written.memory_counts),
                    whole_cores: truth(&written.whole_cores),
                    whole_nodes: truth(&written.whole_nodes),
                }
            }
        };
        let billing = Billing {
            minimum_time: self.quantity(written.minimum_time.as_ref()).unwrap_or_default(),
            increment: self.quantity(written.increment.as_ref()).unwrap_or_default(),
            minimum_charge: Money(self.rate(written.minimum_charge.as_ref()).unwrap_or(0.0)),
        };
        Charge { rule, billing }
    }

    fn weights(&mut self, written: WrittenWeights) -> Weights {
        Weights {
            core: self.rate(written.core.as_ref()).unwrap_or(0.0),
            memory_gib: self.rate(written.memory_gib.as_ref()).unwrap_or(0.0),
            gpu: self.rate(written.gpu.as_ref()).unwrap_or(0.0),
            combine: self.one_of(
                written.combine.as_ref(),
                "combine",
                &[("sum", Combine::Sum), ("max", Combine::Max)],
                Combine::Sum,
            ),
        }
    }

    fn node(&mut self, written: WrittenNode) -> NodeType {
        let name = self.identifier(&written.name, "node type");
        NodeType {
            cores: self.count(written.cores.as_ref(), "cores", 1),
            memory: self.quantity(written.memory.as_ref()),
            memory_per_core: self.quantity(written.memory_per_core.as_ref()),
            gpus: written.gpus.map(|gpus| self.gpus(gpus)),
            clock_mhz: self.rate(written.clock_mhz.as_ref()),
            count: self.count(written.count.as_ref(), "count", 1),
            constraint: written.constraint.map(|constraint| self.word(&constraint, "constraint")),
            core_hour: self.rate(written.core_hour.as_ref()),
            gpu_hour: self.rate(written.gpu_hour.as_ref()),
            node_hour: self.rate(written.node_hour.as_ref()),
            price_unknown: written.price_unknown,
            descriptors: written.descriptors.map(|written| self.descriptors(&written)),
            name,
        }
    }

    fn descriptors(&mut self, written: &Spanned<Descriptors>) -> Descriptors {
        for (name, value) in written.get_ref().entries() {
            if !(value.is_finite() && value > 0.0) {
                let message = format!("`{name}` must be a number above 0, not {value}");
                self.error(written.span(), message, format!("leave `{name}` out when it is not known"));
            }
        }
        *written.get_ref()
    }

    fn gpus(&mut self, written: WrittenGpus) -> GpuType {
        GpuType {
            kind: written.kind,
            count: self.count(Some(&written.count), "count", 1).unwrap_or(1),
            memory: self.quantity(written.memory.as_ref()),
            gres: written.gres.map(|gres| self.word(&gres, "gres")),
        }
    }

    fn partition(&mut self, written: WrittenPartition, node_types: &[NodeType]) -> Partition {
        let names: Vec<&str> = node_types.iter().map(|node_type| node_type.name.as_str()).collect();
        if written.node_types.get_ref().is_empty() {
            let message = format!("partition `{}` leads to no node type", written.name.get_ref());
            self.error(written.node_types.span(), message, format!("name some of {}", names.join(", ")));
        }
        for name in written.node_types.get_ref() {
            if !names.contains(&name.get_ref().as_str()) {
                let message = format!("there is no node type `{}`", name.get_ref());
                self.error(name.span(), message, format!("known are {}", names.join(", ")));
            }
        }
        let (min_nodes, max_nodes) = (
            self.count(written.min_nodes.as_ref(), "min_nodes", 1),
            self.count(written.max_nodes.as_ref(), "max_nodes", 1),
        );
        if let (Some(least), Some(most)) = (min_nodes, max_nodes)
            && least > most
        {
            let message = format!("at least {least} and at most {most} nodes admit nothing");
            self.error(written.name.span(), message, "make min_nodes at most max_nodes");
        }
        Partition {
            name: self.identifier(&written.name, "partition"),
            node_types: written.node_types.into_inner().into_iter().map(Spanned::into_inner).collect(),
            max_time: self.quantity(written.max_time.as_ref()),
            default_time: self.quantity(written.default_time.as_ref()),
            min_nodes,
            max_nodes,
            max_cores: self.count(written.max_cores.as_ref(), "max_cores", 1),
            max_memory: self.quantity(written.max_memory.as_ref()),
            min_gpus: self.count(written.min_gpus.as_ref(), "min_gpus", 0),
            factor: self.rate(written.factor.as_ref()).unwrap_or(1.0),
            weights: written.weights.map(|weights| self.weights(weights.into_inner())),
            automatic: written.automatic,
            default: written.default,
            preemptible: written.preemptible,
        }
    }

    /// A price, weight or factor: finite and not negative.
    fn rate(&mut self, written: Option<&Spanned<f64>>) -> Option<f64> {
        let value = *written?.get_ref();
        if !(value.is_finite() && value >= 0.0) {
            self.error(written?.span(), format!("{value} is not a number of 0 or more"), "write 0.003");
        }
        Some(value)
    }

    fn count(&mut self, written: Option<&Spanned<i64>>, key: &str, least: u32) -> Option<u32> {
        let written = written?;
        let value = u32::try_from(*written.get_ref()).ok().filter(|&value| value >= least);
        if value.is_none() {
            let message = format!("`{key}` must be a whole number of at least {least}");
            self.error(written.span(), message, format!("leave `{key}` out when it is not known"));
        }
        value
    }

    fn quantity<T: FromStr<Err = ParseUnitError>>(
        &mut self,
        written: Option<&Spanned<Quantity>>,
    ) -> Option<T> {
        let written = written?;
        match written.get_ref().0.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                let hint = format!("write {}", error.expected);
                self.error(written.span(), format!("`{}` cannot be read", error.text), hint);
                None
            }
        }
    }

    fn one_of<T: Copy>(
        &mut self,
        written: Option<&Spanned<String>>,
        key: &str,
        choices: &[(&str, T)],
        default: T,
    ) -> T {
        let Some(written) = written else { return default };
        if let Some(&(_, value)) = choices.iter().find(|(name, _)| name == written.get_ref()) {
            return value;
        }
        let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
        let message = format!("`{key}` cannot be `{}`", written.get_ref());
        self.error(written.span(), message, format!("use one of {}", names.join(", ")));
        default
    }

    fn filled(&mut self, written: &Spanned<String>, key: &str, hint: &str) -> String {
        if written.get_ref().trim().is_empty() {
            self.error(written.span(), format!("`{key}` is empty"), hint);
        }
        written.get_ref().clone()
    }

    /// A name that can stand in a file name, an option and a job script.
    fn identifier(&mut self, written: &Spanned<String>, what: &str) -> String {
        let name = written.get_ref();
        if !is_word(name) {
            let message = format!("`{name}` cannot name a {what}");
            self.error(written.span(), message, "use letters, digits, `-`, `_` and `.`");
        }
        name.clone()
    }

    /// A word that stands after an option in a job script: nothing that could end the line.
    fn word(&mut self, written: &Spanned<String>, key: &str) -> String {
        let value = written.get_ref();
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:,&|*[]()=".contains(c);
        if value.is_empty() || !value.chars().all(allowed) {
            let message = format!("`{key}` cannot be `{value}`");
            self.error(written.span(), message, "use the scheduler's own name, without spaces");
        }
        value.clone()
    }

    fn unique<'w>(&mut self, names: impl Iterator<Item = &'w Spanned<String>>, what: &str) {
        let mut seen = BTreeSet::new();
        for name in names {
            if !seen.insert(name.get_ref()) {
                let message = format!("there are two {what}s named `{}`", name.get_ref());
                self.error(name.span(), message, "rename or remove one");
            }
        }
    }
}

/// A name that can stand in a file name, an option and a job script.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests;
