//! Words as a POSIX shell reads them back.

/// A word quoted where it needs to be, so that a shell takes it as exactly one argument.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a shell takes the text as the name of a variable.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_need_it_are_quoted() {
        assert_eq!(quote("--size=10"), "--size=10");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quote("~/x"), "'~/x'");
    }

    #[test]
    fn names_of_variables() {
        for good in ["A", "_x1", "OMP_NUM_THREADS"] {
            assert!(is_variable_name(good));
        }
        for bad in ["", "1A", "a-b", "a b", "é"] {
            assert!(!is_variable_name(bad));
        }
    }
}
