//! `harp dnn time`: how long a training takes, by parts, and how it scales.

use std::fs::File;
use std::path::Path;

use harp_core::Value;
use harp_dnn::gpu::{self, GPUS, Gpu};
use harp_dnn::memory::{self, Overhead};
use harp_dnn::time::{Efficiency, Interconnect, MeasuredStep, Plan, Time, estimate, learned, usual, work};
use harp_dnn::{Network, Parallel, Precision, Training};
use harp_report::text::{number, plural, share};
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use super::model;
use crate::arguments::DnnTime;
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Counts of GPUs that are compared: up to this many times those asked for.
const MOST_SCALING: u64 = 8;
/// Below so many seconds a step starts kernels for longer than they compute: some hundred of them, each
/// some microseconds.
const SHORT_STEP: f64 = 1e-3;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    model: &'a str,
    gpu: &'a Gpu,
    gpus: u64,
    fits: bool,
    #[serde(flatten)]
    time: &'a Time,
    scaling: Vec<Scaled>,
}

/// The same training on another count of GPUs.
#[derive(Serialize)]
struct Scaled {
    gpus: u64,
    epoch: f64,
    speedup: f64,
    efficiency: f64,
}

/// Estimates the time of a training.
pub fn time(arguments: &DnnTime, terminal: &Terminal) -> Result<(), Failure> {
    let (network, _) = model::network(&arguments.model, &model::settings(&arguments.model))?;
    let training = model::training(&arguments.model, &arguments.training);
    for warning in model::without_effect(&arguments.model, &arguments.training, &network) {
        terminal.say(&warning);
    }
    let gpu = the_gpu(&arguments.gpu)?;
    let efficiency = match &arguments.measured {
        Some(file) => learned(&steps(file, &network, &training)?, gpu)?,
        None => usual(network.transformer.is_some()),
    };
    let plan = Plan {
        gpu,
        network: Interconnect { bandwidth: arguments.network, ..Interconnect::default() },
        efficiency,
        samples: arguments.samples,
        epochs: arguments.epochs,
        load_seconds: arguments.load_seconds.0,
        cores_per_gpu: arguments.cores_per_gpu,
        start_seconds: arguments.start_seconds.0,
    };
    let time = estimate(&network, &training, &plan)?;
    let scaling = scaling(&network, &training, &plan)?;
    let needed = memory::estimate(&network, &training, &Overhead::default())?.gpu;
    if terminal.json {
        let (gpus, fits) = (training.parallel.gpus, needed <= gpu.memory());
        let model = &network.name;
        return terminal.print_json(&Answer { model, gpu, gpus, fits, time: &time, scaling });
    }
    terminal.print_text(&in_words(&network, &training, gpu, &time))?;
    if needed > gpu.memory() {
        terminal.print_text(&format!(
            "It does not fit: {needed} are needed on each GPU, which has {}. harp dnn memory says what helps.",
            gpu.memory()
        ))?;
    }
    terminal.print_table(&parts(&time))?;
    terminal.print("")?;
    terminal.print_table(&scaling_table(&scaling))?;
    if let Some(sentence) = feeding(&time, arguments) {
        terminal.print_text(&sentence)?;
    }
    for sentence in remarks(&time, &training, gpu, arguments) {
        terminal.print_text(&sentence)?;
    }
    terminal.print_text(&rests_on(&time.efficiency, arguments))
}

/// What the roofline does not know of this training.
fn remarks(time: &Time, training: &Training, gpu: &Gpu, arguments: &DnnTime) -> Vec<String> {
    let mut said = Vec::new();
    if training.precision == Precision::Fp8 && gpu.fp8 == 0.0 {
        said.push(format!("{} has no arithmetic in 8 bits: that in 16 bits is assumed.", gpu.name));
    }
    if training.precision == Precision::Bf16 && !gpu.has_bf16() {
        said.push(format!("{} has no tensor cores for bf16: --precision fp16 is assumed.", gpu.name));
    }
    if training.offload.optimizer.is_some() {
        said.push(
            "What offload moves between GPU, host and disk is not counted: it takes longer than this."
                .to_owned(),
        );
    }
    if arguments.measured.is_none() && time.step.compute < SHORT_STEP {
        said.push(
            "A step this short is mostly starting kernels, which is not counted: the truth may be several \
             times longer. Measure a few steps (--measured)."
                .to_owned(),
        );
    }
    said
}

fn the_gpu(name: &str) -> Result<&'static Gpu, Failure> {
    match gpu::kinds(name).as_slice() {
        [one] => Ok(one),
        several => {
            let known: Vec<&str> = match several {
                [] => GPUS.iter().map(|gpu| gpu.name).collect(),
                several => several.iter().map(|gpu| gpu.name).collect(),
            };
            let what = if several.is_empty() { "is not known" } else { "may be several" };
            Err(Failure::bad_input(format!("the GPU `{name}` {what}"))
                .hint(format!("name one of {}", known.join(", "))))
        }
    }
}

