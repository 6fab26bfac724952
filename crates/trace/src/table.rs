//! Tables: comma-separated files with a header, and the rows of `sacct --parsable2`.
//!
//! A cell that cannot be understood makes its row a bad line; an empty one is missing.

use std::io::Read;

use harp_slurm::Tres;

use crate::columns::{Field, Layout};
use crate::reading::Sink;
use crate::stamp::{point, real, span};
use crate::{Job, ReadOptions, Reading, Status, TraceError};

/// Visits the rows of a separated file; the separator is the commonest of `,`, `;`, `|` and tab in the header.
pub(crate) fn visit(
    source: &mut dyn Read,
    options: &ReadOptions,
    reading: &mut Reading,
    sink: Sink<'_>,
) -> Result<(), TraceError> {
    let (separator, beginning) = first_line(&reading.name, source)?;
    let whole = beginning.as_slice().chain(source);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(whole);
    let mut record = csv::ByteRecord::new();
    let mut layout: Option<Layout> = None;
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                let source = std::io::Error::other(error.to_string());
                return Err(TraceError::Read { name: reading.name.clone(), source });
            }
        }
        let line = record.position().map_or(1, csv::Position::line);
        reading.lines = line;
        let Some(layout) = &layout else {
            let header: Vec<String> =
                record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
            layout = Some(Layout::new(&reading.name, line, &header, &options.columns)?);
            continue;
        };
        if record.len() != layout.width {
            let reason = format!("{} cells, the header has {}", record.len(), layout.width);
            reading.skipped.add(line, reason);
            continue;
        }
        let cell = |field: Field| -> Option<&str> {
            let text = std::str::from_utf8(record.get(layout.place(field)?)?).ok()?.trim();
            (!text.is_empty()).then_some(text)
        };
        take_row(line, &cell, reading, sink);
    }
    Ok(())
}

/// The separator of a table, and its first line as read from the stream.
fn first_line(name: &str, source: &mut dyn Read) -> Result<(u8, Vec<u8>), TraceError> {
    let mut beginning = Vec::new();
    let mut byte = [0u8];
    while !beginning.ends_with(b"\n") && beginning.len() < 1 << 20 {
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => beginning.push(byte[0]),
            Err(source) => return Err(TraceError::Read { name: name.to_owned(), source }),
        }
    }
    let count = |separator: u8| beginning.iter().filter(|&&byte| byte == separator).count();
    let separator = [b'\t', b'|', b';', b','].into_iter().max_by_key(|&separator| count(separator));
    Ok((separator.unwrap_or(b','), beginning))
}

/// Makes a job of a row's cells, or counts a bad line.
pub(crate) fn take_row<'a>(
    line: u64,
    cell: &impl Fn(Field) -> Option<&'a str>,
    reading: &mut Reading,
    sink: Sink<'_>,
) {
    match row(line, cell, reading) {
        Ok(job) => {
            reading.jobs += 1;
            sink(&job, &reading.header);
        }
        Err(reason) => reading.skipped.add(line, reason),
    }
}

