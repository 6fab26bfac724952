//! The files of one run: its directory, its inputs, its filled templates.
//!
//! ```text
//! <state>/runs/<key>-<repetition>/stdout     what the program wrote
//!                                 stderr
//!                                 after-0.stdout, after-0.stderr, …
//!                                 work/      where it ran, if each run has its own directory
//! <state>/runs/<key>-<repetition>.1/         an earlier attempt
//! ```

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use harp_experiment::{FilledFile, Input, Placing, PlannedRun};

use super::SweepError;

/// Where the files of one run are.
pub(crate) struct RunDirectory(PathBuf);

/// Why inputs are not in place.
pub(super) enum InputError {
    /// The experiment names a file that is not there.
    Missing(String),
    /// This machine refuses; other runs would fare no better.
    Refused(SweepError),
}

impl RunDirectory {
    /// Makes the directory of a run anew; what an earlier attempt left is set aside.
    pub(crate) fn create(state: &Path, planned: &PlannedRun) -> Result<Self, SweepError> {
        let Self(path) = Self::existing(state, planned);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(Self(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => set_aside(&path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(SweepError::File { action: "make the directory", path, source }),
        }
        make_directory(&path)?;
        Ok(Self(path))
    }

    /// The directory a run has or will have.
    pub(crate) fn existing(state: &Path, planned: &PlannedRun) -> Self {
        let name = format!("{}-{}", planned.configuration.key(), planned.repetition);
        Self(state.join("runs").join(name))
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Where the program runs if each run has its own directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// A file for output.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Renames an earlier attempt to the first free number.
fn set_aside(path: &Path) -> Result<(), SweepError> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let free = (1..).map(numbered).find(|candidate| !candidate.exists()).unwrap_or_else(|| numbered(0));
    fs::rename(path, free).map_err(|source| SweepError::File {
        action: "set aside the earlier attempt",
        path: path.to_owned(),
        source,
    })
}

/// Makes a directory with those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), SweepError> {
    fs::create_dir_all(path).map_err(|source| SweepError::File {
        action: "make the directory",
        path: path.to_owned(),
        source,
    })
}

/// Links or copies an input to where the program expects it.
pub(super) fn place_input(input: &Input) -> Result<(), InputError> {
    if !input.source.exists() {
        return Err(InputError::Missing(format!("the input {} does not exist", input.source.display())));
    }
    // Without a directory of its own, a run finds its inputs where they are.
    if input.target == input.source || same_file(&input.source, &input.target) {
        return Ok(());
    }
    make_parent(&input.target).map_err(InputError::Refused)?;
    let placed = match input.placing {
        Placing::Link => symlink(&input.source, &input.target),
        Placing::Copy => copy(&input.source, &input.target),
    };
    placed.map_err(|source| {
        let action = match input.placing {
            Placing::Link => "link an input to",
            Placing::Copy => "copy an input to",
        };
        InputError::Refused(SweepError::File { action, path: input.target.clone(), source })
    })
}

fn same_file(first: &Path, second: &Path) -> bool {
    matches!((first.canonicalize(), second.canonicalize()), (Ok(first), Ok(second)) if first == second)
}

fn make_parent(path: &Path) -> Result<(), SweepError> {
    path.parent().map_or(Ok(()), make_directory)
}

/// Copies a file, or a directory with all that is in it.
fn copy(source: &Path, target: &Path) -> io::Result<()> {
    if !source.is_dir() {
        return fs::copy(source, target).map(|_| ());
    }
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        copy(&entry.path(), &target.join(entry.file_name()))?;
    }
    Ok(())
}

/// Writes a filled template.
pub(super) fn write_file(file: &FilledFile) -> Result<(), SweepError> {
    make_parent(&file.path)?;
    fs::write(&file.path, &file.content).map_err(|source| SweepError::File {
        action: "write",
        path: file.path.clone(),
        source,
    })
}
