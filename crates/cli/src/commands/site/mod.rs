//! `harp site`: the sites harp knows, a person's own among them.

mod bench;
mod check;
mod discover;

use std::fs;
use std::path::{Path, PathBuf};

use harp_report::{Column, Table};
use harp_site::{FindError, Site, SiteError};

use crate::arguments::{self, SiteCommand};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Carries out a command on sites; without one, lists them or shows the one named.
pub fn site(arguments: &arguments::Site, terminal: &Terminal) -> Result<(), Failure> {
    match (&arguments.command, &arguments.site) {
        (Some(SiteCommand::Show { site }), _) | (None, Some(site)) => show(site, terminal),
        (Some(SiteCommand::List), _) | (None, None) => list(terminal),
        (Some(SiteCommand::Check { file }), _) => check::check(file, terminal),
        (Some(SiteCommand::Bench(arguments)), _) => bench::bench(arguments, terminal),
        (Some(SiteCommand::Discover(arguments)), _) => discover::discover(arguments, terminal),
    }
}

fn show(name: &str, terminal: &Terminal) -> Result<(), Failure> {
    let site = find(name)?;
    if terminal.json {
        return terminal.print_json(&site);
    }
    // A profile that comes with harp is shown as it was written: its comments explain the keys.
    let written = harp_site::embedded().into_iter().map(|(_, text)| text);
    let mut same = written.filter(|text| Site::parse(name, text).as_ref() == Ok(&site));
    match same.next() {
        Some(text) => terminal.print(text),
        None => terminal.print(&profile(&site)?),
    }
}

/// The profile of a site as text.
fn profile(site: &Site) -> Result<String, Failure> {
    site.to_toml().map_err(|error| Failure::bad_input(format!("cannot write the site: {error}")))
}

fn list(terminal: &Terminal) -> Result<(), Failure> {
    let mut sites = vec![Site::local(&harp_measure::host())];
    let own = own_profiles()?;
    let embedded = harp_site::embedded().map(|(file, text)| (file.to_owned(), text.to_owned()));
    for (file, text) in own.iter().rev().chain(&embedded) {
        let site = Site::parse(file, text).map_err(|errors| invalid(&errors))?;
        if sites.iter().all(|known| known.name != site.name) {
            sites.push(site);
        }
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
    harp_site::find(name, &own_profiles()?).map_err(|error| match error {
        FindError::Invalid(errors) => invalid(&errors),
        unknown @ FindError::Unknown { .. } => Failure::bad_input(unknown.to_string())
            .hint("`harp site` lists the sites; a profile file of your own works too"),
    })
}

/// The folder of a person's own profiles: `harp/sites` where configuration is kept.
fn own_folder() -> Option<PathBuf> {
    let kept =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configuration = kept("XDG_CONFIG_HOME").or_else(|| Some(kept("HOME")?.join(".config")))?;
    Some(configuration.join("harp/sites"))
}

/// File names and texts of a person's own profiles, in the order of their names.
fn own_profiles() -> Result<Vec<(String, String)>, Failure> {
    let Some(entries) = own_folder().and_then(|folder| fs::read_dir(folder).ok()) else {
        return Ok(Vec::new());
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let read = |file: PathBuf| match fs::read_to_string(&file) {
        Ok(text) => Ok((file.display().to_string(), text)),
        Err(error) => Err(Failure::file("read", &file, &error)),
    };
    files.into_iter().map(read).collect()
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
