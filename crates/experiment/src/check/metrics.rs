//! Metrics: a name, one way of finding them, a pattern that compiles.

use harp_core::Target;

use super::names::Names;
use crate::spec::{Located, MetricSpec, Sink, Spec};
use crate::template::is_name;
use crate::{Extraction, JsonPath, MetricRule, Pattern, Source, Take, Template};

pub(super) fn check(spec: &Spec, names: &mut Names, sink: &mut Sink<'_>) -> Vec<MetricRule<Template>> {
    let mut rules = Vec::new();
    for (name, metric) in &spec.metrics {
        let taken = !matches!(name.value.parse(), Ok(Target::Metric(_)));
        if !is_name(&name.value) || taken {
            sink.error(
                name.start(),
                format!("`{}` cannot name a metric", name.value),
                if taken { "it is measured anyway; leave it out" } else { "use letters, digits and `_`" },
            );
        }
        let from = source(metric, names, sink);
        let extraction = extraction(name, metric, sink);
        let take = metric.take.as_ref().map_or(Take::default(), |take| take_named(&take.value));
        if let (Some(from), Some(extraction)) = (from, extraction) {
            rules.push(MetricRule { name: name.value.clone(), from, extraction, take });
        }
    }
    rules
}

fn take_named(word: &str) -> Take {
    match word {
        "first" => Take::First,
        "mean" => Take::Mean,
        "median" => Take::Median,
        "sum" => Take::Sum,
        "max" => Take::Max,
        "min" => Take::Min,
        "count" => Take::Count,
        _ => Take::Last,
    }
}

fn source(metric: &MetricSpec, names: &mut Names, sink: &mut Sink<'_>) -> Option<Source<Template>> {
    match &metric.from {
        None => Some(Source::Stdout),
        Some(from) => match from.value.as_str() {
            "stdout" => Some(Source::Stdout),
            "stderr" => Some(Source::Stderr),
            "" => {
                sink.error(from.start(), "`from` is empty", "use \"stdout\", \"stderr\" or a file");
                None
            }
            _ => names.template(from, sink).map(Source::File),
        },
    }
}

fn extraction(name: &Located<String>, metric: &MetricSpec, sink: &mut Sink<'_>) -> Option<Extraction> {
    match (&metric.pattern, &metric.json, &metric.csv) {
        (Some(pattern), None, None) => {
            let compiled = compile(pattern, sink)?;
            if !compiled.capture_names().flatten().any(|group| group == "value") {
                sink.error(
                    pattern.start(),
                    format!("the pattern of `{}` has no group called `value`", name.value),
                    r"mark the number:  'took (?<value>[0-9.]+) s'",
                );
                return None;
            }
            Some(Extraction::Pattern(compiled))
        }
        (None, Some(path), None) => match path.value.parse::<JsonPath>() {
            Ok(path) => Some(Extraction::Json(path)),
            Err(error) => {
                let message = format!("`{}` is not a path into JSON: {error}", path.value);
                sink.error(path.start(), message, "such as  training.epochs[0].loss");
                None
            }
        },
        (None, None, Some(column)) => Some(Extraction::Csv(column.value.clone())),
        (None, None, None) => {
            if !metric.broken {
                sink.error(
                    name.start(),
                    format!("nothing says how to find the metric `{}`", name.value),
                    "add  pattern = '(?<value>[0-9.]+)',  json = \"a.b\"  or  csv = \"column\"",
                );
            }
            None
        }
        _ => {
            sink.error(
                name.start(),
                format!("the metric `{}` is found in more than one way", name.value),
                "keep one of `pattern`, `json` and `csv`",
            );
            None
        }
    }
}

/// Compiles a pattern, or reports why it cannot be.
pub(super) fn compile(pattern: &Located<String>, sink: &mut Sink<'_>) -> Option<Pattern> {
    match regex::Regex::new(&pattern.value) {
        Ok(compiled) => Some(Pattern(compiled)),
        Err(error) => {
            let text = error.to_string();
            // The last line holds the reason; those above draw an arrow.
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            sink.error(
                pattern.start(),
                format!("not a regular expression: {reason}"),
                "write it in single quotes, '…', so that backslashes stay",
            );
            None
        }
    }
}
