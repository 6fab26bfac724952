//! The value of a tree.

use std::cmp::Ordering;

use harp_core::Value;

use super::{ExpressionError, Form, Node, Operator};

pub(super) fn evaluate(
    node: &Node,
    lookup: &dyn Fn(&str) -> Option<Value>,
) -> Result<Value, ExpressionError> {
    let error = |message: String| ExpressionError::new(node.offset, message);
    match &node.form {
        Form::Constant(value) => Ok(value.clone()),
        Form::Name(name) => lookup(name).ok_or_else(|| error(format!("`{name}` has no value"))),
        Form::Negate(inner) => match evaluate(inner, lookup)? {
            Value::Integer(number) => {
                number.checked_neg().map(Value::Integer).ok_or_else(|| error(TOO_LARGE.to_owned()))
            }
            Value::Real(number) => Ok(Value::Real(-number)),
            other => Err(error(format!("`-` takes a number, not `{other}`"))),
        },
        Form::Not(inner) => truth(inner, lookup, "not").map(|truth| Value::Boolean(!truth)),
        Form::Binary(Operator::And, left, right) => {
            Ok(Value::Boolean(truth(left, lookup, "and")? && truth(right, lookup, "and")?))
        }
        Form::Binary(Operator::Or, left, right) => {
            Ok(Value::Boolean(truth(left, lookup, "or")? || truth(right, lookup, "or")?))
        }
        Form::Binary(operator, left, right) => {
            let (left, right) = (evaluate(left, lookup)?, evaluate(right, lookup)?);
            binary(*operator, &left, &right).map_err(error)
        }
        Form::Call(function, arguments) => {
            let values: Vec<Value> =
                arguments.iter().map(|argument| evaluate(argument, lookup)).collect::<Result<_, _>>()?;
            function.call(&values).map_err(error)
        }
    }
}

const TOO_LARGE: &str = "the result is too large for a whole number";

fn truth(
    node: &Node,
    lookup: &dyn Fn(&str) -> Option<Value>,
    operator: &str,
) -> Result<bool, ExpressionError> {
    match evaluate(node, lookup)? {
        Value::Boolean(truth) => Ok(truth),
        other => Err(ExpressionError::new(
            node.offset,
            format!("`{operator}` takes true or false, not `{other}`; compare it with something"),
        )),
    }
}

fn binary(operator: Operator, left: &Value, right: &Value) -> Result<Value, String> {
    match (operator, left, right) {
        (
            Operator::Equal
            | Operator::Unequal
            | Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual,
            _,
            _,
        ) => compare(operator, left, right).map(Value::Boolean),
        (_, Value::Integer(left), Value::Integer(right)) => integers(operator, *left, *right),
        (_, Value::Integer(_) | Value::Real(_), Value::Integer(_) | Value::Real(_)) => {
            match (left.as_number(), right.as_number()) {
                (Some(left), Some(right)) => reals(operator, left, right),
                _ => Err(mixed(operator, left, right)),
            }
        }
        _ => Err(mixed(operator, left, right)),
    }
}

fn mixed(operator: Operator, left: &Value, right: &Value) -> String {
    format!("`{}` cannot join `{left}` and `{right}`", operator.symbol())
}

fn compare(operator: Operator, left: &Value, right: &Value) -> Result<bool, String> {
    let order = match (left, right) {
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Integer(_) | Value::Real(_), Value::Integer(_) | Value::Real(_)) => {
            let numbers = (left.as_number().unwrap_or(f64::NAN), right.as_number().unwrap_or(f64::NAN));
            numbers.0.partial_cmp(&numbers.1).ok_or_else(|| mixed(operator, left, right))?
        }
        _ => return Err(mixed(operator, left, right)),
    };
    Ok(match operator {
        Operator::Equal => order == Ordering::Equal,
        Operator::Unequal => order != Ordering::Equal,
        Operator::Less => order == Ordering::Less,
        Operator::LessOrEqual => order != Ordering::Greater,
        Operator::Greater => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}

fn integers(operator: Operator, left: i64, right: i64) -> Result<Value, String> {
    let exact = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return Err("division by zero".to_owned()),
        Operator::Divide if left.checked_rem(right).is_some_and(|rest| rest != 0) => {
            return reals(operator, left as f64, right as f64);
        }
        Operator::Divide => left.checked_div(right),
        // The sign of the divisor, as in Python and in mathematics: -1 % 3 is 2.
        Operator::Remainder => left
            .checked_rem(right)
            .map(|rest| if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }),
        Operator::Power if right < 0 => return reals(operator, left as f64, right as f64),
        Operator::Power => match left {
            0 | 1 => Some(if right == 0 { 1 } else { left }),
            -1 => Some(if right % 2 == 0 { 1 } else { -1 }),
            _ => u32::try_from(right).ok().and_then(|exponent| left.checked_pow(exponent)),
        },
        _ => None,
    };
    exact.map(Value::Integer).ok_or_else(|| TOO_LARGE.to_owned())
}

fn reals(operator: Operator, left: f64, right: f64) -> Result<Value, String> {
    if matches!(operator, Operator::Divide | Operator::Remainder) && right == 0.0 {
        return Err("division by zero".to_owned());
    }
    let result = match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => left - right * (left / right).floor(),
        _ => left.powf(right),
    };
    if result.is_finite() {
        Ok(Value::Real(result))
    } else {
        Err(format!("{left} {} {right} has no finite value", operator.symbol()))
    }
}
