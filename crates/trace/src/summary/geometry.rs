//! Run times, sizes, arrivals, utilisation.

use serde::Serialize;

use crate::summary::calendar::Calendar;
use crate::summary::classes::{ClassSummary, share};
use crate::summary::collect::Row;
use crate::summary::distribution::Distribution;

/// Most points of the utilisation over time.
const POINTS: usize = 400;

/// The geometry of a trace's jobs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Geometry {
    /// The first submission, in the trace's own time.
    pub first_submit: i64,
    /// The last known end.
    pub last_end: i64,
    /// Run times in seconds.
    pub run_s: Distribution,
    /// Sizes.
    pub size: Distribution,
    /// Seconds between submissions.
    pub arrival_interval_s: Distribution,
    /// Waits in seconds.
    pub wait_s: Distribution,
    /// Submissions by hour of the day, from 0, in the summary's time zone.
    pub by_hour: [u64; 24],
    /// Submissions by day of the week, Monday first.
    pub by_weekday: [u64; 7],
    /// Busiest hour over quietest hour; `None` if some hour has none.
    pub hour_peak_ratio: Option<f64>,
    /// Mean utilisation from the first submission to the last end; `None` where waits are not known.
    pub utilisation: Option<f64>,
    /// Utilisation over time.
    pub utilisation_over_time: Vec<UtilisationPoint>,
    /// What all jobs used.
    pub core_hours: f64,
    /// Small, middle, large.
    pub by_size: Vec<ClassSummary>,
    /// Short, middle, long.
    pub by_length: Vec<ClassSummary>,
}

/// Utilisation over a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UtilisationPoint {
    /// When the span begins, in the trace's own time.
    pub time_s: i64,
    /// Share of the machine in use.
    pub utilisation: f64,
}

/// Works on rows sorted by submission.
pub(crate) fn geometry(
    rows: &[Row],
    machine: u32,
    calendar: &Calendar<'_>,
    by_size: Vec<ClassSummary>,
    by_length: Vec<ClassSummary>,
) -> Geometry {
    let first_submit = rows.first().map_or(0, |row| row.submit);
    let end = |row: &Row| row.submit + row.wait().unwrap_or(0) + row.run().unwrap_or(0);
    let last_end = rows.iter().map(end).max().unwrap_or(0);
    let small = |seconds: i64| u32::try_from(seconds).unwrap_or(u32::MAX);
    let mut runs: Vec<u32> = rows.iter().filter_map(Row::run).map(small).collect();
    let mut waits: Vec<u32> = rows.iter().filter_map(Row::wait).map(small).collect();
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.size).collect();
    let mut gaps: Vec<u32> = rows.windows(2).map(|pair| small(pair[1].submit - pair[0].submit)).collect();
    let mut by_hour = [0u64; 24];
    let mut by_weekday = [0u64; 7];
    let mut clock = calendar.clock();
    for row in rows {
        let time = clock(row.submit);
        by_hour[(time.rem_euclid(86_400) / 3600) as usize] += 1;
        // 1 January 1970 was a Thursday
        by_weekday[(time.div_euclid(86_400) + 3).rem_euclid(7) as usize] += 1;
    }
    let (quietest, busiest) = (by_hour.iter().min().copied(), by_hour.iter().max().copied());
    let utilisation_over_time = utilisation_over_time(rows, machine, first_submit, last_end);
    let mean = |points: &[UtilisationPoint]| {
        (!points.is_empty())
            .then(|| points.iter().map(|point| point.utilisation).sum::<f64>() / points.len() as f64)
    };
    Geometry {
        first_submit,
        last_end,
        run_s: Distribution::of(&mut runs),
        size: Distribution::of(&mut sizes),
        arrival_interval_s: Distribution::of(&mut gaps),
        wait_s: Distribution::of(&mut waits),
        by_hour,
        by_weekday,
        hour_peak_ratio: quietest
            .zip(busiest)
            .filter(|(quietest, _)| *quietest > 0)
            .map(|(quietest, busiest)| busiest as f64 / quietest as f64),
        utilisation: mean(&utilisation_over_time),
        utilisation_over_time,
        core_hours: rows.iter().map(Row::area).sum::<f64>() / 3600.0,
        by_size,
        by_length,
    }
}

/// Spreads each job over the spans it ran in; nothing where no wait is known.
fn utilisation_over_time(rows: &[Row], machine: u32, from: i64, to: i64) -> Vec<UtilisationPoint> {
    if to <= from || rows.iter().all(|row| row.wait().is_none()) {
        return Vec::new();
    }
    let points = POINTS.min((to - from) as usize);
    let width = (to - from) as f64 / points as f64;
    // what begins and ends in a span is added there; what covers whole spans is added as a difference
    let mut partly = vec![0.0; points + 1];
    let mut change = vec![0.0; points + 1];
    for row in rows {
        let (Some(start), Some(run)) = (row.start(), row.run()) else { continue };
        let begin = ((start - from) as f64 / width).clamp(0.0, points as f64);
        let end = ((start + run - from) as f64 / width).clamp(0.0, points as f64);
        let size = f64::from(row.size);
        let (first, last) = (begin as usize, end as usize);
        if first == last {
            partly[first] += size * (end - begin);
            continue;
        }
        partly[first] += size * ((first + 1) as f64 - begin);
        partly[last] += size * (end - last as f64);
        change[first + 1] += size;
        change[last] -= size;
    }
    let mut whole = 0.0;
    (0..points)
        .map(|place| {
            whole += change[place];
            UtilisationPoint {
                time_s: from + (place as f64 * width) as i64,
                utilisation: share(whole + partly[place], f64::from(machine)),
            }
        })
        .collect()
}
