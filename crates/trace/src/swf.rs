//! The Standard Workload Format: 18 numbers a line, −1 for unknown, comments after `;`.
//!
//! S. J. Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers",
//! Job Scheduling Strategies for Parallel Processing, 1999; version 2.2 of the Parallel Workloads
//! Archive. Reads and writes single lines; never sorts, corrects or drops a job.

mod number;

use std::io::{Read, Write};

use crate::lines::for_each_line;
use crate::reading::Sink;
use crate::{Job, Reading, Status, TraceError};
use number::{Number, parse_number, skip_blanks, word};

const FIELDS: usize = 18;

const NAMES: [&str; FIELDS] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];

/// Visits the jobs of a stream; lines that are none are counted in `reading`.
pub(crate) fn visit(source: &mut dyn Read, reading: &mut Reading, sink: Sink<'_>) -> Result<(), TraceError> {
    let name = reading.name.clone();
    let lines = for_each_line(&name, source, |number, line| {
        let start = skip_blanks(line, 0);
        match line.get(start) {
            None => return Ok(()),
            Some(b';') => {
                reading.header.comment(&String::from_utf8_lossy(&line[start + 1..]));
                return Ok(());
            }
            Some(_) => {}
        }
        match parse_fields(line, start).and_then(|fields| job(&fields)) {
            Ok(mut job) => {
                job.line = number;
                reading.jobs += 1;
                sink(&job, &reading.header);
            }
            Err(reason) => reading.skipped.add(number, reason),
        }
        Ok(())
    })?;
    reading.lines = lines;
    Ok(())
}

fn parse_fields(line: &[u8], start: usize) -> Result<[Number; FIELDS], String> {
    let mut position = start;
    let mut fields = [Number::default(); FIELDS];
    for (index, field) in fields.iter_mut().enumerate() {
        if position >= line.len() {
            return Err(format!("{index} fields instead of {FIELDS}: {} is missing", NAMES[index]));
        }
        let (number, end) =
            parse_number(line, position).ok_or_else(|| not_a_number(line, position, index))?;
        *field = number;
        position = skip_blanks(line, end);
    }
    if position < line.len() && line[position] != b';' {
        return Err(format!("more than {FIELDS} fields: `{}` follows think time", word(line, position)));
    }
    Ok(fields)
}

fn job(fields: &[Number; FIELDS]) -> Result<Job, String> {
    let processors = |index: usize| -> Result<Option<u32>, String> {
        let Some(known) = fields[index].known() else { return Ok(None) };
        let small =
            u32::try_from(known).map_err(|_| format!("{} is {known}, which no machine has", NAMES[index]))?;
        Ok(Some(small))
    };
    let number = fields[0].identity().ok_or_else(|| "job number is negative".to_owned())?;
    Ok(Job {
        number,
        line: 0,
        submit: fields[1].rounded(),
        wait: fields[2].known(),
        run: fields[3].known(),
        allocated_processors: processors(4)?,
        average_cpu_time: fields[5].real(),
        used_memory: fields[6].real(),
        requested_processors: processors(7)?,
        requested_time: fields[8].known(),
        requested_memory: fields[9].real(),
        status: Status::from_code(fields[10].rounded()),
        user: fields[11].identity(),
        group: fields[12].identity(),
        executable: fields[13].identity(),
        queue: fields[14].identity(),
        partition: fields[15].identity(),
        preceding_job: fields[16].identity(),
        think_time: fields[17].known(),
        gpus: None,
    })
}

#[cold]
fn not_a_number(line: &[u8], position: usize, index: usize) -> String {
    let text: String = word(line, position).chars().take(40).collect();
    format!("field {} ({}) is `{text}`, not a number", index + 1, NAMES[index])
}

