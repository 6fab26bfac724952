//! The tables of a simulation.

use harp_report::{Cell, Column, Quantity, Table, Tone};
use harp_sim::{ClassMetrics, SimulateResult};

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
            with_interval(metrics.average_wait_s, policy.average_wait_interval_s, &Quantity::Seconds),
            seconds(Some(metrics.median_wait_s)),
            seconds(Some(metrics.p95_wait_s)),
            seconds(Some(metrics.p99_wait_s)),
            with_interval(
                metrics.average_bounded_slowdown,
                policy.average_bounded_slowdown_interval,
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

/// How each policy differs from the first, and whether that is sure.
pub fn differences(result: &SimulateResult) -> Table {
    let mut table = Table::new([
        Column::left("policy"),
        Column::right("mean wait"),
        Column::right("mean slowdown"),
        Column::left("sure?"),
    ]);
    for policy in &result.policies {
        let Some(difference) = &policy.against_first else { continue };
        let sure = difference.average_wait_interval_s.map(|(low, high)| low > 0.0 || high < 0.0);
        table.push([
            Cell::text(policy.metrics.name.clone()).tone(Tone::Strong),
            signed(difference.average_wait_s, difference.average_wait_interval_s, &Quantity::Seconds),
            signed(
                difference.average_bounded_slowdown,
                difference.average_bounded_slowdown_interval,
                &Quantity::Number,
            ),
            match sure {
                Some(true) => Cell::truth("wait differs", true),
                Some(false) => Cell::truth("wait may not differ", false).tone(Tone::Warning),
                None => Cell::missing(),
            },
        ]);
    }
    table
}

/// A difference with its sign and interval.
fn signed(value: f64, interval: Option<(f64, f64)>, quantity: &Quantity) -> Cell {
    let with_sign = |value: f64| {
        let sign = if value < 0.0 { "−" } else { "+" };
        format!("{sign}{}", short(value.abs(), quantity))
    };
    let interval = interval
        .map_or_else(String::new, |(low, high)| format!(" [{} to {}]", with_sign(low), with_sign(high)));
    Cell::number(format!("{}{interval}", with_sign(value)), value)
}
