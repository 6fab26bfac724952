//! The page of a characterisation: the same tables as the terminal's, and the charts.

use harp_report::text::{number, share};
use harp_report::{
    AxisView, BarGroup, BarsView, DocumentView, LineSeries, LinesView, Part, Quantity, SectionView,
};
use harp_trace::summary::{ClassSummary, Distribution, Summary};

use super::{summary::headline, tables};
use crate::cells::compact;

/// How many of the largest users the page shows.
const USERS_SHOWN: usize = 25;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The page. `command` is what makes it again, `made` when it was made.
pub fn page(summary: &Summary, command: String, made: String) -> DocumentView {
    let mut warnings = summary.notes.clone();
    if summary.skipped.count > 0 {
        let count = number(summary.skipped.count as f64);
        warnings.push(format!("{count} of {} lines could not be used", number(summary.lines as f64)));
    }
    let harp_version = env!("CARGO_PKG_VERSION").to_owned();
    DocumentView {
        title: format!("harp: {}", summary.name),
        kicker: "How this cluster behaves, told from its job trace".to_owned(),
        headline: headline(summary),
        facts: facts(summary),
        warnings,
        sections: vec![takeaways(summary), geometry(summary), classes(summary), users(summary)],
        made: vec![
            ("harp".to_owned(), harp_version.clone()),
            ("trace".to_owned(), format!("{} ({})", summary.name, summary.format)),
            ("made".to_owned(), made),
        ],
        command,
        harp_version,
    }
}

fn facts(summary: &Summary) -> Vec<(String, String)> {
    let geometry = &summary.geometry;
    let mut facts = Vec::new();
    if let Some(utilisation) = geometry.utilisation {
        facts.push((share(utilisation), "of the machine in use".to_owned()));
    }
    if geometry.run_s.count > 0 {
        facts.push((compact(geometry.run_s.median), "median run time".to_owned()));
    }
    if geometry.wait_s.count > 0 {
        facts.push((compact(geometry.wait_s.mean), "mean wait".to_owned()));
    }
    if has_ends(summary) {
        facts.push((share(summary.failures.pass.job_share), "of jobs pass".to_owned()));
    }
    facts
}

fn has_ends(summary: &Summary) -> bool {
    let failures = &summary.failures;
    failures.pass.jobs + failures.fail.jobs + failures.killed.jobs > 0
}

fn takeaways(summary: &Summary) -> SectionView {
    let statements = summary.takeaways.iter().map(|takeaway| (takeaway.holds, takeaway.sentence.clone()));
    SectionView {
        title: "What follows".to_owned(),
        parts: vec![
            Part::Text("Statements of a study of several clusters, each tried on this trace.".to_owned()),
            Part::Statements(statements.collect()),
        ],
    }
}

fn geometry(summary: &Summary) -> SectionView {
    let geometry = &summary.geometry;
    let mut parts = vec![Part::Table("Quantiles".to_owned(), tables::distributions(summary))];
    let times = [
        ("run time", &geometry.run_s),
        ("wait", &geometry.wait_s),
        ("time to the next submission", &geometry.arrival_interval_s),
    ];
    parts.push(Part::Lines(cumulative(
        "How long jobs run and wait, and how fast they come",
        "Share of jobs at or below a time; below 1 s is drawn at 1 s",
        AxisView::logarithmic("time", Quantity::Seconds),
        &times,
    )));
    parts.push(Part::Lines(cumulative(
        "How large jobs are",
        "Share of jobs at or below a size",
        AxisView::logarithmic(summary.machine.unit, Quantity::Number),
        &[("size", &geometry.size)],
    )));
    let hours: Vec<String> = (0..24).map(|hour| hour.to_string()).collect();
    let zone = summary.time_zone.as_ref().map_or_else(
        || "Counted from the trace's time 0, as it tells no date".to_owned(),
        |zone| format!("Time zone {zone}"),
    );
    parts.push(Part::Bars(counted("Submissions by hour of the day", &zone, &hours, &geometry.by_hour)));
    let days = DAYS.map(str::to_owned);
    parts.push(Part::Bars(counted("Submissions by day of the week", &zone, &days, &geometry.by_weekday)));
    if let Some(mean) = geometry.utilisation {
        let point = |point: &harp_trace::summary::UtilisationPoint| {
            ((point.time_s - geometry.first_submit) as f64, 100.0 * point.utilisation)
        };
        let points = geometry.utilisation_over_time.iter().map(point).collect();
        parts.push(Part::Lines(LinesView {
            title: format!("Utilisation over time: {} on average", share(mean)),
            subtitle: "Share of the machine in use".to_owned(),
            x: AxisView::linear("time since the first submission", Quantity::Seconds),
            y: AxisView::linear("utilisation", Quantity::Percent),
            series: vec![LineSeries { name: "utilisation".to_owned(), points }],
        }));
    }
    SectionView { title: "Geometry of jobs".to_owned(), parts }
}

