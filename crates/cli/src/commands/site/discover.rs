//! `harp site discover`: a profile of the cluster at hand.

use std::fs;
use std::io::Read;
use std::path::Path;

use harp_site::Site;
use harp_slurm::ClusterFacts;

use super::profile;
use crate::arguments::SiteDiscover;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;

/// Asks the controller, or reads a saved answer, and writes the profile.
pub fn discover(arguments: &SiteDiscover, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(file) = arguments.output.as_ref().filter(|file| file.exists() && !arguments.force) {
        return Err(Failure::bad_input(format!("{} exists already", file.display()))
            .hint("--force replaces it, --output names another file"));
    }
    let text = match &arguments.file {
        Some(file) => saved(file)?,
        None => harp_measure::slurm::describe_cluster()?,
    };
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let mut site = Site::discover(&ClusterFacts::parse(&text), &today).map_err(|error| {
        Failure::bad_input(error.to_string()).hint(
            "save `scontrol show config`, `scontrol show partitions` and `scontrol show nodes` in one file",
        )
    })?;
    if let Some(name) = &arguments.name {
        site.name.clone_from(name);
    }
    let profile = profile(&site)?;
    // The name may be a person's own: what is written must be readable.
    Site::parse("the profile", &profile).map_err(|errors| super::invalid(&errors))?;
    if let Some(file) = &arguments.output {
        project::write_whole(file, &profile)?;
        terminal.say(&format!(
            "wrote {}; `harp recommend --site {}` uses it",
            file.display(),
            file.display()
        ));
        if !terminal.json {
            return Ok(());
        }
    }
    if terminal.json { terminal.print_json(&site) } else { terminal.print(&profile) }
}

fn saved(file: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::file("read", file, &error);
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = fs::read(file).map_err(failed)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
