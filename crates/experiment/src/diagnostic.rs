//! What is wrong with a file, where, and what to do about it. Only data: printing is the caller's.

use std::fmt;

/// A place in a text: line and column, both from 1, columns in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// The position of a byte offset in a text; offsets beyond the end are the end.
    pub fn of_offset(text: &str, offset: usize) -> Position {
        let before = text.char_indices().take_while(|(index, _)| *index < offset);
        before.fold(Position { line: 1, column: 1 }, |at, (_, character)| {
            if character == '\n' {
                Position { line: at.line + 1, column: 1 }
            } else {
                Position { line: at.line, column: at.column + 1 }
            }
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// Whether the file can be used in spite of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, but likely does not do what was meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One thing that is wrong in a file: what, where, and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the file can be used in spite of it.
    pub severity: Severity,
    /// The file's name as the caller gave it.
    pub file: String,
    /// Where in the file.
    pub position: Position,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl fmt::Display for Diagnostic {
    /// `error: harp.toml:14:9: message`, and the hint on a line of its own.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}:{}: {}", self.severity, self.file, self.position, self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "α = 1\nβγ = 2\n";
        assert_eq!(Position::of_offset(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of_offset(text, text.find('2').unwrap()), Position { line: 2, column: 6 });
        assert_eq!(Position::of_offset(text, 999), Position { line: 3, column: 1 });
    }

    #[test]
    fn prints_in_house_form() {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            file: "harp.toml".into(),
            position: Position { line: 14, column: 9 },
            message: "parameter `n` has no values for scale `fs`".into(),
            hint: Some("add  fs = [100000]  under [parameters.n]".into()),
        };
        assert_eq!(
            diagnostic.to_string(),
            "error: harp.toml:14:9: parameter `n` has no values for scale `fs`\n  \
             hint: add  fs = [100000]  under [parameters.n]"
        );
    }
}
