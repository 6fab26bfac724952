//! What a table of the file is made of.

use super::{RANGE, ROOT};

/// A table of the file and what may stand in it.
#[derive(Debug)]
pub(crate) struct Table {
    /// How it is written: `[program]`, `[parameters.<name>]`, `{ from, to }`.
    pub(crate) heading: &'static str,
    /// What it is for.
    pub(crate) about: &'static str,
    /// Its keys, in the order the reference page shows them.
    pub(crate) keys: &'static [Key],
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// What holds without it, in words; empty if it has to be given.
    pub(crate) otherwise: &'static str,
    /// What it means.
    pub(crate) about: &'static str,
    /// A value as it could be written; empty for tables.
    pub(crate) example: &'static str,
}

/// What a key's value may look like.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Text,
    /// A text or a list of texts.
    Texts,
    Boolean,
    /// A whole number not below the given one.
    Whole(i64),
    /// A number between two others.
    Between(f64, f64),
    /// An amount of money.
    Amount,
    /// Seconds, or a text such as `10m`.
    Duration,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// How a model is chosen: a word, or `upp=` with a share.
    Policy,
    /// Any number.
    Number,
    /// A scalar, a list of them, or a range.
    Values,
    /// A whole number or a list of them.
    Counts(i64),
    /// A size such as `2G`, or a list of them.
    Sizes,
    /// A whole number from 1, or `auto`.
    CountOrAuto,
    /// Names and texts.
    Variables,
    /// A list of texts or of these tables.
    List(&'static Table),
    /// A table with these keys.
    Table(&'static Table),
    /// Tables with these keys, each under a name of its own.
    Named(&'static Table),
}

/// A key; a function so that tables read as tables.
pub(super) const fn key(
    name: &'static str,
    shape: Shape,
    otherwise: &'static str,
    about: &'static str,
    example: &'static str,
) -> Key {
    Key { name, shape, otherwise, about, example }
}

impl Table {
    /// The key of that name.
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// All tables, each once, in the order they are documented.
    pub(crate) fn all() -> Vec<&'static Table> {
        let mut found: Vec<&'static Table> = vec![&ROOT];
        let mut next = 0;
        while let Some(table) = found.get(next).copied() {
            // Inner tables follow the table they belong to.
            let mut place = next + 1;
            for key in table.keys {
                let inner = match key.shape {
                    Shape::Table(inner) | Shape::Named(inner) | Shape::List(inner) => Some(inner),
                    Shape::Values => Some(&RANGE),
                    _ => None,
                };
                if let Some(inner) = inner
                    && !found.iter().any(|known| std::ptr::eq(*known, inner))
                {
                    found.insert(place, inner);
                    place += 1;
                }
            }
            next += 1;
        }
        found
    }
}

impl Shape {
    /// In words, for messages and the reference page.
    pub(crate) fn words(self) -> String {
        match self {
            Shape::Text => "a text".into(),
            Shape::Texts => "a text or a list of texts".into(),
            Shape::Boolean => "true or false".into(),
            Shape::Whole(least) => format!("a whole number from {least}"),
            Shape::Between(low, high) => format!("a number between {low} and {high}"),
            Shape::Amount => "an amount such as 2.5".into(),
            Shape::Duration => "a time such as \"90s\", \"10m\", \"1h30m\" or a number of seconds".into(),
            Shape::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", quoted.join(", "))
            }
            Shape::Policy => "\"upp=0.05\" (any share below 0.5), \"cost\", \"wtm\" or \"mae\"".into(),
            Shape::Number => "a number".into(),
            Shape::Values => "a value, a list of values, or a range { from, to, count }".into(),
            Shape::Counts(least) => format!("a whole number from {least}, or a list of them"),
            Shape::Sizes => "a size such as \"2G\", or a list of them".into(),
            Shape::CountOrAuto => "a whole number from 1, or \"auto\"".into(),
            Shape::Variables => "a table of names and texts".into(),
            Shape::List(_) => "a list of texts or tables".into(),
            Shape::Table(_) => "a table".into(),
            Shape::Named(_) => "tables, each under a name of its own".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented_once() {
        for table in Table::all() {
            for (index, key) in table.keys.iter().enumerate() {
                assert!(!key.about.is_empty(), "{} {}", table.heading, key.name);
                assert!(!table.keys[..index].iter().any(|other| other.name == key.name), "{}", key.name);
                let nested = matches!(key.shape, Shape::Table(_) | Shape::Named(_));
                assert_eq!(key.example.is_empty(), nested, "{} {}", table.heading, key.name);
            }
        }
    }
}
