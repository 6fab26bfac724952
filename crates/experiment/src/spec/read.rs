//! From the text to the [`Spec`]: one function a table.

use harp_core::{Scale, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::sections::{Section, integer, reject, scalar, text};
use super::unclosed;
use super::{
    AllocationSpec, CommandSpec, DesignSpec, FileSpec, LearnSpec, Located, MetricSpec, ParallelSpec,
    ParameterSpec, ProgramSpec, RangeSpec, Sink, Spec, ValuesSpec,
};
use crate::keys::{
    ALLOCATION, DESIGN, INPUT, Key, LEARN, METRIC, PARAMETER, PROGRAM, RANGE, ROOT, SCALE_ALLOCATION,
    SCALE_DESIGN, SUCCESS, TEMPLATE, Table,
};

/// Reads a file; `None` if it is not TOML.
pub(crate) fn read(sink: &mut Sink<'_>) -> Option<Spec> {
    let source = sink.text;
    let (document, errors) = DeTable::parse_recoverable(source);
    // Only the first mistake in the notation: what follows it may be read as anything.
    let first = errors.iter().min_by_key(|error| error.span().map_or(0, |span| span.start));
    if let Some(error) = first {
        let offset = error.span().map_or(0, |span| span.start);
        match unclosed::opening(source, offset) {
            Some(open) => {
                sink.error(open, "not TOML: what is opened here is never closed", "close it with ] or }")
            }
            None => {
                let message = format!("not TOML: {}", error.message());
                sink.error(offset, message, "texts stand in quotes, lists in [ ]");
            }
        }
    }
    errors.is_empty().then(|| root(document.get_ref(), sink))
}

fn root(table: &DeTable<'_>, sink: &mut Sink<'_>) -> Spec {
    let mut section = Section::open(table, &ROOT, sink);
    let mut spec = Spec {
        name: section.text("name", sink),
        constraints: section.texts("constraints", sink),
        ..Spec::default()
    };
    spec.name_reported = spec.name.is_none() && table.contains_key("name");
    spec.program_reported =
        !matches!(table.get("program").map(Spanned::get_ref), None | Some(DeValue::Table(_)));
    if let Some((table, start)) = section.table("program", sink) {
        spec.program = Some(Located { value: program(table, sink), span: start..start });
    }
    for (name, item) in section.entries("parameters", sink) {
        if let Some(table) = inner_table(&name, item, "parameters", sink) {
            spec.parameters.push((name, parameter(table, sink)));
        }
    }
    for (name, item) in section.entries("metrics", sink) {
        if let Some(table) = inner_table(&name, item, "metrics", sink) {
            spec.metrics.push((name, metric(table, sink)));
        }
    }
    if let Some((table, _)) = section.table("allocation", sink) {
        spec.allocation = allocation(table, &ALLOCATION, sink);
        for (scale, table) in scale_tables(table, &ALLOCATION, sink) {
            spec.scale_allocations.insert(scale, allocation(table, &SCALE_ALLOCATION, sink));
        }
    }
    if let Some((table, _)) = section.table("design", sink) {
        spec.design = design(table, &DESIGN, sink);
        for (scale, table) in scale_tables(table, &DESIGN, sink) {
            spec.scale_designs.insert(scale, design(table, &SCALE_DESIGN, sink));
        }
    }
    if let Some((table, _)) = section.table("learn", sink) {
        spec.learn = learn(table, sink);
    }
    spec
}

fn inner_table<'a>(
    name: &Located<String>,
    item: &'a Spanned<DeValue<'a>>,
    outer: &str,
    sink: &mut Sink<'_>,
) -> Option<&'a DeTable<'a>> {
    match item.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => {
            let message = format!("`{}` is a table of its own", name.value);
            sink.error(name.start(), message, format!("write  [{outer}.{}]  and its keys below", name.value));
            None
        }
    }
}

/// The tables of single scales inside a table. Their own section is not opened here, so that unknown
/// keys are not reported twice.
fn scale_tables<'a>(
    table: &'a DeTable<'a>,
    keys: &'static Table,
    sink: &mut Sink<'_>,
) -> Vec<(Scale, &'a DeTable<'a>)> {
    let mut found = Vec::new();
    for scale in Scale::ALL {
        match (table.get(scale.name()), keys.key(scale.name())) {
            (Some(item), Some(key)) => match item.get_ref() {
                DeValue::Table(inner) => found.push((scale, inner)),
                _ => {
                    reject::<()>(item, key, sink);
                }
            },
            _ => continue,
        }
    }
    found
}

