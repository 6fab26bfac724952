//! "Did you mean": the known word closest to a mistyped one.

/// The closest of some words, if it is close enough to be what was meant.
pub(crate) fn closest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = typed.chars().count();
    // Long words may be further off; a word of two letters has to be nearly right.
    let allowed = if length > 100 { return None } else { (length / 3).clamp(1, 3) };
    known
        .into_iter()
        .map(|word| (distance(&typed.to_lowercase(), &word.to_lowercase()), word))
        .filter(|(distance, word)| *distance <= allowed && *distance < word.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment).
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (rows[i][j + 1] + 1).min(row[j] + 1).min(rows[i][j] + usize::from(a != b));
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let known = ["command", "directory", "timeout", "runs", "sd", "fs"];
        assert_eq!(closest("comand", known), Some("command"));
        assert_eq!(closest("Timeout", known), Some("timeout"));
        assert_eq!(closest("timeuot", known), Some("timeout"));
        assert_eq!(closest("run", known), Some("runs"));
        assert_eq!(closest("colour", known), None);
        assert_eq!(closest("xy", known), None);
    }

    #[test]
    fn distances_by_hand() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
