//! A parameter's value, and the set of values that makes one case.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Real numbers of this size are written out; hundreds of digits tell nobody anything.
const WRITTEN_OUT: std::ops::Range<f64> = 1e-12..1e21;

/// One value of a parameter: a whole number, a real number, a truth value or a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text: a category or a file's path.
    Text(String),
}

impl Value {
    /// The value as a number a model can use; texts have none.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Real(number) => Some(*number),
            Value::Boolean(truth) => Some(f64::from(u8::from(*truth))),
            Value::Text(_) => None,
        }
    }

    /// Reads a value as a person types it after `key=`: the narrowest kind that fits.
    pub fn from_text(text: &str) -> Value {
        if let Ok(integer) = text.parse::<i64>() {
            return Value::Integer(integer);
        }
        match (text.parse::<f64>(), text) {
            (Ok(real), _) if real.is_finite() => Value::Real(real),
            (_, "true") => Value::Boolean(true),
            (_, "false") => Value::Boolean(false),
            _ => Value::Text(text.to_owned()),
        }
    }

    /// A total order: numbers by size before texts by letters, so that sorted output is stable.
    pub fn compare(&self, other: &Value) -> Ordering {
        match (self.as_number(), other.as_number()) {
            (Some(left), Some(right)) => left.total_cmp(&right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.to_string().cmp(&other.to_string()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(truth) => formatter.pad(&truth.to_string()),
            Value::Integer(number) => formatter.pad(&number.to_string()),
            Value::Real(number) if WRITTEN_OUT.contains(&number.abs()) || *number == 0.0 => {
                formatter.pad(&number.to_string())
            }
            Value::Real(number) => formatter.pad(&format!("{number:e}")),
            Value::Text(text) => formatter.pad(text),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}
impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Boolean(truth)
    }
}
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

/// The parameters of one case, by name and in name order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(pub BTreeMap<String, Value>);

impl Parameters {
    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Sets a parameter.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// Names and values in name order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Parameters(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Display for Parameters {
    /// `name=value name=value`, as typed on the command line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        formatter.pad(&pairs.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_values_take_the_narrowest_kind() {
        assert_eq!(Value::from_text("12"), Value::Integer(12));
        assert_eq!(Value::from_text("1e3"), Value::Real(1000.0));
        assert_eq!(Value::from_text("true"), Value::Boolean(true));
        assert_eq!(Value::from_text("pow"), Value::Text("pow".into()));
        assert_eq!(Value::from_text("nan"), Value::Text("nan".into()));
        assert_eq!(Value::from_text("inf"), Value::Text("inf".into()));
    }

    #[test]
    fn numbers_are_written_out_as_far_as_people_read_them() {
        let written = [0.0, -0.5, 1e-7, 1e20, 1e300, -1e-298].map(|number| Value::Real(number).to_string());
        assert_eq!(written, ["0", "-0.5", "0.0000001", "100000000000000000000", "1e300", "-1e-298"]);
        assert_eq!(Value::from_text(&written[4]), Value::Real(1e300));
    }

    #[test]
    fn json_keeps_the_kind() {
        let parameters: Parameters =
            [("n", Value::Integer(3)), ("x", Value::Real(0.5)), ("m", Value::from("pow"))]
                .into_iter()
                .collect();
        let json = serde_json::to_string(&parameters).unwrap();
        assert_eq!(json, r#"{"m":"pow","n":3,"x":0.5}"#);
        assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), parameters);
    }
}