fn row<'a>(
    line: u64,
    cell: &impl Fn(Field) -> Option<&'a str>,
    reading: &mut Reading,
) -> Result<Job, String> {
    let submit_text = cell(Field::Submit).ok_or("the submit time is missing")?;
    let zone = &reading.zone;
    let submit =
        point(submit_text, zone).ok_or_else(|| format!("submit time `{submit_text}` is not a time"))?;
    let start = cell(Field::Start).and_then(|text| point(text, zone));
    let end = cell(Field::End).and_then(|text| point(text, zone));
    let state = cell(Field::Status).unwrap_or("");
    let unfinished = ["running", "pending", "suspended", "requeued", "resizing"]
        .iter()
        .any(|word| state.to_ascii_lowercase().starts_with(word));
    let span_of = |field: Field, what: &str| match cell(field) {
        None => Ok(None),
        Some(text) => span(text).map(Some).ok_or_else(|| format!("{what} `{text}` is not a time")),
    };
    let positive = |value: Option<i64>| value.filter(|&seconds| seconds >= 0);
    let run = span_of(Field::Run, "run time")?.or_else(|| Some(end? - start?));
    let wait = span_of(Field::Wait, "wait time")?.or_else(|| start.map(|start| start - submit));
    let count = |field: Field, what: &str| match cell(field) {
        None => Ok(None),
        Some(text) => match real(text) {
            Some(value) if value < 0.0 => Ok(None),
            Some(value) if value <= f64::from(u32::MAX) => Ok(Some(value.round() as u32)),
            _ => Err(format!("{what} `{text}` is not a count")),
        },
    };
    let minutes = cell(Field::RequestedMinutes).and_then(real).map(|minutes| (minutes * 60.0).round() as i64);
    let requested_time = cell(Field::RequestedTime).and_then(span).or(minutes);
    let known_real = |field: Field| cell(field).and_then(real).filter(|&value| value >= 0.0);
    let gpus = match count(Field::Gpus, "gpus")? {
        Some(gpus) => Some(gpus),
        None => cell(Field::Tres).and_then(|text| u32::try_from(Tres::parse(text).gpus?).ok()),
    };
    let number_text = cell(Field::Number).unwrap_or("");
    let number = number_text.split(['_', '+', '.']).next().and_then(|text| text.parse::<u64>().ok());
    let preceding_job = cell(Field::PrecedingJob).and_then(|text| text.parse().ok());
    Ok(Job {
        number: number.unwrap_or(reading.jobs + 1),
        line,
        submit,
        wait: positive(wait),
        run: if unfinished { None } else { positive(run) },
        allocated_processors: count(Field::AllocatedProcessors, "allocated processors")?,
        average_cpu_time: known_real(Field::AverageCpuTime),
        used_memory: known_real(Field::UsedMemory),
        requested_processors: count(Field::RequestedProcessors, "processors")?,
        requested_time: requested_time.filter(|&seconds| seconds >= 0),
        requested_memory: known_real(Field::RequestedMemory),
        status: Status::from_word(state),
        user: cell(Field::User).map(|text| reading.users.number(text)),
        group: cell(Field::Group).map(|text| reading.groups.number(text)),
        executable: cell(Field::Executable).map(|text| reading.executables.number(text)),
        queue: cell(Field::Queue).map(|text| reading.queues.number(text)),
        partition: cell(Field::Partition).map(|text| reading.partitions.number(text)),
        preceding_job,
        think_time: span_of(Field::ThinkTime, "think time")?.filter(|&seconds| seconds >= 0),
        gpus,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    fn read(text: &str) -> (Vec<Job>, Reading) {
        let mut reading = Reading::new("t.csv", Format::Csv);
        let mut jobs = Vec::new();
        visit(&mut text.as_bytes(), &ReadOptions::default(), &mut reading, &mut |job, _| jobs.push(*job))
            .unwrap();
        (jobs, reading)
    }

    #[test]
    fn rows_become_jobs_and_bad_rows_are_counted() {
        let (jobs, reading) = read(
            "job,user,submit_time,wait_time,run_time,wall_time,node_num,new_status\n\
             9,anna,1000.0,5,60.0,3600.0,512.0,Pass\n\
             10,berta,2018-08-27T07:33:37+02:00,-5,01:00:00,,2,Killed\n\
             11,anna,soon,1,2,3,4,Pass\n\
             12,anna,5,6\n\
             13,anna,5,1,2,3,many,Failed\n",
        );
        assert_eq!(jobs.len(), 2);
        let first = jobs[0];
        assert_eq!((first.number, first.submit, first.wait, first.run), (9, 1000, Some(5), Some(60)));
        assert_eq!((first.requested_time, first.requested_processors), (Some(3600), Some(512)));
        assert_eq!(jobs[1].submit, 1_535_348_017);
        assert_eq!((jobs[1].wait, jobs[1].run, jobs[1].requested_time), (None, Some(3600), None));
        assert_eq!(jobs[1].status, Status::Cancelled);
        assert_eq!(reading.users.text(jobs[0].user.unwrap()), Some("anna"));
        let lines: Vec<u64> = reading.skipped.lines.iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [4, 5, 6]);
        assert!(reading.skipped.lines[0].reason.contains("`soon`"));
    }

    #[test]
    fn other_separators_are_understood() {
        let (jobs, _) = read("submit;run;processors\n1;2;3\n");
        assert_eq!((jobs[0].submit, jobs[0].run, jobs[0].processors()), (1, Some(2), Some(3)));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(submit,run,user\n)?[0-9a-z,\"\n|;]{0,200}") {
            let mut reading = Reading::new("t.csv", Format::Csv);
            let _ = visit(&mut text.as_bytes(), &ReadOptions::default(), &mut reading, &mut |_, _| ());
        }
    }
}
