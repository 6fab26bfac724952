//! `harp init`: an experiment file from a command line.

use std::path::Path;

use harp_experiment::Startable;
use serde::Serialize;

use crate::arguments::Init;
use crate::failure::Failure;
use crate::programs;
use crate::project;
use crate::terminal::Terminal;

/// Writes the file and says what to do with it.
pub fn init(arguments: &Init, terminal: &Terminal) -> Result<(), Failure> {
    let file = &project::experiment_file(&arguments.output);
    if file.exists() && !arguments.force {
        return Err(Failure::bad_input(format!("{} exists already", file.display()))
            .hint("--force replaces it, --output names another file"));
    }
    let is_file = |path: &Path| path.is_file();
    let initial = harp_experiment::init_from_command(&arguments.command, &is_file);
    let mut notes = initial.warnings;
    notes.extend(arguments.command.first().and_then(|program| cannot_start(program)));
    project::write_whole(file, &initial.toml_text)?;
    if terminal.json {
        return terminal.print_json(&Answer { file, notes, to_fill_in: initial.to_fill_in });
    }
    let mut text = format!("wrote {}\n", file.display());
    for note in &notes {
        text.push_str(&format!("note: {note}\n"));
    }
    for (number, what) in initial.to_fill_in.iter().enumerate() {
        text.push_str(&format!("{} {what}\n", if number == 0 { "to fill in:" } else { "           " }));
    }
    let name = if file.as_path() == Path::new(project::USUAL_FILE) {
        String::new()
    } else {
        format!(" {}", file.display())
    };
    text.push_str(&format!(
        "Look at the values of its parameters, then\n  harp plan{name}     shows what would run\n  harp run{name}      runs, learns, predicts and compares",
    ));
    terminal.print_text(&text)
}

/// What came of it; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    file: &'a Path,
    notes: Vec<String>,
    to_fill_in: Vec<String>,
}

/// A program that is not there yet is no reason not to write the file.
fn cannot_start(program: &str) -> Option<String> {
    match programs::startable(Path::new("."), Path::new(program)) {
        Startable::Yes => None,
        Startable::Missing if program.contains('/') => {
            Some(format!("there is no {program} yet; build it, or let harp do it with `setup`"))
        }
        Startable::Missing => Some(format!("there is no program `{program}` on the PATH")),
        Startable::NotExecutable => Some(format!("{program} cannot be executed; chmod +x {program}")),
    }
}
