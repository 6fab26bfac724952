//! What can only be checked where the files are: that they exist and contain what is said of them.
//! The caller hands in closures; nothing is opened here.

use std::collections::BTreeSet;
use std::path::Path;

use crate::initial::is_interpreter;
use crate::template::{Piece, fill_file};
use crate::{Command, Diagnostic, Domain, Experiment, Kind, Severity, Template};

/// What only the machine knows. Paths are handed out relative to the experiment file.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// A file's size, or nothing if it is not there.
    pub size: &'a dyn Fn(&Path) -> Option<u64>,
    /// A file's text.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
    /// Whether a program can be started: a path with a `/` in it, or a name to be found on the PATH.
    pub program: &'a dyn Fn(&Path) -> Startable,
    /// Whether the setup has run: what it makes must be there afterwards, and need not be before.
    pub is_set_up: bool,
}

/// Whether a program can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Startable {
    /// It can.
    Yes,
    /// There is no such file.
    Missing,
    /// There is one that may not be executed.
    NotExecutable,
}

impl Experiment {
    /// Checks the experiment against the files around it.
    pub fn check_files(&self, files: &Files<'_>) -> Vec<Diagnostic> {
        let exists = |path: &str| (files.size)(&self.program.directory.join(path)).is_some();
        let mut found = Vec::new();
        // What the setup makes cannot be there before it has run.
        if files.is_set_up || self.program.setup.is_empty() {
            self.check_program(files.program, &exists, &mut found);
            self.check_file_parameters(&exists, &mut found);
        }
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
        self.check_templates(files.read, &mut found);
        self.warn_of_files_left_behind(&exists, &mut found);
        found.sort_by_key(|diagnostic| diagnostic.position);
        found
    }

    fn check_program(
        &self,
        startable: &dyn Fn(&Path) -> Startable,
        exists: &dyn Fn(&str) -> bool,
        found: &mut Vec<Diagnostic>,
    ) {
        let Command::Words(words) = &self.program.command else { return };
        let Some(program) = words.first().and_then(literal) else { return };
        let is_path = program.contains('/');
        // With a PATH of its own the program is looked for where only the run knows.
        let own_path = self.program.environment.iter().any(|(name, _)| name == "PATH");
        if !is_path && own_path {
            return;
        }
        let file =
            if is_path { self.program.directory.join(program) } else { Path::new(program).to_path_buf() };
        let set_up = if self.program.setup.is_empty() { "" } else { ", though the setup has run" };
        let (message, hint) = match startable(&file) {
            Startable::Yes => match self.missing_script(program, words, exists) {
                Some(script) => (
                    format!("the script `{script}` does not exist{set_up}"),
                    "paths are relative to `directory`".to_owned(),
                ),
                None => return,
            },
            Startable::NotExecutable => {
                (format!("the program `{program}` cannot be executed"), format!("chmod +x {program}"))
            }
            Startable::Missing if is_path => (
                format!("the program `{program}` does not exist{set_up}"),
                "build it first, or let harp do it with  setup = \"make\"  under [program]".to_owned(),
            ),
            Startable::Missing => (
                format!("there is no program `{program}` on the PATH"),
                if exists(program) {
                    format!("it is in this directory: write `./{program}`")
                } else {
                    "install it, load its module, or give its path".to_owned()
                },
            ),
        };
        found.push(self.report(Severity::Error, self.places.command, message, &hint));
    }

    /// The script an interpreter is given, if it is named plainly and is not there.
    fn missing_script<'a>(
        &self,
        program: &str,
        words: &'a [Template],
        exists: &dyn Fn(&str) -> bool,
    ) -> Option<&'a str> {
        let script = words.get(1).and_then(literal).filter(|word| !word.starts_with('-'))?;
        (is_interpreter(program) && !self.program.own_directory && !exists(script)).then_some(script)
    }

    fn check_file_parameters(&self, exists: &dyn Fn(&str) -> bool, found: &mut Vec<Diagnostic>) {
        for parameter in self.parameters.iter().filter(|parameter| parameter.kind == Kind::File) {
            let mut paths = BTreeSet::new();
            for domain in parameter.values.values() {
                if let Domain::Levels(levels) = domain {
                    paths.extend(levels.iter().map(ToString::to_string));
                }
            }
            for path in paths.into_iter().filter(|path| !exists(path)) {
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

#[cfg(test)]
mod tests;
