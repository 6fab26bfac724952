//! Numbers of the Standard Workload Format, read from the bytes of a line: mostly whole ones, and fast.

/// A number as written: the whole part and what follows the point, both with the sign of the number.
#[derive(Clone, Copy, Default)]
pub(super) struct Number {
    whole: i64,
    fraction: f64,
}

impl Number {
    /// To the nearest whole number.
    pub(super) fn rounded(self) -> i64 {
        if self.fraction == 0.0 { self.whole } else { self.whole + self.fraction.round() as i64 }
    }

    pub(super) fn known(self) -> Option<i64> {
        let value = self.rounded();
        (value >= 0).then_some(value)
    }

    pub(super) fn identity(self) -> Option<u64> {
        self.known().map(i64::unsigned_abs)
    }

    pub(super) fn real(self) -> Option<f64> {
        (self.whole >= 0 && self.fraction >= 0.0).then_some(self.whole as f64 + self.fraction)
    }
}

#[inline]
pub(super) fn skip_blanks(line: &[u8], mut position: usize) -> usize {
    while let Some(b' ' | b'\t') = line.get(position) {
        position += 1;
    }
    position
}

/// Reads a number that ends at a blank or the line's end; gives it and where it ends.
#[inline]
pub(super) fn parse_number(line: &[u8], start: usize) -> Option<(Number, usize)> {
    let negative = line.get(start) == Some(&b'-');
    let mut position = start + usize::from(negative);
    let first = position;
    let mut whole: i64 = 0;
    while let Some(digit) = line.get(position).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    {
        whole = whole.wrapping_mul(10).wrapping_add(i64::from(digit));
        position += 1;
    }
    let digits = position - first;
    match line.get(position) {
        None | Some(b' ' | b'\t') if (1..=18).contains(&digits) => {
            let whole = if negative { -whole } else { whole };
            Some((Number { whole, fraction: 0.0 }, position))
        }
        _ => parse_real(line, start),
    }
}

/// The slow way for fractions and exponents.
#[cold]
fn parse_real(line: &[u8], start: usize) -> Option<(Number, usize)> {
    let text = word(line, start);
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    if !value.is_finite() || value.abs() > 9e17 {
        return None;
    }
    Some((Number { whole: value.trunc() as i64, fraction: value.fract() }, start + text.len()))
}

/// The text from `start` to the next blank; bytes that are no text end it.
pub(super) fn word(line: &[u8], start: usize) -> &str {
    let rest = &line[start..];
    let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(rest.len());
    match std::str::from_utf8(&rest[..end]) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or(""),
    }
}
