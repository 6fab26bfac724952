//! `harp site`: the sites harp knows.

use std::fs;
use std::path::Path;

use harp_report::{Column, Table};
use harp_site::{FindError, Site, SiteError};

use crate::arguments;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Lists the sites, or shows one.
pub fn site(arguments: &arguments::Site, terminal: &Terminal) -> Result<(), Failure> {
    let Some(name) = &arguments.site else { return list(terminal) };
    let site = find(name)?;
    if terminal.json {
        return terminal.print_json(&site);
    }
    let text =
        site.to_toml().map_err(|error| Failure::bad_input(format!("cannot write the site: {error}")))?;
    terminal.print(&text)
}

fn list(terminal: &Terminal) -> Result<(), Failure> {
    let mut sites = vec![Site::local(&harp_measure::host())];
    for (file, text) in harp_site::embedded() {
        sites.push(Site::parse(file, text).map_err(|errors| invalid(&errors))?);
    }
    if terminal.json {
        return terminal.print_json(&sites);
    }
    let mut table = Table::new([Column::left("site"), Column::left("what it is"), Column::left("prices in")]);
    for site in &sites {
        table.push([site.name.as_str(), site.description.as_str(), site.unit.as_str()]);
    }
    terminal.print_table(&table)
}

/// A site by name, or from a profile file.
pub fn find(name: &str) -> Result<Site, Failure> {
    if name == "local" {
        return Ok(Site::local(&harp_measure::host()));
    }
    let file = Path::new(name);
    if name.ends_with(".toml") || name.contains('/') {
        let text = fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
        return Site::parse(name, &text).map_err(|errors| invalid(&errors));
    }
    harp_site::find(name, &[]).map_err(|error| match error {
        FindError::Invalid(errors) => invalid(&errors),
        unknown @ FindError::Unknown { .. } => Failure::bad_input(unknown.to_string())
            .hint("`harp site` lists the sites; a profile file of your own works too"),
    })
}

fn invalid(errors: &[SiteError]) -> Failure {
    let lines: Vec<String> = errors
        .iter()
        .map(|error| match &error.hint {
            Some(hint) => format!("error: {error}\n  hint: {hint}"),
            None => format!("error: {error}"),
        })
        .collect();
    Failure::bad_input(lines.join("\n"))
}
