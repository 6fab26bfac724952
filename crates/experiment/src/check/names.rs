//! Which names placeholders and expressions may use, and which of them are used.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use harp_core::Scale;

use crate::experiment::Resources;
use crate::expression::Sort;
use crate::spec::{Located, Sink, Spec};
use crate::template::is_name;
use crate::{Kind, Template, suggest};

/// The resources of an allocation.
pub(crate) const RESOURCES: [&str; 9] =
    ["nodes", "tasks", "cores", "threads", "memory", "gpus", "gpu_kind", "node_type", "constraint"];
/// Names for directories, known to placeholders only.
const DIRECTORIES: [&str; 2] = ["run_directory", "experiment_directory"];
/// Words of the expression language.
const WORDS: [&str; 5] = ["and", "or", "not", "true", "false"];

/// The names of an experiment.
pub(crate) struct Names {
    /// Parameters and their kinds, as far as known.
    pub(crate) kinds: BTreeMap<String, Option<Kind>>,
    /// The scales at which each resource is not set, for resources set at some or none.
    missing_resources: BTreeMap<&'static str, Vec<Scale>>,
    used: BTreeSet<String>,
}

impl Names {
    /// Collects the names; those that cannot be used are reported.
    pub(crate) fn new(
        spec: &Spec,
        scales: &BTreeSet<Scale>,
        resources: &BTreeMap<Scale, Resources>,
        sink: &mut Sink<'_>,
    ) -> Names {
        let mut missing_resources = BTreeMap::new();
        for name in RESOURCES {
            let set = |scale: &Scale| resources.get(scale).is_some_and(|one| one.names().contains(&name));
            missing_resources.insert(name, scales.iter().copied().filter(|scale| !set(scale)).collect());
        }
        let mut kinds = BTreeMap::new();
        for (name, parameter) in &spec.parameters {
            let file = parameter.kind.as_ref().is_some_and(|kind| kind.value == "file");
            check_parameter_name(name, sink);
            kinds.insert(name.value.clone(), file.then_some(Kind::File));
        }
        for (name, _) in &spec.parameters {
            if let Some(file) = name.value.strip_suffix("_bytes")
                && kinds.get(file) == Some(&Some(Kind::File))
            {
                sink.error(
                    name.start(),
                    format!("`{}` already is the size of the file parameter `{file}`", name.value),
                    "give it another name",
                );
            }
        }
        Names { kinds, missing_resources, used: BTreeSet::new() }
    }

    /// Sets what is known of a parameter.
    pub(crate) fn set_kind(&mut self, name: &str, kind: Kind) {
        self.kinds.insert(name.to_owned(), Some(kind));
    }

    /// Marks a parameter as reaching the program or an expression.
    pub(crate) fn mark_used(&mut self, name: &str) {
        let file = name.strip_suffix("_bytes").filter(|_| !self.kinds.contains_key(name));
        self.used.insert(file.unwrap_or(name).to_owned());
    }

    /// The sort of a name in an expression; `None` if it is not one.
    pub(crate) fn sort(&self, name: &str) -> Option<Sort> {
        match self.kinds.get(name) {
            Some(Some(Kind::Text | Kind::File)) => return Some(Sort::Text),
            Some(Some(Kind::Boolean)) => return Some(Sort::Truth),
            Some(Some(Kind::Integer | Kind::Real)) => return Some(Sort::Number),
            Some(None) => return None,
            None => {}
        }
        match name {
            "node_type" | "gpu_kind" | "constraint" => Some(Sort::Text),
            _ if RESOURCES.contains(&name) || self.is_size(name) => Some(Sort::Number),
            _ => None,
        }
    }

    fn is_size(&self, name: &str) -> bool {
        name.strip_suffix("_bytes").is_some_and(|file| self.kinds.get(file) == Some(&Some(Kind::File)))
    }

