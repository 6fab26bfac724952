//! The figures of a policy that have an interval: as a row of numbers to compute with, and with their
//! names to be read.

use serde::Serialize;

use crate::{ClassMetrics, Metrics};

/// How many figures there are.
pub(crate) const COUNT: usize = PLAIN + 2 * CLASSES.len();

/// Those of all jobs together.
const PLAIN: usize = 14;

/// By size, then by length.
const CLASSES: [&str; 6] = ["small", "middle", "large", "short", "middle", "long"];

/// The figures in the order of the fields of [`Figures`]; not a number where there is nothing to tell.
pub(crate) type Row = [f64; COUNT];

/// Something about each figure, under the names of [`Metrics`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures<T> {
    /// Of the mean wait.
    pub average_wait_s: T,
    /// Of the median wait.
    pub median_wait_s: T,
    /// Of the 95th percentile of wait.
    pub p95_wait_s: T,
    /// Of the 99th percentile of wait.
    pub p99_wait_s: T,
    /// Of the mean bounded slowdown.
    pub average_bounded_slowdown: T,
    /// Of the median bounded slowdown.
    pub median_bounded_slowdown: T,
    /// Of the 95th percentile of bounded slowdown.
    pub p95_bounded_slowdown: T,
    /// Of the 99th percentile of bounded slowdown.
    pub p99_bounded_slowdown: T,
    /// Of the utilisation.
    pub utilisation: T,
    /// Of the loss of capacity.
    pub loss_of_capacity: T,
    /// Of the share of jobs that overtook another.
    pub backfilled_share: T,
    /// Of the mean delay of promised starts.
    pub violation_mean_s: T,
    /// Of the share of promises broken.
    pub violation_share: T,
    /// Of the 95th percentile of that delay.
    pub violation_p95_s: T,
    /// Of small, middle and large jobs.
    pub by_size: Vec<ClassFigures<T>>,
    /// Of short, middle and long jobs.
    pub by_length: Vec<ClassFigures<T>>,
}

/// Something about each figure of a class.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ClassFigures<T> {
    /// The class.
    pub class: &'static str,
    /// Of the mean wait.
    pub average_wait_s: T,
    /// Of the mean bounded slowdown.
    pub average_bounded_slowdown: T,
}

impl<T: Default> Figures<T> {
    /// What a function says of each place of a row.
    pub(crate) fn named(of: impl Fn(usize) -> T) -> Self {
        let class = |place: usize| ClassFigures {
            class: CLASSES[place],
            average_wait_s: of(PLAIN + 2 * place),
            average_bounded_slowdown: of(PLAIN + 2 * place + 1),
        };
        Figures {
            average_wait_s: of(0),
            median_wait_s: of(1),
            p95_wait_s: of(2),
            p99_wait_s: of(3),
            average_bounded_slowdown: of(4),
            median_bounded_slowdown: of(5),
            p95_bounded_slowdown: of(6),
            p99_bounded_slowdown: of(7),
            utilisation: of(8),
            loss_of_capacity: of(9),
            backfilled_share: of(10),
            violation_mean_s: of(11),
            violation_share: of(12),
            violation_p95_s: of(13),
            by_size: (0..3).map(class).collect(),
            by_length: (3..6).map(class).collect(),
        }
    }
}

/// The figures of a policy as a row.
pub(crate) fn row(metrics: &Metrics) -> Row {
    let mut row = [f64::NAN; COUNT];
    row[..PLAIN].copy_from_slice(&[
        metrics.average_wait_s,
        metrics.median_wait_s,
        metrics.p95_wait_s,
        metrics.p99_wait_s,
        metrics.average_bounded_slowdown,
        metrics.median_bounded_slowdown,
        metrics.p95_bounded_slowdown,
        metrics.p99_bounded_slowdown,
        metrics.utilisation,
        metrics.loss_of_capacity,
        metrics.backfilled_share,
        metrics.violation_mean_s,
        metrics.violation_share,
        metrics.violation_p95_s,
    ]);
    let classes = metrics.by_size.iter().chain(&metrics.by_length);
    let values = |class: &ClassMetrics| [class.average_wait_s, class.average_bounded_slowdown];
    for (place, value) in row[PLAIN..].iter_mut().zip(classes.flat_map(values)) {
        *place = value.unwrap_or(f64::NAN);
    }
    row
}
