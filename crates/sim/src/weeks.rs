//! A schedule cut into weeks: what is drawn when intervals are made. Jobs belong to the week they were
//! submitted in; what the machine did belongs to the week it did it in.

use crate::figures::{COUNT, Row};
use crate::metrics::{bounded_slowdown, length_class, size_class};
use crate::{Schedule, SimJob, Workload};

const WEEK: i64 = 7 * 86_400;

/// Values kept of each distribution; of more, every k-th in order stands for k.
const KEPT: usize = 20_000;

/// Sums of one week.
#[derive(Debug, Clone, Copy, Default)]
struct Week {
    jobs: f64,
    wait: f64,
    slowdown: f64,
    backfilled: f64,
    promised: f64,
    delay: f64,
    late: f64,
    /// Processor-seconds used, idle though wanted, and there were.
    used: f64,
    lost: f64,
    capacity: f64,
    /// By size, then by length: jobs, waits and slowdowns.
    classes: [[f64; 3]; 6],
}

/// Values with their weeks, in order.
type Sorted = Vec<(f64, u32)>;

/// A schedule cut into weeks.
pub(crate) struct Weeks {
    weeks: Vec<Week>,
    waits: Sorted,
    slowdowns: Sorted,
    delays: Sorted,
}

/// How many weeks schedules take, from the first submission to the last end of any.
pub(crate) fn count<'a>(workload: &Workload, schedules: impl IntoIterator<Item = &'a Schedule>) -> usize {
    let end = |schedule: &Schedule| schedule.jobs(workload).map(|job| job.end).max().unwrap_or(0);
    let last = schedules.into_iter().map(end).max().unwrap_or(0);
    usize::try_from(last / WEEK).unwrap_or(usize::MAX).saturating_add(usize::from(last % WEEK > 0))
}

impl Weeks {
    /// Cuts a schedule into `count` weeks.
    pub(crate) fn new(workload: &Workload, schedule: &Schedule, count: usize) -> Self {
        let mut weeks = vec![Week::default(); count.max(1)];
        let mut waits = Vec::with_capacity(workload.jobs.len());
        let mut slowdowns = Vec::with_capacity(workload.jobs.len());
        let mut delays = Vec::new();
        for (index, (job, &start)) in workload.jobs.iter().zip(&schedule.starts).enumerate() {
            // a job without length may end, and be submitted, at the very end of the last week
            let place = ((job.submit / WEEK) as usize).min(weeks.len() - 1);
            let week = &mut weeks[place];
            let wait = start - job.submit;
            let slowdown = bounded_slowdown(wait, job.run);
            week.jobs += 1.0;
            week.wait += wait as f64;
            week.slowdown += slowdown;
            week.backfilled += f64::from(u8::from(schedule.backfilled[index]));
            let classes = [size_class(job.processors, workload.processors), 3 + length_class(job.run)];
            for class in classes {
                let class = &mut week.classes[class];
                class[0] += 1.0;
                class[1] += wait as f64;
                class[2] += slowdown;
            }
            waits.push((wait as f64, place as u32));
            slowdowns.push((slowdown, place as u32));
            if let Some(promise) = schedule.promise(index) {
                let delay = (start - promise).max(0) as f64;
                week.promised += 1.0;
                week.delay += delay;
                week.late += f64::from(u8::from(delay > 0.0));
                delays.push((delay, place as u32));
            }
        }
        spread_machine(workload, schedule, &mut weeks);
        Weeks { weeks, waits: ordered(waits), slowdowns: ordered(slowdowns), delays: ordered(delays) }
    }

    /// The figures if each week had happened as often as told.
    pub(crate) fn figures(&self, times: &[u32]) -> Row {
        let mut sum = Week::default();
        for (week, &times) in self.weeks.iter().zip(times).filter(|(_, times)| **times > 0) {
            sum.add(week, f64::from(times));
        }
        let waits = quantiles(&self.waits, times, [0.5, 0.95, 0.99]);
        let slowdowns = quantiles(&self.slowdowns, times, [0.5, 0.95, 0.99]);
        let [delay] = quantiles(&self.delays, times, [0.95]);
        // not a number where a draw holds nothing; whoever reads the row leaves it out
        let mut row = [f64::NAN; COUNT];
        let plain = [
            sum.wait / sum.jobs,
            waits[0],
            waits[1],
            waits[2],
            sum.slowdown / sum.jobs,
            slowdowns[0],
            slowdowns[1],
            slowdowns[2],
            sum.used / sum.capacity,
            sum.lost / sum.capacity,
            sum.backfilled / sum.jobs,
            sum.delay / sum.promised,
            sum.late / sum.promised,
            delay,
        ];
        let classes = sum.classes.iter().flat_map(|[jobs, wait, slowdown]| [wait / jobs, slowdown / jobs]);
        for (place, value) in row.iter_mut().zip(plain.into_iter().chain(classes)) {
            *place = value;
        }
        row
    }
}

impl Week {
    fn add(&mut self, other: &Week, times: f64) {
        self.jobs += times * other.jobs;
        self.wait += times * other.wait;
        self.slowdown += times * other.slowdown;
        self.backfilled += times * other.backfilled;
        self.promised += times * other.promised;
        self.delay += times * other.delay;
        self.late += times * other.late;
        self.used += times * other.used;
        self.lost += times * other.lost;
        self.capacity += times * other.capacity;
        for (own, other) in self.classes.iter_mut().zip(&other.classes) {
            for (own, other) in own.iter_mut().zip(other) {
                *own += times * other;
            }
        }
    }
}

/// Sorts by value and keeps as many as are needed.
fn ordered(mut values: Sorted) -> Sorted {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let step = values.len().div_ceil(KEPT).max(1);
    values.into_iter().skip(step / 2).step_by(step).collect()
}

