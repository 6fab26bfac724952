//! What users do: repeat themselves, follow the queue, ask for too much.

use std::collections::HashMap;

use serde::Serialize;

use crate::summary::classes::share;
use crate::summary::collect::{NOBODY, Row};
use crate::{Reading, Verdict};

/// How many users are listed, the largest consumers.
const LISTED_USERS: usize = 100;

/// The users of a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Users {
    /// How many there are.
    pub count: usize,
    /// Jobs of unknown users.
    pub unknown_jobs: usize,
    /// How much of what a user does is in few groups of alike jobs, under several definitions.
    pub repeated: Vec<Repeated>,
    /// What is submitted while the queue is short, middling and long.
    pub by_queue: Vec<QueueBin>,
    /// Median over users of the ratio of median run times, killed jobs over passed jobs, of users with
    /// both.
    pub killed_to_pass_run_ratio: Option<f64>,
    /// The same, failed jobs over passed jobs.
    pub fail_to_pass_run_ratio: Option<f64>,
    /// Median of requested over used time, of jobs with both.
    pub overestimation_median: Option<f64>,
    /// Core-hours asked for and not used.
    pub wasted_core_hours: f64,
    /// Their share of the core-hours asked for.
    pub wasted_share: f64,
    /// The largest consumers.
    pub largest: Vec<UserSummary>,
}

/// How much of what a user does lies in their largest groups of alike jobs; means over users.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeated {
    /// What a group is, and what is counted.
    pub definition: &'static str,
    /// Share in the largest group.
    pub top_1: f64,
    /// Share in the three largest.
    pub top_3: f64,
    /// Share in the ten largest.
    pub top_10: f64,
}

/// Submissions at a third of the range of queue lengths.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueBin {
    /// `short`, `middle`, `long`.
    pub queue: &'static str,
    /// Waiting jobs at submission, from.
    pub from: usize,
    /// Waiting jobs at submission, up to.
    pub to: usize,
    /// Jobs submitted then.
    pub jobs: usize,
    /// Their mean size.
    pub average_size: Option<f64>,
    /// Their mean run time.
    pub average_run_s: Option<f64>,
    /// Their mean requested time.
    pub average_request_s: Option<f64>,
}

/// One user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UserSummary {
    /// The name in the trace, else the number.
    pub user: String,
    /// Jobs.
    pub jobs: usize,
    /// What they used.
    pub core_hours: f64,
    /// What they asked for and did not use.
    pub wasted_core_hours: f64,
    /// Median run time of jobs that passed.
    pub pass_median_run_s: Option<f64>,
    /// Median run time of jobs that failed.
    pub fail_median_run_s: Option<f64>,
    /// Median run time of jobs that were killed.
    pub killed_median_run_s: Option<f64>,
    /// Median of requested over used time.
    pub overestimation_median: Option<f64>,
}

/// Works on rows sorted by submission; leaves them sorted by user, size and run time.
pub(crate) fn users(rows: &mut [Row], originals: &[u64], reading: &Reading) -> Users {
    let by_queue = by_queue(rows);
    let mut over: Vec<f32> = rows.iter().filter_map(overestimation).collect();
    let (mut asked, mut wasted) = (0.0, 0.0);
    for row in rows.iter() {
        if let Some((request, waste)) = requested_areas(row) {
            asked += request;
            wasted += waste;
        }
    }
    rows.sort_unstable_by_key(|row| (row.user, row.size, row.run()));
    let known = &rows[..rows.partition_point(|row| row.user != NOBODY)];
    let per_user: Vec<&[Row]> = known.chunk_by(|a, b| a.user == b.user).collect();
    let summaries: Vec<(u32, UserSummary)> = per_user.iter().map(|rows| (rows[0].user, user(rows))).collect();
    let ratio = |of: fn(&UserSummary) -> Option<f64>| {
        let pairs = summaries.iter().filter_map(|(_, user)| Some(of(user)? / user.pass_median_run_s?));
        median(&mut pairs.filter(|ratio| ratio.is_finite()).collect::<Vec<f64>>())
    };
    let killed_to_pass_run_ratio = ratio(|user| user.killed_median_run_s);
    let fail_to_pass_run_ratio = ratio(|user| user.fail_median_run_s);
    let mut largest = summaries;
    largest.sort_by(|a, b| b.1.core_hours.total_cmp(&a.1.core_hours).then(a.0.cmp(&b.0)));
    largest.truncate(LISTED_USERS);
    Users {
        count: per_user.len(),
        unknown_jobs: rows.len() - known.len(),
        repeated: repeated(&per_user),
        by_queue,
        killed_to_pass_run_ratio,
        fail_to_pass_run_ratio,
        overestimation_median: median_f32(&mut over),
        wasted_core_hours: wasted / 3600.0,
        wasted_share: share(wasted, asked),
        largest: name(largest, originals, reading),
    }
}

/// Gives users the names of the trace, or its numbers where it has no names.
fn name(users: Vec<(u32, UserSummary)>, originals: &[u64], reading: &Reading) -> Vec<UserSummary> {
    users
        .into_iter()
        .map(|(number, mut user)| {
            let original = originals.get(number as usize).copied().unwrap_or_default();
            let text = reading.users.text(original);
            user.user = text.map_or_else(|| original.to_string(), str::to_owned);
            user
        })
        .collect()
}

