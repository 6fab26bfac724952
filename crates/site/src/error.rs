//! What is wrong in a site profile, where, and what to do about it.

use std::ops::Range;

use serde::Serialize;
use thiserror::Error;

/// One mistake in a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct SiteError {
    /// The profile's file name, as the caller gave it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl SiteError {
    /// A mistake at a byte range of the text; without a range it is the file's beginning.
    pub(crate) fn at(file: &str, text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        let offset = span.map_or(0, |span| span.start);
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        SiteError { file: file.to_owned(), line, column, message: message.into(), hint: None }
    }

    /// The same with advice.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "a = 1\né = x\n";
        let error = SiteError::at("s.toml", text, Some(11..12), "bad");
        assert_eq!((error.line, error.column), (2, 5));
        assert_eq!(error.to_string(), "s.toml:2:5: bad");
        assert_eq!(SiteError::at("s.toml", text, None, "bad").to_string(), "s.toml:1:1: bad");
    }
}
