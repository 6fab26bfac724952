//! Reading single keys of a table: each has the form its entry in the key tables says, or is reported
//! and left out.

use harp_core::{Bytes, Policy, Seconds, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Located, Sink, Written};
use crate::keys::{Key, Shape, Table};
use crate::suggest;

/// A table of the file being read.
pub(super) struct Section<'a> {
    table: &'a DeTable<'a>,
    keys: &'static Table,
    /// Keys whose value was wrong.
    pub(super) mistakes: usize,
}

type Item<'a> = &'a Spanned<DeValue<'a>>;

impl<'a> Section<'a> {
    /// Opens a table; keys it does not know are reported.
    pub(super) fn open(table: &'a DeTable<'a>, keys: &'static Table, sink: &mut Sink<'_>) -> Section<'a> {
        let mut mistakes = 0;
        for (written, _) in table.iter() {
            let name = written.get_ref().as_ref();
            if keys.key(name).is_some() {
                continue;
            }
            mistakes += 1;
            let hint = if let Some(close) = suggest::closest(name, keys.keys.iter().map(|key| key.name)) {
                format!("did you mean `{close}`?")
            } else if keys.heading != "top of the file" && crate::keys::ROOT.key(name).is_some() {
                format!("`{name}` belongs to the top of the file, above the first table")
            } else if let Some(home) = home_of(name) {
                format!("`{name}` belongs under {}", home.heading)
            } else {
                let names: Vec<&str> = keys.keys.iter().map(|key| key.name).collect();
                format!("there are {}", names.join(", "))
            };
            sink.error(written.span().start, format!("there is no key `{name}` in {}", keys.heading), hint);
        }
        Section { table, keys, mistakes }
    }

    /// A key's value as it stands, and its description.
    pub(super) fn item(&self, name: &str) -> Option<(Item<'a>, &'static Key)> {
        Some((self.table.get(name)?, self.keys.key(name)?))
    }

    fn reject<T>(&mut self, item: Item<'_>, key: &Key, sink: &mut Sink<'_>) -> Option<T> {
        self.mistakes += 1;
        reject(item, key, sink)
    }

    /// Reads a key with a function that gives nothing for a value of the wrong form.
    pub(super) fn with<T>(
        &mut self,
        name: &str,
        sink: &mut Sink<'_>,
        convert: impl FnOnce(&DeValue<'a>) -> Option<T>,
    ) -> Written<T> {
        let (item, key) = self.item(name)?;
        match convert(item.get_ref()) {
            Some(value) => Some(Located { value, span: item.span() }),
            None => self.reject(item, key, sink),
        }
    }

    pub(super) fn text(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<String> {
        self.with(name, sink, text)
    }

    pub(super) fn boolean(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<bool> {
        self.with(name, sink, |value| match value {
            DeValue::Boolean(truth) => Some(*truth),
            _ => None,
        })
    }

    /// A whole number not below what the key's shape says.
    pub(super) fn whole(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<i64> {
        let least = match self.keys.key(name)?.shape {
            Shape::Whole(least) => least,
            _ => i64::MIN,
        };
        self.with(name, sink, |value| integer(value).filter(|number| *number >= least))
    }

    pub(super) fn number(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<f64> {
        let (low, high) = match self.keys.key(name)?.shape {
            Shape::Between(low, high) => (low, high),
            _ => (0.0, f64::INFINITY),
        };
        self.with(name, sink, |value| {
            scalar(value)?.as_number().filter(|number| *number > low && *number < high)
        })
    }

    /// One of the words the key's shape lists.
    pub(super) fn choice(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<String> {
        let (item, key) = self.item(name)?;
        let Shape::Choice(words) = key.shape else { return None };
        let Some(typed) = text(item.get_ref()) else { return self.reject(item, key, sink) };
        if words.contains(&typed.as_str()) {
            return Some(Located { value: typed, span: item.span() });
        }
        self.mistakes += 1;
        let hint = match suggest::closest(&typed, words.iter().copied()) {
            Some(close) => format!("did you mean \"{close}\"?"),
            None => format!("use {}", key.shape.words()),
        };
        sink.error(item.span().start, format!("`{name}` cannot be \"{typed}\""), hint);
        None
    }

    pub(super) fn policy(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<Policy> {
        self.with(name, sink, |value| text(value)?.parse().ok())
    }

    pub(super) fn duration(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<Seconds> {
        self.with(name, sink, |value| {
            let seconds = match value {
                DeValue::String(text) => text.parse::<Seconds>().ok()?,
                other => Seconds(scalar(other)?.as_number()?),
            };
            (seconds.0 > 0.0 && seconds.0.is_finite()).then_some(seconds)
        })
    }

    /// A text or a list of texts, each with its place.
    pub(super) fn texts(&mut self, name: &str, sink: &mut Sink<'_>) -> Vec<Located<String>> {
        let Some((item, key)) = self.item(name) else { return Vec::new() };
        let mut found = Vec::new();
        for element in elements(item) {
            match text(element.get_ref()) {
                Some(value) => found.push(Located { value, span: element.span() }),
                None => {
                    self.reject::<()>(element, key, sink);
                }
            }
        }
        found
    }

    /// The elements of a list, or the value alone; an empty list is a mistake.
    pub(super) fn several<T>(
        &mut self,
        name: &str,
        sink: &mut Sink<'_>,
        convert: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Written<Vec<T>> {
        let (item, key) = self.item(name)?;
        let mut value = Vec::new();
        for element in elements(item) {
            match convert(element.get_ref()) {
                Some(converted) => value.push(converted),
                None => return self.reject(element, key, sink),
            }
        }
        if value.is_empty() {
            self.mistakes += 1;
            sink.error(
                item.span().start,
                format!("`{name}` has no values"),
                "give one, or leave the key out",
            );
            return None;
        }
        Some(Located { value, span: item.span() })
    }

    pub(super) fn counts(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<Vec<u32>> {
        let least = match self.keys.key(name)?.shape {
            Shape::Counts(least) => least,
            _ => 0,
        };
        self.several(name, sink, |value| {
            integer(value).filter(|number| *number >= least).and_then(|number| u32::try_from(number).ok())
        })
    }

    pub(super) fn sizes(&mut self, name: &str, sink: &mut Sink<'_>) -> Written<Vec<Bytes>> {
        self.several(name, sink, |value| {
            let bytes = match value {
                DeValue::String(text) => text.parse::<Bytes>().ok()?,
                other => Bytes(u64::try_from(integer(other)?).ok()?),
            };
            (bytes.0 > 0).then_some(bytes)
        })
    }

    /// A table inside this one.
    pub(super) fn table(&mut self, name: &str, sink: &mut Sink<'_>) -> Option<(&'a DeTable<'a>, usize)> {
        let (written, item) = self.table.get_key_value(name)?;
        match item.get_ref() {
            DeValue::Table(table) => Some((table, written.span().start)),
            _ => self.item(name).and_then(|(item, key)| self.reject(item, key, sink)),
        }
    }

    /// The names and values of a table inside this one, in the order they are written.
    pub(super) fn entries(&mut self, name: &str, sink: &mut Sink<'_>) -> Vec<(Located<String>, Item<'a>)> {
        let Some((table, _)) = self.table(name, sink) else { return Vec::new() };
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, item)| (Located { value: key.get_ref().to_string(), span: key.span() }, item))
            .collect();
        entries.sort_by_key(|(key, _)| key.start());
        entries
    }

    /// The elements of a list that may be given alone.
    pub(super) fn list(&self, name: &str) -> Vec<Item<'a>> {
        self.table.get(name).map(elements).unwrap_or_default()
    }

    /// Where a key stands, if it is there.
    pub(super) fn key_offset(&self, name: &str) -> Option<usize> {
        self.table.get_key_value(name).map(|(key, _)| key.span().start)
    }
}

/// Where a key would be right, if it is only in the wrong table.
fn home_of(key: &str) -> Option<&'static Table> {
    Table::all().into_iter().find(|table| table.heading.starts_with('[') && table.key(key).is_some())
}

/// Reports a value of the wrong form.
pub(super) fn reject<T>(item: Item<'_>, key: &Key, sink: &mut Sink<'_>) -> Option<T> {
    let hint = if key.example.is_empty() {
        String::new()
    } else {
        format!("such as  {} = {}", key.name, key.example)
    };
    let message = format!("`{}` is {}, not {}", key.name, key.shape.words(), describe(item.get_ref()));
    sink.error(item.span().start, message, hint);
    None
}

/// What was written, in a word or two.
pub(super) fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 40 => format!("the text {text:?}"),
        DeValue::String(_) => "a text".into(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

fn elements<'a>(item: Item<'a>) -> Vec<Item<'a>> {
    match item.get_ref() {
        DeValue::Array(array) => array.iter().collect(),
        _ => vec![item],
    }
}

pub(super) fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

pub(super) fn integer(value: &DeValue<'_>) -> Option<i64> {
    match value {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

/// A number, text or truth value.
pub(super) fn scalar(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::Text(text.to_string())),
        DeValue::Integer(_) => integer(value).map(Value::Integer),
        DeValue::Float(number) => {
            number.as_str().parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Real)
        }
        DeValue::Boolean(truth) => Some(Value::Boolean(*truth)),
        _ => None,
    }
}