fn overestimation(row: &Row) -> Option<f32> {
    let (request, run) = (row.request()?, row.run().filter(|&run| run > 0)?);
    Some(request as f32 / run as f32)
}

/// Processor-seconds asked for, and those of them not used.
fn requested_areas(row: &Row) -> Option<(f64, f64)> {
    let (request, run) = (row.request()?, row.run()?);
    let size = f64::from(row.size);
    Some((request.max(run) as f64 * size, (request - run).max(0) as f64 * size))
}

fn user(rows: &[Row]) -> UserSummary {
    let median_run = |verdict: Verdict| {
        let mut runs: Vec<f64> = rows
            .iter()
            .filter(|row| row.verdict == Some(verdict))
            .filter_map(Row::run)
            .map(|run| run as f64)
            .collect();
        median(&mut runs)
    };
    let mut over: Vec<f32> = rows.iter().filter_map(overestimation).collect();
    UserSummary {
        user: String::new(),
        jobs: rows.len(),
        core_hours: rows.iter().map(Row::area).sum::<f64>() / 3600.0,
        wasted_core_hours: rows.iter().filter_map(requested_areas).map(|(_, waste)| waste).sum::<f64>()
            / 3600.0,
        pass_median_run_s: median_run(Verdict::Pass),
        fail_median_run_s: median_run(Verdict::Fail),
        killed_median_run_s: median_run(Verdict::Killed),
        overestimation_median: median_f32(&mut over),
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

fn median_f32(values: &mut [f32]) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| f64::from(*values.select_nth_unstable_by(middle, f32::total_cmp).1))
}

/// A user's groups: same size, run time at most `reach` times the group's shortest. Rows are sorted by
/// size and run time.
fn groups(rows: &[Row], reach: f64, weight: fn(&Row) -> f64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    let mut current: Option<(u32, f64)> = None;
    for row in rows {
        let Some(run) = row.run() else { continue };
        let run = run as f64;
        let belongs = current.is_some_and(|(size, shortest)| size == row.size && run <= reach * shortest);
        match found.last_mut().filter(|_| belongs) {
            Some(group) => *group += weight(row),
            None => {
                found.push(weight(row));
                current = Some((row.size, run));
            }
        }
    }
    found.sort_unstable_by(|a, b| b.total_cmp(a));
    found
}

fn repeated(per_user: &[&[Row]]) -> Vec<Repeated> {
    let mean = |definition: &'static str, users: &[&[Row]], reach: f64, weight: fn(&Row) -> f64| {
        let mut sums = [0.0; 3];
        let mut count = 0.0;
        for rows in users {
            let groups = groups(rows, reach, weight);
            let whole: f64 = groups.iter().sum();
            if whole > 0.0 {
                count += 1.0;
                for (sum, top) in sums.iter_mut().zip([1, 3, 10]) {
                    *sum += groups.iter().take(top).sum::<f64>() / whole;
                }
            }
        }
        let [top_1, top_3, top_10] = sums.map(|sum| share(sum, count));
        Repeated { definition, top_1, top_3, top_10 }
    };
    let mut busiest = per_user.to_vec();
    busiest.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
    busiest.truncate(50);
    vec![
        mean("core-hours; same size, run time within 20 % of the group's shortest", per_user, 1.2, Row::area),
        mean("core-hours; same size, run time within twice the group's shortest", per_user, 2.0, Row::area),
        mean("jobs; same size; the 50 users with most jobs", &busiest, f64::INFINITY, |_| 1.0),
    ]
}

/// What is submitted at which queue length. Works on rows sorted by submission.
fn by_queue(rows: &[Row]) -> Vec<QueueBin> {
    let mut starts: Vec<i64> = rows.iter().filter_map(Row::start).collect();
    starts.sort_unstable();
    let mut started = 0;
    let mut submitted = 0;
    let mut lengths: Vec<u32> = Vec::with_capacity(rows.len());
    for row in rows {
        while starts.get(started).is_some_and(|&start| start <= row.submit) {
            started += 1;
        }
        lengths.push((submitted as usize).saturating_sub(started) as u32);
        submitted += u64::from(row.wait().is_some());
    }
    if starts.is_empty() {
        return Vec::new();
    }
    let longest = lengths.iter().max().copied().unwrap_or(0) as usize;
    let mut bins: HashMap<usize, [f64; 6]> = HashMap::new();
    for (row, &length) in rows.iter().zip(&lengths) {
        let bin = (3 * length as usize / (longest + 1)).min(2);
        let sums = bins.entry(bin).or_default();
        sums[0] += 1.0;
        sums[1] += f64::from(row.size);
        for (place, value) in [(2, row.run()), (4, row.request())] {
            if let Some(value) = value {
                sums[place] += value as f64;
                sums[place + 1] += 1.0;
            }
        }
    }
    let bounds = |bin: usize| (bin * (longest + 1)).div_ceil(3);
    ["short", "middle", "long"]
        .into_iter()
        .enumerate()
        .map(|(bin, queue)| {
            let sums = bins.get(&bin).copied().unwrap_or_default();
            let mean = |sum: f64, count: f64| (count > 0.0).then(|| sum / count);
            QueueBin {
                queue,
                from: bounds(bin),
                to: bounds(bin + 1).saturating_sub(1),
                jobs: sums[0] as usize,
                average_size: mean(sums[1], sums[0]),
                average_run_s: mean(sums[2], sums[3]),
                average_request_s: mean(sums[4], sums[5]),
            }
        })
        .collect()
}
