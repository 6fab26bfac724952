//! What `sacct --parsable2` prints: one line a job or job step, cells parted by `|`, never quoted.

use std::io::Read;

use crate::columns::{Field, Layout};
use crate::lines::for_each_line;
use crate::reading::Sink;
use crate::table::take_row;
use crate::{ReadOptions, Reading, TraceError};

/// Visits the jobs; the lines of job steps (`1234.batch`) are counted in [`Reading::steps`].
pub(crate) fn visit(
    source: &mut dyn Read,
    options: &ReadOptions,
    reading: &mut Reading,
    sink: Sink<'_>,
) -> Result<(), TraceError> {
    let name = reading.name.clone();
    let mut layout: Option<Layout> = None;
    let lines = for_each_line(&name, source, |number, line| {
        let Ok(text) = std::str::from_utf8(line) else {
            reading.skipped.add(number, "the line is not text".to_owned());
            return Ok(());
        };
        if text.trim().is_empty() {
            return Ok(());
        }
        let cells: Vec<&str> = text.split('|').collect();
        let Some(layout) = &layout else {
            let header: Vec<String> = cells.iter().map(|cell| cell.trim().to_owned()).collect();
            layout = Some(Layout::new(&name, number, &header, &options.columns)?);
            return Ok(());
        };
        if cells.len() != layout.width {
            reading.skipped.add(number, format!("{} cells, the header has {}", cells.len(), layout.width));
            return Ok(());
        }
        let cell = |field: Field| -> Option<&str> {
            let text = cells[layout.place(field)?].trim();
            (!text.is_empty()).then_some(text)
        };
        if cell(Field::Number).is_some_and(|job| job.contains('.')) {
            reading.steps += 1;
        } else {
            take_row(number, &cell, reading, sink);
        }
        Ok(())
    })?;
    reading.lines = lines;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Status};

    #[test]
    fn jobs_are_read_and_steps_are_not_jobs() {
        let text = "JobID|User|Account|Partition|Submit|Start|End|ElapsedRaw|Timelimit|ReqCPUS|AllocTRES|State\n\
            100|anna|phys|gpu|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600|1-00:00:00|8|cpu=8,gres/gpu=2|COMPLETED\n\
            100.batch||phys||2024-01-01T00:01:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600||8||COMPLETED\n\
            101_7|bert|chem|cpu|2024-01-01T00:00:10|Unknown|Unknown|0|UNLIMITED|16||PENDING\n\
            102|bert|chem|cpu|2024-01-01T00:00:10|2024-01-01T00:00:20|2024-01-01T00:00:30|10|00:00:30|16||CANCELLED by 7\n\
            103|bert|chem\n";
        let mut reading = Reading::new("t", Format::Sacct);
        let mut jobs = Vec::new();
        visit(&mut text.as_bytes(), &ReadOptions::default(), &mut reading, &mut |job, _| jobs.push(*job))
            .unwrap();
        assert_eq!((jobs.len(), reading.steps, reading.skipped.count), (3, 1, 1));
        let job = jobs[0];
        assert_eq!(
            (job.wait, job.run, job.requested_time, job.gpus),
            (Some(60), Some(3600), Some(86_400), Some(2))
        );
        assert_eq!(
            (jobs[1].number, jobs[1].run, jobs[1].wait, jobs[1].requested_time),
            (101, None, None, None)
        );
        assert_eq!(jobs[2].status, Status::Cancelled);
        assert_eq!(reading.partitions.text(jobs[2].partition.unwrap()), Some("cpu"));
    }
}
