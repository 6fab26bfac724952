//! `harp dnn memory`: what training a network holds, and where it fits.

use std::process::ExitCode;

use harp_dnn::memory::{Calibration, Memory, Overhead, Part, PartName, estimate};
use harp_dnn::{Network, Training};
use harp_report::text::{number, plural, plural_with, share};
use harp_report::{AxisView, Canvas, Cell, Column, Quantity, Table, WaterfallView, waterfall_chart};
use serde::Serialize;

use super::fitting::{Fit, Question};
use super::{model, peaks};
use crate::arguments::DnnMemory;
use crate::commands::find_site;
use crate::failure::{Exit, Failure};
use crate::project;
use crate::terminal::Terminal;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    model: &'a str,
    origin: &'a str,
    layers: usize,
    #[serde(flatten)]
    memory: &'a Memory,
    overhead: Overhead,
    calibration: Option<&'a Calibration>,
    training: &'a Training,
    fits: &'a [Fit],
}

/// Estimates the memory of a training and says where it fits.
pub fn memory(arguments: &DnnMemory, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let (network, adapted) = model::network(&arguments.model, &model::settings(&arguments.model))?;
    let training = model::training(&arguments.model, &arguments.training);
    for warning in model::without_effect(&arguments.model, &arguments.training, &network) {
        terminal.say(&warning);
    }
    let calibration = match &arguments.calibrate {
        Some(file) => Some(peaks::calibration(file, arguments, &training, terminal)?),
        None => None,
    };
    let overhead = match (&calibration, arguments.overhead) {
        (Some(calibration), _) => calibration.overhead,
        (None, Some(fixed)) => Overhead { fixed, factor: 1.0 },
        (None, None) => Overhead::default(),
    };
    let memory = estimate(&network, &training, &overhead)?;
    let site = arguments.site.as_deref().map(find_site).transpose()?;
    let question = Question { network: &network, training: &training, overhead: &overhead, memory: &memory };
    let fits = question.answer(arguments.gpu.as_deref(), site.as_ref())?;
    if let Some(file) = &arguments.chart {
        if file.extension().is_none_or(|extension| extension != "svg") {
            return Err(Failure::bad_input(format!("{}: the chart is an SVG file", file.display()))
                .hint("give it a name that ends in .svg"));
        }
        let chart = waterfall_chart(&waterfall(&network, &training, &memory, &fits), &Canvas::default());
        project::write_whole(file, &chart)?;
        terminal.say(&format!("wrote {}", file.display()));
    }
    if terminal.json {
        terminal.print_json(&Answer {
            model: &network.name,
            origin: &network.origin,
            layers: network.layers.len(),
            memory: &memory,
            overhead,
            calibration: calibration.as_ref(),
            training: &training,
            fits: &fits,
        })?;
    } else {
        terminal.print_text(&about(&network, &memory, adapted))?;
        terminal.print_table(&parts_table(&memory))?;
        terminal.print("")?;
        terminal.print_table(&fits_table(&fits, &training))?;
        for sentence in remarks(&memory, &training, arguments, calibration.as_ref()) {
            terminal.print_text(&sentence)?;
        }
    }
    let too_small = arguments.gpu.is_some() && fits.iter().all(|fit| fit.fits == Some(false));
    Ok(if too_small { ExitCode::from(Exit::NoPlanFits as u8) } else { ExitCode::SUCCESS })
}

fn about(network: &Network, memory: &Memory, adapted: Option<usize>) -> String {
    let mut text = format!("{}: {} parameters", network.name, number(memory.parameters as f64));
    if memory.trained != memory.parameters {
        let percent = share(memory.trained as f64 / memory.parameters as f64);
        text.push_str(&format!(", {} of them learn ({percent})", number(memory.trained as f64)));
    }
    if let Some(adapted) = adapted {
        text.push_str(&format!(", with adapters beside {}", plural_with(adapted, "matrix", "matrices")));
    }
    text
}

fn parts_table(memory: &Memory) -> Table {
    let mut table = Table::new([
        Column::left("part"),
        Column::right("on each GPU").key("gpu_bytes"),
        Column::right("share"),
        Column::right("on each host").key("host_bytes"),
    ]);
    let bytes = |value: harp_core::Bytes| match value.0 {
        0 => Cell::missing(),
        _ => Cell::number(value.to_string(), value.as_f64()),
    };
    for Part { part, gpu, host } in &memory.parts {
        let of_all = gpu.map(|gpu| gpu.as_f64() / memory.gpu.as_f64().max(1.0));
        table.push([
            Cell::text(part.words()),
            gpu.map_or_else(|| Cell::text("not known"), bytes),
            of_all
                .filter(|share| *share > 0.0)
                .map_or_else(Cell::missing, |of_all| Cell::number(share(of_all), of_all)),
            bytes(*host),
        ]);
    }
    let all = if memory.complete { "all" } else { "all but activations" };
    table.push([Cell::text(all), bytes(memory.gpu), Cell::missing(), bytes(memory.host)]);
    if memory.disk.0 > 0 {
        table.push([
            Cell::text("on a disk of each node"),
            Cell::missing(),
            Cell::missing(),
            bytes(memory.disk),
        ]);
    }
    table
}

