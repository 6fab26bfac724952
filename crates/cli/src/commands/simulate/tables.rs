//! The tables of a simulation.

use harp_report::{Cell, Column, Quantity, Table, Tone};
use harp_sim::{ClassMetrics, Figures, Interval, SimulateResult};

use crate::cells::{compact, percent, plain, seconds};

/// A value in the shortest form.
fn short(value: f64, quantity: &Quantity) -> String {
    if *quantity == Quantity::Seconds { compact(value) } else { quantity.format(value) }
}

/// A value with its interval.
fn with_interval(value: f64, interval: Option<(f64, f64)>, quantity: &Quantity) -> Cell {
    match interval {
        Some((low, high)) => {
            Cell::number(format!("{} [{}]", short(value, quantity), quantity.range(low, high)), value)
        }
        None => Cell::number(short(value, quantity), value),
    }
}

/// Waits and slowdowns of each policy.
pub fn waiting(result: &SimulateResult) -> Table {
    let mut table = Table::new([
        Column::left("policy"),
        Column::right("mean wait"),
        Column::right("median"),
        Column::right("95 %"),
        Column::right("99 %"),
        Column::right("mean slowdown"),
        Column::right("95 %").optional(),
    ]);
    for policy in &result.policies {
        let metrics = &policy.metrics;
        table.push([
            Cell::text(metrics.name.clone()).tone(Tone::Strong),
            with_interval(metrics.average_wait_s, policy.intervals.average_wait_s, &Quantity::Seconds),
            seconds(Some(metrics.median_wait_s)),
            seconds(Some(metrics.p95_wait_s)),
            seconds(Some(metrics.p99_wait_s)),
            with_interval(
                metrics.average_bounded_slowdown,
                policy.intervals.average_bounded_slowdown,
                &Quantity::Number,
            ),
            plain(Some(metrics.p95_bounded_slowdown)),
        ]);
    }
    table
}

/// Utilisation, backfilling and promises of each policy.
pub fn machine(result: &SimulateResult) -> Table {
    let mut table = Table::new([
        Column::left("policy"),
        Column::right("used"),
        Column::right("makespan"),
        Column::right("lost"),
        Column::right("backfilled"),
        Column::right("violation"),
        Column::right("delayed"),
        Column::right("95 %"),
    ]);
    for policy in &result.policies {
        let metrics = &policy.metrics;
        table.push([
            Cell::text(metrics.name.clone()).tone(Tone::Strong),
            percent(Some(metrics.utilisation)),
            seconds(Some(metrics.makespan_s)),
            percent(Some(metrics.loss_of_capacity)),
            percent(Some(metrics.backfilled_share)),
            seconds(Some(metrics.violation_mean_s)),
            percent(Some(metrics.violation_share)),
            seconds(Some(metrics.violation_p95_s)),
        ]);
    }
    table
}

/// Mean waits by size and by length, a row a policy.
pub fn classes(result: &SimulateResult) -> Table {
    let mut table = Table::new([
        Column::left("policy"),
        Column::right("small (< 10 %)"),
        Column::right("middle"),
        Column::right("large (> 30 %)"),
        Column::right("short (< 1 h)"),
        Column::right("middle"),
        Column::right("long (> 24 h)"),
    ]);
    let wait = |class: &ClassMetrics| seconds(class.average_wait_s);
    for policy in &result.policies {
        let metrics = &policy.metrics;
        let classes = metrics.by_size.iter().chain(&metrics.by_length).map(wait);
        table.push(std::iter::once(Cell::text(metrics.name.clone()).tone(Tone::Strong)).chain(classes));
    }
    table
}

/// How a policy differs from the first in some figures, and how sure that is.
pub fn differences(result: &SimulateResult) -> Table {
    let mut table = Table::new([
        Column::left("policy"),
        Column::left("figure"),
        Column::right("difference"),
        Column::right("95 % interval"),
        Column::left("sure?"),
    ]);
    for policy in &result.policies {
        let Some(difference) = &policy.against_first else { continue };
        for (place, shown) in SHOWN.iter().enumerate() {
            let Some(value) = (shown.value)(&difference.values) else { continue };
            let interval = (shown.interval)(&difference.intervals);
            let name = if place == 0 { policy.metrics.name.as_str() } else { "" };
            table.push([
                Cell::text(name).tone(Tone::Strong),
                Cell::text(shown.name),
                Cell::number(signed(value, &shown.quantity), value),
                interval.map_or_else(Cell::missing, |(low, high)| {
                    Cell::text(format!(
                        "{} to {}",
                        signed(low, &shown.quantity),
                        signed(high, &shown.quantity)
                    ))
                }),
                match interval.map(|(low, high)| low > 0.0 || high < 0.0) {
                    Some(true) => Cell::truth("differs", true),
                    Some(false) => Cell::truth("may not differ", false).tone(Tone::Warning),
                    None => Cell::missing(),
                },
            ]);
        }
    }
    table
}

/// A figure of the table of differences; all of them are in JSON.
struct Shown {
    name: &'static str,
    quantity: Quantity,
    value: fn(&Figures<Option<f64>>) -> Option<f64>,
    interval: fn(&Figures<Interval>) -> Interval,
}

const SHOWN: [Shown; 6] = [
    Shown {
        name: "mean wait",
        quantity: Quantity::Seconds,
        value: |values| values.average_wait_s,
        interval: |intervals| intervals.average_wait_s,
    },
    Shown {
        name: "95 % of waits",
        quantity: Quantity::Seconds,
        value: |values| values.p95_wait_s,
        interval: |intervals| intervals.p95_wait_s,
    },
    Shown {
        name: "mean slowdown",
        quantity: Quantity::Number,
        value: |values| values.average_bounded_slowdown,
        interval: |intervals| intervals.average_bounded_slowdown,
    },
    Shown {
        name: "used",
        quantity: Quantity::Percent,
        value: |values| values.utilisation.map(|share| 100.0 * share),
        interval: |intervals| intervals.utilisation.map(hundredfold),
    },
    Shown {
        name: "lost",
        quantity: Quantity::Percent,
        value: |values| values.loss_of_capacity.map(|share| 100.0 * share),
        interval: |intervals| intervals.loss_of_capacity.map(hundredfold),
    },
    Shown {
        name: "violation",
        quantity: Quantity::Seconds,
        value: |values| values.violation_mean_s,
        interval: |intervals| intervals.violation_mean_s,
    },
];

fn hundredfold((low, high): (f64, f64)) -> (f64, f64) {
    (100.0 * low, 100.0 * high)
}

/// A difference with its sign.
fn signed(value: f64, quantity: &Quantity) -> String {
    let shown = short(value.abs(), quantity);
    match value {
        value if value < 0.0 => format!("−{shown}"),
        value if value > 0.0 => format!("+{shown}"),
        _ => shown,
    }
}
