//! What `sacct` prints: one row a job or job step, cells parted by `|` (`--parsable2`) or by width.

use std::io::Read;

use harp_slurm::{Cells, Rows};

use crate::columns::{Field, Layout};
use crate::lines::for_each_line;
use crate::reading::Sink;
use crate::table::take_row;
use crate::{Header, Job, ReadOptions, Reading, TraceError};

/// Visits the jobs; the lines of job steps (`1234.batch`) are counted in [`Reading::steps`].
pub(crate) fn visit(
    source: &mut dyn Read,
    options: &ReadOptions,
    reading: &mut Reading,
    sink: Sink<'_>,
) -> Result<(), TraceError> {
    let name = reading.name.clone();
    let mut table: Option<(Rows, Layout)> = None;
    let lines = for_each_line(&name, source, |number, line| {
        let Ok(text) = std::str::from_utf8(line) else {
            reading.skipped.add(number, "the line is not text".to_owned());
            return Ok(());
        };
        let Some((rows, layout)) = &mut table else {
            if !text.trim().is_empty() {
                let rows = Rows::new(text).map_err(|error| TraceError::Columns {
                    name: name.clone(),
                    line: number,
                    reason: error.to_string(),
                    hint: "save what `sacct --parsable2` prints, with its header".to_owned(),
                })?;
                let layout = Layout::new(&name, number, rows.names(), &options.columns)?;
                table = Some((rows, layout));
            }
            return Ok(());
        };
        rows.line(number, text, &mut |line, cells| take(line, cells, layout, reading, sink));
        Ok(())
    })?;
    if let Some((mut rows, layout)) = table {
        rows.finish(&mut |line, cells| take(line, cells, &layout, reading, sink));
    }
    reading.lines = lines;
    Ok(())
}

fn take(
    line: u64,
    cells: Result<Cells<'_>, String>,
    layout: &Layout,
    reading: &mut Reading,
    sink: &mut dyn FnMut(&Job, &Header),
) {
    let cells = match cells {
        Ok(cells) => cells,
        Err(reason) => return reading.skipped.add(line, reason),
    };
    let cell = |field: Field| cells.get(layout.place(field)?);
    if cell(Field::Number).is_some_and(|job| job.contains('.')) {
        reading.steps += 1;
    } else {
        take_row(line, &cell, reading, sink);
    }
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
