//! The values of a parameter at one scale: of one kind, within bounds, none twice.

use harp_core::Value;

use crate::spec::{Located, RangeSpec, Sink, ValuesSpec};
use crate::{Domain, Kind, Range, Spacing};

/// A list longer than this is a mistake: nobody runs as many.
const MOST_VALUES: f64 = 100_000.0;
/// Whole numbers beyond this are not exact as real numbers.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The kind that fits all values, if they agree on one.
pub(super) fn infer<'a>(all: impl Iterator<Item = &'a ValuesSpec>) -> Result<Kind, (Kind, Kind)> {
    let mut found: Option<Kind> = None;
    let mut join = |kind: Kind| match (found, kind) {
        (None, kind) => {
            found = Some(kind);
            Ok(())
        }
        (Some(before), kind) if before == kind => Ok(()),
        (Some(Kind::Integer | Kind::Real), Kind::Integer | Kind::Real) => {
            found = Some(Kind::Real);
            Ok(())
        }
        (Some(before), kind) => Err((before, kind)),
    };
    for values in all {
        match values {
            ValuesSpec::List(list) => list.iter().try_for_each(|value| join(kind_of(&value.value)))?,
            ValuesSpec::Range(range) => {
                let step = range.step.iter().map(|step| &step.value);
                [&range.from.value, &range.to.value]
                    .into_iter()
                    .chain(step)
                    .try_for_each(|value| join(kind_of(value)))?;
            }
        }
    }
    Ok(found.unwrap_or(Kind::Text))
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Boolean(_) => Kind::Boolean,
        Value::Integer(_) => Kind::Integer,
        Value::Real(_) => Kind::Real,
        Value::Text(_) => Kind::Text,
    }
}

/// The value as one of a kind, if it is one.
pub(crate) fn convert(value: &Value, kind: Kind) -> Option<Value> {
    match (kind, value) {
        (Kind::Integer, Value::Integer(_))
        | (Kind::Real, Value::Real(_))
        | (Kind::Text, Value::Text(_))
        | (Kind::Boolean, Value::Boolean(_)) => Some(value.clone()),
        // 1e5 is how people write a large whole number.
        (Kind::Integer, Value::Real(number)) if number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE => {
            Some(Value::Integer(*number as i64))
        }
        (Kind::Real, Value::Integer(number)) => Some(Value::Real(*number as f64)),
        (Kind::File, Value::Text(path)) if !path.is_empty() => Some(value.clone()),
        _ => None,
    }
}

/// Checks the values of one scale; `None` if something was reported.
pub(super) fn domain(values: &ValuesSpec, kind: Kind, sink: &mut Sink<'_>) -> Option<Domain> {
    match values {
        ValuesSpec::List(list) => levels(list, kind, sink),
        ValuesSpec::Range(range) => interval(range, kind, sink),
    }
}

fn levels(list: &[Located<Value>], kind: Kind, sink: &mut Sink<'_>) -> Option<Domain> {
    let mut levels: Vec<Value> = Vec::new();
    let mut sound = true;
    for item in list {
        let converted = convert(&item.value, kind).filter(|value| !value.to_string().contains('\0'));
        match converted {
            Some(value) if levels.contains(&value) => {
                sink.warning(item.start(), format!("{value} occurs twice"), "it is run once; leave one out");
            }
            Some(value) => levels.push(value),
            None => {
                let hint = match kind {
                    Kind::Text | Kind::File => "write it in quotes",
                    Kind::Integer => "write a whole number, or  type = \"real\"",
                    Kind::Real => "write a number without quotes",
                    Kind::Boolean => "write true or false without quotes",
                };
                sink.error(item.start(), format!("`{}` is not of type {kind}", item.value), hint);
                sound = false;
            }
        }
    }
    sound.then_some(Domain::Levels(levels))
}

fn interval(range: &RangeSpec, kind: Kind, sink: &mut Sink<'_>) -> Option<Domain> {
    let start = range.from.start();
    if !matches!(kind, Kind::Integer | Kind::Real) {
        sink.error(
            start,
            format!("a parameter of type {kind} has no range"),
            "list its values: [\"a\", \"b\"]",
        );
        return None;
    }
    let number = |written: &Located<Value>| convert(&written.value, kind).and_then(|value| value.as_number());
    let ends = [&range.from, &range.to].into_iter().chain(&range.step);
    for end in ends {
        if number(end).is_none_or(|number| kind == Kind::Integer && number.abs() > LARGEST_WHOLE) {
            sink.error(
                end.start(),
                format!("`{}` is not of type {kind}", end.value),
                "or write  type = \"real\"",
            );
            return None;
        }
    }
    let (from, to) = (number(&range.from)?, number(&range.to)?);
    let geometric = range.spacing.as_ref().is_some_and(|spacing| spacing.value == "geometric");
    let mut fault = |place: usize, message: &str, hint: &str| sink.error(place, message, hint);
    if from > to {
        fault(start, "the range ends below its beginning", "exchange `from` and `to`");
    } else if geometric && from <= 0.0 {
        fault(start, "a geometric range begins above 0", "raise `from`, or write  spacing = \"linear\"");
    } else if let (Some(count), Some(_)) = (&range.count, &range.step) {
        fault(count.start(), "a range has `count` or `step`, not both", "leave one out");
    } else if let (Some(step), true) = (&range.step, geometric) {
        fault(step.start(), "a geometric range has no `step`", "use `count`");
    } else if let Some(step) = &range.step {
        return steps(from, to, number(step)?, kind, step.start(), sink);
    } else if let Some(count) = range.count.as_ref().filter(|count| count.value as f64 > MOST_VALUES) {
        fault(count.start(), "the range has too many values", "lower `count`");
    } else {
        let spacing = if geometric { Spacing::Geometric } else { Spacing::Linear };
        let count = range.count.as_ref().and_then(|count| u32::try_from(count.value).ok());
        return Some(Domain::Range(Range { from, to, spacing, integer: kind == Kind::Integer, count }));
    }
    None
}

fn steps(from: f64, to: f64, step: f64, kind: Kind, place: usize, sink: &mut Sink<'_>) -> Option<Domain> {
    if step <= 0.0 || (to - from) / step > MOST_VALUES {
        sink.error(place, "the step gives no values or too many", "give a step above 0 that fits the range");
        return None;
    }
    // A hair of tolerance: 0, 0.1, … reaches 0.3 though 3 × 0.1 is above it.
    let count = ((to - from) / step + 1e-9).floor() as u32;
    let at = |index: u32| {
        let number = (from + f64::from(index) * step).min(to);
        if kind == Kind::Integer { Value::Integer(number as i64) } else { Value::Real(number) }
    };
    Some(Domain::Levels((0..=count).map(at).collect()))
}
