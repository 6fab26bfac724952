//! A formula over components and features: numbers, names, `+ - * /`, parentheses, `min` and `max`.
//! It is kept as text, so that a model file stays data; reading it can fail but not run anything.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Deeper formulas are refused: they would exhaust the stack.
const DEEPEST: usize = 60;
const LONGEST: usize = 4096;

/// A formula that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Formula {
    text: String,
    root: Node,
}

/// What is wrong with a formula.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("in the formula `{text}`: {reason}")]
pub struct FormulaError {
    /// The formula.
    pub text: String,
    /// What is wrong.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Name(String),
    Negate(Box<Node>),
    Binary(char, Box<Node>, Box<Node>),
    Extreme(bool, Vec<Node>),
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        let wrong = |reason: String| FormulaError { text: text.chars().take(80).collect(), reason };
        if text.len() > LONGEST {
            return Err(wrong("it is too long".to_owned()));
        }
        let mut parser = Parser { rest: text, depth: 0 };
        let root = parser.sum().map_err(wrong)?;
        match parser.peek() {
            None => Ok(Formula { text: text.trim().to_owned(), root }),
            Some(other) => Err(wrong(format!("`{other}` does not belong there"))),
        }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names it uses.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        collect(&self.root, &mut names);
        names
    }

    /// Its value, given those of its names; the first name without one is given back.
    pub fn value(&self, value: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        evaluate(&self.root, value)
    }
}

fn collect<'a>(node: &'a Node, names: &mut BTreeSet<&'a str>) {
    match node {
        Node::Number(_) => {}
        Node::Name(name) => {
            names.insert(name);
        }
        Node::Negate(inner) => collect(inner, names),
        Node::Binary(_, left, right) => {
            collect(left, names);
            collect(right, names);
        }
        Node::Extreme(_, inner) => inner.iter().for_each(|node| collect(node, names)),
    }
}

fn evaluate(node: &Node, value: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
    Ok(match node {
        Node::Number(number) => *number,
        Node::Name(name) => value(name).ok_or_else(|| name.clone())?,
        Node::Negate(inner) => -evaluate(inner, value)?,
        Node::Binary(operator, left, right) => {
            let (left, right) = (evaluate(left, value)?, evaluate(right, value)?);
            match operator {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                _ => left / right,
            }
        }
        Node::Extreme(largest, inner) => {
            let mut best: Option<f64> = None;
            for node in inner {
                let next = evaluate(node, value)?;
                best = Some(best.map_or(next, |best| if *largest { best.max(next) } else { best.min(next) }));
            }
            best.unwrap_or(0.0)
        }
    })
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| wanted.contains(next))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn chain(
        &mut self,
        operators: &[char],
        inner: fn(&mut Self) -> Result<Node, String>,
    ) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        let mut left = inner(self)?;
        let mut joined = 0;
        while let Some(operator) = self.take(operators) {
            joined += 1;
            if joined > DEEPEST {
                return Err("it has too many terms".to_owned());
            }
            left = Node::Binary(operator, Box::new(left), Box::new(inner(self)?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node, String> {
        self.chain(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Node, String> {
        self.chain(&['*', '/'], Self::atom)
    }

    fn atom(&mut self) -> Result<Node, String> {
        if self.take(&['-']).is_some() {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err("it is nested too deeply".to_owned());
            }
            let inner = self.atom()?;
            self.depth -= 1;
            return Ok(Node::Negate(Box::new(inner)));
        }
        if self.take(&['(']).is_some() {
            let inner = self.sum()?;
            return self.take(&[')']).map(|_| inner).ok_or_else(|| "`(` is never closed".to_owned());
        }
        match self.peek() {
            None => Err("it ends too early".to_owned()),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some(other) => Err(format!("`{other}` is not understood; use + - * / and names")),
        }
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c: char| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn number(&mut self) -> Result<Node, String> {
        let mut text = self.word(|c| c.is_ascii_digit() || c == '.' || c == '_');
        if self.rest.starts_with(['e', 'E']) {
            text.push('e');
            self.rest = &self.rest[1..];
            text.extend(self.take(&['-', '+']));
            text.push_str(&self.word(|c| c.is_ascii_digit()));
        }
        let number = text.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Node::Number).ok_or_else(|| format!("`{text}` is no number"))
    }

    fn name(&mut self) -> Result<Node, String> {
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        if self.peek() != Some('(') {
            return Ok(Node::Name(name));
        }
        let largest = match name.as_str() {
            "max" => true,
            "min" => false,
            other => return Err(format!("there is no function `{other}`; there are min and max")),
        };
        self.take(&['(']);
        let mut inner = vec![self.sum()?];
        while self.take(&[',']).is_some() {
            inner.push(self.sum()?);
        }
        self.take(&[')'])
            .map(|_| Node::Extreme(largest, inner))
            .ok_or_else(|| "`(` is never closed".to_owned())
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

impl TryFrom<String> for Formula {
    type Error = FormulaError;

    fn try_from(text: String) -> Result<Self, FormulaError> {
        Formula::parse(&text)
    }
}

impl From<Formula> for String {
    fn from(formula: Formula) -> Self {
        formula.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let formula = Formula::parse(text).map_err(|error| error.reason)?;
        formula.value(&|name| match name {
            "load" => Some(2.0),
            "epochs" => Some(10.0),
            "epoch_time" => Some(0.5),
            _ => None,
        })
    }

    #[test]
    fn formulas_are_worked_out_in_the_usual_order() {
        for (text, expected) in [
            ("load + epochs * epoch_time", 7.0),
            ("(load + epochs) * epoch_time", 6.0),
            ("load - epochs / 4 - 1", -1.5),
            ("-load * -1e1", 20.0),
            ("max(load, min(epochs, 3), 1_0 - 9)", 3.0),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        assert_eq!(value("load + other"), Err("other".to_owned()));
        let names = Formula::parse("load + epochs * load").unwrap();
        assert_eq!(names.names().into_iter().collect::<Vec<_>>(), ["epochs", "load"]);
    }

    #[test]
    fn mistakes_have_a_reason_and_nothing_exhausts_the_stack() {
        for text in ["", "load +", "(load", "load)", "load ** 2", "sqrt(load)", "1.2.3", "a b", "load % 2"] {
            assert!(Formula::parse(text).is_err(), "{text}");
        }
        for text in ["(".repeat(4000), "-".repeat(4000), "a+".repeat(2000) + "a", "min(".repeat(900)] {
            assert!(Formula::parse(&text).is_err());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = Formula::parse(&text);
        }

        #[test]
        fn any_row_of_tokens_is_read_or_refused(
            tokens in proptest::collection::vec(
                proptest::sample::select(vec!["a", "1", "+", "-", "*", "/", "(", ")", ",", "min", "1e", "."]), 0..12)
        ) {
            let _ = Formula::parse(&tokens.join(" "));
        }
    }
}
