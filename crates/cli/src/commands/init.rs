//! `harp init`: an experiment file from a command line.

use std::path::Path;

use crate::arguments::Init;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;

/// Writes the file and says what to do with it.
pub fn init(arguments: &Init, terminal: &Terminal) -> Result<(), Failure> {
    let file = &arguments.output;
    if file.exists() && !arguments.force {
        return Err(Failure::bad_input(format!("{} exists already", file.display()))
            .hint("--force replaces it, --output names another file"));
    }
    let is_file = |path: &Path| path.is_file();
    let initial = harp_experiment::init_from_command(&arguments.command, &is_file);
    for warning in &initial.warnings {
        terminal.say(&format!("note: {warning}"));
    }
    project::write_whole(file, &initial.toml_text)?;
    if terminal.json {
        return terminal.print_json(&serde_json::json!({ "file": file, "notes": initial.warnings }));
    }
    terminal.say(&format!(
        "wrote {}; look at the values of its parameters, then\n  harp plan {0}     shows what would run\n  harp run {0}      runs, learns, predicts and compares",
        file.display()
    ));
    Ok(())
}