/// Writes one job as a line.
pub(crate) fn write_job(job: &Job, destination: &mut dyn Write) -> std::io::Result<()> {
    fn whole<T: Into<i64>>(value: Option<T>) -> i64 {
        value.map_or(-1, Into::into)
    }
    fn identity(value: Option<u64>) -> i64 {
        value.and_then(|value| i64::try_from(value).ok()).unwrap_or(-1)
    }
    let real = |value: Option<f64>| value.unwrap_or(-1.0);
    writeln!(
        destination,
        "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
        job.number,
        job.submit,
        whole(job.wait),
        whole(job.run),
        whole(job.allocated_processors),
        real(job.average_cpu_time),
        real(job.used_memory),
        whole(job.requested_processors),
        whole(job.requested_time),
        real(job.requested_memory),
        job.status.code(),
        identity(job.user),
        identity(job.group),
        identity(job.executable),
        identity(job.queue),
        identity(job.partition),
        identity(job.preceding_job),
        whole(job.think_time),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Format;

    fn read(text: &str) -> (Vec<Job>, Reading) {
        let mut reading = Reading::new("t.swf", Format::Swf);
        let mut jobs = Vec::new();
        visit(&mut text.as_bytes(), &mut reading, &mut |job, _| jobs.push(*job)).unwrap();
        (jobs, reading)
    }

    #[test]
    fn all_fields_are_read() {
        let (jobs, reading) = read(
            "; MaxProcs: 128 (of which 100 batch)\n;UnixStartTime: 5\n; TimeZoneString: Europe/Stockholm\n\n\
             7 10 3 20 4 15.5 1024 8 30 2048 5 1 2 3 4 5 6 7\r\n",
        );
        assert_eq!(reading.header.max_processors, Some(128));
        assert_eq!(reading.header.unix_start_time, Some(5));
        assert_eq!(reading.header.time_zone.as_deref(), Some("Europe/Stockholm"));
        assert_eq!((reading.lines, reading.jobs, reading.skipped.count), (5, 1, 0));
        let expected = Job {
            number: 7,
            line: 5,
            submit: 10,
            wait: Some(3),
            run: Some(20),
            allocated_processors: Some(4),
            average_cpu_time: Some(15.5),
            used_memory: Some(1024.0),
            requested_processors: Some(8),
            requested_time: Some(30),
            requested_memory: Some(2048.0),
            status: Status::Cancelled,
            user: Some(1),
            group: Some(2),
            executable: Some(3),
            queue: Some(4),
            partition: Some(5),
            preceding_job: Some(6),
            think_time: Some(7),
            gpus: None,
        };
        assert_eq!(jobs, [expected]);
    }

    #[test]
    fn minus_one_is_missing() {
        let (jobs, _) = read("1 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n");
        assert_eq!(jobs, [Job { number: 1, line: 1, ..Job::default() }]);
    }

    #[test]
    fn bad_lines_are_counted_with_their_numbers() {
        let good = "1 0 -1 5 2 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1";
        let (jobs, reading) =
            read(&format!("{good}\n1 2 3\n{good} 9\n{}\n{good}", good.replace(" 5 ", " five ")));
        assert_eq!(jobs.len(), 2);
        let found: Vec<(u64, &str)> =
            reading.skipped.lines.iter().map(|bad| (bad.line, bad.reason.as_str())).collect();
        assert_eq!(
            found,
            [
                (2, "3 fields instead of 18: run time is missing"),
                (3, "more than 18 fields: `9` follows think time"),
                (4, "field 4 (run time) is `five`, not a number"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut reading = Reading::new("t.swf", Format::Swf);
            visit(&mut bytes.as_slice(), &mut reading, &mut |_, _| ()).unwrap();
        }

        #[test]
        fn what_is_written_is_read_again(
            number in 0u64..1_000_000, submit in 0i64..1 << 40, wait in proptest::option::of(0i64..1 << 30),
            run in proptest::option::of(0i64..1 << 30), size in proptest::option::of(0u32..1 << 20),
            cpu in proptest::option::of(0f64..1e9), status in -1i64..6, user in proptest::option::of(0u64..1 << 40),
        ) {
            let job = Job {
                number, submit, wait, run, requested_processors: size, average_cpu_time: cpu,
                status: Status::from_code(status), user, line: 1, ..Job::default()
            };
            let mut text = Vec::new();
            write_job(&job, &mut text).unwrap();
            let (jobs, _) = read(std::str::from_utf8(&text).unwrap());
            let found = jobs[0];
            let cpu_matches = match (found.average_cpu_time, cpu) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * b.max(1.0),
                (a, b) => a == b,
            };
            prop_assert!(cpu_matches);
            prop_assert_eq!(Job { average_cpu_time: cpu, ..found }, job);
        }
    }
}
