//! From one format to another, job by job: `harp trace convert` and `harp trace anonymise`.

use std::io::{Read, Write};

use crate::source::visit_with_header;
use crate::{Anonymiser, Format, Header, Job, ReadOptions, Reading, TraceError, TraceWriter};

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvertOptions {
    /// The format: SWF, CSV or JSON lines.
    pub format: Format,
    /// Whether people, projects, programs, queues and dates become mere numbers.
    pub anonymise: bool,
}

/// Reads a trace and writes it again. Lines that could not be read are in the result and not in the copy;
/// header comments behind the first job are not in the copy either.
pub fn convert(
    name: &str,
    source: impl Read,
    reading: &ReadOptions,
    destination: impl Write,
    options: ConvertOptions,
) -> Result<Reading, TraceError> {
    let mut state = State::Waiting(destination);
    let mut anonymiser = options.anonymise.then(Anonymiser::default);
    let found = visit_with_header(name, source, reading, &mut |job, header| {
        let anonymous = anonymiser.as_mut().map(|anonymiser| anonymiser.job(job));
        state.write(anonymous.as_ref().unwrap_or(job), header, options);
    })?;
    match state {
        State::Writing(writer) => writer.finish().map(|_| found),
        State::Failed(error) => Err(error),
        State::Waiting(_) | State::Gone => Ok(found),
    }
}

/// The destination before its header is known, while jobs are written, and after an error.
enum State<W: Write> {
    Waiting(W),
    Writing(TraceWriter<W>),
    Failed(TraceError),
    Gone,
}

impl<W: Write> State<W> {
    fn write(&mut self, job: &Job, header: &Header, options: ConvertOptions) {
        *self = match std::mem::replace(self, State::Gone) {
            State::Waiting(destination) => {
                let header = if options.anonymise { Anonymiser::header(header) } else { header.clone() };
                match TraceWriter::new(destination, options.format, &header) {
                    Ok(writer) => State::put(writer, job),
                    Err(error) => State::Failed(error),
                }
            }
            State::Writing(writer) => State::put(writer, job),
            ended => ended,
        };
    }

    fn put(mut writer: TraceWriter<W>, job: &Job) -> Self {
        match writer.write(job) {
            Ok(()) => State::Writing(writer),
            Err(error) => State::Failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "; Computer: ours\n; MaxProcs: 64\n\
        10 500 -1 5 2 -1 -1 2 9 -1 1 42 -1 -1 -1 -1 -1 -1\nbroken\n\
        11 600 -1 6 2 -1 -1 2 9 -1 5 43 -1 -1 -1 -1 -1 -1\n";

    fn converted(text: &str, format: Format, anonymise: bool) -> (String, Reading) {
        let mut out = Vec::new();
        let options = ConvertOptions { format, anonymise };
        let reading = convert("t", text.as_bytes(), &ReadOptions::default(), &mut out, options).unwrap();
        (String::from_utf8(out).unwrap(), reading)
    }

    #[test]
    fn there_and_back_again_is_the_same() {
        let (table, reading) = converted(TRACE, Format::Csv, false);
        assert_eq!((reading.jobs, reading.skipped.count), (2, 1));
        let (lines, _) = converted(&table, Format::JsonLines, false);
        let (back, _) = converted(&lines, Format::Swf, false);
        let jobs = |text: &str| -> Vec<String> {
            text.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
        };
        assert_eq!(jobs(&back), jobs(TRACE));
        assert!(
            converted(TRACE, Format::Swf, false).0.starts_with("; Computer: ours\n; MaxProcs: 64\n10 500 ")
        );
    }

    #[test]
    fn anonymous_traces_keep_the_machine_and_lose_the_rest() {
        let (text, _) = converted(TRACE, Format::Swf, true);
        assert!(text.starts_with("; Version: 2.2\n; MaxProcs: 64\n1 0 -1 5 "), "{text}");
        assert!(!text.contains("ours") && !text.contains("43"));
    }

    #[test]
    fn a_destination_that_fails_is_an_error() {
        let options = ConvertOptions { format: Format::Swf, anonymise: false };
        let mut small = [0u8; 10];
        let result = convert("t", TRACE.as_bytes(), &ReadOptions::default(), small.as_mut_slice(), options);
        assert!(matches!(result, Err(TraceError::Write(_))));
    }
}
