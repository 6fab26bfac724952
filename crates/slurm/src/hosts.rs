//! Lists of nodes as Slurm shortens them: `n[1-3,07],big1`, `r[1-2]n[01-16]`.

/// Every name of a list, at most `most` of them. `None` when it is longer, holds no nodes
/// (`None assigned`) or cannot be read.
pub fn expand_hosts(text: &str, most: usize) -> Option<Vec<String>> {
    let text = text.trim();
    if text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    let mut names = Vec::new();
    let (mut depth, mut start) = (0u32, 0);
    for (place, byte) in text.bytes().chain([b',']).enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                expand_one(&text[start..place], "", most, &mut names)?;
                start = place + 1;
            }
            _ => {}
        }
    }
    (depth == 0 && !names.is_empty()).then_some(names)
}

/// Expands the first bracket of `rest` and goes on behind it.
fn expand_one(rest: &str, before: &str, most: usize, names: &mut Vec<String>) -> Option<()> {
    let Some((head, tail)) = rest.split_once('[') else {
        if names.len() >= most || before.len() + rest.len() == 0 {
            return None;
        }
        names.push(format!("{before}{rest}"));
        return Some(());
    };
    let (ranges, tail) = tail.split_once(']')?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first >= most as u64 {
            return None;
        }
        for number in first..=last {
            expand_one(tail, &format!("{before}{head}{number:0width$}"), most, names)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded() {
        let names = |text: &str| expand_hosts(text, 100).map(|names| names.join(" "));
        assert_eq!(names("n1").as_deref(), Some("n1"));
        assert_eq!(names("n[1-3,07],big1").as_deref(), Some("n1 n2 n3 n07 big1"));
        assert_eq!(names("r[1-2]n[09-10]").as_deref(), Some("r1n09 r1n10 r2n09 r2n10"));
        for none in ["", "None assigned", "n[1-", "n]1[", "n[2-1]", "n[1-1000]", "n[a-b]", ","] {
            assert_eq!(names(none), None, "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_list_stays_within_its_bound(text in "[a-z0-9\\[\\],-]{0,40}") {
            if let Some(names) = expand_hosts(&text, 50) {
                proptest::prop_assert!(names.len() <= 50);
            }
        }
    }
}
