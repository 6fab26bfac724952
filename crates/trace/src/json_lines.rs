//! One JSON object a line, with the field names of [`Job`]: harp's own exchange form.

use std::io::{Read, Write};

use crate::lines::for_each_line;
use crate::reading::Sink;
use crate::{Job, Reading, TraceError};

/// Visits the jobs of a stream.
pub(crate) fn visit(source: &mut dyn Read, reading: &mut Reading, sink: Sink<'_>) -> Result<(), TraceError> {
    let name = reading.name.clone();
    let lines = for_each_line(&name, source, |number, line| {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        match serde_json::from_slice::<Job>(line) {
            Ok(mut job) => {
                job.line = number;
                reading.jobs += 1;
                sink(&job, &reading.header);
            }
            Err(error) => reading.skipped.add(number, error.to_string()),
        }
        Ok(())
    })?;
    reading.lines = lines;
    Ok(())
}

/// Writes one job as a line.
pub(crate) fn write_job(job: &Job, destination: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer(&mut *destination, job)?;
    destination.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Status};

    #[test]
    fn what_is_written_is_read_again() {
        let job =
            Job { number: 3, submit: 5, run: Some(7), status: Status::Failed, line: 1, ..Job::default() };
        let mut text = Vec::new();
        write_job(&job, &mut text).unwrap();
        text.extend_from_slice(b"{\"number\": \"x\"}\n");
        let mut reading = Reading::new("t", Format::JsonLines);
        let mut jobs = Vec::new();
        visit(&mut text.as_slice(), &mut reading, &mut |job, _| jobs.push(*job)).unwrap();
        assert_eq!(jobs, [job]);
        assert_eq!(reading.skipped.lines[0].line, 2);
    }
}
