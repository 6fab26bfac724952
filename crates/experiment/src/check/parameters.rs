//! Parameters: their kinds, their values at every scale, their ways to the program.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::Scale;

use super::names::Names;
use super::{expressions, values};
use crate::spec::{CommandSpec, Located, ParameterSpec, Sink, Spec, ValuesSpec};
use crate::{Delivery, Domain, Expression, Kind, Parameter};

/// The sound parameters in the order they are declared.
pub(super) fn check(
    spec: &Spec,
    scales: &BTreeSet<Scale>,
    names: &mut Names,
    sink: &mut Sink<'_>,
) -> Vec<Parameter> {
    let mut kinds = BTreeMap::new();
    for (name, parameter) in &spec.parameters {
        if let Some(kind) = declared_kind(name, parameter, sink) {
            names.set_kind(&name.value, kind);
            kinds.insert(name.value.clone(), kind);
        }
    }
    let computed = expressions::computed(spec, names, sink);
    let mut parameters = Vec::new();
    for (name, parameter) in &spec.parameters {
        let expression = computed.get(&name.value).cloned();
        let delivery = delivery(name, parameter, spec, names, sink);
        let domains = match parameter.expression {
            Some(_) => no_values(name, parameter, sink),
            None => domains(name, parameter, kinds.get(&name.value).copied(), scales, sink),
        };
        let kind = names.kinds.get(&name.value).copied().flatten();
        let complete = expression.is_some() || parameter.expression.is_none();
        if let (Some(kind), true) = (kind, complete && !parameter.broken) {
            parameters.push(Parameter {
                name: name.value.clone(),
                kind,
                values: domains,
                expression,
                delivery,
                position: sink.position(name.start()),
            });
        }
    }
    parameters
}

/// The kind that is written or that the values show.
fn declared_kind(name: &Located<String>, parameter: &ParameterSpec, sink: &mut Sink<'_>) -> Option<Kind> {
    if let Some(written) = &parameter.kind {
        return Kind::ALL.into_iter().find(|kind| kind.name() == written.value);
    }
    let mut all =
        parameter.values.iter().chain(parameter.scales.values()).map(|values| &values.value).peekable();
    all.peek()?;
    match values::infer(all) {
        Ok(kind) => Some(kind),
        Err(_) if parameter.broken => None,
        Err((one, other)) => {
            sink.error(
                name.start(),
                format!("the values of `{}` are of type {one} and of type {other}", name.value),
                format!("make them alike, or quotes around all and  type = \"{}\"", Kind::Text),
            );
            None
        }
    }
}

fn no_values(
    name: &Located<String>,
    parameter: &ParameterSpec,
    sink: &mut Sink<'_>,
) -> BTreeMap<Scale, Domain> {
    for values in parameter.values.iter().chain(parameter.scales.values()) {
        sink.error(
            values.start(),
            format!("`{}` is computed and has values, too", name.value),
            "leave out the values, or `expression`",
        );
    }
    BTreeMap::new()
}

fn domains(
    name: &Located<String>,
    parameter: &ParameterSpec,
    kind: Option<Kind>,
    scales: &BTreeSet<Scale>,
    sink: &mut Sink<'_>,
) -> BTreeMap<Scale, Domain> {
    report_both(name, parameter, sink);
    let mut domains = BTreeMap::new();
    let common = match (&parameter.values, kind) {
        (Some(values), Some(kind)) => values::domain(&values.value, kind, sink),
        _ => None,
    };
    for scale in scales {
        let domain = match (parameter.scales.get(scale), kind) {
            (Some(values), Some(kind)) => values::domain(&values.value, kind, sink),
            (Some(_), None) => None,
            (None, _) if parameter.values.is_some() || parameter.broken => common.clone(),
            (None, _) => {
                report_missing(name, parameter, *scale, sink);
                None
            }
        };
        domains.extend(domain.map(|domain| (*scale, domain)));
    }
    domains
}

