//! Formulas of components: a target that is learned, names that have a value, operations a model file
//! can hold.

use harp_core::Target;

use super::names::Names;
use crate::experiment::TargetFormula;
use crate::spec::{Located, Sink, Spec};
use crate::suggest;
use crate::{Expression, MetricRule, Template};

/// What only conditions need.
const NOT_ARITHMETIC: [&str; 9] = ["**", "%", "<", ">", "=", "!", "&", "|", "'"];

pub(super) fn check(
    spec: &Spec,
    targets: &[Target],
    metrics: &[MetricRule<Template>],
    names: &mut Names,
    sink: &mut Sink<'_>,
) -> Vec<TargetFormula> {
    let mut found = Vec::new();
    for (target, text) in &spec.learn.formulas {
        let Ok(parsed) = target.value.parse::<Target>();
        if !targets.contains(&parsed) {
            let known: Vec<String> = targets.iter().map(ToString::to_string).collect();
            let hint = format!("the targets are {}; add it under  targets", known.join(", "));
            sink.error(target.start(), format!("`{}` is not learned", target.value), hint);
            continue;
        }
        found.extend(formula(parsed, text, metrics, names, sink));
    }
    found
}

fn formula(
    target: Target,
    text: &Located<String>,
    metrics: &[MetricRule<Template>],
    names: &mut Names,
    sink: &mut Sink<'_>,
) -> Option<TargetFormula> {
    let expression = match Expression::parse(&text.value) {
        Ok(expression) => expression,
        Err(error) => {
            let place = sink.inside(&text.span, &text.value, error.offset);
            sink.error(place, format!("in the formula `{}`: {error}", text.value), "");
            return None;
        }
    };
    let calls_others = ["abs(", "sqrt(", "log", "exp(", "floor(", "ceil(", "round("];
    let forbidden = NOT_ARITHMETIC.iter().chain(&calls_others).find(|part| text.value.contains(**part));
    if let Some(part) = forbidden {
        let message = format!("`{}` cannot stand in a formula", part.trim_end_matches('('));
        sink.error(text.start(), message, "use + - * /, min and max");
        return None;
    }
    let is_metric = |name: &str| metrics.iter().any(|metric| metric.name == name);
    let mut components: Vec<String> = Vec::new();
    let mut sound = true;
    for (name, offset) in expression.names() {
        if is_metric(name) {
            if !components.iter().any(|known| known == name) {
                components.push(name.to_owned());
            }
            continue;
        }
        if let Some((message, hint)) = names.objection(name, false) {
            let close = suggest::closest(name, metrics.iter().map(|metric| metric.name.as_str()));
            let hint = close.map_or(hint, |close| format!("did you mean `{close}`?"));
            sink.error(sink.inside(&text.span, &text.value, offset), message, hint);
            sound = false;
        }
        names.mark_used(name);
    }
    if sound && components.is_empty() {
        let message = format!("the formula `{}` has no component", text.value);
        sink.error(text.start(), message, "name at least one metric: what the program reports of its parts");
        return None;
    }
    sound.then(|| TargetFormula { target, text: text.value.clone(), components })
}
