//! Writing traces: SWF, CSV and JSON lines, one job at a time.
//!
//! Users, groups, queues and the like are written as numbers in every format; names a trace gave them
//! are not.

use std::io::Write;

use crate::{Format, Header, Job, Status, TraceError};

const COLUMNS: &str = "number,submit,wait,run,allocated_processors,average_cpu_time,used_memory,\
    requested_processors,requested_time,requested_memory,status,user,group,executable,queue,partition,\
    preceding_job,think_time,gpus";

/// Writes jobs to a destination as they come.
pub struct TraceWriter<W: Write> {
    destination: W,
    format: Format,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace. The accounting formats of Slurm are only read: asked for one, this refuses.
    pub fn new(mut destination: W, format: Format, header: &Header) -> Result<Self, TraceError> {
        match format {
            Format::Swf => write_header(&mut destination, header)?,
            Format::Csv => writeln!(destination, "{COLUMNS}")?,
            Format::JsonLines => {}
            Format::Sacct | Format::SacctJson => {
                let reason = format!("{} cannot be written; choose swf, csv or jsonl", format.name());
                return Err(TraceError::Write(std::io::Error::new(std::io::ErrorKind::Unsupported, reason)));
            }
        }
        Ok(TraceWriter { destination, format })
    }

    /// Writes one job.
    pub fn write(&mut self, job: &Job) -> Result<(), TraceError> {
        match self.format {
            Format::Csv => write_row(job, &mut self.destination)?,
            Format::JsonLines => crate::json_lines::write_job(job, &mut self.destination)?,
            _ => crate::swf::write_job(job, &mut self.destination)?,
        }
        Ok(())
    }

    /// Ends the trace and gives the destination back.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.destination.flush()?;
        Ok(self.destination)
    }
}

/// The header of an SWF file: the comments that were there, or what is known.
fn write_header(destination: &mut dyn Write, header: &Header) -> std::io::Result<()> {
    if !header.comments.is_empty() {
        for comment in &header.comments {
            writeln!(destination, ";{comment}")?;
        }
        return Ok(());
    }
    writeln!(destination, "; Version: 2.2")?;
    if let Some(start) = header.unix_start_time {
        writeln!(destination, "; UnixStartTime: {start}")?;
    }
    if let Some(nodes) = header.max_nodes {
        writeln!(destination, "; MaxNodes: {nodes}")?;
    }
    if let Some(processors) = header.max_processors {
        writeln!(destination, "; MaxProcs: {processors}")?;
    }
    Ok(())
}

fn write_row(job: &Job, destination: &mut dyn Write) -> std::io::Result<()> {
    fn cell<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let status = match job.status {
        Status::Failed => "failed",
        Status::Completed => "completed",
        Status::PartialContinued => "partial_continued",
        Status::PartialCompleted => "partial_completed",
        Status::PartialFailed => "partial_failed",
        Status::Cancelled => "cancelled",
        Status::Unknown => "",
    };
    let cells = [
        job.number.to_string(),
        job.submit.to_string(),
        cell(job.wait),
        cell(job.run),
        cell(job.allocated_processors),
        cell(job.average_cpu_time),
        cell(job.used_memory),
        cell(job.requested_processors),
        cell(job.requested_time),
        cell(job.requested_memory),
        status.to_owned(),
        cell(job.user),
        cell(job.group),
        cell(job.executable),
        cell(job.queue),
        cell(job.partition),
        cell(job.preceding_job),
        cell(job.think_time),
        cell(job.gpus),
    ];
    writeln!(destination, "{}", cells.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    #[test]
    fn every_format_that_is_written_is_read_again() {
        let jobs = [
            Job {
                number: 4,
                line: 0,
                submit: 100,
                wait: Some(1),
                run: Some(2),
                allocated_processors: Some(3),
                average_cpu_time: Some(4.0),
                used_memory: Some(5.0),
                requested_processors: Some(6),
                requested_time: Some(7),
                requested_memory: Some(8.0),
                status: Status::PartialFailed,
                user: Some(9),
                group: Some(10),
                executable: Some(11),
                queue: Some(12),
                partition: Some(13),
                preceding_job: Some(14),
                think_time: Some(15),
                gpus: None,
            },
            Job { number: 5, submit: 101, user: Some(8), ..Job::default() },
        ];
        for format in [Format::Swf, Format::Csv, Format::JsonLines] {
            let header = Header { max_processors: Some(64), ..Header::default() };
            let mut writer = TraceWriter::new(Vec::new(), format, &header).unwrap();
            for job in &jobs {
                writer.write(job).unwrap();
            }
            let text = writer.finish().unwrap();
            let trace = crate::read("t", text.as_slice(), &ReadOptions::default()).unwrap();
            assert_eq!(trace.reading.format, format);
            let found: Vec<Job> = trace.jobs.iter().map(|job| Job { line: 0, ..*job }).collect();
            assert_eq!(found, jobs, "{}", String::from_utf8_lossy(&text));
        }
        assert!(TraceWriter::new(Vec::new(), Format::Sacct, &Header::default()).is_err());
    }
}
