//! The study's statements about clusters, each tried on this trace.

use serde::Serialize;

use crate::summary::{ClassSummary, Summary};

/// A statement with this trace's numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Takeaway {
    /// What is claimed, in a few words.
    pub claim: &'static str,
    /// Whether it holds here; `None` where the trace does not tell.
    pub holds: Option<bool>,
    /// The sentence.
    pub sentence: String,
}

fn takeaway(claim: &'static str, holds: Option<bool>, numbers: String) -> Takeaway {
    let sentence = match holds {
        Some(true) => format!("{claim}: {numbers}."),
        Some(false) => format!("{claim}: does not hold here: {numbers}."),
        None => format!("{claim}: this trace does not tell."),
    };
    Takeaway { claim, holds, sentence }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn three(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(" / ")
}

/// The place of the largest of three values that are all known.
fn largest(classes: &[ClassSummary], value: impl Fn(&ClassSummary) -> Option<f64>) -> Option<usize> {
    let values: Vec<f64> = classes.iter().filter(|class| class.jobs > 0).map_while(&value).collect();
    (values.len() == classes.iter().filter(|class| class.jobs > 0).count() && values.len() > 1).then(|| {
        let best = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(0, |(place, _)| place)
    })
}

pub(crate) fn takeaways(summary: &Summary) -> Vec<Takeaway> {
    let (geometry, failures, users) = (&summary.geometry, &summary.failures, &summary.users);
    let hours = |seconds: f64| format!("{:.2} h", seconds / 3600.0);
    let pass_rates = |classes: &[ClassSummary]| {
        three(classes.iter().map(|class| class.pass_rate.map_or("–".to_owned(), percent)))
    };
    let falls = |classes: &[ClassSummary]| {
        let rates: Vec<f64> = classes.iter().filter_map(|class| class.pass_rate).collect();
        (rates.len() > 1).then(|| rates.windows(2).all(|pair| pair[1] < pair[0]))
    };
    let waits = |classes: &[ClassSummary]| {
        three(
            classes
                .iter()
                .map(|class| class.average_wait_h.map_or("–".to_owned(), |wait| format!("{wait:.1} h"))),
        )
    };
    let shares = |classes: &[ClassSummary]| three(classes.iter().map(|class| percent(class.core_hour_share)));
    let known_end = failures.pass.jobs + failures.fail.jobs + failures.killed.jobs > 0;
    let bin = |of: fn(&crate::summary::QueueBin) -> Option<f64>| {
        let values: Vec<f64> = users.by_queue.iter().filter_map(of).collect();
        (values.len() == 3).then_some(values)
    };
    let shrinks = |values: &[f64]| values[2] < values[0];
    let queue_runs = bin(|bin| bin.average_run_s);
    let queue_sizes = bin(|bin| bin.average_size);
    let repeated = &users.repeated[0];
    vec![
        takeaway(
            "Most jobs are short, most core-hours are not",
            Some(geometry.run_s.median < 3600.0 && geometry.by_length[0].core_hour_share < 0.5),
            format!(
                "half the jobs run at most {}, and jobs under one hour use {} of the core-hours",
                hours(geometry.run_s.median),
                percent(geometry.by_length[0].core_hour_share)
            ),
        ),
        takeaway(
            "Submissions follow the day",
            geometry.hour_peak_ratio.map(|ratio| ratio >= 2.0),
            format!(
                "the busiest hour has {:.1} times the submissions of the quietest",
                geometry.hour_peak_ratio.unwrap_or(0.0)
            ),
        ),
        takeaway(
            "Large jobs do not dominate the core-hours",
            Some(geometry.by_size[2].core_hour_share < 0.5),
            format!("small / middle / large jobs use {}", shares(&geometry.by_size)),
        ),
        takeaway(
            "The machine is well used",
            geometry.utilisation.map(|utilisation| utilisation >= 0.8),
            format!("mean utilisation is {}", percent(geometry.utilisation.unwrap_or(0.0))),
        ),
        takeaway(
            "It is not the largest jobs that wait longest",
            largest(&geometry.by_size, |class| class.average_wait_h).map(|place| place < 2),
            format!("small / middle / large jobs wait {} on average", waits(&geometry.by_size)),
        ),
        takeaway(
            "Longer jobs wait longer",
            largest(&geometry.by_length, |class| class.average_wait_h).map(|place| place == 2),
            format!("short / middle / long jobs wait {} on average", waits(&geometry.by_length)),
        ),
        takeaway(
            "Jobs that do not pass use more than their share",
            known_end.then_some(failures.pass.core_hour_share < failures.pass.job_share),
            format!(
                "{} of the jobs pass and use {} of the core-hours; {} fail, {} are killed",
                percent(failures.pass.job_share),
                percent(failures.pass.core_hour_share),
                percent(failures.fail.job_share),
                percent(failures.killed.job_share)
            ),
        ),
        takeaway(
            "Longer jobs pass less often",
            falls(&geometry.by_length),
            format!("short / middle / long jobs pass at {}", pass_rates(&geometry.by_length)),
        ),
        takeaway(
            "Larger jobs pass less often",
            falls(&geometry.by_size),
            format!("small / middle / large jobs pass at {}", pass_rates(&geometry.by_size)),
        ),
        takeaway(
            "Users repeat themselves",
            (users.count > 0).then_some(repeated.top_10 >= 0.8),
            format!(
                "the largest 1 / 3 / 10 groups of alike jobs hold {} of a user's core-hours on average",
                three([repeated.top_1, repeated.top_3, repeated.top_10].into_iter().map(percent))
            ),
        ),
        takeaway(
            "Users submit smaller jobs when the queue is long",
            queue_sizes.as_deref().map(shrinks),
            format!(
                "mean sizes at short / middle / long queues are {}",
                three(queue_sizes.iter().flatten().map(|size| format!("{size:.0}")))
            ),
        ),
        takeaway(
            "Users submit shorter jobs when the queue is long",
            queue_runs.as_deref().map(shrinks),
            format!(
                "mean run times at short / middle / long queues are {}",
                three(queue_runs.iter().flatten().map(|&run| hours(run)))
            ),
        ),
        takeaway(
            "A user's killed jobs run longer than those that pass",
            users.killed_to_pass_run_ratio.map(|ratio| ratio > 1.0),
            format!(
                "for the median user the median killed job runs {:.2} times as long",
                users.killed_to_pass_run_ratio.unwrap_or(0.0)
            ),
        ),
        takeaway(
            "Users ask for much more time than they use",
            users.overestimation_median.map(|ratio| ratio >= 1.5),
            format!(
                "the median request is {:.2} times the run time, and {} of the requested core-hours are not used",
                users.overestimation_median.unwrap_or(0.0),
                percent(users.wasted_share)
            ),
        ),
    ]
}
