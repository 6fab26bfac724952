//! Where an experiment lives: its file, and the folder `.harp` beside it with all that harp keeps.

use std::fs;
use std::path::{Path, PathBuf};

use harp_experiment::{Experiment, Files, Severity};
use harp_history::Store;
use harp_learn::ModelFile;

use crate::failure::{Exit, Failure};
use crate::programs;
use crate::terminal::Terminal;

/// The experiment file's usual name.
pub const USUAL_FILE: &str = "harp.toml";

/// A checked experiment and its places.
#[derive(Clone)]
pub struct Project {
    /// The experiment.
    pub experiment: Experiment,
    /// The experiment file.
    pub file: PathBuf,
    /// The folder the experiment file is in, as a full path.
    pub directory: PathBuf,
}

impl Project {
    /// Reads and checks an experiment file; warnings go to stderr.
    pub fn load(file: &Path, terminal: &Terminal) -> Result<Project, Failure> {
        let file = &experiment_file(file);
        let text = fs::read_to_string(file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::bad_input(format!("there is no {}", file.display()))
                .hint("`harp init -- ./program --size 100` writes one from a command line"),
            _ => Failure::file("read", file, &error),
        })?;
        let checked = harp_experiment::parse(&file.display().to_string(), &text)
            .map_err(|diagnostics| Failure::of_diagnostics(&diagnostics))?;
        for warning in &checked.warnings {
            terminal.say(&warning.to_string());
        }
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = parent.canonicalize().map_err(|error| Failure::file("find", parent, &error))?;
        Ok(Project { experiment: checked.experiment, file: file.to_owned(), directory })
    }

    /// Where harp keeps what belongs to this experiment.
    pub fn state(&self) -> PathBuf {
        self.directory.join(".harp")
    }

    /// Makes the folder harp keeps things in.
    pub fn make_state(&self) -> Result<PathBuf, Failure> {
        let state = self.state();
        fs::create_dir_all(&state).map_err(|error| Failure::file("make", &state, &error))?;
        // Runs, models and reports are results, not sources.
        let ignore = state.join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(|error| Failure::file("write", &ignore, &error))?;
        }
        Ok(state)
    }

    /// Checks what only the files around the experiment can tell; warnings go to stderr. What the
    /// setup makes is looked for once it has run.
    pub fn check_files(&self, is_set_up: bool, terminal: &Terminal) -> Result<(), Failure> {
        let size = |path: &Path| fs::metadata(self.directory.join(path)).ok().map(|facts| facts.len());
        let read = |path: &Path| fs::read_to_string(self.directory.join(path)).ok();
        let program = |path: &Path| programs::startable(&self.directory, path);
        let files = Files { size: &size, read: &read, program: &program, is_set_up };
        let (errors, warnings): (Vec<_>, Vec<_>) = self
            .experiment
            .check_files(&files)
            .into_iter()
            .partition(|diagnostic| diagnostic.severity == Severity::Error);
        for warning in &warnings {
            terminal.say(&warning.to_string());
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(Failure::of_diagnostics(&errors))
    }

    /// Takes the experiment for this process: two sweeps at once would disturb each other's times.
    /// It is given back when the value is dropped or the process ends, however it ends.
    pub fn lock(&self) -> Result<fs::File, Failure> {
        let path = self.make_state()?.join("lock");
        let file = fs::File::create(&path).map_err(|error| Failure::file("write", &path, &error))?;
        // A harp that was killed a moment ago may not have let go yet.
        let mut patience = 50;
        while patience > 0 && matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            std::thread::sleep(std::time::Duration::from_millis(20));
            patience -= 1;
        }
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => {
                Err(Failure::bad_input("another harp is running this experiment")
                    .hint("`harp status` shows how far it is"))
            }
            Err(fs::TryLockError::Error(error)) => Err(Failure::file("lock", &path, &error)),
        }
    }

    /// Whether some process is running this experiment.
    pub fn is_locked(&self) -> bool {
        let file = fs::File::open(self.state().join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    /// The file every run is recorded in.
    pub fn history_file(&self) -> PathBuf {
        self.state().join("history.sqlite")
    }

    /// The history, to be written to.
    pub fn open_history(&self) -> Result<Store, Failure> {
        self.make_state()?;
        Ok(Store::open(&self.history_file())?)
    }

    /// The history, to be read, if there is one.
    pub fn read_history(&self) -> Result<Option<Store>, Failure> {
        let file = self.history_file();
        if file.exists() { Ok(Some(Store::open_for_reading(&file)?)) } else { Ok(None) }
    }

    /// The file the model is written to.
    pub fn model_file(&self) -> PathBuf {
        self.state().join(result_name(&self.file, "model.json"))
    }

    /// The file the page is written to.
    pub fn page_file(&self) -> PathBuf {
        self.state().join(result_name(&self.file, "report.html"))
    }

    /// The size of a file given relative to the experiment file.
    pub fn file_size(&self, path: &Path) -> Option<u64> {
        fs::metadata(self.directory.join(path)).ok().map(|facts| facts.len())
    }
}

/// The experiment file meant by a path: a folder stands for the harp.toml in it.
pub fn experiment_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(USUAL_FILE) } else { path.to_owned() }
}

/// The model of an experiment file that need not exist any more: a model is enough to predict.
pub fn model_of(experiment: &Path) -> PathBuf {
    let file = experiment_file(experiment);
    file.with_file_name(".harp").join(result_name(&file, "model.json"))
}

/// The name of a result: several experiment files in one folder keep theirs apart.
fn result_name(experiment: &Path, name: &str) -> String {
    match experiment.file_stem() {
        Some(stem) if experiment.file_name() != Some(USUAL_FILE.as_ref()) => {
            format!("{}.{name}", stem.to_string_lossy())
        }
        _ => name.to_owned(),
    }
}

/// Reads a model file.
pub fn read_model(file: &Path) -> Result<ModelFile, Failure> {
    let text = fs::read_to_string(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::bad_input(format!("there is no model {}", file.display()))
            .hint("`harp build` makes one from the runs of `harp generate`; --model names one elsewhere")
            .exit(Exit::NotEnoughEvidence),
        _ => Failure::file("read", file, &error),
    })?;
    ModelFile::from_text(&text).map_err(|error| {
        let mut failure = Failure::from(error);
        failure.message = format!("{}: {}", file.display(), failure.message);
        failure
    })
}

/// Writes a file so that it is either the old or the new one, never half of it.
pub fn write_whole(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::file("write", file, &error);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = file.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut opened| {
        std::io::Write::write_all(&mut opened, text.as_bytes())?;
        opened.sync_all()?;
        fs::rename(&beside, file)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}
