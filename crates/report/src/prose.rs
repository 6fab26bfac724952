//! Sentences broken into lines of a terminal's width.

use unicode_width::UnicodeWidthStr;

/// Words after which a line is a remark of its own, whose further lines are set in.
const LABELS: [&str; 5] = ["error:", "warning:", "note:", "hint:", "to fill in:"];

/// The text with every line that is too long broken between words. Lines that go on a list item or a
/// labelled remark are set in, so that the next one is still seen to begin. A word that is too long by
/// itself (a path) is not broken: it is to be copied. Lines that carry colours are left as they are.
pub fn wrapped(text: &str, room: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| wrapped_line(line, room)).collect();
    lines.join("\n")
}

fn wrapped_line(line: &str, room: usize) -> String {
    if line.width() <= room || line.contains('\u{1b}') {
        return line.to_owned();
    }
    let content = line.trim_start_matches(' ');
    let indent = line.len() - content.len();
    let further = if ["- ", "✓ ", "✗ ", "? ", "v ", "x "].iter().any(|sign| content.starts_with(sign)) {
        indent + 2
    } else if LABELS.iter().any(|label| content.starts_with(label)) {
        (indent + 2).max(4)
    } else {
        indent
    };
    let mut lines: Vec<String> = Vec::new();
    let mut current = " ".repeat(indent);
    let mut is_empty = true;
    for word in content.split(' ') {
        if !is_empty && current.width() + 1 + word.width() > room {
            lines.push(current.trim_end().to_owned());
            current = " ".repeat(further);
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        // Spaces that set columns apart are no words to begin a line with.
        is_empty = is_empty && word.is_empty();
    }
    lines.push(current.trim_end().to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_between_words_and_keep_their_beginning_apart() {
        assert_eq!(wrapped("one two three\nfour", 7), "one two\nthree\nfour");
        assert_eq!(wrapped("  - one two three", 9), "  - one\n    two\n    three");
        assert_eq!(wrapped("error: one two three", 14), "error: one two\n    three");
        assert_eq!(wrapped("  hint: one two three", 14), "  hint: one\n    two three");
        assert_eq!(wrapped("see /a/very/long/path now", 10), "see\n/a/very/long/path\nnow");
        assert_eq!(wrapped("short", 10), "short");
        assert_eq!(wrapped("", 10), "");
    }
}
