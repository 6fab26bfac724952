//! What can only be checked where the files are: that they exist and contain what is said of them.
//! The caller hands in closures; nothing is opened here.

use std::collections::BTreeSet;
use std::path::Path;

use crate::template::{Piece, fill_file};
use crate::{Command, Diagnostic, Domain, Experiment, Kind, Severity, Template};

impl Experiment {
    /// Checks the experiment against the files around it. Paths are handed out relative to the
    /// experiment file: `size` gives a file's size or nothing if it is not there, `read` its text.
    pub fn check_files(
        &self,
        size: &dyn Fn(&Path) -> Option<u64>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Vec<Diagnostic> {
        let exists = |path: &str| size(&self.program.directory.join(path)).is_some();
        let mut found = Vec::new();
        self.check_program_exists(&exists, &mut found);
        self.check_file_parameters(&exists, &mut found);
        for (input, position) in self.program.inputs.iter().zip(&self.places.inputs) {
            if let Some(path) = literal(&input.source)
                && !exists(path)
            {
                let message = format!("the input `{path}` does not exist");
                found.push(self.report(
                    Severity::Error,
                    *position,
                    message,
                    "paths are relative to `directory`",
                ));
            }
        }
        self.check_templates(read, &mut found);
        self.warn_of_files_left_behind(&exists, &mut found);
        found.sort_by_key(|diagnostic| diagnostic.position);
        found
    }

    fn check_program_exists(&self, exists: &dyn Fn(&str) -> bool, found: &mut Vec<Diagnostic>) {
        let Command::Words(words) = &self.program.command else { return };
        let program = words.first().and_then(literal).filter(|program| program.contains('/'));
        if let Some(program) = program
            && self.program.setup.is_empty()
            && !exists(program)
        {
            let message = format!("the program `{program}` does not exist");
            let hint = "build it first, or let harp do it with  setup = \"make\"  under [program]";
            found.push(self.report(Severity::Error, self.places.command, message, hint));
        }
    }

    fn check_file_parameters(&self, exists: &dyn Fn(&str) -> bool, found: &mut Vec<Diagnostic>) {
        for parameter in self.parameters.iter().filter(|parameter| parameter.kind == Kind::File) {
            let mut paths = BTreeSet::new();
            for domain in parameter.values.values() {
                if let Domain::Levels(levels) = domain {
                    paths.extend(levels.iter().map(ToString::to_string));
                }
            }
            for path in paths.into_iter().filter(|path| !exists(path) && self.program.setup.is_empty()) {
                let message = format!("the file `{path}` of parameter `{}` does not exist", parameter.name);
                let hint = "paths are relative to `directory`; `setup` can make files";
                found.push(self.report(Severity::Error, parameter.position, message, hint));
            }
        }
    }

    fn check_templates(&self, read: &dyn Fn(&Path) -> Option<String>, found: &mut Vec<Diagnostic>) {
        for (file, position) in self.program.templates.iter().zip(&self.places.templates) {
            let Some(path) = literal(&file.source) else { continue };
            let Some(text) = read(&self.program.directory.join(path)) else {
                let message = format!("the template file `{path}` does not exist or is not text");
                found.push(self.report(
                    Severity::Error,
                    *position,
                    message,
                    "paths are relative to `directory`",
                ));
                continue;
            };
            let (_, replaced) = fill_file(&text, &|_| Some(String::new()));
            for name in file.must_contain.iter().filter(|name| !replaced.contains(name)) {
                let message = format!("the template file `{path}` does not contain `{{{name}}}`");
                let hint = "write it where the value belongs";
                found.push(self.report(Severity::Error, *position, message, hint));
            }
        }
    }

    /// A word of the command that names a file beside the program will not be found from a run's own
    /// directory unless it is an input.
    fn warn_of_files_left_behind(&self, exists: &dyn Fn(&str) -> bool, found: &mut Vec<Diagnostic>) {
        let Command::Words(words) = &self.program.command else { return };
        if !self.program.own_directory {
            return;
        }
        let placed: Vec<String> = (self.program.inputs.iter().map(|input| &input.target))
            .chain(self.program.templates.iter().map(|file| &file.target))
            .map(Template::to_string)
            .collect();
        for word in words.iter().skip(1).filter_map(literal) {
            let relative = !word.is_empty() && !word.starts_with(['-', '/']);
            if relative && exists(word) && !placed.iter().any(|target| target == word) {
                let message = format!("each run has a directory of its own, where `{word}` is not");
                let hint = format!("add  inputs = [\"{word}\"]  under [program]");
                found.push(self.report(Severity::Warning, self.places.command, message, &hint));
            }
        }
    }
}

/// The text of a template without placeholders.
fn literal(template: &Template) -> Option<&str> {
    match template.pieces() {
        [Piece::Literal(text)] => Some(text),
        _ => None,
    }
}
