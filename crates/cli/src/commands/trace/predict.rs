//! `harp trace predict`: how well run times can be predicted while jobs run.

use harp_report::text::number;
use harp_report::{Cell, Column, Quantity, Table};
use harp_trace::Skipped;
use harp_trace::predict::{Evaluation, PredictOptions, PredictResult};
use serde::Serialize;

use super::reading;
use crate::arguments::TracePredict;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// The answer of `harp trace predict --json`.
#[derive(Serialize)]
struct Answer<'a> {
    name: &'a str,
    skipped: &'a Skipped,
    #[serde(flatten)]
    result: &'a PredictResult,
}

/// Evaluates every method on the later jobs of a trace.
pub fn predict(arguments: &TracePredict, terminal: &Terminal) -> Result<(), Failure> {
    let mut evaluation = Evaluation::default();
    let options = reading::options(&arguments.reading);
    let read = harp_trace::visit_path(&arguments.file, &options, &mut |job| evaluation.add(job))?;
    reading::tell_skipped(&read, terminal);
    let result = evaluation.finish(&PredictOptions { at: arguments.at.clone(), ..PredictOptions::default() });
    if result.jobs == result.training_jobs {
        return Err(Failure::bad_input(format!(
            "{}: {} jobs with run time and size are too few to learn from and be asked about",
            read.name, result.jobs
        ))
        .exit(Exit::NotEnoughEvidence));
    }
    if terminal.json {
        terminal.print_json(&Answer { name: &read.name, skipped: &read.skipped, result: &result })?;
    } else {
        tell(&result, terminal)?;
    }
    reading::require_all(&arguments.reading, &read)
}

fn tell(result: &PredictResult, terminal: &Terminal) -> Result<(), Failure> {
    let mut table = Table::new([
        Column::right("asked after"),
        Column::right("jobs"),
        Column::left("method"),
        Column::right("accuracy"),
        Column::right("under-estimated"),
    ]);
    for at in &result.at {
        for (place, method) in at.methods.iter().enumerate() {
            let first = place == 0;
            let elapsed = Quantity::Seconds.format(at.elapsed_s);
            let figure = |value: Option<f64>| {
                value.map_or_else(Cell::missing, |value| Cell::number(format!("{value:.3}"), value))
            };
            table.push([
                if first { Cell::number(elapsed, at.elapsed_s) } else { Cell::text("") },
                if first { Cell::from(at.jobs) } else { Cell::text("") },
                Cell::text(method.name),
                figure(method.accuracy),
                figure(method.underestimation_rate),
            ]);
        }
    }
    let mut text = table.to_terminal(terminal.width, &terminal.style);
    text.push_str(&format!(
        "\nLearned from the first {} of {} jobs; mean run time {}. Accuracy is the mean of min / max of predicted \
         and real run time.\n",
        number(result.training_jobs as f64),
        number(result.jobs as f64),
        Quantity::Seconds.format(result.mean_run_s)
    ));
    terminal.print_text(&text)
}