fn program(table: &DeTable<'_>, sink: &mut Sink<'_>) -> ProgramSpec {
    let mut section = Section::open(table, &PROGRAM, sink);
    let command = command(&mut section, table, sink);
    let mut spec = ProgramSpec {
        command_reported: command.is_none() && table.contains_key("command"),
        command,
        shell: section.boolean("shell", sink),
        directory: section.text("directory", sink),
        setup: section.texts("setup", sink),
        after: section.texts("after", sink),
        inputs: files(&section, "inputs", &INPUT, sink),
        templates: files(&section, "templates", &TEMPLATE, sink),
        own_directory: section.boolean("own_directory", sink),
        version: section.text("version", sink),
        mpi: section.boolean("mpi", sink),
        modules: section.texts("modules", sink),
        ..ProgramSpec::default()
    };
    for (name, item) in section.entries("environment", sink) {
        match scalar(item.get_ref()) {
            Some(value) => {
                let value = Located { value: value.to_string(), span: item.span() };
                spec.environment.push((name, value));
            }
            None => sink.error(
                item.span().start,
                format!("the variable `{}` is a text", name.value),
                format!("such as  {} = \"{{threads}}\"", name.value),
            ),
        }
    }
    if let Some((table, _)) = section.table("success", sink) {
        let mut section = Section::open(table, &SUCCESS, sink);
        spec.success_exit_code = section.whole("exit_code", sink);
        spec.success_output = section.text("output", sink);
        spec.success_files = section.texts("file", sink);
    }
    spec
}

fn command(
    section: &mut Section<'_>,
    table: &DeTable<'_>,
    sink: &mut Sink<'_>,
) -> Option<Located<CommandSpec>> {
    let item = table.get("command")?;
    let mistakes = section.mistakes;
    let words = section.texts("command", sink);
    let value = match item.get_ref() {
        DeValue::String(line) => CommandSpec::Line(line.to_string()),
        _ if section.mistakes > mistakes => return None,
        _ => CommandSpec::Words(words),
    };
    Some(Located { value, span: item.span() })
}

fn files(section: &Section<'_>, name: &str, keys: &'static Table, sink: &mut Sink<'_>) -> Vec<FileSpec> {
    let mut files = Vec::new();
    for item in section.list(name) {
        match item.get_ref() {
            DeValue::String(path) => files.push(FileSpec {
                path: Located { value: path.to_string(), span: item.span() },
                to: None,
                how: None,
            }),
            DeValue::Table(table) => {
                let mut section = Section::open(table, keys, sink);
                let (path, to) = (section.text("path", sink), section.text("to", sink));
                let how = if keys.key("how").is_some() { section.choice("how", sink) } else { None };
                match path {
                    Some(path) => files.push(FileSpec { path, to, how }),
                    None if table.contains_key("path") => {}
                    None => sink.error(item.span().start, "`path` is missing", "say which file"),
                }
            }
            other => sink.error(
                item.span().start,
                format!("`{name}` lists files, and this is {}", super::sections::describe(other)),
                "write the path in quotes",
            ),
        }
    }
    files
}

fn metric(table: &DeTable<'_>, sink: &mut Sink<'_>) -> MetricSpec {
    let mut section = Section::open(table, &METRIC, sink);
    let mut spec = MetricSpec {
        pattern: section.text("pattern", sink),
        json: section.text("json", sink),
        csv: section.text("csv", sink),
        from: section.text("from", sink),
        take: section.choice("take", sink),
        broken: false,
    };
    spec.broken = section.mistakes > 0;
    spec
}

fn parameter(table: &DeTable<'_>, sink: &mut Sink<'_>) -> ParameterSpec {
    let mut section = Section::open(table, &PARAMETER, sink);
    let mut spec = ParameterSpec {
        kind: section.choice("type", sink),
        expression: section.text("expression", sink),
        option: section.text("option", sink),
        argument: section.boolean("argument", sink),
        environment: section.text("environment", sink),
        template: section.text("template", sink),
        constraints: section.texts("constraints", sink),
        ..ParameterSpec::default()
    };
    if let Some((item, key)) = section.item("values") {
        spec.values = values(item, key, sink);
        section.mistakes += usize::from(spec.values.is_none());
    }
    for scale in Scale::ALL {
        if let Some((item, key)) = section.item(scale.name()) {
            match values(item, key, sink) {
                Some(values) => {
                    spec.scales.insert(scale, values);
                }
                None => section.mistakes += 1,
            }
        }
    }
    spec.broken = section.mistakes > 0;
    spec
}

