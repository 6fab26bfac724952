//! Text with `{name}` placeholders: taken apart once, filled for each configuration.
//!
//! Knows nothing of what the names mean; that every name has a value is checked by whoever builds
//! the experiment.

use std::fmt;

use thiserror::Error;

/// A text with placeholders. `{{` and `}}` stand for the braces themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(String),
    /// A name, and the byte offset of its brace in the text it was read from.
    Placeholder {
        name: String,
        offset: usize,
    },
}

/// A text that is not a template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// A brace without its partner.
    #[error("`{{` opens a placeholder that is never closed")]
    Unclosed {
        /// Byte offset in the text.
        offset: usize,
    },
    /// A closing brace alone.
    #[error("`}}` closes nothing")]
    Unopened {
        /// Byte offset in the text.
        offset: usize,
    },
    /// Something else than a name between the braces.
    #[error("`{{{text}}}` is not a placeholder: a name has letters, digits and `_` only")]
    NotAName {
        /// What stands between the braces.
        text: String,
        /// Byte offset in the text.
        offset: usize,
    },
}

impl TemplateError {
    /// Byte offset in the text.
    pub fn offset(&self) -> usize {
        match self {
            TemplateError::Unclosed { offset }
            | TemplateError::Unopened { offset }
            | TemplateError::NotAName { offset, .. } => *offset,
        }
    }
}

/// Whether a text can name a parameter: a letter or `_`, then letters, digits and `_`.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Template {
    /// Takes a text apart.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut template = Template::default();
        let mut rest = text;
        while let Some(index) = rest.find(['{', '}']) {
            template.push_literal(&rest[..index]);
            let offset = text.len() - rest.len() + index;
            let found = &rest[index..];
            if found.starts_with("{{") || found.starts_with("}}") {
                template.push_literal(&found[..1]);
                rest = &found[2..];
            } else if found.starts_with('}') {
                return Err(TemplateError::Unopened { offset });
            } else {
                let close = found.find('}').ok_or(TemplateError::Unclosed { offset })?;
                let name = &found[1..close];
                if !is_name(name) {
                    return Err(TemplateError::NotAName { text: name.to_owned(), offset });
                }
                template.pieces.push(Piece::Placeholder { name: name.to_owned(), offset });
                rest = &found[close + 1..];
            }
        }
        template.push_literal(rest);
        Ok(template)
    }

    /// A template without placeholders.
    pub fn literal(text: impl Into<String>) -> Template {
        Template { pieces: vec![Piece::Literal(text.into())] }
    }

    fn push_literal(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Literal(last)) => last.push_str(text),
            _ => self.pieces.push(Piece::Literal(text.to_owned())),
        }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The placeholders' names in order of appearance, repeated if they are.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.placeholders().map(|(name, _)| name)
    }

    /// The placeholders' names and byte offsets in the text.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = (&str, usize)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Placeholder { name, offset } => Some((name.as_str(), *offset)),
            Piece::Literal(_) => None,
        })
    }

    /// The only placeholder's name when the template is nothing but that placeholder.
    pub(crate) fn sole_placeholder(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Placeholder { name, .. }] => Some(name),
            _ => None,
        }
    }

    /// The text with every placeholder replaced; the error is the name of one without a value.
    pub fn fill(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(text) => Ok(text.clone()),
                Piece::Placeholder { name, .. } => value(name).ok_or_else(|| name.clone()),
            })
            .collect()
    }
}

impl fmt::Display for Template {
    /// The text as it would be written.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
                Piece::Placeholder { name, .. } => format!("{{{name}}}"),
            })
            .collect();
        formatter.pad(&text)
    }
}

/// Fills a configuration file of the program: every `{name}` that has a value is replaced, `{{name}}`
/// becomes `{name}`, and all other braces stay as they are, because such files have braces of their
/// own. Also gives the names that were replaced.
pub(crate) fn fill_file(text: &str, value: &dyn Fn(&str) -> Option<String>) -> (String, Vec<String>) {
    let mut filled = String::with_capacity(text.len());
    let mut replaced = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let doubled = rest.starts_with("{{");
        let inner = &rest[if doubled { 2 } else { 1 }..];
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
        let (name, after) = inner.split_at(end);
        let close = if doubled { "}}" } else { "}" };
        match (after.strip_prefix(close), value(name)) {
            (Some(next), Some(_)) if doubled => {
                filled.push_str(&format!("{{{name}}}"));
                rest = next;
            }
            (Some(next), Some(text)) => {
                filled.push_str(&text);
                replaced.push(name.to_owned());
                rest = next;
            }
            _ => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    (filled, replaced)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(name: &str) -> Option<String> {
        (name == "n").then(|| "7".to_owned())
    }

    #[test]
    fn placeholders_are_replaced_and_doubled_braces_stay() {
        let template = Template::parse("./a {n} {{n}} x{n}y").unwrap();
        assert_eq!(template.fill(&values).unwrap(), "./a 7 {n} x7y");
        assert_eq!(template.to_string(), "./a {n} {{n}} x{n}y");
        assert_eq!(Template::parse("{m}").unwrap().fill(&values), Err("m".into()));
    }

    #[test]
    fn mistakes_have_a_place() {
        assert_eq!(Template::parse("ab {n").unwrap_err().offset(), 3);
        assert_eq!(Template::parse("ab n}").unwrap_err().offset(), 4);
        assert_eq!(
            Template::parse("{a b}").unwrap_err().to_string(),
            "`{a b}` is not a placeholder: a name has letters, digits and `_` only"
        );
    }

    #[test]
    fn files_keep_their_own_braces() {
        let (text, replaced) = fill_file(r#"{"size": {n}, "map": {"m": {m}}, "keep": "{{n}}", {"#, &values);
        assert_eq!(text, r#"{"size": 7, "map": {"m": {m}}, "keep": "{n}", {"#);
        assert_eq!(replaced, ["n"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Ok(template) = Template::parse(&text) {
                prop_assert_eq!(Template::parse(&template.to_string()).unwrap().fill(&values), template.fill(&values));
            }
            let (filled, _) = fill_file(&text, &|_| None);
            prop_assert_eq!(filled, text);
        }
    }
}
