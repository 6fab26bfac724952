//! How a cluster behaves, told from its trace: geometry of jobs, failures, users.
//!
//! Follows D. Zhang et al., "Cross-system analysis of job characterization and scheduling in
//! large-scale computing clusters", IPDPS 2024. Gives numbers only; tables and charts are
//! made of them elsewhere.

mod calendar;
mod classes;
mod collect;
mod compare;
mod distribution;
mod geometry;
mod takeaways;
mod users;

use serde::Serialize;

use crate::summary::calendar::Calendar;
use crate::{Reading, Skipped, TraceError};

pub use classes::{ClassSummary, Failures, StateShare};
pub use collect::{Collector, Machine};
pub use compare::{ComparedFigure, ComparedTakeaway, Comparison, compare};
pub use distribution::Distribution;
pub use geometry::{Geometry, UtilisationPoint};
pub use takeaways::Takeaway;
pub use users::{QueueBin, Repeated, UserSummary, Users};

/// The whole characterisation. The keys are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The trace's name.
    pub name: String,
    /// Its format.
    pub format: &'static str,
    /// Lines read.
    pub lines: u64,
    /// Jobs read.
    pub jobs: u64,
    /// Lines that could not be used.
    pub skipped: Skipped,
    /// The machine the shares refer to.
    pub machine: MachineSummary,
    /// Seconds from the first submission to the last known end.
    pub span_s: i64,
    /// The Unix second the trace's time 0 stands for, if its header tells.
    pub unix_start_time: Option<i64>,
    /// The zone hours and days are told in; `None` where the trace has no dates and they count from its
    /// time 0.
    pub time_zone: Option<String>,
    /// Run times, sizes, arrivals, utilisation, waits.
    pub geometry: Geometry,
    /// How jobs ended.
    pub failures: Failures,
    /// What users do.
    pub users: Users,
    /// The study's statements, with this trace's numbers.
    pub takeaways: Vec<Takeaway>,
    /// What a reader of the numbers should know.
    pub notes: Vec<String>,
}

/// The machine a trace is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MachineSummary {
    /// `processors` or `gpus`: what sizes count.
    pub unit: &'static str,
    /// How many there are.
    pub size: u32,
    /// `given`, `header` or `largest job`.
    pub source: &'static str,
}

/// Says when the trace's own starts and ends put more on the machine than it has.
fn overfull(geometry: &Geometry, size: u32, unit: &str) -> Option<String> {
    let points = &geometry.utilisation_over_time;
    // jobs that end and start in the same second may overlap by as much
    let beyond = points.iter().filter(|point| point.utilisation > 1.001).count();
    let most = points.iter().map(|point| point.utilisation).fold(0.0, f64::max);
    (beyond > 0).then(|| {
        format!(
            "by the trace's own waits and run times up to {:.0} % of {size} {unit} are in use at once (above \
             100 % for {:.0} % of the time): its waits or the machine's size are not right, and figures made of \
             waits and utilisation share the fault",
            100.0 * most,
            (100.0 * beyond as f64 / points.len() as f64).max(1.0)
        )
    })
}

impl Collector {
    /// Makes the characterisation of what was collected.
    pub fn finish(self, reading: &Reading, machine: Machine) -> Result<Summary, TraceError> {
        let mut notes = Vec::new();
        let mut rows = self.rows;
        let gpus = machine.gpus.is_some() || (machine.processors.is_none() && self.gpu_jobs * 2 > self.jobs);
        if gpus {
            for row in &mut rows {
                row.size = row.gpus;
            }
        }
        let largest = rows.iter().map(|row| row.size).max().unwrap_or(0).max(1);
        let header = reading.header.machine().filter(|_| !gpus);
        let given = if gpus { machine.gpus } else { machine.processors };
        let (size, source) = match (given, header) {
            (Some(given), _) => (given, "given"),
            (None, Some(header)) => (header, "header"),
            (None, None) => {
                let unit = if gpus { "gpus" } else { "procs" };
                notes.push(format!(
                    "{}:1: the trace does not say how large the machine is; the largest job ({largest}) is taken \
                     for it; give the size with --machine {unit}=N",
                    reading.name
                ));
                (largest, "largest job")
            }
        };
        if largest > size {
            notes.push(format!("the largest job ({largest}) is larger than the machine ({size})"));
        }
        let unit = if gpus { "gpus" } else { "processors" };
        let machine = MachineSummary { unit, size, source };
        rows.sort_by_key(|row| row.submit);
        let calendar = Calendar::new(reading, rows.first().map_or(0, |row| row.submit));
        notes.extend(calendar.note());
        let sized = |class: fn(u32, u32) -> usize| move |row: &collect::Row| class(row.size, size);
        let size_class = if gpus { classes::gpu_class as fn(u32, u32) -> usize } else { classes::size_class };
        let by_size = classes::summarise(&rows, ["small", "middle", "large"], sized(size_class));
        let by_length = classes::summarise(&rows, ["short", "middle", "long"], classes::length_class);
        let failures = classes::failures(&rows);
        let geometry = geometry::geometry(&rows, size, &calendar, by_size, by_length);
        notes.extend(overfull(&geometry, size, unit));
        let users = users::users(&mut rows, &self.originals, reading);
        let first = geometry.first_submit;
        let mut summary = Summary {
            name: reading.name.clone(),
            format: reading.format.name(),
            lines: reading.lines,
            jobs: reading.jobs,
            skipped: reading.skipped.clone(),
            machine,
            span_s: geometry.last_end - first,
            unix_start_time: reading.header.unix_start_time,
            time_zone: calendar.zone_name(),
            geometry,
            failures,
            users,
            takeaways: Vec::new(),
            notes,
        };
        summary.takeaways = takeaways::takeaways(&summary);
        Ok(summary)
    }
}