/// `values` holds at every scale; beside values of single scales it is not clear which were meant.
fn report_both(name: &Located<String>, parameter: &ParameterSpec, sink: &mut Sink<'_>) {
    let Some(values) = parameter.values.as_ref().filter(|_| !parameter.scales.is_empty()) else { return };
    let own: Vec<&str> = parameter.scales.keys().map(|scale| scale.name()).collect();
    let missing: Vec<&str> = Scale::ALL
        .iter()
        .filter(|scale| !parameter.scales.contains_key(scale))
        .map(|scale| scale.name())
        .collect();
    let hint = match missing.as_slice() {
        [] => "leave out `values`".to_owned(),
        missing => format!("leave out `{}`, or name it `{}`", own.join("` and `"), missing.join("` or `")),
    };
    sink.error(
        values.start(),
        format!("`{}` has `values` for every scale and `{}`, too", name.value, own.join("` and `")),
        hint,
    );
}

fn report_missing(name: &Located<String>, parameter: &ParameterSpec, scale: Scale, sink: &mut Sink<'_>) {
    let example = parameter.scales.values().next_back().and_then(|values| match &values.value {
        ValuesSpec::List(list) => list.last().map(|value| &value.value),
        ValuesSpec::Range(range) => Some(&range.to.value),
    });
    let hint = match example {
        Some(harp_core::Value::Text(text)) => {
            format!("add  {scale} = [{text:?}]  under [parameters.{}]", name.value)
        }
        Some(value) => format!("add  {scale} = [{value}]  under [parameters.{}]", name.value),
        None => format!("add  values = [1, 2, 4]  or  {scale} = [100]  under [parameters.{}]", name.value),
    };
    let message = if parameter.scales.is_empty() {
        format!("parameter `{}` has no values", name.value)
    } else {
        format!("parameter `{}` has no values for scale `{scale}`", name.value)
    };
    sink.error(name.start(), message, hint);
}

fn delivery(
    name: &Located<String>,
    parameter: &ParameterSpec,
    spec: &Spec,
    names: &mut Names,
    sink: &mut Sink<'_>,
) -> Vec<Delivery> {
    let mut delivery = Vec::new();
    if let Some(option) = &parameter.option {
        if option.value.trim().is_empty() || option.value.contains(char::is_whitespace) {
            sink.error(option.start(), "an option is one word", "such as  option = \"--size\"");
        }
        delivery.push(Delivery::Option(option.value.clone()));
    }
    if parameter.argument.as_ref().is_some_and(|argument| argument.value) {
        delivery.push(Delivery::Argument);
    }
    if let Some(variable) = &parameter.environment {
        check_variable(variable, sink);
        delivery.push(Delivery::Environment(variable.value.clone()));
    }
    if !delivery.is_empty() || parameter.template.is_some() {
        names.mark_used(&name.value);
    }
    let program = spec.program.as_ref().map(|program| &program.value);
    let shell = program.and_then(|program| program.shell.as_ref()).is_some_and(|shell| shell.value);
    let appended = delivery.iter().any(|one| matches!(one, Delivery::Option(_) | Delivery::Argument));
    if shell && appended {
        sink.error(
            name.start(),
            format!("with  shell = true  it is not known where `{}` belongs in the line", name.value),
            format!("write {{{}}} into the command instead", name.value),
        );
    }
    if let Some(Located { value: CommandSpec::Line(line), .. }) =
        program.and_then(|program| program.command.as_ref())
        && appended
        && line.contains(&format!("{{{}}}", name.value))
    {
        sink.warning(
            name.start(),
            format!("`{}` is given to the program twice", name.value),
            "by {placeholder} in the command, or by `option` and `argument`",
        );
    }
    delivery
}

/// Reports a name no environment variable can have.
pub(super) fn check_variable(variable: &Located<String>, sink: &mut Sink<'_>) {
    if variable.value.is_empty()
        || variable.value.contains(['=', '\0'])
        || variable.value.contains(char::is_whitespace)
    {
        sink.error(
            variable.start(),
            format!("{:?} cannot name an environment variable", variable.value),
            "use letters, digits and `_`",
        );
    }
}

/// An expression's value kind when nothing else is said.
pub(super) fn computed_kind(expression: &Expression, names: &Names) -> Option<Kind> {
    use crate::expression::Sort;
    Some(match expression.sort(&|name| names.sort(name)).ok()? {
        Sort::Number => Kind::Real,
        Sort::Truth => Kind::Boolean,
        Sort::Text => Kind::Text,
    })
}