fn fits_table(fits: &[Fit], training: &Training) -> Table {
    let mut table = Table::new([
        Column::left("GPU"),
        Column::right("memory").key("memory_bytes"),
        Column::left("fits"),
        Column::right("largest batch"),
        Column::right(format!("fewest GPUs for {}", plural(training.batch as usize, "sample")))
            .key("smallest_gpus"),
        Column::left("remark").optional(),
    ]);
    for fit in fits {
        let count = |value: Option<u64>| value.map_or_else(Cell::missing, |value| Cell::from(value as usize));
        table.push([
            Cell::text(&fit.gpu),
            fit.memory_bytes
                .map_or_else(Cell::missing, |memory| Cell::number(memory.to_string(), memory.as_f64())),
            match fit.fits {
                Some(true) => Cell::truth("yes", true),
                Some(false) => Cell::truth("no", false),
                None => Cell::missing(),
            },
            count(fit.largest_batch),
            count(fit.smallest_gpus),
            fit.remark.as_ref().map_or_else(Cell::missing, Cell::text),
        ]);
    }
    table.without_empty_columns()
}

/// Calibrated formulas are off by some percent; one that is off by more than this describes something else.
const POOR: f64 = 50.0;

fn remarks(
    memory: &Memory,
    training: &Training,
    arguments: &DnnMemory,
    calibration: Option<&Calibration>,
) -> Vec<String> {
    let mut said = Vec::new();
    if !memory.complete {
        said.push(
            "A list of tensors does not say what a step keeps: the true need is higher. Put the config.json \
             beside it."
                .to_owned(),
        );
    }
    if memory.host.0 > 0 && training.offload.optimizer.is_none() {
        said.push(format!(
            "The {} on each host are needed while the model is made, if every process loads all of it \
             (DeepSpeed's estimate); afterwards they are free.",
            memory.host
        ));
    }
    if let Some(found) = calibration.filter(|found| found.calibrated_error > POOR) {
        said.push(format!(
            "So large an error ({}) means that the description is not of what was measured, or that its \
             columns are not batch, sequence, gpus, accumulate or a {{name}} in MODEL: do not rely on it.",
            harp_report::text::percent(found.calibrated_error)
        ));
    }
    match calibration {
        Some(found) => said.push(format!(
            "{}: the formula with the usual overhead was off by {} on average and {} at worst; with {} and a \
             factor of {} it is off by {} on peaks it was not fitted to.",
            plural(found.peaks, "measured peak"),
            harp_report::text::percent(found.formula_error),
            harp_report::text::percent(found.formula_worst),
            found.overhead.fixed,
            number(found.overhead.factor),
            harp_report::text::percent(found.calibrated_error),
        )),
        None if arguments.overhead.is_none() => said.push(
            "The framework's overhead is an assumption; a few measured peaks make it a measurement \
             (--calibrate)."
                .to_owned(),
        ),
        None => {}
    }
    said
}

fn waterfall(network: &Network, training: &Training, memory: &Memory, fits: &[Fit]) -> WaterfallView {
    let named = |part: PartName| part.words().to_owned();
    let parts = memory.parts.iter().filter_map(|part| Some((named(part.part), part.gpu?.as_f64()))).collect();
    // Limits far above hide the parts.
    let worth = |fit: &&Fit| fit.memory_bytes.is_some_and(|bytes| bytes.as_f64() < 4.0 * memory.gpu.as_f64());
    let limit = |fit: &Fit| fit.memory_bytes.map(|bytes| (fit.gpu.clone(), bytes.as_f64()));
    let limits =
        if fits.len() <= 4 { fits.iter().filter(worth).filter_map(limit).collect() } else { Vec::new() };
    WaterfallView {
        title: format!("{}: {} on each GPU", network.name, memory.gpu),
        subtitle: format!(
            "{} on {}, {} in {}, ZeRO {}",
            plural(training.batch as usize, "sample"),
            plural(training.parallel.gpus as usize, "GPU"),
            training.optimizer,
            training.precision,
            training.zero
        ),
        y: AxisView::linear("memory", Quantity::Bytes),
        parts,
        total: "all".to_owned(),
        limits,
    }
}
