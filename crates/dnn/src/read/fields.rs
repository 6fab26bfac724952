//! Fields of a JSON object, each refused by its name when it is not what it must be.

use serde_json::{Map, Value};

use crate::ModelError;

/// Larger sizes are mistakes.
const LARGEST: u64 = 1_000_000_000_000;

/// An object and where it stands in the file.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: &'a str,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value, path: &'a str) -> Result<Fields<'a>, ModelError> {
        match value {
            Value::Object(object) => Ok(Fields { object, path }),
            _ => Err(ModelError::new(
                if path.is_empty() { "the file" } else { path },
                "must be an object in braces",
            )),
        }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(crate) fn raw(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a String> {
        self.object.keys()
    }

    /// Refuses fields that are not among those known: a slip in a name would change the network unseen.
    pub(crate) fn only(&self, what: &str, known: &[&str]) -> Result<(), ModelError> {
        match self.names().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(ModelError::new(self.path(unknown), format!("is no field of {what}"))
                .hint(format!("fields are {}", known.join(", ")))),
        }
    }

    /// A size above 0.
    pub(crate) fn size(&self, name: &str) -> Result<u64, ModelError> {
        self.optional_size(name)?.ok_or_else(|| ModelError::new(self.path(name), "is missing"))
    }

    pub(crate) fn optional_size(&self, name: &str) -> Result<Option<u64>, ModelError> {
        self.raw(name).map(|value| size(value, &self.path(name))).transpose()
    }

    /// The first of several names that is there: families name the same thing differently.
    pub(crate) fn size_of(&self, names: &[&str]) -> Result<u64, ModelError> {
        match names.iter().find(|name| self.raw(name).is_some()) {
            Some(name) => self.size(name),
            None => Err(ModelError::new(self.path(names[0]), "is missing")),
        }
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, ModelError> {
        match self.raw(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(ModelError::new(self.path(name), format!("must be a text, not {other}"))),
        }
    }

    pub(crate) fn truth(&self, name: &str, default: bool) -> Result<bool, ModelError> {
        match self.raw(name) {
            None => Ok(default),
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(other) => {
                Err(ModelError::new(self.path(name), format!("must be true or false, not {other}")))
            }
        }
    }

    /// Whether a number is there and above 0.
    pub(crate) fn is_positive(&self, name: &str) -> bool {
        self.raw(name).and_then(Value::as_f64).is_some_and(|number| number > 0.0)
    }
}

/// A whole number above 0 and not absurd.
pub(crate) fn size(value: &Value, path: &str) -> Result<u64, ModelError> {
    match value.as_u64() {
        Some(0) | None => {
            Err(ModelError::new(path, format!("must be a whole number above 0, not {}", short(value))))
        }
        Some(size) if size > LARGEST => {
            Err(ModelError::new(path, format!("= {size} is larger than any network")))
        }
        Some(size) => Ok(size),
    }
}

/// One or several sizes: `3` or `[3, 3]`.
pub(crate) fn sizes(value: &Value, path: &str, least: u64) -> Result<Vec<u64>, ModelError> {
    let one = |value: &Value, path: &str| match value.as_u64() {
        Some(0) if least == 0 => Ok(0),
        _ => size(value, path),
    };
    match value {
        Value::Array(values) => {
            values.iter().enumerate().map(|(index, value)| one(value, &format!("{path}[{index}]"))).collect()
        }
        value => Ok(vec![one(value, path)?]),
    }
}

pub(crate) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
