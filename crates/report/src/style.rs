//! How text may be dressed for a terminal: colour or none, Unicode or plain ASCII. Whether the
//! output is a terminal, and what `NO_COLOR` says, is for the caller to find out.

/// The meaning of a piece of text, from which its colour follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// Headings and what was chosen.
    Strong,
    /// Side remarks.
    Faint,
    /// As hoped.
    Good,
    /// Not as hoped.
    Bad,
    /// To be looked at.
    Warning,
    /// Stands out without judging.
    Accent,
}

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether tones become ANSI colours.
    pub colour: bool,
    /// Whether lines, dots and braille may be used.
    pub unicode: bool,
}

impl Style {
    /// No colours, Unicode: for pipes, files and `NO_COLOR`.
    pub const fn plain() -> Self {
        Style { colour: false, unicode: true }
    }

    /// Colours and Unicode.
    pub const fn coloured() -> Self {
        Style { colour: true, unicode: true }
    }

    /// Neither colours nor Unicode.
    pub const fn ascii() -> Self {
        Style { colour: false, unicode: false }
    }

    /// The text in the colour of its tone, or as it is.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warning => "33",
            Tone::Accent => "36",
        };
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// The first text where Unicode may be used, else the second.
    pub fn choose<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }
}

impl Default for Style {
    fn default() -> Self {
        Style::plain()
    }
}

/// Typographic characters replaced by their nearest ASCII ones; what has none becomes `?`.
pub fn to_ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => plain.push(c),
            '–' | '—' | '−' | '─' => plain.push('-'),
            '…' => plain.push_str("..."),
            'µ' | 'μ' => plain.push('u'),
            '×' | '✗' | '✕' => plain.push('x'),
            '✓' => plain.push('v'),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '→' => plain.push_str("->"),
            '·' | '•' => plain.push('*'),
            '€' => plain.push_str("EUR"),
            '\u{a0}' | '\u{202f}' => plain.push(' '),
            _ => plain.push('?'),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_only_when_allowed() {
        assert_eq!(Style::plain().paint(Tone::Bad, "x"), "x");
        assert_eq!(Style::coloured().paint(Tone::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(Style::coloured().paint(Tone::Plain, "x"), "x");
    }

    #[test]
    fn ascii_stays_readable() {
        assert_eq!(to_ascii("3.1–4.2 µs ≥ 5 €"), "3.1-4.2 us >= 5 EUR");
    }
}
