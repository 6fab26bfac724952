//! `harp demo`: the whole story on a program that is part of harp.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::arguments::{BuildSettings, Demo, Example, ExperimentFile, Run, SweepJobs};
use crate::failure::Failure;
use crate::terminal::Terminal;

#[path = "../../../../examples/euler/euler.rs"]
#[allow(clippy::print_stdout, clippy::print_stderr)]
// a program of its own that happens to live in this binary
mod euler;

/// The same experiment as examples/euler, which is compiled there and built in here.
const EXPERIMENT: &str = include_str!("../../../../examples/euler/harp.toml");

/// Runs a built-in program.
pub fn example(arguments: &Example) -> ExitCode {
    euler::run(&arguments.arguments)
}

/// Tells the story in a temporary folder, or in one that is kept.
pub fn demo(arguments: &Demo, terminal: &Terminal) -> Result<(), Failure> {
    let folder = match &arguments.keep {
        Some(folder) => Folder::kept(folder)?,
        None => Folder::temporary()?,
    };
    let file = folder.path.join("harp.toml");
    fs::write(&file, experiment()?).map_err(|error| Failure::file("write", &file, &error))?;
    terminal.say(
        "harp demo: how long will a program take that was never run at that size?\n\
         The program works out Euler's number in two ways; harp does not know how it works inside.\n",
    );
    let run = Run {
        experiment: ExperimentFile { file },
        settings: BuildSettings {
            policy: None,
            loss: harp_core::Loss::default(),
            rerun: harp_core::Reexecution::default(),
            seed: None,
            pca: false,
        },
        html: None,
        charts: None,
        retry_failed: false,
        allow_failed: false,
        slurm: SweepJobs::none(),
    };
    super::run::story(&run, terminal)?;
    match &arguments.keep {
        Some(kept) => terminal.say(&format!(
            "\nEverything is in {0}: open {0}/.harp/report.html, or go on from there:\n  cd {0}\n  harp predict method=pow n=500000 precision=2000\n  harp models",
            kept.display()
        )),
        None => terminal.say(
            "\n`harp demo --keep FOLDER` keeps the page with the charts. Now your own program:\n  harp init -- ./your-program --size 1000\n  harp run",
        ),
    }
    Ok(())
}

/// The example's experiment with the built-in program in place of the compiled one.
fn experiment() -> Result<String, Failure> {
    let harp = std::env::current_exe()
        .map_err(|error| Failure::bad_input(format!("cannot find harp's own program file: {error}")))?;
    let quoted = serde_json::Value::String(harp.display().to_string()).to_string();
    let mut lines = Vec::new();
    for line in EXPERIMENT.lines() {
        if line.starts_with("command = ") {
            lines.push(format!(
                "command = [{quoted}, \"example\", \"euler\", \"{{method}}\", \"{{n}}\", \"{{precision}}\"]"
            ));
        } else if !line.starts_with("setup = ") {
            lines.push(line.to_owned());
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// A folder that is removed at the end unless it is to be kept.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn kept(path: &Path) -> Result<Folder, Failure> {
        if path.join("harp.toml").exists() {
            return Err(Failure::bad_input(format!("{} holds an experiment already", path.display()))
                .hint("name a new folder"));
        }
        fs::create_dir_all(path).map_err(|error| Failure::file("make", path, &error))?;
        Ok(Folder { path: path.to_owned(), keep: true })
    }

    fn temporary() -> Result<Folder, Failure> {
        let path = std::env::temp_dir().join(format!("harp-demo-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| Failure::file("make", &path, &error))?;
        Ok(Folder { path, keep: false })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // Left behind in the temporary folder if it cannot be removed; nothing depends on it.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
