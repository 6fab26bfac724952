//! How a table is written: what stands between its cells, and before the decimals of its numbers. Told from
//! the table itself; never guessed where it could mean two things.

use std::io::{self, BufRead};

/// Reads up to the line with the names of the columns. What was read, and what stands between the names:
/// a comma, unless there is none and a semicolon or a tab is.
pub(crate) fn of_header(source: &mut impl BufRead) -> io::Result<(Vec<u8>, u8)> {
    let mut read = Vec::new();
    loop {
        let start = read.len();
        let ended = source.read_until(b'\n', &mut read)? == 0;
        let line = &read[start..];
        if ended || !line.trim_ascii().is_empty() {
            let separator = separator(line);
            return Ok((read, separator));
        }
    }
}

fn separator(line: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in line {
        quoted ^= *byte == b'"';
        counts
            .iter_mut()
            .filter(|(separator, _)| !quoted && separator == byte)
            .for_each(|(_, count)| *count += 1);
    }
    let [(comma, commas), (semicolon, semicolons), (tab, tabs)] = counts;
    match commas {
        0 if semicolons > 0 && semicolons >= tabs => semicolon,
        0 if tabs > 0 => tab,
        _ => comma,
    }
}

/// Where numbers with a comma and with a point were first seen.
#[derive(Debug, Default)]
pub(crate) struct Decimals {
    comma: Option<u64>,
    point: Option<u64>,
    /// Columns nobody reads.
    pub(crate) unread: Vec<usize>,
}

impl Decimals {
    /// Numbers with a decimal comma as they are written with a point; `None` for a record without any.
    /// Where a comma or a point could stand for thousands, the reason why the record is refused.
    pub(crate) fn read(
        &mut self,
        separator: u8,
        line: u64,
        record: &csv::StringRecord,
    ) -> Result<Option<csv::StringRecord>, String> {
        if separator == b',' {
            let cells = record.iter().enumerate().filter(|(column, _)| !self.unread.contains(column));
            return match cells.map(|(_, cell)| cell).find(|cell| has_thousands(cell)) {
                Some(cell) => Err(format!(
                    "`{cell}` could be one number or a list: write {}, or anything but commas between several",
                    cell.replace(',', "")
                )),
                None => Ok(None),
            };
        }
        let is_number = |cell: &str, mark: char| {
            let pointed = cell.replacen(mark, ".", 1);
            cell.contains(mark) && pointed.parse::<f64>().is_ok()
        };
        for cell in record {
            let (comma, point) = (is_number(cell, ','), is_number(cell, '.'));
            if comma && separator == b'\t' {
                return Err(format!("`{cell}` could be a decimal or thousands; {WITH_A_POINT}"));
            }
            self.comma = self.comma.or(comma.then_some(line));
            self.point = self.point.or(point.then_some(line));
            if let (true, Some(comma), Some(point)) = (comma || point, self.comma, self.point) {
                return Err(format!(
                    "`{cell}` could be a decimal or thousands: line {comma} has a number with a comma, line {point} \
                     one with a point; {WITH_A_POINT}"
                ));
            }
        }
        let pointed =
            |cell: &str| if is_number(cell, ',') { cell.replacen(',', ".", 1) } else { cell.to_owned() };
        Ok(self.comma.map(|_| record.iter().map(pointed).collect()))
    }
}

/// The fix.
const WITH_A_POINT: &str = "write all numbers with a decimal point and nothing between thousands";

/// Whether a cell is a number with commas before every three digits, such as 1,234 or 1,234,567.8.
fn has_thousands(cell: &str) -> bool {
    let whole = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    let (whole, decimals) = whole.split_once('.').unwrap_or((whole, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    whole.contains(',')
        && (1..=3).contains(&first.len())
        && digits(first)
        && digits(decimals)
        && groups.all(|group| group.len() == 3 && digits(group))
}
