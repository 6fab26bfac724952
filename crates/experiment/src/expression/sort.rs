//! Which sort of value a tree has, known before any value is: so that mistakes are found when the
//! file is read and not in the middle of a sweep.

use std::fmt;

use harp_core::Value;

use super::{ExpressionError, Form, Node, Operator};

/// A sort of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Number,
    Truth,
    Text,
}

impl fmt::Display for Sort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Sort::Number => "a number",
            Sort::Truth => "true or false",
            Sort::Text => "a text",
        })
    }
}

pub(super) fn sort(node: &Node, lookup: &dyn Fn(&str) -> Option<Sort>) -> Result<Sort, ExpressionError> {
    let expect = |inner: &Node, expected: Sort, who: &str| match sort(inner, lookup)? {
        found if found == expected => Ok(expected),
        found => {
            Err(ExpressionError::new(inner.offset, format!("`{who}` takes {expected}, and this is {found}")))
        }
    };
    match &node.form {
        Form::Constant(Value::Boolean(_)) => Ok(Sort::Truth),
        Form::Constant(Value::Text(_)) => Ok(Sort::Text),
        Form::Constant(_) => Ok(Sort::Number),
        Form::Name(name) => {
            lookup(name).ok_or_else(|| ExpressionError::new(node.offset, format!("`{name}` is not known")))
        }
        Form::Negate(inner) => expect(inner, Sort::Number, "-"),
        Form::Not(inner) => expect(inner, Sort::Truth, "not"),
        Form::Binary(operator, left, right) => match operator {
            Operator::And | Operator::Or => {
                expect(left, Sort::Truth, operator.symbol())?;
                expect(right, Sort::Truth, operator.symbol())
            }
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide
            | Operator::Remainder
            | Operator::Power => {
                expect(left, Sort::Number, operator.symbol())?;
                expect(right, Sort::Number, operator.symbol())
            }
            _ => {
                let (left, right) = (sort(left, lookup)?, sort(right, lookup)?);
                if left == right {
                    return Ok(Sort::Truth);
                }
                let message = format!("`{}` compares {left} with {right}", operator.symbol());
                Err(ExpressionError::new(node.offset, message))
            }
        },
        Form::Call(_, arguments) => {
            for argument in arguments {
                expect(argument, Sort::Number, "the function")?;
            }
            Ok(Sort::Number)
        }
    }
}
