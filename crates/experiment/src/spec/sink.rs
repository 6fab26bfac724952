//! Collects what is wrong, so that everything is reported at once.

use std::ops::Range;

use crate::{Diagnostic, Position, Severity};

/// The file being read and what was found wrong with it so far.
#[derive(Debug)]
pub(crate) struct Sink<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    found: Vec<Diagnostic>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Sink<'a> {
        Sink { file, text, found: Vec::new() }
    }

    pub(crate) fn error(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.add(Severity::Error, offset, message.into(), hint.into());
    }

    pub(crate) fn warning(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.add(Severity::Warning, offset, message.into(), hint.into());
    }

    fn add(&mut self, severity: Severity, offset: usize, message: String, hint: String) {
        self.found.push(Diagnostic {
            severity,
            file: self.file.to_owned(),
            position: self.position(offset),
            message,
            hint: (!hint.is_empty()).then_some(hint),
        });
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        Position::of_offset(self.text, offset)
    }

    /// Where byte `inner` of a text's value stands in the file, for a text written in `span`. With
    /// escapes in it that cannot be told, and its beginning has to do.
    pub(crate) fn inside(&self, span: &Range<usize>, value: &str, inner: usize) -> usize {
        let written = self.text.get(span.clone()).unwrap_or_default();
        for quotes in ["\"\"\"", "'''", "\"", "'"] {
            let content =
                written.strip_prefix(quotes).and_then(|text| text.strip_suffix(quotes)).unwrap_or_default();
            let trimmed =
                content.strip_prefix("\r\n").or_else(|| content.strip_prefix('\n')).unwrap_or(content);
            for (content, skipped) in [(content, 0), (trimmed, content.len() - trimmed.len())] {
                if !value.is_empty() && content == value {
                    return span.start + quotes.len() + skipped + inner;
                }
            }
        }
        span.start
    }

    /// Everything found, in the order of the file.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|diagnostic| diagnostic.position);
        self.found.dedup();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_inside_texts_are_exact_unless_escaped() {
        let text = "a = \"b {c}\"\nd = '''\nx {y}'''\ne = \"\\t{z}\"";
        let sink = Sink::new("harp.toml", text);
        let span_of = |part: &str| {
            let start = text.find(part).unwrap();
            start..start + part.len()
        };
        assert_eq!(sink.inside(&span_of("\"b {c}\""), "b {c}", 2), text.find("{c}").unwrap());
        assert_eq!(sink.inside(&span_of("'''\nx {y}'''"), "x {y}", 2), text.find("{y}").unwrap());
        let escaped = span_of("\"\\t{z}\"");
        assert_eq!(sink.inside(&escaped, "\t{z}", 1), escaped.start);
    }
}
