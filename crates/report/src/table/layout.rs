//! How wide columns are and where texts break. Widths are terminal cells, not characters: wide
//! signs count two, accents none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Below this a text column is not narrowed.
const NARROWEST: usize = 14;
/// Longer words are broken.
const LONGEST_WORD: usize = 28;

/// The width of a text in terminal cells.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Column widths that fit into `room`, taking from the widest of the columns that are above their
/// narrowest form; `None` when even that is too wide.
pub(super) fn fit(natural: &[usize], narrowest: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut widths = natural.to_vec();
    loop {
        let total: usize = widths.iter().sum();
        if total <= room {
            return Some(widths);
        }
        let widest = (0..widths.len())
            .filter(|&index| narrowest.get(index).is_some_and(|&narrowest| widths[index] > narrowest))
            .max_by_key(|&index| widths[index])?;
        widths[widest] -= 1;
    }
}

/// The least width of a column of texts: not so narrow that a word would have to be broken, unless it
/// is a very long one.
pub(super) fn narrowest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    let longest = texts.flat_map(|text| text.split(' ')).map(width).max().unwrap_or(0);
    longest.clamp(NARROWEST, LONGEST_WORD)
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
        assert_eq!(fit(&[5, 40, 20], &[5, 14, 14], 50), Some(vec![5, 25, 20]));
        assert_eq!(fit(&[5, 40], &[5, 14], 60), Some(vec![5, 40]));
        assert_eq!(fit(&[30, 40], &[30, 14], 35), None);
        assert_eq!(fit(&[], &[], 0), Some(vec![]));
    }

    #[test]
    fn a_column_is_as_wide_as_its_longest_word() {
        assert_eq!(narrowest(["a b", "skylake40-dual-v100 node"].into_iter()), 19);
        assert_eq!(narrowest(["a b"].into_iter()), 14);
        assert_eq!(narrowest(["x".repeat(99).as_str()].into_iter()), 28);
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
