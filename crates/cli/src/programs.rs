//! Whether a program can be started on this machine; nothing is started here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use harp_experiment::Startable;

/// Looks for a path with a `/` in it below a folder, for a bare name on the PATH.
pub fn startable(folder: &Path, program: &Path) -> Startable {
    if program.components().count() > 1 || program.to_string_lossy().contains('/') {
        return file(&folder.join(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found: Vec<Startable> =
        std::env::split_paths(&path).map(|place| file(&place.join(program))).collect();
    // As a shell does: one that may be executed anywhere wins over one that may not.
    [Startable::Yes, Startable::NotExecutable]
        .into_iter()
        .find(|wanted| found.contains(wanted))
        .unwrap_or(Startable::Missing)
}

/// Whether a bare name is a program on the PATH.
pub fn is_on_path(name: &str) -> bool {
    startable(Path::new("."), Path::new(name)) == Startable::Yes
}

fn file(path: &Path) -> Startable {
    match fs::metadata(path) {
        Ok(facts) if facts.is_file() && facts.permissions().mode() & 0o111 != 0 => Startable::Yes,
        Ok(_) => Startable::NotExecutable,
        Err(_) => Startable::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let app = folder.path().join("app");
        let found = |name: &str| startable(folder.path(), Path::new(name));
        assert_eq!(found("./app"), Startable::Missing);
        fs::write(&app, "").unwrap();
        assert_eq!(found("./app"), Startable::NotExecutable);
        fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(found("./app"), Startable::Yes);
        assert_eq!(found("app"), Startable::Missing);
        assert_eq!(found("sh"), Startable::Yes);
    }
}
