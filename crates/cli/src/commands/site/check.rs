//! `harp site check`: whether a profile is right, and what it does not say.

use std::fs;
use std::path::Path;

use harp_report::text::plural;
use harp_site::Site;
use serde::Serialize;

use super::invalid;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    file: String,
    site: &'a str,
    node_types: usize,
    partitions: usize,
    unknown: &'a [String],
    missing: Vec<String>,
}

/// Checks a profile; its mistakes are the error.
pub fn check(file: &Path, terminal: &Terminal) -> Result<(), Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
    let name = file.display().to_string();
    let site = Site::parse(&name, &text).map_err(|errors| invalid(&errors))?;
    let answer = Answer {
        file: name,
        site: &site.name,
        node_types: site.node_types.len(),
        partitions: site.partitions.len(),
        unknown: &site.unknown,
        missing: missing(&site),
    };
    if terminal.json {
        return terminal.print_json(&answer);
    }
    terminal.print(&format!(
        "{}: right; {} and {}\n",
        answer.site,
        plural(answer.node_types, "node type"),
        plural(answer.partitions, "partition"),
    ))?;
    let lines = answer.missing.iter().map(|line| format!("  not set: {line}\n"));
    let unknown = answer.unknown.iter().map(|line| format!("  not known: {line}\n"));
    terminal.print_text(&lines.chain(unknown).collect::<String>())
}

/// What harp could use and the profile leaves out.
fn missing(site: &Site) -> Vec<String> {
    let mut found = Vec::new();
    let fact = |is_set: bool, what: &str| (!is_set).then(|| what.to_owned());
    found.extend(fact(site.source.is_some(), "source: where the facts are from"));
    found.extend(fact(site.date.is_some(), "date: when they were true"));
    for node_type in &site.node_types {
        let name = &node_type.name;
        found.extend(fact(
            node_type.cores.is_some(),
            &format!("cores of {name}: requests are not held against them"),
        ));
        found.extend(fact(
            node_type.memory.is_some(),
            &format!("memory of {name}: requests are not held against it"),
        ));
    }
    for partition in &site.partitions {
        let limit = format!("max_time of {}: any time is taken to be admitted", partition.name);
        found.extend(fact(partition.max_time.is_some(), &limit));
    }
    found
}
