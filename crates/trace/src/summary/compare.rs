//! The same figures of several traces side by side.

use serde::Serialize;

use crate::summary::{ClassSummary, Summary};

/// One figure of every trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// The part of the characterisation: `trace`, `geometry`, `failures`, `users`.
    pub section: &'static str,
    /// What it is.
    pub figure: String,
    /// `jobs`, `s`, `h`, `share`, `ratio`, or the unit of sizes.
    pub unit: &'static str,
    /// One value a trace, in the order given; `None` where a trace does not tell.
    pub values: Vec<Option<f64>>,
}

/// Several traces side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The traces' names.
    pub traces: Vec<String>,
    /// The figures.
    pub figures: Vec<ComparedFigure>,
    /// For each statement of the study: whether it holds, trace by trace.
    pub takeaways: Vec<ComparedTakeaway>,
}

/// A statement of the study on every trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedTakeaway {
    /// What is claimed.
    pub claim: &'static str,
    /// Whether it holds, trace by trace; `None` where a trace does not tell.
    pub holds: Vec<Option<bool>>,
}

/// Puts characterisations side by side.
pub fn compare(summaries: &[Summary]) -> Comparison {
    let mut figures = Vec::new();
    let mut add = |section, figure: &str, unit, value: &dyn Fn(&Summary) -> Option<f64>| {
        let values = summaries.iter().map(value).collect();
        figures.push(ComparedFigure { section, figure: figure.to_owned(), unit, values });
    };
    add("trace", "jobs", "jobs", &|summary| Some(summary.jobs as f64));
    add("trace", "users", "users", &|summary| Some(summary.users.count as f64));
    add("trace", "machine", "size", &|summary| Some(f64::from(summary.machine.size)));
    add("trace", "days", "d", &|summary| Some(summary.span_s as f64 / 86_400.0));
    let median = |count: usize, median: f64| (count > 0).then_some(median);
    add("geometry", "median run time", "s", &|s| median(s.geometry.run_s.count, s.geometry.run_s.median));
    add("geometry", "95th percentile of run time", "s", &|s| {
        median(s.geometry.run_s.count, s.geometry.run_s.p95)
    });
    add("geometry", "median size", "size", &|s| median(s.geometry.size.count, s.geometry.size.median));
    add("geometry", "median arrival interval", "s", &|s| {
        median(s.geometry.arrival_interval_s.count, s.geometry.arrival_interval_s.median)
    });
    add("geometry", "busiest over quietest hour", "ratio", &|s| s.geometry.hour_peak_ratio);
    add("geometry", "utilisation", "share", &|s| s.geometry.utilisation);
    add("geometry", "median wait", "s", &|s| median(s.geometry.wait_s.count, s.geometry.wait_s.median));
    type Classes = fn(&Summary) -> &[ClassSummary];
    let divisions: [(Classes, [&str; 3]); 2] = [
        (|summary| &summary.geometry.by_size, ["small", "middle-sized", "large"]),
        (|summary| &summary.geometry.by_length, ["short", "middle-long", "long"]),
    ];
    for (classes, names) in divisions {
        for (place, name) in names.iter().enumerate() {
            let of = |summary: &Summary| classes(summary)[place].clone();
            add("geometry", &format!("core-hours of {name} jobs"), "share", &|s| Some(of(s).core_hour_share));
            add("geometry", &format!("wait of {name} jobs"), "h", &|s| of(s).average_wait_h);
            add("failures", &format!("pass rate of {name} jobs"), "share", &|s| of(s).pass_rate);
        }
    }
    let known = |summary: &Summary, value: f64| {
        let failures = &summary.failures;
        (failures.pass.jobs + failures.fail.jobs + failures.killed.jobs > 0).then_some(value)
    };
    add("failures", "jobs that pass", "share", &|s| known(s, s.failures.pass.job_share));
    add("failures", "jobs that fail", "share", &|s| known(s, s.failures.fail.job_share));
    add("failures", "jobs that are killed", "share", &|s| known(s, s.failures.killed.job_share));
    add("failures", "core-hours of jobs that pass", "share", &|s| known(s, s.failures.pass.core_hour_share));
    let any_user = |summary: &Summary, value: f64| (summary.users.count > 0).then_some(value);
    add("users", "core-hours in the largest group", "share", &|s| any_user(s, s.users.repeated[0].top_1));
    add("users", "core-hours in the 3 largest groups", "share", &|s| any_user(s, s.users.repeated[0].top_3));
    add("users", "core-hours in the 10 largest groups", "share", &|s| {
        any_user(s, s.users.repeated[0].top_10)
    });
    add("users", "requested over used time", "ratio", &|s| s.users.overestimation_median);
    add("users", "requested core-hours not used", "share", &|s| {
        s.users.overestimation_median.map(|_| s.users.wasted_share)
    });
    let takeaways = summaries.first().map_or(&[][..], |summary| &summary.takeaways);
    let takeaways = takeaways
        .iter()
        .enumerate()
        .map(|(place, takeaway)| ComparedTakeaway {
            claim: takeaway.claim,
            holds: summaries.iter().map(|summary| summary.takeaways[place].holds).collect(),
        })
        .collect();
    Comparison { traces: summaries.iter().map(|summary| summary.name.clone()).collect(), figures, takeaways }
}
