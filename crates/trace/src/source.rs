//! Opening a trace: plain or compressed with gzip, its kind told from its content, its jobs visited one
//! by one. Never holds the jobs itself.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::reading::Sink;
use crate::{ColumnMap, Format, Job, Reading, Trace, TraceError, Zone};

/// How much of the beginning is looked at to tell the kind.
const BEGINNING: usize = 64 * 1024;

/// How a trace is to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The kind; told from the content if `None`.
    pub format: Option<Format>,
    /// Which column is what, for tables.
    pub columns: ColumnMap,
    /// The zone of dates without an offset, and of hours of the day. Without it, what the trace's header
    /// says, else Coordinated Universal Time.
    pub zone: Option<Zone>,
}

/// Visits the jobs of the file at `path`, or of standard input if that is `-`.
pub fn visit_path(
    path: &Path,
    options: &ReadOptions,
    sink: &mut dyn FnMut(&Job),
) -> Result<Reading, TraceError> {
    if path.as_os_str() == "-" {
        return visit("<stdin>", std::io::stdin().lock(), options, sink);
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| TraceError::Read { name: name.clone(), source })?;
    visit(&name, file, options, sink)
}

/// Visits the jobs of a stream in the order they are written. `name` is for messages.
pub fn visit(
    name: &str,
    source: impl Read,
    options: &ReadOptions,
    sink: &mut dyn FnMut(&Job),
) -> Result<Reading, TraceError> {
    visit_with_header(name, source, options, &mut |job, _| sink(job))
}

/// The same, each job with the header as far as it was read.
pub(crate) fn visit_with_header(
    name: &str,
    source: impl Read,
    options: &ReadOptions,
    sink: Sink<'_>,
) -> Result<Reading, TraceError> {
    let (beginning, mut source) = peek(name, source, 2)?;
    if beginning.starts_with(&[0x1f, 0x8b]) {
        let mut plain = MultiGzDecoder::new(BufReader::with_capacity(BEGINNING, source));
        return visit_plain(name, &mut plain, options, sink);
    }
    visit_plain(name, &mut source, options, sink)
}

/// Reads a whole trace into memory.
pub fn read(name: &str, source: impl Read, options: &ReadOptions) -> Result<Trace, TraceError> {
    let mut jobs = Vec::new();
    let reading = visit(name, source, options, &mut |job| jobs.push(*job))?;
    Ok(Trace { reading, jobs })
}

/// Reads a whole file into memory.
pub fn read_path(path: &Path, options: &ReadOptions) -> Result<Trace, TraceError> {
    let mut jobs = Vec::new();
    let reading = visit_path(path, options, &mut |job| jobs.push(*job))?;
    Ok(Trace { reading, jobs })
}

fn visit_plain(
    name: &str,
    source: &mut dyn Read,
    options: &ReadOptions,
    sink: Sink<'_>,
) -> Result<Reading, TraceError> {
    let (beginning, mut source) = peek(name, source, BEGINNING)?;
    if beginning.iter().all(u8::is_ascii_whitespace) {
        return Err(TraceError::Empty { name: name.to_owned() });
    }
    if let Some(offset) = beginning.iter().position(|&byte| byte == 0) {
        let line = 1 + beginning[..offset].iter().filter(|&&byte| byte == b'\n').count() as u64;
        return Err(TraceError::Binary { name: name.to_owned(), line, offset: offset as u64 });
    }
    let format = match options.format.or_else(|| Format::detect(&beginning)) {
        Some(format) => format,
        None => return Err(unknown(name, &beginning)),
    };
    let mut reading = Reading::new(name, format);
    reading.zone = options.zone.clone().unwrap_or_default();
    match format {
        Format::Swf => crate::swf::visit(&mut source, &mut reading, sink)?,
        Format::Sacct => crate::sacct::visit(&mut source, options, &mut reading, sink)?,
        Format::SacctJson => crate::sacct_json::visit(&mut source, &mut reading, sink)?,
        Format::Csv => crate::table::visit(&mut source, options, &mut reading, sink)?,
        Format::JsonLines => crate::json_lines::visit(&mut source, &mut reading, sink)?,
    }
    if let Some(zone) = reading.header.zone().filter(|_| options.zone.is_none()) {
        reading.zone = zone;
    }
    if reading.jobs == 0 {
        let first = reading.skipped.lines.first();
        return Err(TraceError::NoJobs {
            name: name.to_owned(),
            line: first.map_or(1, |bad| bad.line),
            lines: reading.lines,
            format: format.name(),
            reason: first.map_or_else(|| "there are only comments".to_owned(), |bad| bad.reason.clone()),
        });
    }
    Ok(reading)
}

fn unknown(name: &str, beginning: &[u8]) -> TraceError {
    let text = String::from_utf8_lossy(beginning);
    let found = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty());
    let (index, line) = found.unwrap_or((0, ""));
    let sample = line.trim().chars().take(60).collect();
    TraceError::UnknownFormat { name: name.to_owned(), line: index as u64 + 1, sample }
}

/// The first bytes of a stream, and the stream from its beginning.
fn peek<R: Read>(name: &str, mut source: R, count: usize) -> Result<(Vec<u8>, impl Read), TraceError> {
    let mut beginning = Vec::new();
    source
        .by_ref()
        .take(count as u64)
        .read_to_end(&mut beginning)
        .map_err(|source| TraceError::Read { name: name.to_owned(), source })?;
    let whole = Cursor::new(beginning.clone()).chain(source);
    Ok((beginning, whole))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const LINE: &str = "1 0 -1 5 2 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1\n";

    fn message(bytes: &[u8]) -> String {
        read("t", bytes, &ReadOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn compressed_and_plain_give_the_same() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(LINE.repeat(5).as_bytes()).unwrap();
        let compressed = encoder.finish().unwrap();
        let whole = read("t", compressed.as_slice(), &ReadOptions::default()).unwrap();
        let plain = read("t", LINE.repeat(5).as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(whole.jobs, plain.jobs);
        assert_eq!(whole.jobs.len(), 5);
        let cut = read("t", &compressed[..compressed.len() / 2], &ReadOptions::default());
        assert!(matches!(cut, Err(TraceError::Read { .. })));
    }

    #[test]
    fn useless_files_are_refused_with_a_line_and_a_hint() {
        for (bytes, expected) in [
            (&b""[..], "t:1: the file is empty"),
            (b" \n\n", "t:1: the file is empty"),
            (b"; hello\n\x00\x01", "t:2: byte 8 is not text"),
            (b"\nonce upon a time\n", "t:2: not a known kind of trace: `once upon a time`"),
            (b"; MaxProcs: 5\n1 2 x\n", "t:2: none of 2 lines is a job of format swf"),
            (b"; MaxProcs: 5\n", "there are only comments"),
        ] {
            let found = message(bytes);
            assert!(found.contains(expected) && found.contains("hint:"), "{found}");
        }
    }
}
