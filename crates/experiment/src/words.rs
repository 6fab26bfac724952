//! A command line taken apart into words as a shell would, without being one: spaces separate,
//! quotes keep together, a backslash takes the next character as it is. Nothing is expanded.

use thiserror::Error;

/// The words of a line, and the first character a shell would have acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) words: Vec<String>,
    pub(crate) special: Option<(usize, char)>,
}

/// A line that cannot be taken apart; the offset is in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SplitError {
    #[error("the quote {quote} is never closed")]
    Unclosed { quote: char, offset: usize },
    #[error("the line ends after a backslash")]
    Backslash { offset: usize },
}

impl SplitError {
    pub(crate) fn offset(&self) -> usize {
        match self {
            SplitError::Unclosed { offset, .. } | SplitError::Backslash { offset } => *offset,
        }
    }
}

pub(crate) fn split(line: &str) -> Result<Split, SplitError> {
    let mut split = Split { words: Vec::new(), special: None };
    let mut word: Option<String> = None;
    let mut characters = line.char_indices();
    while let Some((offset, character)) = characters.next() {
        match character {
            c if c.is_whitespace() => split.words.extend(word.take()),
            '\\' => {
                let (_, next) = characters.next().ok_or(SplitError::Backslash { offset })?;
                word.get_or_insert_default().push(next);
            }
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        None => return Err(SplitError::Unclosed { quote: character, offset }),
                        Some((_, inner)) if inner == character => break,
                        Some((at, '\\')) if character == '"' => match characters.next() {
                            Some((_, next @ ('"' | '\\'))) => word.push(next),
                            Some((_, next)) => word.extend(['\\', next]),
                            None => return Err(SplitError::Backslash { offset: at }),
                        },
                        Some((_, inner)) => word.push(inner),
                    }
                }
            }
            other => {
                if split.special.is_none() && "|<>;&$`*".contains(other) {
                    split.special = Some((offset, other));
                }
                word.get_or_insert_default().push(other);
            }
        }
    }
    split.words.extend(word);
    Ok(split)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::shell;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        let words = |line: &str| split(line).unwrap().words;
        assert_eq!(
            words("./a  -n 3\t'b c' \"d \\\" e\" f\\ g ''"),
            ["./a", "-n", "3", "b c", "d \" e", "f g", ""]
        );
        assert_eq!(words(r#"a"b"'c' "\n""#), ["abc", r"\n"]);
        assert_eq!(split("ab 'c").unwrap_err().offset(), 3);
        assert_eq!(split("ab \\").unwrap_err().offset(), 3);
        assert_eq!(split("a '|' > b | c").unwrap().special, Some((6, '>')));
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in proptest::collection::vec(any::<String>(), 0..5)) {
            let line: Vec<String> = words.iter().map(|word| shell::quote(word)).collect();
            prop_assert_eq!(split(&line.join(" ")).unwrap().words, words);
        }

        #[test]
        fn any_line_is_split_or_refused(line in any::<String>()) {
            let _ = split(&line);
        }
    }
}
