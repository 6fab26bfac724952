//! The program jobs are run by: harp itself, kept beside the runs, where every node that sees them sees
//! it, and where a newer harp does not replace it while jobs wait.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::arguments::WithinJob;
use crate::failure::Failure;
use crate::project::Project;

/// The command a job begins with.
pub fn runner(project: &Project) -> Result<Vec<String>, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::bad_input(format!("harp cannot find its own program: {error}")))?;
    let facts = fs::metadata(&own).map_err(|error| Failure::file("read", &own, &error))?;
    let folder = project.make_state()?.join("slurm");
    fs::create_dir_all(&folder).map_err(|error| Failure::file("make", &folder, &error))?;
    let name = format!("harp-{}-{:x}-{:x}", env!("CARGO_PKG_VERSION"), facts.len(), facts.mtime());
    let kept = folder.join(name);
    if !kept.exists() {
        keep(&own, &kept).map_err(|error| Failure::file("copy harp to", &kept, &error))?;
    }
    Ok(vec![kept.display().to_string(), WithinJob::NAME.to_owned()])
}

/// Links it where that is possible, else copies it, whole or not at all.
fn keep(own: &Path, kept: &Path) -> std::io::Result<()> {
    if fs::hard_link(own, kept).is_ok() {
        return Ok(());
    }
    let beside = kept.with_extension(format!("{}.new", std::process::id()));
    fs::copy(own, &beside)?;
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o755))?;
    fs::rename(beside, kept)
}
