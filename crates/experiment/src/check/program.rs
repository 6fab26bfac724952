//! The program: its command can be taken apart, its placeholders have values, its files have places.

use std::path::{Component, Path, PathBuf};

use super::metrics::compile;
use super::names::{Names, parse_template};
use super::parameters::check_variable;
use crate::experiment::Places;
use crate::spec::{CommandSpec, FileSpec, Located, ProgramSpec, Sink, Spec};
use crate::{
    Command, Input, MetricRule, Placing, Position, Program, Source, SuccessRule, Template, TemplateFile,
    words,
};

pub(super) fn check(spec: &Spec, names: &mut Names, sink: &mut Sink<'_>) -> Option<Program> {
    let Some(written) = &spec.program else {
        if !spec.program_reported {
            sink.error(
                sink.text.len(),
                "the file has no program",
                "add  [program]  with  command = \"./my-program {n}\"",
            );
        }
        return None;
    };
    let program = &written.value;
    let command = command(program, written.start(), names, sink);
    let setup = program.setup.iter().filter_map(|line| setup_line(line, sink)).collect();
    let after = program.after.iter().filter_map(|line| names.template(line, sink)).collect();
    let mut environment = Vec::new();
    for (variable, value) in &program.environment {
        check_variable(variable, sink);
        environment.extend(names.template(value, sink).map(|value| (variable.value.clone(), value)));
    }
    let mut inputs = Vec::new();
    for file in &program.inputs {
        let copied = file.how.as_ref().is_some_and(|how| how.value == "copy");
        let placing = if copied { Placing::Copy } else { Placing::Link };
        let places = places(file, names, sink);
        inputs.extend(places.map(|(source, target)| Input { source, target, placing }));
    }
    let success = SuccessRule {
        exit_code: program
            .success_exit_code
            .as_ref()
            .map_or(0, |code| i32::try_from(code.value).unwrap_or(0)),
        output: program.success_output.as_ref().and_then(|pattern| compile(pattern, sink)),
        files: program.success_files.iter().filter_map(|file| names.template(file, sink)).collect(),
    };
    if let Some(code) = program.success_exit_code.as_ref().filter(|code| code.value > 255) {
        sink.error(code.start(), "an exit code is at most 255", "such as  exit_code = 0");
    }
    Some(Program {
        command: command?,
        directory: PathBuf::from(
            program.directory.as_ref().map_or(".", |directory| directory.value.as_str()),
        ),
        setup,
        after,
        environment,
        inputs,
        templates: templates(spec, program, names, sink),
        own_directory: false,
        version: program.version.as_ref().map(|version| version.value.clone()),
        mpi: program.mpi.as_ref().is_some_and(|mpi| mpi.value),
        modules: modules(program, sink),
        success,
    })
}

fn command(program: &ProgramSpec, place: usize, names: &mut Names, sink: &mut Sink<'_>) -> Option<Command> {
    let Some(command) = &program.command else {
        if !program.command_reported {
            let hint = "add  command = \"./my-program {n}\"  under [program]";
            sink.error(place, "the program has no command", hint);
        }
        return None;
    };
    let shell = program.shell.as_ref().is_some_and(|shell| shell.value);
    match &command.value {
        CommandSpec::Line(line) => {
            let text = Located { value: line.clone(), span: command.span.clone() };
            if line.trim().is_empty() {
                sink.error(
                    command.start(),
                    "the command is empty",
                    "such as  command = \"./my-program {n}\"",
                );
                return None;
            }
            let whole = names.template(&text, sink)?;
            if shell { Some(Command::Shell(whole)) } else { split_line(&text, sink).map(Command::Words) }
        }
        CommandSpec::Words(words) => {
            if shell {
                sink.error(
                    command.start(),
                    "with  shell = true  the command is one line",
                    "write it as one text",
                );
            } else if words.first().is_none_or(|word| word.value.is_empty()) {
                sink.error(command.start(), "the command is empty", "begin with the program's name");
            } else {
                let templates: Vec<Template> =
                    words.iter().filter_map(|word| names.template(word, sink)).collect();
                return (templates.len() == words.len()).then_some(Command::Words(templates));
            }
            None
        }
    }
}

fn split_line(line: &Located<String>, sink: &mut Sink<'_>) -> Option<Vec<Template>> {
    let split = match words::split(&line.value) {
        Ok(split) => split,
        Err(error) => {
            let place = sink.inside(&line.span, &line.value, error.offset());
            sink.error(place, error.to_string(), "close it, or put a backslash before it");
            return None;
        }
    };
    if let Some((offset, character)) = split.special {
        sink.warning(
            sink.inside(&line.span, &line.value, offset),
            format!("`{character}` is handed to the program as it is, because no shell is involved"),
            "add  shell = true  if a shell should act on it, or quote it",
        );
    }
    let templates: Vec<Template> =
        split.words.iter().filter_map(|word| parse_template(word, &line.span, sink)).collect();
    (templates.len() == split.words.len() && !templates.is_empty()).then_some(templates)
}