    /// Why a name has no value, and what to do; `None` if it has one.
    pub(crate) fn objection(&self, name: &str, directories: bool) -> Option<(String, String)> {
        if self.kinds.contains_key(name) || self.is_size(name) {
            return None;
        }
        if let Some(scales) = self.missing_resources.get(name) {
            let scale = scales.first()?;
            let example = match name {
                "node_type" => "\"standard\"",
                "gpu_kind" | "constraint" => "\"a100\"",
                _ => "1",
            };
            let message = format!("`{name}` has no value at scale `{scale}`");
            return Some((message, format!("add  {name} = {example}  under [allocation]")));
        }
        if DIRECTORIES.contains(&name) {
            return (!directories)
                .then(|| (format!("`{name}` cannot be used in an expression"), String::new()));
        }
        if let Some(file) = name.strip_suffix("_bytes")
            && self.kinds.contains_key(file)
        {
            let message = format!("`{name}` is known for files only, and `{file}` is not of type file");
            return Some((message, format!("write  type = \"file\"  under [parameters.{file}]")));
        }
        let known = self.kinds.keys().map(String::as_str);
        let more = RESOURCES.into_iter().chain(DIRECTORIES.into_iter().filter(|_| directories));
        let hint = match suggest::closest(name, known.chain(more)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("declare it with  [parameters.{name}]"),
        };
        Some((format!("there is no parameter `{name}`"), hint))
    }

    /// Takes a text with placeholders apart; what is wrong with it is reported, what it uses is marked.
    pub(crate) fn template(&mut self, text: &Located<String>, sink: &mut Sink<'_>) -> Option<Template> {
        let template = parse_template(&text.value, &text.span, sink)?;
        let mut sound = true;
        for (name, offset) in template.placeholders() {
            if let Some((message, hint)) = self.objection(name, true) {
                sink.error(sink.inside(&text.span, &text.value, offset), message, hint);
                sound = false;
            }
        }
        template.names().for_each(|name| self.mark_used(name));
        sound.then_some(template)
    }

    /// Reports parameters that reach nothing, and threads nobody tells the program about.
    pub(crate) fn report_unused(
        &self,
        spec: &Spec,
        resources: &BTreeMap<Scale, Resources>,
        sink: &mut Sink<'_>,
    ) {
        let command_is_known = spec.program.as_ref().is_some_and(|program| program.value.command.is_some());
        for (name, parameter) in &spec.parameters {
            let free = parameter.expression.is_some() || parameter.broken || self.used.contains(&name.value);
            if !free && command_is_known {
                sink.error(
                    name.start(),
                    format!("the program is never given the parameter `{}`", name.value),
                    format!("write {{{}}} in the command, or  option = \"--{}\"", name.value, name.value),
                );
            }
        }
        let threads =
            |allocation: &crate::spec::AllocationSpec| allocation.threads.as_ref().map(Located::start);
        let place = threads(&spec.allocation).or_else(|| spec.scale_allocations.values().find_map(threads));
        if let Some(place) = place
            && !self.used.contains("threads")
            && resources.values().any(|one| !one.threads.is_empty())
        {
            sink.warning(
                place,
                "nothing tells the program how many threads to use",
                "write {threads} in the command, or  environment = { OMP_NUM_THREADS = \"{threads}\" }",
            );
        }
    }
}

fn check_parameter_name(name: &Located<String>, sink: &mut Sink<'_>) {
    let text = name.value.as_str();
    if !is_name(text) {
        sink.error(
            name.start(),
            format!("`{text}` cannot name a parameter"),
            "use letters, digits and `_`, beginning with a letter",
        );
    } else if RESOURCES.contains(&text) {
        sink.error(
            name.start(),
            format!("`{text}` is a resource, not a parameter"),
            format!("say  {text} = …  under [allocation]; {{{text}}} in the command gives it to the program"),
        );
    } else if DIRECTORIES.contains(&text) || WORDS.contains(&text) {
        sink.error(name.start(), format!("`{text}` has a meaning of its own"), "give it another name");
    }
}

/// Takes a text with placeholders apart, whatever their names.
pub(super) fn parse_template(text: &str, span: &Range<usize>, sink: &mut Sink<'_>) -> Option<Template> {
    if text.contains('\0') {
        sink.error(span.start, "a NUL character cannot be given to a program", "leave it out");
        return None;
    }
    match Template::parse(text) {
        Ok(template) => Some(template),
        Err(error) => {
            let place = sink.inside(span, text, error.offset());
            sink.error(place, error.to_string(), "braces of your own are written {{ and }}");
            None
        }
    }
}
