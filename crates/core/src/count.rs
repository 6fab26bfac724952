//! Counts of things in words.

/// `1 run`, `3 runs`; the noun takes an `s`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
