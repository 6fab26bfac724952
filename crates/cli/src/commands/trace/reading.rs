//! Reading a trace for a command: the options given, and telling what could not be used.

use harp_report::text::{plural, printable};
use harp_trace::{ReadOptions, Reading};

use crate::arguments::TraceReading;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// How the arguments say a trace is to be read.
pub fn options(arguments: &TraceReading) -> ReadOptions {
    ReadOptions {
        format: arguments.format,
        columns: arguments.columns.clone().unwrap_or_default(),
        zone: arguments.timezone.clone(),
    }
}

/// Lists the lines that could not be used, each with its number.
pub fn tell_skipped(reading: &Reading, terminal: &Terminal) {
    let skipped = &reading.skipped;
    if skipped.count == 0 {
        return;
    }
    for bad in &skipped.lines {
        terminal.say(&format!("{}:{}: {}", reading.name, bad.line, printable(&bad.reason)));
    }
    let more = skipped.count - skipped.lines.len() as u64;
    if more > 0 {
        terminal.say(&format!("… and {}", plural(more as usize, "more line")));
    }
    terminal.say(&format!(
        "warning: skipped {} of {} in {}",
        skipped.count,
        plural(reading.lines as usize, "line"),
        reading.name
    ));
}

/// Ends the command with exit 7 when `--strict` was given and lines were skipped.
pub fn require_all(arguments: &TraceReading, reading: &Reading) -> Result<(), Failure> {
    let skipped = &reading.skipped;
    if !arguments.strict || skipped.count == 0 {
        return Ok(());
    }
    let first = skipped.lines.first().map_or(1, |bad| bad.line);
    let lines = plural(skipped.count as usize, "line");
    Err(Failure::bad_input(format!("{}:{first}: {lines} could not be used", reading.name))
        .exit(Exit::SomeSkipped)
        .hint("mend them, or leave out --strict to go on without them"))
}
