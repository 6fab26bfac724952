//! `harp trace compare`: several traces side by side.

use harp_report::{Cell, Column, Table, Tone};
use harp_trace::summary::{ComparedFigure, Comparison, Machine};

use super::{reading, summary};
use crate::arguments::TraceCompare;
use crate::cells::{hours, percent, plain, seconds};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Characterises every trace and puts the figures side by side.
pub fn compare(arguments: &TraceCompare, terminal: &Terminal) -> Result<(), Failure> {
    if !arguments.machine.is_empty() && arguments.machine.len() != arguments.files.len() {
        return Err(Failure::bad_input(format!(
            "--machine is given {} times for {} traces",
            arguments.machine.len(),
            arguments.files.len()
        ))
        .hint("give it once for each trace, in the same order"));
    }
    let options = reading::options(&arguments.reading);
    let mut summaries = Vec::new();
    let mut readings = Vec::new();
    for (place, file) in arguments.files.iter().enumerate() {
        let machine = arguments.machine.get(place).copied().unwrap_or(Machine::default());
        let (read, summary) = summary::characterise(file, &options, machine, terminal)?;
        readings.push(read);
        summaries.push(summary);
    }
    let comparison = harp_trace::summary::compare(&summaries);
    if terminal.json {
        terminal.print_json(&comparison)?;
    } else {
        tell(&comparison, terminal)?;
    }
    readings.iter().try_for_each(|read| reading::require_all(&arguments.reading, read))
}

fn tell(comparison: &Comparison, terminal: &Terminal) -> Result<(), Failure> {
    let columns = |first: &str| {
        let traces = comparison.traces.iter().map(|name| Column::right(summary::short_name(name)));
        std::iter::once(Column::left(first)).chain(traces).collect::<Vec<_>>()
    };
    let mut text = String::new();
    for section in ["trace", "geometry", "failures", "users"] {
        let mut table = Table::new(columns(section));
        for figure in comparison.figures.iter().filter(|figure| figure.section == section) {
            let cells = figure.values.iter().map(|&value| cell(figure, value));
            table.push(std::iter::once(Cell::text(figure.figure.clone())).chain(cells));
        }
        text.push_str(&table.to_terminal(terminal.width, &terminal.style));
        text.push('\n');
    }
    let mut table = Table::new(columns("does it hold?"));
    for takeaway in &comparison.takeaways {
        let cells = takeaway.holds.iter().map(|holds| match holds {
            Some(true) => Cell::truth("yes", true).tone(Tone::Good),
            Some(false) => Cell::truth("no", false).tone(Tone::Warning),
            None => Cell::missing(),
        });
        table.push(std::iter::once(Cell::text(takeaway.claim)).chain(cells));
    }
    text.push_str(&table.to_terminal(terminal.width, &terminal.style));
    terminal.print_text(&text)
}

fn cell(figure: &ComparedFigure, value: Option<f64>) -> Cell {
    match figure.unit {
        "s" => seconds(value),
        "h" => hours(value),
        "share" => percent(value),
        _ => plain(value),
    }
}
