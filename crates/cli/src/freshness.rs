//! Whether a model still says what is known: runs made since, another experiment.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use harp_core::Timestamp;
use harp_report::text::plural_with;

use crate::project::Project;
use crate::terminal::Terminal;

/// Warns when a model is older than runs it could have learned from, or of another application than
/// the experiment file beside it. What cannot be told is not worth stopping for.
pub fn warn_if_stale(project: &Project, model_file: &Path, application: &str, terminal: &Terminal) {
    let name = project.experiment.application();
    if name != application {
        terminal.say(&format!(
            "warning: the model is of {application}, the experiment file of {name}; `harp build` makes one of \
             {name}"
        ));
        return;
    }
    let built = fs::metadata(model_file).and_then(|facts| facts.modified()).ok();
    let built = built.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let Some(built) = built.and_then(|time| i64::try_from(time.as_millis()).ok()) else { return };
    let Ok(Some(history)) = project.read_history() else { return };
    if let Ok(newer @ 1..) = history.learnable_since(&name, Timestamp(built)) {
        terminal.say(&format!(
            "warning: {} made after this model was built; `harp build` learns from {}",
            plural_with(newer, "run was", "runs were"),
            if newer == 1 { "it" } else { "them" },
        ));
    }
}