/// Distribution functions of those that have values.
fn cumulative(title: &str, subtitle: &str, x: AxisView, of: &[(&str, &Distribution)]) -> LinesView {
    let series = of.iter().filter(|(_, values)| values.count > 0).map(|(name, values)| LineSeries {
        name: (*name).to_owned(),
        points: values
            .percentiles
            .iter()
            .enumerate()
            .map(|(at, &value)| (value.max(1.0), at as f64))
            .collect(),
    });
    LinesView {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        x,
        y: AxisView::linear("share of jobs", Quantity::Percent),
        series: series.collect(),
    }
}

fn counted(title: &str, subtitle: &str, names: &[String], counts: &[u64]) -> BarsView {
    let group =
        |(name, &count): (&String, &u64)| BarGroup { name: name.clone(), values: vec![Some(count as f64)] };
    BarsView {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        y: AxisView::linear("jobs submitted", Quantity::Number),
        series: vec!["jobs".to_owned()],
        groups: names.iter().zip(counts).map(group).collect(),
    }
}

fn classes(summary: &Summary) -> SectionView {
    let limits = if summary.machine.unit == "gpus" {
        "Left, by size: to 1, to 8, above 8 GPUs."
    } else {
        "Left, by size: below 10 %, to 30 %, above 30 % of the machine."
    };
    let subtitle = format!("{limits} Right, by run time: under 1 h, to 24 h, over 24 h.");
    let bars =
        |title: &str, y: AxisView, series: &[&str], values: &dyn Fn(&ClassSummary) -> Vec<Option<f64>>| {
            let group =
                |class: &ClassSummary| BarGroup { name: class.class.to_owned(), values: values(class) };
            let mut groups: Vec<BarGroup> = summary.geometry.by_size.iter().map(group).collect();
            groups.push(BarGroup::default());
            groups.extend(summary.geometry.by_length.iter().map(group));
            Part::Bars(BarsView {
                title: title.to_owned(),
                subtitle: subtitle.clone(),
                y,
                series: series.iter().map(|name| (*name).to_owned()).collect(),
                groups,
            })
        };
    let percent = |value: Option<f64>| value.map(|value| 100.0 * value);
    let shares = || AxisView::linear("share", Quantity::Percent);
    let mut parts = vec![bars("Who uses the machine", shares(), &["of jobs", "of core-hours"], &|class| {
        vec![percent(Some(class.job_share)), percent(Some(class.core_hour_share))]
    })];
    if summary.geometry.wait_s.count > 0 {
        let waits = AxisView::linear("mean wait", Quantity::Seconds);
        parts.push(bars("Who waits", waits, &["mean wait"], &|class| {
            vec![class.average_wait_h.map(|hours| 3600.0 * hours)]
        }));
    }
    if has_ends(summary) {
        parts.push(bars("How jobs end", shares(), &["pass", "fail", "killed"], &|class| {
            vec![percent(class.pass_rate), percent(class.fail_rate), percent(class.killed_rate)]
        }));
        parts.push(Part::Table("How jobs ended".to_owned(), tables::ends(&summary.failures)));
    }
    parts.push(Part::Table("Classes by size and length".to_owned(), tables::classes(summary)));
    SectionView { title: "Classes of jobs".to_owned(), parts }
}

fn users(summary: &Summary) -> SectionView {
    let users = &summary.users;
    let mut parts = Vec::new();
    if users.count > 0 {
        parts.push(Part::Table("Users repeat themselves".to_owned(), tables::repetition(users)));
    }
    if !users.by_queue.is_empty() {
        parts.push(Part::Table("Submissions by queue length".to_owned(), tables::by_queue(users)));
    }
    if users.count > 0 {
        parts.push(Part::Table("Largest users".to_owned(), tables::largest_users(users, USERS_SHOWN)));
    }
    if parts.is_empty() {
        parts.push(Part::Text("The trace names no users and tells no waits.".to_owned()));
    }
    SectionView { title: "Users".to_owned(), parts }
}
