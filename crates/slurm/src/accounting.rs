//! Reading a whole accounting: what `sacct` printed as text or as JSON, job by job.

use std::io::{BufRead, BufReader, Read};

use jiff::tz::TimeZone;
use serde::Serialize;
use thiserror::Error;

use crate::assemble::Assembler;
use crate::columns::{Columns, Field, NAMES};
use crate::{AccountedJob, Cells, Rows, json};

/// The fields to ask `sacct` for, in this order; a Slurm may not know all of them.
pub const FIELDS: [&str; NAMES.len()] = NAMES;

/// How many unusable rows are listed; the others are counted.
pub const LISTED: usize = 10;

/// A line longer than this is no line of `sacct`.
const LONGEST_LINE: u64 = 16 << 20;

/// What was read beside the jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Lines, or elements of a JSON document.
    pub lines: u64,
    /// Jobs, the components of a heterogeneous one as one.
    pub jobs: u64,
    /// Steps.
    pub steps: u64,
    /// Rows that could not be used.
    pub skipped: u64,
    /// The first of them.
    pub bad: Vec<BadRow>,
    /// What the source does not say, and what that means.
    pub notes: Vec<String>,
}

/// A row that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadRow {
    /// Its line, from 1.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// An accounting that cannot be read at all.
#[derive(Debug, Error)]
pub enum AccountingError {
    /// The stream could not be read.
    #[error("{name}: could not be read: {source}")]
    Read {
        /// The file.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is nothing in it.
    #[error("{name}:1: there is nothing in it")]
    Empty {
        /// The file.
        name: String,
    },
    /// It is something else.
    #[error("{name}:{line}: {reason}")]
    NotAccounting {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// Why.
        reason: String,
    },
}

impl Reading {
    pub(crate) fn skip(&mut self, line: u64, reason: String) {
        self.skipped += 1;
        if self.bad.len() < LISTED {
            self.bad.push(BadRow { line, reason });
        }
    }
}

/// Visits the jobs of what `sacct --parsable2`, `sacct` or `sacct --json` printed. Times without an
/// offset are in `zone`. `name` is for messages.
pub fn read_accounting(
    name: &str,
    source: impl Read,
    zone: &TimeZone,
    visit: &mut dyn FnMut(AccountedJob),
) -> Result<Reading, AccountingError> {
    let mut source = BufReader::with_capacity(256 * 1024, source);
    let failed = |source| AccountingError::Read { name: name.to_owned(), source };
    let is_json = loop {
        let beginning = source.fill_buf().map_err(failed)?;
        if beginning.is_empty() {
            return Err(AccountingError::Empty { name: name.to_owned() });
        }
        let blank = beginning.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blank < beginning.len() {
            break matches!(beginning[blank], b'{' | b'[');
        }
        source.consume(blank);
    };
    if is_json { json::read(name, source, visit) } else { read_text(name, source, zone, visit) }
}

fn read_text(
    name: &str,
    mut source: impl BufRead,
    zone: &TimeZone,
    visit: &mut dyn FnMut(AccountedJob),
) -> Result<Reading, AccountingError> {
    let mut reading = Reading::default();
    let mut line = Vec::new();
    let mut rows: Option<(Rows, Assembler<'_>)> = None;
    let mut jobs = 0;
    let mut count = |job: AccountedJob| {
        jobs += 1;
        visit(job);
    };
    loop {
        line.clear();
        let failed = |source| AccountingError::Read { name: name.to_owned(), source };
        if (&mut source).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        reading.lines += 1;
        while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            line.pop();
        }
        // A name may hold anything; what is not text is shown as such and harms nothing else.
        let text = String::from_utf8_lossy(&line);
        let Some((rows, assembler)) = &mut rows else {
            if text.trim().is_empty() {
                continue;
            }
            let header = Rows::new(&text).map_err(|error| AccountingError::NotAccounting {
                name: name.to_owned(),
                line: reading.lines,
                reason: error.to_string(),
            })?;
            let columns = Columns::new(header.names());
            check(name, reading.lines, &columns, &mut reading.notes)?;
            rows = Some((header, Assembler::new(columns, zone)));
            continue;
        };
        let number = reading.lines;
        rows.line(number, &text, &mut |line, cells| take(line, cells, assembler, &mut reading, &mut count));
    }
    if let Some((mut rows, mut assembler)) = rows {
        if rows.cuts() {
            reading.notes.push(
                "names and figures wider than their column are missing; --parsable2 cuts nothing".to_owned(),
            );
        }
        rows.finish(&mut |line, cells| take(line, cells, &mut assembler, &mut reading, &mut count));
        assembler.finish(&mut count);
    }
    reading.jobs = jobs;
    Ok(reading)
}

fn take(
    line: u64,
    cells: Result<Cells<'_>, String>,
    assembler: &mut Assembler<'_>,
    reading: &mut Reading,
    count: &mut dyn FnMut(AccountedJob),
) {
    match cells.and_then(|cells| assembler.row(line, &cells, count)) {
        Ok(is_step) => reading.steps += u64::from(is_step),
        Err(reason) => reading.skip(line, reason),
    }
}

/// Refuses a table without which nothing can be said, and tells what another lacks.
fn check(name: &str, line: u64, columns: &Columns, notes: &mut Vec<String>) -> Result<(), AccountingError> {
    let refuse = |reason: &str| {
        Err(AccountingError::NotAccounting { name: name.to_owned(), line, reason: reason.to_owned() })
    };
    if !columns.has(Field::State) {
        return refuse("there is no column State, so how a job ended is not known");
    }
    let time = columns.has(Field::ElapsedRaw) || columns.has(Field::Elapsed);
    let both = columns.has(Field::Start) && columns.has(Field::End);
    if !time && !both {
        return refuse("there is no column Elapsed, so how long a job took is not known");
    }
    for (field, what) in [
        (Field::MaxRss, "MaxRSS: what memory was used is not known"),
        (Field::Submit, "Submit: a job put back into the queue cannot be told from its first run"),
        (Field::JobName, "JobName: no application can be recovered from it"),
        (Field::Start, "Start: jobs that never ran are told by their time alone"),
    ] {
        if !columns.has(field) {
            notes.push(format!("there is no column {what}"));
        }
    }
    if columns.has(Field::MaxRss) && !columns.has(Field::Tasks) {
        notes.push("there is no column NTasks: steps count as one task each".to_owned());
    }
    Ok(())
}
