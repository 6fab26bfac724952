//! The tables of a characterisation, for the terminal and for the page.

use harp_report::{Cell, Column, Table};
use harp_trace::summary::{ClassSummary, Distribution, Failures, StateShare, Summary, Users};

use crate::cells::{hours, percent, plain, seconds};

/// Quantiles of run time, size, wait and arrival interval.
pub fn distributions(summary: &Summary) -> Table {
    let names = ["mean", "5 %", "25 %", "median", "75 %", "95 %", "99 %", "largest"];
    let columns = std::iter::once(Column::left("of jobs")).chain(names.map(Column::right));
    let mut table = Table::new(columns);
    let geometry = &summary.geometry;
    type Show = fn(Option<f64>) -> Cell;
    let size = format!("size ({})", summary.machine.unit);
    let rows: [(&str, &Distribution, Show); 4] = [
        ("run time", &geometry.run_s, seconds),
        (&size, &geometry.size, plain),
        ("wait", &geometry.wait_s, seconds),
        ("next arrival after", &geometry.arrival_interval_s, seconds),
    ];
    for (name, values, show) in rows {
        let figures = [
            values.mean,
            values.p5,
            values.p25,
            values.median,
            values.p75,
            values.p95,
            values.p99,
            values.maximum,
        ];
        let cell = |value| show((values.count > 0).then_some(value));
        table.push(std::iter::once(Cell::text(name)).chain(figures.map(cell)));
    }
    table
}

/// Classes by size and by length: their shares, waits and ends.
pub fn classes(summary: &Summary) -> Table {
    let mut table = Table::new([
        Column::left("class"),
        Column::right("jobs"),
        Column::right("of jobs"),
        Column::right("core-hours"),
        Column::right("of core-hours"),
        Column::right("mean wait"),
        Column::right("pass"),
        Column::right("fail"),
        Column::right("killed"),
    ]);
    let gpus = summary.machine.unit == "gpus";
    let sizes = if gpus {
        ["small (to 1 GPU)", "middle (to 8)", "large (above 8)"]
    } else {
        ["small (below 10 %)", "middle (to 30 %)", "large (above 30 %)"]
    };
    let lengths = ["short (under 1 h)", "middle (to 24 h)", "long (over 24 h)"];
    let geometry = &summary.geometry;
    let named = sizes.into_iter().zip(&geometry.by_size).chain(lengths.into_iter().zip(&geometry.by_length));
    for (name, class) in named {
        table.push(class_row(name, class));
    }
    table
}

fn class_row(name: &str, class: &ClassSummary) -> [Cell; 9] {
    [
        Cell::text(name),
        Cell::from(class.jobs),
        percent(Some(class.job_share)),
        plain(Some(class.core_hours)),
        percent(Some(class.core_hour_share)),
        hours(class.average_wait_h),
        percent(class.pass_rate),
        percent(class.fail_rate),
        percent(class.killed_rate),
    ]
}

/// How jobs ended.
pub fn ends(failures: &Failures) -> Table {
    let mut table = Table::new([
        Column::left("end"),
        Column::right("jobs"),
        Column::right("of jobs"),
        Column::right("core-hours"),
        Column::right("of core-hours"),
    ]);
    let states: [(&str, &StateShare); 3] =
        [("pass", &failures.pass), ("fail", &failures.fail), ("killed", &failures.killed)];
    for (name, state) in states {
        table.push([
            Cell::text(name),
            Cell::from(state.jobs),
            percent(Some(state.job_share)),
            plain(Some(state.core_hours)),
            percent(Some(state.core_hour_share)),
        ]);
    }
    table
}

/// How much of what users do lies in few groups of alike jobs.
pub fn repetition(users: &Users) -> Table {
    let heads = ["largest group", "3 largest", "10 largest"];
    let mut table =
        Table::new(std::iter::once(Column::left("share of a user's …")).chain(heads.map(Column::right)));
    for repeated in &users.repeated {
        let shares = [repeated.top_1, repeated.top_3, repeated.top_10];
        // a tenth of a percent tells 99.6 from 100
        let cells = shares.map(|share| Cell::number(format!("{:.1} %", 100.0 * share), share));
        table.push(std::iter::once(Cell::text(repeated.definition)).chain(cells));
    }
    table
}

/// What is submitted at which queue length.
pub fn by_queue(users: &Users) -> Table {
    let heads = ["waiting jobs", "submitted", "mean size", "mean run time", "mean request"];
    let mut table = Table::new(std::iter::once(Column::left("queue")).chain(heads.map(Column::right)));
    for bin in &users.by_queue {
        table.push([
            Cell::text(bin.queue),
            Cell::text(format!("{}–{}", bin.from, bin.to)),
            Cell::from(bin.jobs),
            plain(bin.average_size),
            seconds(bin.average_run_s),
            seconds(bin.average_request_s),
        ]);
    }
    table
}

/// The largest consumers.
pub fn largest_users(users: &Users, most: usize) -> Table {
    let mut table = Table::new([
        Column::left("user"),
        Column::right("jobs"),
        Column::right("core-hours"),
        Column::right("unused"),
        Column::right("asked / used"),
        Column::right("runs: pass"),
        Column::right("runs: fail"),
        Column::right("runs: killed"),
    ]);
    for user in users.largest.iter().take(most) {
        table.push([
            Cell::text(harp_report::text::printable(&user.user)),
            Cell::from(user.jobs),
            plain(Some(user.core_hours)),
            plain(Some(user.wasted_core_hours)),
            plain(user.overestimation_median),
            seconds(user.pass_median_run_s),
            seconds(user.fail_median_run_s),
            seconds(user.killed_median_run_s),
        ]);
    }
    table
}
