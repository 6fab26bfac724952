//! Rows of what `sacct` prints: parted by a character (`--parsable2`, any `--delimiter`) or by the width
//! of columns under a line of dashes. A name may hold the separator or a line end; such rows are put
//! together again as far as that can be done for certain.

use std::ops::Range;

use memchr::memchr_iter;
use thiserror::Error;

use crate::identifier::JobId;

/// Columns in which people write what they like.
const FREE: [&str; 7] =
    ["jobname", "comment", "submitline", "workdir", "admincomment", "systemcomment", "constraints"];

/// A header that is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// There is no column `JobID`.
    #[error("the first line has no column JobID")]
    NoJobId,
}

/// The cells of one row, in the order of the header.
#[derive(Debug)]
pub struct Cells<'a> {
    text: &'a str,
    ranges: &'a [Range<usize>],
    /// Columns have a width, and what is wider is cut off.
    fixed: bool,
}

impl<'a> Cells<'a> {
    /// A cell without blanks around it; `None` where it is empty or there is no such column.
    pub fn get(&self, column: usize) -> Option<&'a str> {
        let cell = self.text.get(self.ranges.get(column)?.clone())?.trim();
        (!cell.is_empty()).then_some(cell)
    }

    /// Whether a cell was cut off at its column's width, which `sacct` shows by a `+` at its end.
    pub fn is_cut(&self, column: usize) -> bool {
        let cell = self.ranges.get(column).and_then(|range| self.text.get(range.clone()));
        self.fixed && cell.is_some_and(|cell| cell.ends_with('+') && !cell.starts_with(' '))
    }
}

/// Puts lines together to rows. Give it every line in turn, then [`Rows::finish`].
#[derive(Debug)]
pub struct Rows {
    names: Vec<String>,
    id: usize,
    free: Vec<usize>,
    shape: Shape,
    /// The row that is not known to be complete yet, and its first line's number.
    current: String,
    current_line: u64,
    ranges: Vec<Range<usize>>,
}

#[derive(Debug)]
enum Shape {
    Parted(u8),
    /// The header was seen; the dashes below it are awaited.
    Undecided,
    Fixed(Vec<Range<usize>>),
}

