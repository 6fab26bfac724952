//! `harp trace summary`: how a cluster behaves.

use std::path::Path;

use harp_report::text::{number, plural, printable, share};
use harp_report::{Quantity, Table, Tone, sparkline};
use harp_trace::summary::{Collector, Machine, Summary};
use harp_trace::{ReadOptions, Reading};

use super::{page, reading, tables};
use crate::arguments::TraceSummary;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;

/// How many of the largest users the terminal shows.
const USERS_SHOWN: usize = 5;

/// Characterises a trace.
pub fn summary(arguments: &TraceSummary, terminal: &Terminal) -> Result<(), Failure> {
    let options = reading::options(&arguments.reading);
    let (read, summary) =
        characterise(&arguments.file, &options, arguments.machine.unwrap_or_default(), terminal)?;
    if let Some(file) = &arguments.html {
        let made = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
        let page = page::page(&summary, command(arguments), made);
        project::write_whole(file, &harp_report::document_page(&page))?;
        terminal.say(&format!("wrote {}", file.display()));
    }
    if terminal.json {
        terminal.print_json(&summary)?;
    } else {
        tell(&summary, terminal)?;
    }
    reading::require_all(&arguments.reading, &read)
}

/// The command that makes the page again.
fn command(arguments: &TraceSummary) -> String {
    let mut command = format!("harp trace summary {}", arguments.file.display());
    if let Some(machine) = arguments.machine {
        let size = machine.processors.map(|size| format!(" --machine procs={size}"));
        let gpus = machine.gpus.map(|size| format!(" --machine gpus={size}"));
        command.extend(size.into_iter().chain(gpus));
    }
    if let Some(zone) = &arguments.reading.timezone {
        command.push_str(&format!(" --timezone {zone}"));
    }
    if let Some(file) = &arguments.html {
        command.push_str(&format!(" --html {}", file.display()));
    }
    command
}

/// Reads and characterises one trace; tells what was skipped and what to know.
pub fn characterise(
    file: &Path,
    options: &ReadOptions,
    machine: Machine,
    terminal: &Terminal,
) -> Result<(Reading, Summary), Failure> {
    let mut collector = Collector::default();
    let read = harp_trace::visit_path(file, options, &mut |job| collector.add(job))?;
    reading::tell_skipped(&read, terminal);
    let summary = collector.finish(&read, machine)?;
    for note in &summary.notes {
        terminal.say(&format!("note: {note}"));
    }
    Ok((read, summary))
}

/// One line that says what trace this is.
pub fn headline(summary: &Summary) -> String {
    let count = |count: u64| number(count as f64);
    format!(
        "{}: {} jobs of {} in {} on {} {}",
        short_name(&summary.name),
        count(summary.jobs),
        plural(summary.users.count, "user"),
        Quantity::Seconds.format(summary.span_s as f64),
        count(u64::from(summary.machine.size)),
        summary.machine.unit
    )
}

/// A file's name without its folder.
pub fn short_name(name: &str) -> String {
    printable(name.rsplit('/').next().unwrap_or(name))
}

fn tell(summary: &Summary, terminal: &Terminal) -> Result<(), Failure> {
    let style = &terminal.style;
    let mut text = style.paint(Tone::Strong, &headline(summary));
    text.push('\n');
    let mut section = |title: &str, table: &Table| {
        if !table.is_empty() {
            text.push_str(&format!("\n{}\n", style.paint(Tone::Strong, title)));
            text.push_str(&table.to_terminal(terminal.width, style));
        }
    };
    section("Jobs", &tables::distributions(summary));
    section("Classes by size and length", &tables::classes(summary));
    let failures = &summary.failures;
    if failures.pass.jobs + failures.fail.jobs + failures.killed.jobs > 0 {
        section("How jobs ended", &tables::ends(failures));
    }
    let users = &summary.users;
    if users.count > 0 {
        section("Users repeat themselves", &tables::repetition(users));
        section("Submissions by queue length", &tables::by_queue(users));
        section("Largest users", &tables::largest_users(users, USERS_SHOWN));
    } else {
        section("Submissions by queue length", &tables::by_queue(users));
    }
    text.push_str(&patterns(summary, terminal));
    text.push_str(&format!("\n{}\n", style.paint(Tone::Strong, "What follows")));
    for takeaway in &summary.takeaways {
        let (sign, tone) = match takeaway.holds {
            Some(true) => (style.choose("✓", "+"), Tone::Good),
            Some(false) => (style.choose("✗", "x"), Tone::Warning),
            None => ("?", Tone::Faint),
        };
        text.push_str(&format!("{} {}\n", style.paint(tone, sign), takeaway.sentence));
    }
    terminal.print_text(&text)
}

/// Submissions over the day and the week, and utilisation over time, each as one line.
fn patterns(summary: &Summary, terminal: &Terminal) -> String {
    let geometry = &summary.geometry;
    let counts = |counts: &[u64]| counts.iter().map(|&count| count as f64).collect::<Vec<f64>>();
    let mut text = String::from("\n");
    let mut line = |name: &str, values: &[f64], note: String| {
        text.push_str(&format!("{name:<28}{}  {note}\n", sparkline(values, &terminal.style)));
    };
    let ratio = geometry.hour_peak_ratio.map(|ratio| format!("busiest {} times the quietest", number(ratio)));
    let zone = summary.time_zone.clone().unwrap_or_else(|| "from the trace's time 0".to_owned());
    let note = [Some(zone.clone()), ratio].into_iter().flatten().collect::<Vec<_>>().join(", ");
    line("submissions, hour 0 to 23", &counts(&geometry.by_hour), note);
    line("submissions, Mon to Sun", &counts(&geometry.by_weekday), zone);
    if let Some(mean) = geometry.utilisation {
        let points = &geometry.utilisation_over_time;
        let step = points.len().div_ceil(40).max(1);
        let means: Vec<f64> = points
            .chunks(step)
            .map(|chunk| chunk.iter().map(|point| point.utilisation).sum::<f64>() / chunk.len() as f64)
            .collect();
        line("utilisation over time", &means, format!("mean {}", share(mean)));
    }
    text
}