/// Quantiles of rising levels, each value as often as its week (definition 7 of Hyndman and Fan, as
/// everywhere here).
fn quantiles<const N: usize>(sorted: &Sorted, times: &[u32], levels: [f64; N]) -> [f64; N] {
    let of = |week: u32| u64::from(times[week as usize]);
    let whole: u64 = sorted.iter().map(|&(_, week)| of(week)).sum();
    let mut found = [f64::NAN; N];
    if whole == 0 {
        return found;
    }
    let places = levels.map(|level| level * (whole - 1) as f64);
    let mut seen = 0;
    let mut done = 0;
    let mut low: Option<f64> = None;
    for &(value, week) in sorted.iter().filter(|&&(_, week)| of(week) > 0) {
        seen += of(week);
        while done < N {
            let below = places[done].floor() as u64;
            if low.is_none() && seen > below {
                low = Some(value);
            }
            let Some(least) = low.filter(|_| seen > (below + 1).min(whole - 1)) else { break };
            found[done] = least + (value - least) * (places[done] - below as f64);
            low = None;
            done += 1;
        }
    }
    found
}

/// Adds what the machine did: a walk over the moments at which jobs came, started and ended.
fn spread_machine(workload: &Workload, schedule: &Schedule, weeks: &mut [Week]) {
    let jobs = &workload.jobs;
    let end = |index: u32| schedule.starts[index as usize] + jobs[index as usize].run;
    let mut by_start: Vec<u32> = (0..jobs.len() as u32).collect();
    let mut by_end = by_start.clone();
    by_start.sort_unstable_by_key(|&index| schedule.starts[index as usize]);
    by_end.sort_unstable_by_key(|&index| end(index));
    let size = |job: &SimJob| u64::from(job.processors);
    let machine = u64::from(workload.processors);
    let (mut submitted, mut started, mut ended) = (0, 0, 0);
    let (mut now, mut used, mut wanted) = (0i64, 0u64, 0u64);
    while let Some(&next_end) = by_end.get(ended) {
        let submit = jobs.get(submitted).map(|job| job.submit);
        let start = by_start.get(started).map(|&index| schedule.starts[index as usize]);
        let next = [submit, start, Some(end(next_end))].into_iter().flatten().min().unwrap_or(now);
        let lost = wanted.min(machine.saturating_sub(used));
        add_span(weeks, (now, next), [used, lost, machine]);
        now = next;
        while let Some(job) = jobs.get(submitted).filter(|job| job.submit <= now) {
            wanted += size(job);
            submitted += 1;
        }
        while let Some(&index) = by_start.get(started).filter(|&&i| schedule.starts[i as usize] <= now) {
            wanted -= size(&jobs[index as usize]);
            used += size(&jobs[index as usize]);
            started += 1;
        }
        while let Some(&index) = by_end.get(ended).filter(|&&index| end(index) <= now) {
            used -= size(&jobs[index as usize]);
            ended += 1;
        }
    }
}

/// Adds a span of time with what was used, lost and there in it.
fn add_span(weeks: &mut [Week], (from, to): (i64, i64), amounts: [u64; 3]) {
    let [used, lost, capacity] = amounts.map(|amount| amount as f64);
    let mut begin = from;
    while begin < to {
        let place = ((begin / WEEK) as usize).min(weeks.len() - 1);
        let end = to.min((begin / WEEK + 1) * WEEK);
        let seconds = (end - begin) as f64;
        weeks[place].used += used * seconds;
        weeks[place].lost += lost * seconds;
        weeks[place].capacity += capacity * seconds;
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::row;
    use crate::{Metrics, Requested, simulate};

    /// Jobs over some weeks on 16 processors.
    fn workload() -> Workload {
        let job = |i: i64| SimJob {
            number: i as u64,
            submit: i * 4000,
            run: 997 * i % 20_000,
            request: 30_000,
            processors: 1 + (i * 7 % 13) as u32,
            user: 0,
        };
        Workload::new((0..2000).map(job).collect(), 16)
    }

    #[test]
    fn every_week_once_gives_the_figures_themselves() {
        let workload = workload();
        for name in ["fcfs", "easy", "relaxed:0.5", "sjf+easy"] {
            let policy = name.parse().unwrap();
            let schedule = simulate(&workload, policy, &mut Requested);
            let count = count(&workload, [&schedule]);
            let found = Weeks::new(&workload, &schedule, count).figures(&vec![1; count]);
            let expected = row(&Metrics::new(&workload, &schedule, policy, "requested"));
            for (place, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                let same = (found - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                assert!(
                    same || (found.is_nan() && expected.is_nan()),
                    "{name}, figure {place}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn quantiles_count_each_value_as_often_as_its_week() {
        let sorted = vec![(1.0, 0), (2.0, 1), (3.0, 0), (10.0, 1)];
        assert_eq!(quantiles(&sorted, &[1, 1], [0.0, 0.5, 1.0]), [1.0, 2.5, 10.0]);
        assert_eq!(quantiles(&sorted, &[2, 0], [0.0, 0.5, 1.0]), [1.0, 2.0, 3.0]);
        assert_eq!(quantiles(&sorted, &[0, 3], [0.5]), [6.0]);
        assert!(quantiles(&sorted, &[0, 0], [0.5])[0].is_nan());
    }

    #[test]
    fn long_lists_are_thinned_evenly() {
        let many: Sorted = (0..100_000).map(|value| (f64::from(value), 0)).collect();
        let kept = ordered(many);
        assert_eq!(kept.len(), KEPT);
        let [middle] = quantiles(&kept, &[1], [0.5]);
        assert!((middle - 50_000.0).abs() < 10.0, "{middle}");
    }
}
