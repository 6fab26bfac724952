//! Computed parameters and constraints: every name known, every sort right, no circle.

use std::collections::BTreeMap;

use super::names::Names;
use super::parameters::computed_kind;
use crate::experiment::Constraint;
use crate::expression::Sort;
use crate::spec::{Located, Sink, Spec};
use crate::{Expression, Kind, Parameter};

/// Reads an expression and reports unknown names.
fn read(text: &Located<String>, names: &mut Names, sink: &mut Sink<'_>) -> Option<Expression> {
    let expression = match Expression::parse(&text.value) {
        Ok(expression) => expression,
        Err(error) => {
            let place = sink.inside(&text.span, &text.value, error.offset);
            sink.error(place, format!("in the expression `{}`: {error}", text.value), "");
            return None;
        }
    };
    let mut sound = true;
    for (name, offset) in expression.names() {
        if let Some((message, hint)) = names.objection(name, false) {
            sink.error(sink.inside(&text.span, &text.value, offset), message, hint);
            sound = false;
        }
        names.mark_used(name);
    }
    sound.then_some(expression)
}

/// The expressions of computed parameters by name; their kinds are set in `names`.
pub(super) fn computed(spec: &Spec, names: &mut Names, sink: &mut Sink<'_>) -> BTreeMap<String, Expression> {
    let mut found = BTreeMap::new();
    for (name, parameter) in &spec.parameters {
        if let Some(text) = &parameter.expression
            && let Some(expression) = read(text, names, sink)
        {
            found.insert(name.value.clone(), expression);
        }
    }
    // A computed parameter may use another: as many passes as there are settle every kind.
    for _ in 0..found.len() {
        for (name, expression) in &found {
            if names.kinds.get(name) == Some(&None)
                && let Some(kind) = computed_kind(expression, names)
            {
                names.set_kind(name, kind);
            }
        }
    }
    for (name, parameter) in &spec.parameters {
        let (Some(text), Some(expression)) = (&parameter.expression, found.get(&name.value)) else {
            continue;
        };
        if !settled(expression, names) {
            continue;
        }
        match expression.sort(&|name| names.sort(name)) {
            Err(error) => {
                let place = sink.inside(&text.span, &text.value, error.offset);
                sink.error(place, format!("in the expression `{expression}`: {error}"), "");
                found.remove(&name.value);
            }
            Ok(sort) => {
                let kind = names.kinds.get(&name.value).copied().flatten();
                if !kind.is_none_or(|kind| fits(kind, sort)) {
                    let place = parameter.kind.as_ref().map_or(text.start(), Located::start);
                    sink.error(place, format!("the expression `{expression}` gives {sort}"), "change `type`");
                }
            }
        }
    }
    // What is left uses itself or something broken; a circle is found later and needs its members whole.
    for name in found.keys() {
        if names.kinds.get(name) == Some(&None) {
            names.set_kind(name, Kind::Real);
        }
    }
    found
}

/// Whether the kinds of all names are known.
fn settled(expression: &Expression, names: &Names) -> bool {
    expression.names().iter().all(|(name, _)| names.kinds.get(*name) != Some(&None))
}

fn fits(kind: Kind, sort: Sort) -> bool {
    match kind {
        Kind::Integer | Kind::Real => sort == Sort::Number,
        Kind::Boolean => sort == Sort::Truth,
        Kind::Text | Kind::File => sort == Sort::Text,
    }
}

/// All constraints of the file.
pub(super) fn constraints(spec: &Spec, names: &mut Names, sink: &mut Sink<'_>) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    let inner = spec.parameters.iter().flat_map(|(_, parameter)| &parameter.constraints);
    for text in spec.constraints.iter().chain(inner) {
        let Some(expression) = read(text, names, sink).filter(|one| settled(one, names)) else { continue };
        match expression.sort(&|name| names.sort(name)) {
            Ok(Sort::Truth) => {
                constraints.push(Constraint { expression, position: sink.position(text.start()) });
            }
            Ok(sort) => sink.error(
                text.start(),
                format!("the constraint `{expression}` gives {sort}, not true or false"),
                "compare it with something, such as  n % 2 == 0",
            ),
            Err(error) => {
                let place = sink.inside(&text.span, &text.value, error.offset);
                sink.error(place, format!("in the constraint `{expression}`: {error}"), "");
            }
        }
    }
    constraints
}

/// The indices of computed parameters such that each comes after those it uses; a circle is reported.
pub(super) fn computation_order(parameters: &[Parameter], spec: &Spec, sink: &mut Sink<'_>) -> Vec<usize> {
    let mut waiting: Vec<usize> =
        (0..parameters.len()).filter(|index| parameters[*index].expression.is_some()).collect();
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let uses_waiting = |index: &usize| {
            let names = parameters[*index].expression.iter().flat_map(Expression::names);
            names.into_iter().any(|(name, _)| waiting.iter().any(|other| parameters[*other].name == name))
        };
        let ready: Vec<usize> = waiting.iter().copied().filter(|index| !uses_waiting(index)).collect();
        if ready.is_empty() {
            let circle: Vec<&str> = waiting.iter().map(|index| parameters[*index].name.as_str()).collect();
            let place = spec.parameters.iter().find(|(name, _)| circle.contains(&name.value.as_str()));
            sink.error(
                place.map_or(0, |(name, _)| name.start()),
                format!("computed in a circle: {}", circle.join(", ")),
                "give one of them values",
            );
            break;
        }
        waiting.retain(|index| !ready.contains(index));
        order.extend(ready);
    }
    order
}
