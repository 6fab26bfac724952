//! Small helpers that put numbers and lists into words. They format and never round what is kept:
//! the numbers in JSON and CSV do not pass through here.

use harp_core::{Bytes, Value};

/// A number with three significant digits, or all digits of a whole part, thousands set apart by
/// commas: `0.0123`, `3.14`, `128`, `1,048,576`; very large and very small ones as `1.2e15`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return trim_exponent(&format!("{value:.2e}"));
    }
    if size >= 100.0 || (value.fract() == 0.0 && size < 1e15) {
        return group_thousands(&format!("{value:.0}"));
    }
    // Digits after the point that leave three significant ones.
    let decimals = (2 - size.log10().floor() as i32).max(0) as usize;
    trim_zeros(&format!("{value:.decimals$}"))
}

/// A number with so many significant digits and no exponent: `3.1`, `0.0042`, `123`.
pub fn significant(value: f64, digits: u8) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let decimals = (i32::from(digits) - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    group_thousands(&format!("{value:.decimals$}"))
}

/// A percentage from 0 to 100 with as many digits as it deserves: `0 %`, `<0.1 %`, `6.3 %`, `42 %`.
pub fn percent(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "–".to_owned(),
        0.0 => "0 %".to_owned(),
        // So near to nothing that a sign would only be in the way.
        a if a < 0.05 => "<0.1 %".to_owned(),
        a if a < 9.95 => format!("{value:.1} %"),
        a if a < 999.5 => format!("{value:.0} %"),
        _ => format!("{} %", group_thousands(&format!("{value:.0}"))),
    }
}

/// A parameter's or resource's value by name: what counts bytes is shown in their units.
pub fn feature(name: &str, value: &Value) -> String {
    match (is_bytes(name), value.as_number()) {
        (true, Some(bytes)) if bytes >= 0.0 => Bytes(bytes.round() as u64).to_string(),
        _ => value.to_string(),
    }
}

/// Whether a feature of that name counts bytes: a memory limit, or a file's size.
pub fn is_bytes(name: &str) -> bool {
    name == "memory" || name.ends_with("_bytes")
}

/// A share from 0 to 1 as a percentage.
pub fn share(value: f64) -> String {
    percent(value * 100.0)
}

/// A percentage with its sign: `+6.3 %`, `-12 %`.
pub fn signed_percent(value: f64) -> String {
    let text = percent(value);
    if value >= 0.05 && value.is_finite() { format!("+{text}") } else { text }
}

/// `1 run`, `3 runs`, `1,200 runs`; the noun takes an `s`.
pub fn plural(count: usize, noun: &str) -> String {
    plural_with(count, noun, &format!("{noun}s"))
}

/// `1 entry`, `3 entries`.
pub fn plural_with(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", group_thousands(&count.to_string()), if count == 1 { one } else { many })
}

/// `a`, `a and b`, `a, b and c`.
pub fn join_words<T: AsRef<str>>(words: &[T]) -> String {
    match words {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// The text without characters that steer a terminal or are not allowed in XML: each control
/// character becomes a space.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_unprintable(c) { ' ' } else { c }).collect()
}

/// Marks that turn the direction of text around, or no characters at all.
fn is_unprintable(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// The text shortened to at most `length` characters, the last one `…` if any were cut.
pub fn shorten(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(length.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Text made safe for HTML and XML, in content and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() || is_unprintable(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The text with its numbers tied to their units, so that no line breaks between them.
pub fn glued(text: &str) -> String {
    const UNITS: [&str; 14] =
        ["%", "€", "$", "µs", "ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "TiB"];
    let mut words = text.split(' ');
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let bare = word.trim_end_matches(|c: char| ".,;:)".contains(c));
        let tied = UNITS.contains(&bare) && out.ends_with(|c: char| c.is_ascii_digit());
        out.push(if tied { '\u{a0}' } else { ' ' });
        out.push_str(word);
    }
    out
}

/// Without zeros at the end of a fraction: `2.50` to `2.5`, `3.0` to `3`.
pub(crate) fn trim_zeros(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

fn trim_exponent(text: &str) -> String {
    match text.split_once('e') {
        Some((mantissa, exponent)) => format!("{}e{exponent}", trim_zeros(mantissa)),
        None => text.to_owned(),
    }
}

/// Commas between groups of three digits before the point.
pub(crate) fn group_thousands(number: &str) -> String {
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (digits, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (1.0, "1"),
            (1.234_5, "1.23"),
            (9.999, "10"),
            (45.678, "45.7"),
            (128.4, "128"),
            (1000.0, "1,000"),
            (1_048_576.0, "1,048,576"),
            (-2500.0, "-2,500"),
            (1.25e18, "1.25e18"),
            (2e-7, "2e-7"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn percentages_are_short() {
        for (value, text) in [
            (0.0, "0 %"),
            (0.01, "<0.1 %"),
            (6.34, "6.3 %"),
            (7.0, "7.0 %"),
            (9.97, "10 %"),
            (42.4, "42 %"),
            (-12.3, "-12 %"),
            (2500.0, "2,500 %"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(percent(value), text);
        }
        assert_eq!(signed_percent(6.34), "+6.3 %");
        assert_eq!([signed_percent(0.01), signed_percent(-0.01)], ["<0.1 %"; 2]);
        assert_eq!(percent(-0.01), "<0.1 %");
        assert_eq!(share(0.9), "90 %");
    }

    #[test]
    fn what_counts_bytes_is_shown_in_their_units() {
        assert_eq!(feature("memory", &Value::Integer(4 << 30)), "4.00 GiB");
        assert_eq!(feature("input_bytes", &Value::Real(2048.0)), "2.00 KiB");
        assert_eq!(feature("n", &Value::Integer(2048)), "2048");
        assert_eq!(feature("memory", &Value::from("all")), "all");
    }

    #[test]
    fn words() {
        assert_eq!(plural(1, "run"), "1 run");
        assert_eq!(plural(1200, "run"), "1,200 runs");
        assert_eq!(plural_with(2, "entry", "entries"), "2 entries");
        assert_eq!(join_words(&["a", "b", "c"]), "a, b and c");
        assert_eq!(join_words::<&str>(&[]), "");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(glued("a 3 %; 4 min 05 s, 6 of 7"), "a 3\u{a0}%; 4\u{a0}min 05\u{a0}s, 6 of 7");
    }

    #[test]
    fn nothing_hostile_gets_through() {
        assert_eq!(escape("<a b='c' d=\"e\">&"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
        assert_eq!(escape("a\u{1b}[31mb\u{0}"), "a [31mb ");
        assert_eq!(printable("a\u{1b}[31m\nb\u{202e}"), "a [31m b ");
    }
}
