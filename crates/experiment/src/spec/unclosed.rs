//! A list that is never closed: TOML reads on and stumbles lines later, where nothing is wrong.

/// Where the list or table begins that is still open where a line with a key or a heading of its own
/// begins. `stumbled` is where reading failed.
pub(super) fn opening(text: &str, stumbled: usize) -> Option<usize> {
    let before = text.get(..stumbled)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line_start..)?.lines().next()?.trim_start();
    if !(line.starts_with('[') || begins_with_key(line)) {
        return None;
    }
    open_at(text.get(..line_start)?)
}

/// `name =`, with or without quotes and dots.
fn begins_with_key(line: &str) -> bool {
    let key = |c: char| c.is_ascii_alphanumeric() || "_-.\"' ".contains(c);
    line.split_once('=').is_some_and(|(before, _)| !before.trim().is_empty() && before.chars().all(key))
}

/// The last bracket that is open at the end of a text; brackets in texts and remarks do not count.
fn open_at(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '#' => {
                let _ = characters.by_ref().find(|(_, c)| *c == '\n');
            }
            // A text on one line: an open quote is another mistake.
            quote @ ('"' | '\'') => {
                let mut escaped = false;
                let _ = characters.by_ref().find(|&(_, c)| {
                    let ends = (c == quote && !escaped) || c == '\n';
                    escaped = c == '\\' && quote == '"' && !escaped;
                    ends
                });
            }
            '[' | '{' => open.push(at),
            ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_that_is_open_is_found_and_no_other() {
        let text = "a = [1]\nb = [1, 2 # ]\nc = ']'\n";
        assert_eq!(opening(text, text.find("c =").unwrap()), text.find("[1, 2"));
        let heading = "[p]\nb = [1, 2\n[q]\n";
        assert_eq!(opening(heading, heading.find("[q]").unwrap() + 1), heading.find("[1, 2"));
        // A list over several lines with a mistake of another kind inside.
        let inside = "a = [\n  1\n  2\n]\n";
        assert_eq!(opening(inside, inside.find('2').unwrap()), None);
        let closed = "a = [1]\nb = = 2\n";
        assert_eq!(opening(closed, closed.find("= 2").unwrap()), None);
    }
}