/// What is told of each row: its first line, and its cells or why it has none.
type Visit<'v> = &'v mut dyn FnMut(u64, Result<Cells<'_>, String>);

impl Rows {
    /// Reads the header line.
    pub fn new(header: &str) -> Result<Rows, RowError> {
        let header = header.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
        let parts =
            |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-');
        let separator = header.bytes().find(parts);
        let (names, shape): (Vec<String>, Shape) = match separator {
            Some(byte) if byte != b' ' => {
                let separator = char::from(byte);
                let header = header.strip_suffix(separator).unwrap_or(header); // --parsable ends with it
                (header.split(separator).map(|name| name.trim().to_owned()).collect(), Shape::Parted(byte))
            }
            _ => (header.split_whitespace().map(str::to_owned).collect(), Shape::Undecided),
        };
        let lower: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let id = lower.iter().position(|name| name == "jobid");
        let id = id.or_else(|| lower.iter().position(|name| name == "jobidraw")).ok_or(RowError::NoJobId)?;
        let free = (0..names.len()).filter(|&place| FREE.contains(&lower[place].as_str())).collect();
        Ok(Rows { names, id, free, shape, current: String::new(), current_line: 0, ranges: Vec::new() })
    }

    /// Names of the columns as written.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether columns have a width, so that cells may be cut off.
    pub fn cuts(&self) -> bool {
        matches!(self.shape, Shape::Fixed(_))
    }

    /// Takes the next line; rows it completes are visited.
    pub fn line(&mut self, number: u64, line: &str, visit: Visit<'_>) {
        if line.trim().is_empty() {
            return;
        }
        let Shape::Parted(separator) = self.shape else { return self.fixed_line(number, line, visit) };
        // A row that ends in free text may go on in the next line, so it waits until another begins.
        let width = self.names.len();
        let is_open = |current: &str| {
            self.free.last() == Some(&(width - 1))
                || memchr_iter(separator, current.as_bytes()).count() + 1 < width
        };
        if !self.current.is_empty() && !self.begins(separator, line) && is_open(&self.current) {
            self.current.push('\n');
            self.current.push_str(line);
            return;
        }
        self.finish(visit);
        self.current.push_str(line);
        self.current_line = number;
    }

    /// Visits the last row.
    pub fn finish(&mut self, visit: Visit<'_>) {
        if self.current.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.current);
        match self.split(&text) {
            Ok(()) => visit(self.current_line, Ok(Cells { text: &text, ranges: &self.ranges, fixed: false })),
            Err(reason) => visit(self.current_line, Err(reason)),
        }
        text.clear();
        self.current = text; // keeps its memory
    }

    fn fixed_line(&mut self, number: u64, line: &str, visit: Visit<'_>) {
        if matches!(self.shape, Shape::Undecided) {
            let mut ranges = Vec::new();
            let mut start = None;
            for (place, byte) in line.bytes().chain([b' ']).enumerate() {
                match (byte, start) {
                    (b'-', None) => start = Some(place),
                    (b' ', Some(begin)) => {
                        ranges.push(begin..place);
                        start = None;
                    }
                    _ => {}
                }
            }
            let dashes = line.trim_end().bytes().all(|byte| matches!(byte, b'-' | b' '));
            if dashes && ranges.len() == self.names.len() {
                self.shape = Shape::Fixed(ranges);
            } else {
                visit(
                    number,
                    Err("no line of dashes below the header says how wide the columns are".to_owned()),
                );
            }
            return;
        }
        let Shape::Fixed(ranges) = &self.shape else { return };
        self.ranges.clear();
        self.ranges.extend(ranges.iter().map(|range| range.start.min(line.len())..range.end.min(line.len())));
        visit(number, Ok(Cells { text: line, ranges: &self.ranges, fixed: true }));
    }

    /// Whether a row begins with a line: there is an id where one should be, and more than it.
    fn begins(&self, separator: u8, line: &str) -> bool {
        let mut cells = line.split(char::from(separator));
        let has_id = cells.nth(self.id).is_some_and(|cell| JobId::parse(cell).is_some());
        has_id && (self.names.len() == 1 || self.id > 0 || cells.next().is_some())
    }

    fn split(&mut self, text: &str) -> Result<(), String> {
        let Shape::Parted(separator) = self.shape else { return Ok(()) };
        let width = self.names.len();
        self.ranges.clear();
        let mut start = 0;
        for place in memchr_iter(separator, text.as_bytes()) {
            self.ranges.push(start..place);
            start = place + 1;
        }
        self.ranges.push(start..text.len());
        if self.ranges.len() == width + 1 && text.ends_with(char::from(separator)) {
            self.ranges.pop(); // --parsable
        }
        let found = self.ranges.len();
        if found == width {
            return Ok(());
        }
        let (Some(&first), Some(&last)) = (self.free.first(), self.free.last()) else {
            return Err(format!("{found} cells, the header has {width}"));
        };
        if found < width {
            return Err(format!("{found} cells, the header has {width}"));
        }
        // Too many cells: the separator stands within free text. What is left of the first and right of
        // the last such column is certain; between them only when there is one.
        let surplus = found - width;
        if first == last {
            let end = self.ranges[first + surplus].end;
            self.ranges[first].end = end;
        } else {
            for place in first..=last {
                self.ranges[place] = 0..0;
            }
        }
        self.ranges.drain(last + 1..=last + surplus);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Result<Vec<String>, String>> {
        let mut lines = text.lines();
        let mut rows = Rows::new(lines.next().unwrap()).unwrap();
        let width = rows.names().len();
        let mut found = Vec::new();
        let mut visit = |_: u64, cells: Result<Cells<'_>, String>| {
            found
                .push(cells.map(|cells| (0..width).map(|n| cells.get(n).unwrap_or("").to_owned()).collect()));
        };
        for (number, line) in lines.enumerate() {
            rows.line(number as u64 + 2, line, &mut visit);
        }
        rows.finish(&mut visit);
        found
    }

    fn good(text: &str) -> Vec<String> {
        rows(text)
            .into_iter()
            .map(|row| row.map_or_else(|bad| format!("!{bad}"), |cells| cells.join("~")))
            .collect()
    }

    #[test]
    fn separators_and_line_ends_in_names_are_put_back() {
        assert_eq!(
            good("JobID|JobName|State\n7|a|b|FAILED\n8|c|COMPLETED\n"),
            ["7~a|b~FAILED", "8~c~COMPLETED"]
        );
        assert_eq!(
            good("JobID|JobName|State\n7|a\nb|FAILED\n8|c|COMPLETED\n"),
            ["7~a\nb~FAILED", "8~c~COMPLETED"]
        );
        assert_eq!(
            good("JobID|State|JobName\n7|FAILED|a\nb\n8|COMPLETED|c\n"),
            ["7~FAILED~a\nb", "8~COMPLETED~c"]
        );
        // which of two names the separator belongs to cannot be told: both are missing
        assert_eq!(good("JobID|Comment|JobName|State\n7|a|b|c|FAILED\n"), ["7~~~FAILED"]);
    }

    #[test]
    fn other_separators_and_the_older_option() {
        assert_eq!(good("JobID\u{1f}State\n7\u{1f}FAILED\n"), ["7~FAILED"]);
        assert_eq!(good("JobID|State|\n7|FAILED|\n"), ["7~FAILED"]);
        assert_eq!(Rows::new("User|State").unwrap_err(), RowError::NoJobId);
    }

    #[test]
    fn tables_with_dashes_are_read_by_width() {
        let text = "JobID           JobName      State \n------------ ---------- ---------- \n\
                    1            lulesh_s3+  COMPLETED \n11+0          two words OUT_OF_ME+ \n";
        assert_eq!(good(text), ["1~lulesh_s3+~COMPLETED", "11+0~two words~OUT_OF_ME+"]);
        assert!(good("JobID  State\n1  COMPLETED\n")[0].starts_with("!no line of dashes"));
    }

    #[test]
    fn rows_cut_short_are_told() {
        assert_eq!(
            good("JobID|User|State\n7|anna\n8|bert|FAILED\n"),
            ["!2 cells, the header has 3", "8~bert~FAILED"]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_makes_rows_or_reasons(text in "(JobID|JobName|State\n)?[0-9a-c|\n _é-]{0,200}") {
            let mut lines = text.lines();
            let Some(Ok(mut rows)) = lines.next().map(Rows::new) else { return Ok(()) };
            let mut visit = |_: u64, cells: Result<Cells<'_>, String>| {
                if let Ok(cells) = cells {
                    let _ = (cells.get(0), cells.get(1), cells.get(99));
                }
            };
            for (number, line) in lines.enumerate() {
                rows.line(number as u64, line, &mut visit);
            }
            rows.finish(&mut visit);
        }
    }
}