/// Setup runs before any configuration: only the experiment's directory has a value.
fn setup_line(line: &Located<String>, sink: &mut Sink<'_>) -> Option<Template> {
    let template = parse_template(&line.value, &line.span, sink)?;
    let mut sound = true;
    for (name, offset) in template.placeholders().filter(|(name, _)| *name != "experiment_directory") {
        sink.error(
            sink.inside(&line.span, &line.value, offset),
            format!("`{{{name}}}` has no value in `setup`, which runs once before the sweep"),
            "only {experiment_directory} does; write ${{NAME}} for a shell variable",
        );
        sound = false;
    }
    sound.then_some(template)
}

/// Source and target of a file, the target inside the run's directory.
fn places(file: &FileSpec, names: &mut Names, sink: &mut Sink<'_>) -> Option<(Template, Template)> {
    if Path::new(&file.path.value).file_name().is_none() {
        sink.error(file.path.start(), format!("{:?} names no file", file.path.value), "say which file");
        return None;
    }
    let source = names.template(&file.path, sink)?;
    let Some(to) = &file.to else { return Some((source.clone(), source)) };
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if to.value.is_empty() || !Path::new(&to.value).components().all(inside) {
        sink.error(to.start(), "`to` leads out of the run's directory", "use a relative path without `..`");
        return None;
    }
    Some((source, names.template(to, sink)?))
}

/// The modules; a name that a shell could read as more than a name is reported.
fn modules(program: &ProgramSpec, sink: &mut Sink<'_>) -> Vec<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+/:@".contains(c);
    for module in &program.modules {
        if module.value.is_empty() || module.value.starts_with('-') || !module.value.chars().all(is_plain) {
            let message = format!("`{}` cannot name a module", module.value.escape_debug());
            sink.error(module.start(), message, "write one such as \"gcc/12.2\"");
        }
    }
    program.modules.iter().map(|module| module.value.clone()).collect()
}

fn templates(
    spec: &Spec,
    program: &ProgramSpec,
    names: &mut Names,
    sink: &mut Sink<'_>,
) -> Vec<TemplateFile<Template>> {
    let mut files: Vec<TemplateFile<Template>> = Vec::new();
    for file in &program.templates {
        let places = places(file, names, sink);
        files.extend(places.map(|(source, target)| TemplateFile {
            source,
            target,
            must_contain: Vec::new(),
        }));
        // What a template file contains is only known when it is read: every parameter may be in it.
        spec.parameters.iter().for_each(|(name, _)| names.mark_used(&name.value));
        names.mark_used("threads");
    }
    for (name, parameter) in &spec.parameters {
        let Some(path) = &parameter.template else { continue };
        let written = FileSpec { path: path.clone(), to: None, how: None };
        let Some((source, target)) = places(&written, names, sink) else { continue };
        let known = files.iter_mut().find(|file| file.source.to_string() == source.to_string());
        match known {
            Some(file) => file.must_contain.push(name.value.clone()),
            None => files.push(TemplateFile { source, target, must_contain: vec![name.value.clone()] }),
        }
    }
    files
}

/// Where the parts of the program stand that are checked against files later.
pub(super) fn places_of(spec: &Spec, program: &Program, sink: &Sink<'_>) -> Places {
    let Some(written) = spec.program.as_ref().map(|program| &program.value) else { return Places::default() };
    let listed = |files: &[FileSpec]| files.iter().map(|file| sink.position(file.path.start())).collect();
    let mut templates: Vec<Position> = listed(&written.templates);
    // Files that only parameters name come after those the program lists.
    for file in program.templates.iter().skip(templates.len()) {
        let named = spec.parameters.iter().find(|(name, _)| file.must_contain.contains(&name.value));
        let place = named.and_then(|(_, parameter)| parameter.template.as_ref()).map_or(0, Located::start);
        templates.push(sink.position(place));
    }
    let command = written.command.as_ref().map_or(0, Located::start);
    Places { command: sink.position(command), inputs: listed(&written.inputs), templates }
}

/// Decides whether each run gets a directory of its own.
pub(super) fn settle_directory(
    program: &mut Program,
    metrics: &[MetricRule<Template>],
    spec: &Spec,
    sink: &mut Sink<'_>,
) {
    let fills = !program.inputs.is_empty() || !program.templates.is_empty();
    let leaves = !program.success.files.is_empty()
        || metrics.iter().any(|metric| matches!(metric.from, Source::File(_)));
    let command: Vec<&Template> = match &program.command {
        Command::Shell(line) => vec![line],
        Command::Words(words) => words.iter().collect(),
    };
    let named = command
        .into_iter()
        .chain(program.environment.iter().map(|(_, value)| value))
        .any(|template| template.names().any(|name| name == "run_directory"));
    program.own_directory = fills || leaves || named || !program.after.is_empty();
    let Some(written) = spec.program.as_ref().and_then(|program| program.value.own_directory.as_ref()) else {
        return;
    };
    program.own_directory = written.value;
    if !written.value && fills {
        sink.error(
            written.start(),
            "inputs and templates need a directory of their own",
            "leave out  own_directory = false",
        );
    } else if !written.value && leaves {
        sink.warning(
            written.start(),
            "runs share a directory, so files of an earlier run may be taken for those of a later one",
            "leave out  own_directory = false  if the program can run anywhere",
        );
    }
}