/// Steps that were measured: a CSV file with the columns gpu and step_seconds, and batch or sequence where
/// they differ.
fn steps(file: &Path, network: &Network, training: &Training) -> Result<Vec<MeasuredStep>, Failure> {
    let opened = File::open(file).map_err(|error| Failure::file("read", file, &error))?;
    let mut found = Vec::new();
    for (index, row) in harp_history::read_cases(&file.display().to_string(), opened)?.iter().enumerate() {
        let wrong = |what: &str| {
            Failure::bad_input(format!("{}: row {}: {what}", file.display(), index + 1))
                .hint("columns are gpu, step_seconds, and batch or sequence where they differ")
        };
        let name = row.get("gpu").ok_or_else(|| wrong("`gpu` is missing"))?.to_string();
        let seconds = row.get("step_seconds").ok_or_else(|| wrong("`step_seconds` is missing"))?;
        let seconds = seconds.as_number().filter(|seconds| *seconds > 0.0);
        let seconds = seconds.ok_or_else(|| wrong("`step_seconds` is no time above 0"))?;
        let count = |column: &str| match row.get(column) {
            None => Ok(None),
            Some(Value::Integer(count)) if *count > 0 => Ok(Some(*count as u64)),
            Some(other) => Err(wrong(&format!("`{column}` must be a whole number above 0, not {other}"))),
        };
        let gpu = the_gpu(&name)?;
        let training = Training {
            batch: count("batch")?.unwrap_or(training.batch),
            sequence: count("sequence")?.or(training.sequence),
            // Measured on one GPU: what it computes, without exchange.
            parallel: Parallel { gpus: 1, tensor: 1, pipeline: 1, ..training.parallel },
            accumulate: 1,
            ..training.clone()
        };
        training.check(network)?;
        let least = work(network, &training)?.least_seconds(gpu, training.precision);
        found.push(MeasuredStep { gpu, least, seconds });
    }
    if found.is_empty() {
        return Err(
            Failure::bad_input(format!("{} holds no step", file.display())).exit(Exit::NotEnoughEvidence)
        );
    }
    Ok(found)
}

fn scaling(network: &Network, training: &Training, plan: &Plan<'_>) -> Result<Vec<Scaled>, Failure> {
    let least = training.parallel.tensor * training.parallel.pipeline;
    let most = training.parallel.gpus.max(least).saturating_mul(MOST_SCALING);
    let epoch_on = |gpus: u64| {
        let parallel = Parallel { gpus, ..training.parallel };
        estimate(network, &Training { parallel, ..training.clone() }, plan).map(|time| time.epoch)
    };
    let first = epoch_on(least)?;
    let counts = std::iter::successors(Some(least), |count| count.checked_mul(2));
    let mut found = Vec::new();
    for gpus in counts.take_while(|count| *count <= most) {
        let epoch = epoch_on(gpus)?;
        let speedup = first / epoch;
        found.push(Scaled { gpus, epoch, speedup, efficiency: speedup * least as f64 / gpus as f64 });
    }
    Ok(found)
}

fn in_words(network: &Network, training: &Training, gpu: &Gpu, time: &Time) -> String {
    let seconds = |value: f64| Quantity::Seconds.format(value);
    format!(
        "{} on {} × {}: {}, 90 % interval {}; an epoch is {} of {} and takes {}",
        network.name,
        training.parallel.gpus,
        gpu.name,
        seconds(time.total),
        Quantity::Seconds.range(time.low, time.high),
        plural(time.steps as usize, "step"),
        plural(time.step_samples as usize, "sample"),
        seconds(time.epoch)
    )
}

fn parts(time: &Time) -> Table {
    let mut table = Table::new([
        Column::left("part of a step"),
        Column::right("time").key("seconds"),
        Column::right("share"),
    ]);
    let step = &time.step;
    for (name, seconds) in [
        ("compute", step.compute),
        ("idle pipeline stages", step.bubble),
        ("exchange that nothing hides", step.exchange),
        ("waiting for data", step.waiting),
        ("all", step.total),
    ] {
        let part = seconds / step.total;
        table.push([
            Cell::text(name),
            Cell::number(Quantity::Seconds.format(seconds), seconds),
            Cell::number(share(part), part),
        ]);
    }
    table
}

fn scaling_table(scaling: &[Scaled]) -> Table {
    let mut table = Table::new([
        Column::right("GPUs"),
        Column::right("an epoch").key("epoch_seconds"),
        Column::right("faster").key("speedup"),
        Column::right("efficiency"),
    ]);
    for row in scaling {
        table.push([
            Cell::from(row.gpus as usize),
            Cell::number(Quantity::Seconds.format(row.epoch), row.epoch),
            Cell::number(format!("{} ×", number(row.speedup)), row.speedup),
            Cell::number(share(row.efficiency), row.efficiency),
        ]);
    }
    table
}

/// How many cores keep one GPU busy, where loading takes any time.
fn feeding(time: &Time, arguments: &DnnTime) -> Option<String> {
    let needed = time.cores_needed?;
    let given = arguments.cores_per_gpu;
    let verdict = match time.step.waiting > 0.0 {
        true => format!(
            "with {} it waits {} of the time",
            number(given),
            share(time.step.waiting / time.step.total)
        ),
        false => format!("{} are enough", number(given)),
    };
    Some(format!("{} cores feed one GPU; {verdict}.", number(needed.ceil())))
}

fn rests_on(efficiency: &Efficiency, arguments: &DnnTime) -> String {
    let reached = share(efficiency.share);
    let mut text = format!("It reaches {reached} of what the GPU could do, by {}.", efficiency.basis);
    if arguments.measured.is_none() {
        text.push_str(" A few steps measured on any GPU narrow the interval (--measured).");
    }
    text
}