fn values(item: &Spanned<DeValue<'_>>, key: &Key, sink: &mut Sink<'_>) -> Option<Located<ValuesSpec>> {
    let value = match item.get_ref() {
        DeValue::Table(table) => ValuesSpec::Range(range(table, item.span().start, sink)?),
        DeValue::Array(array) => {
            let list: Vec<Located<Value>> = array
                .iter()
                .filter_map(|element| match scalar(element.get_ref()) {
                    Some(value) => Some(Located { value, span: element.span() }),
                    None => reject(element, key, sink),
                })
                .collect();
            if array.is_empty() {
                let hint = "fill in at least one; a parameter of type file wants the paths of files";
                sink.error(item.span().start, format!("`{}` has no values", key.name), hint);
            }
            (!list.is_empty() && list.len() == array.len()).then_some(ValuesSpec::List(list))?
        }
        other => match scalar(other) {
            Some(value) => ValuesSpec::List(vec![Located { value, span: item.span() }]),
            None => return reject(item, key, sink),
        },
    };
    Some(Located { value, span: item.span() })
}

fn range(table: &DeTable<'_>, start: usize, sink: &mut Sink<'_>) -> Option<RangeSpec> {
    let mut section = Section::open(table, &RANGE, sink);
    let mut number = |name: &str| {
        let item = table.get(name)?;
        match scalar(item.get_ref()) {
            Some(value @ (Value::Integer(_) | Value::Real(_))) => Some(Located { value, span: item.span() }),
            _ => {
                sink.error(item.span().start, format!("`{name}` of a range is a number"), "");
                None
            }
        }
    };
    let (from, to, step) = (number("from"), number("to"), number("step"));
    let (count, spacing) = (section.whole("count", sink), section.choice("spacing", sink));
    for name in ["from", "to"] {
        if !table.contains_key(name) {
            sink.error(
                start,
                format!("the range has no `{name}`"),
                "write  { from = 1, to = 100, count = 5 }",
            );
        }
    }
    if section.mistakes > 0 || (step.is_none() && table.contains_key("step")) {
        return None;
    }
    Some(RangeSpec { from: from?, to: to?, count, step, spacing })
}

fn allocation(table: &DeTable<'_>, keys: &'static Table, sink: &mut Sink<'_>) -> AllocationSpec {
    let mut section = Section::open(table, keys, sink);
    AllocationSpec {
        nodes: section.counts("nodes", sink),
        tasks: section.counts("tasks", sink),
        cores: section.counts("cores", sink),
        threads: section.counts("threads", sink),
        memory: section.sizes("memory", sink),
        gpus: section.counts("gpus", sink),
        gpu_kind: section.several("gpu_kind", sink, text),
        node_type: section.several("node_type", sink, text),
        constraint: section.several("constraint", sink, text),
    }
}

fn design(table: &DeTable<'_>, keys: &'static Table, sink: &mut Sink<'_>) -> DesignSpec {
    let mut section = Section::open(table, keys, sink);
    DesignSpec {
        method: section.choice("method", sink),
        runs: section.whole("runs", sink),
        budget_time: section.duration("budget_time", sink),
        budget_cost: section.number("budget_cost", sink),
        repetitions: section.whole("repetitions", sink),
        timeout: section.duration("timeout", sink),
        seed: section.whole("seed", sink),
        total_timeout: section.duration("total_timeout", sink),
        parallel: section.with("parallel", sink, |value| match (integer(value), text(value).as_deref()) {
            (Some(count), _) if count >= 1 => Some(ParallelSpec::Count(count)),
            (_, Some("auto")) => Some(ParallelSpec::Auto),
            _ => None,
        }),
        order: section.choice("order", sink),
    }
}

fn learn(table: &DeTable<'_>, sink: &mut Sink<'_>) -> LearnSpec {
    let mut section = Section::open(table, &LEARN, sink);
    let mut formulas = Vec::new();
    for (name, item) in section.entries("formulas", sink) {
        match text(item.get_ref()) {
            Some(value) => formulas.push((name, Located { value, span: item.span() })),
            None => sink.error(
                item.span().start,
                format!("the formula of `{}` is a text", name.value),
                format!("such as  {} = \"load_seconds + epochs * epoch_seconds\"", name.value),
            ),
        }
    }
    LearnSpec {
        formulas,
        policy: section.policy("policy", sink),
        targets: section.key_offset("targets").map(|_| section.texts("targets", sink)),
        interval: section.number("interval", sink),
        site: section.text("site", sink),
    }
}
