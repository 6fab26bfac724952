//! What is wrong with a description of a network, and where.

use std::fmt;

use thiserror::Error;

/// A description, a file or a setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ModelError {
    /// The file or the text it came from; empty for a setting.
    pub file: String,
    /// The field that is wrong: `hidden_size`, `layers[3].kind`, `batch`.
    pub field: String,
    /// What is wrong with it.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ModelError {
    /// A field that is wrong.
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        ModelError { file: String::new(), field: field.into(), reason: reason.into(), hint: None }
    }

    /// The same with a way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with the file it was found in.
    pub fn within(mut self, file: &str) -> Self {
        self.file = file.to_owned();
        self
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(formatter, "{}: ", self.file)?;
        }
        write!(formatter, "`{}` {}", self.field, self.reason)
    }
}
