//! Jobs by size and by length, and how they ended.

use serde::Serialize;

use crate::Verdict;
use crate::summary::collect::Row;

/// A class of jobs. Shares are of all jobs that have what is counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassSummary {
    /// Its name.
    pub class: &'static str,
    /// Jobs in it.
    pub jobs: usize,
    /// Their share of all jobs.
    pub job_share: f64,
    /// What they used.
    pub core_hours: f64,
    /// Their share of what all used.
    pub core_hour_share: f64,
    /// Mean wait in hours, where waits are known.
    pub average_wait_h: Option<f64>,
    /// Share of those with a known end that passed.
    pub pass_rate: Option<f64>,
    /// Share that failed.
    pub fail_rate: Option<f64>,
    /// Share that was killed.
    pub killed_rate: Option<f64>,
}

/// How the jobs of a trace ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failures {
    /// Jobs whose end is not known.
    pub unknown: usize,
    /// Ran to their end.
    pub pass: StateShare,
    /// Broke.
    pub fail: StateShare,
    /// Ended by a person or a limit.
    pub killed: StateShare,
}

/// The jobs of one kind of end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StateShare {
    /// How many.
    pub jobs: usize,
    /// Their share of the jobs whose end is known.
    pub job_share: f64,
    /// What they used.
    pub core_hours: f64,
    /// Their share of what jobs with a known end used.
    pub core_hour_share: f64,
}

/// Below 10 %, 10 to 30 %, above 30 % of the machine.
pub(crate) fn size_class(size: u32, machine: u32) -> usize {
    let tenths = 10 * u64::from(size);
    let machine = u64::from(machine);
    usize::from(tenths >= machine) + usize::from(tenths > 3 * machine)
}

/// Up to 1, up to 8, above 8 GPUs.
pub(crate) fn gpu_class(gpus: u32, _machine: u32) -> usize {
    usize::from(gpus > 1) + usize::from(gpus > 8)
}

/// Under one hour, to one day, over one day.
pub(crate) fn length_class(row: &Row) -> usize {
    let run = row.run().unwrap_or(0);
    usize::from(run >= 3600) + usize::from(run > 86_400)
}

#[derive(Default)]
struct Tally {
    jobs: usize,
    area: f64,
    waits: usize,
    wait: f64,
    verdicts: [usize; 3],
}

pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The figures of three classes.
pub(crate) fn summarise(
    rows: &[Row],
    names: [&'static str; 3],
    class: impl Fn(&Row) -> usize,
) -> Vec<ClassSummary> {
    let mut tallies: [Tally; 3] = Default::default();
    for row in rows {
        let tally = &mut tallies[class(row)];
        tally.jobs += 1;
        tally.area += row.area();
        if let Some(wait) = row.wait() {
            tally.waits += 1;
            tally.wait += wait as f64;
        }
        if let Some(verdict) = row.verdict {
            tally.verdicts[verdict as usize] += 1;
        }
    }
    let area: f64 = tallies.iter().map(|tally| tally.area).sum();
    let finish = |(name, tally): (&'static str, &Tally)| {
        let ended: usize = tally.verdicts.iter().sum();
        let rate =
            |verdict: Verdict| (ended > 0).then(|| tally.verdicts[verdict as usize] as f64 / ended as f64);
        ClassSummary {
            class: name,
            jobs: tally.jobs,
            job_share: share(tally.jobs as f64, rows.len() as f64),
            core_hours: tally.area / 3600.0,
            core_hour_share: share(tally.area, area),
            average_wait_h: (tally.waits > 0).then(|| tally.wait / tally.waits as f64 / 3600.0),
            pass_rate: rate(Verdict::Pass),
            fail_rate: rate(Verdict::Fail),
            killed_rate: rate(Verdict::Killed),
        }
    };
    names.into_iter().zip(&tallies).map(finish).collect()
}

/// How all jobs ended.
pub(crate) fn failures(rows: &[Row]) -> Failures {
    let mut jobs = [0usize; 3];
    let mut areas = [0.0; 3];
    for row in rows {
        if let Some(verdict) = row.verdict {
            jobs[verdict as usize] += 1;
            areas[verdict as usize] += row.area();
        }
    }
    let (ended, area) = (jobs.iter().sum::<usize>(), areas.iter().sum::<f64>());
    let of = |verdict: Verdict| StateShare {
        jobs: jobs[verdict as usize],
        job_share: share(jobs[verdict as usize] as f64, ended as f64),
        core_hours: areas[verdict as usize] / 3600.0,
        core_hour_share: share(areas[verdict as usize], area),
    };
    Failures {
        unknown: rows.len() - ended,
        pass: of(Verdict::Pass),
        fail: of(Verdict::Fail),
        killed: of(Verdict::Killed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_the_study() {
        assert_eq!([9, 10, 30, 31].map(|size| size_class(size, 100)), [0, 1, 1, 2]);
        assert_eq!([0, 1, 2, 8, 9].map(|gpus| gpu_class(gpus, 100)), [0, 0, 1, 1, 2]);
    }
}
