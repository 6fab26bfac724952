//! An expression as a tree.

use std::fmt;

use harp_core::Value;
use thiserror::Error;

use super::function::Function;
use super::{Sort, evaluate, parser, sort};

/// An expression that was read; equal to another if written the same.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    root: Node,
}

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// Byte offset in the expression's text.
    pub offset: usize,
}

impl ExpressionError {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> ExpressionError {
        ExpressionError { message: message.into(), offset }
    }
}

/// A part of an expression, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) offset: usize,
    pub(super) form: Form,
}

#[derive(Debug, Clone)]
pub(super) enum Form {
    Constant(Value),
    Name(String),
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Operator {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
            Operator::Power => "**",
        }
    }
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        Ok(Expression { text: text.to_owned(), root: parser::parse(text)? })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names it refers to, with the byte offset of each.
    pub fn names(&self) -> Vec<(&str, usize)> {
        let mut names = Vec::new();
        collect_names(&self.root, &mut names);
        names
    }

    /// Its value, given the values of its names.
    pub fn evaluate(&self, value: &dyn Fn(&str) -> Option<Value>) -> Result<Value, ExpressionError> {
        evaluate::evaluate(&self.root, value)
    }

    /// What sort of value it has, given the sorts of its names, without knowing their values.
    pub(crate) fn sort(&self, sort: &dyn Fn(&str) -> Option<Sort>) -> Result<Sort, ExpressionError> {
        sort::sort(&self.root, sort)
    }
}

fn collect_names<'a>(node: &'a Node, names: &mut Vec<(&'a str, usize)>) {
    match &node.form {
        Form::Constant(_) => {}
        Form::Name(name) => names.push((name, node.offset)),
        Form::Negate(inner) | Form::Not(inner) => collect_names(inner, names),
        Form::Binary(_, left, right) => {
            collect_names(left, names);
            collect_names(right, names);
        }
        Form::Call(_, arguments) => arguments.iter().for_each(|argument| collect_names(argument, names)),
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}
