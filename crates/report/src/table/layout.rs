//! How wide columns are and where texts break. Widths are terminal cells, not characters: wide
//! signs count two, accents none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Below this a text column is not narrowed.
pub(super) const NARROWEST: usize = 14;

/// The width of a text in terminal cells.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Column widths that fit into `room`, taking from the widest of the columns that may wrap; `None`
/// when even the narrowest form is too wide.
pub(super) fn fit(natural: &[usize], wraps: &[bool], room: usize) -> Option<Vec<usize>> {
    let mut widths = natural.to_vec();
    loop {
        let total: usize = widths.iter().sum();
        if total <= room {
            return Some(widths);
        }
        let widest = (0..widths.len())
            .filter(|&index| wraps.get(index).copied().unwrap_or(false) && widths[index] > NARROWEST)
            .max_by_key(|&index| widths[index])?;
        widths[widest] -= 1;
    }
}

/// Breaks a text into lines of at most `room` cells, between words where it can.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let gap = usize::from(!line.is_empty());
        if !line.is_empty() && width(&line) + gap + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            if !line.is_empty() && width(&line) + c.width().unwrap_or(0) > room {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

/// Spaces to add before and after a text to fill `room`.
pub(super) fn padding(text: &str, room: usize, right: bool) -> (usize, usize) {
    let free = room.saturating_sub(width(text));
    if right { (free, 0) } else { (0, free) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_text_column_gives_way() {
        assert_eq!(fit(&[5, 40, 20], &[false, true, true], 50), Some(vec![5, 25, 20]));
        assert_eq!(fit(&[5, 40], &[false, true], 60), Some(vec![5, 40]));
        assert_eq!(fit(&[30, 40], &[false, true], 35), None);
        assert_eq!(fit(&[], &[], 0), Some(vec![]));
    }

    #[test]
    fn lines_break_between_words_and_inside_only_when_they_must() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a abcdefgh", 4), ["a", "abcd", "efgh"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
    }
}
