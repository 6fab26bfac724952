//! How each kind of model does alone on the rows of scale `test`, for each CSV file of a folder (see the
//! example `sweeps` for its form), and relative to the best known error.
//!
//! `cargo run --release -p harp-learn --example kinds -- FOLDER [REFERENCE.json] [NAME-PART]`
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};
use harp_learn::{BuildOptions, ModelKind, Policy, build};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("usage: kinds FOLDER [REFERENCE.json] [NAME-PART]")?;
    let reference: serde_json::Value = match arguments.get(1) {
        Some(path) => serde_json::from_str(&std::fs::read_to_string(path)?)?,
        None => serde_json::Value::Null,
    };
    let part = arguments.get(2).map_or("", String::as_str);
    let mut files: Vec<_> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".csv") && path.to_string_lossy().contains(part));
    files.sort();
    let study = [ModelKind::Network, ModelKind::SmallNetwork, ModelKind::Constant];
    let kinds: Vec<ModelKind> = ModelKind::ALL.into_iter().filter(|kind| !study.contains(kind)).collect();
    // Logarithms of the error relative to the best known, by share of full-scale rows and kind.
    let mut ratios: BTreeMap<(String, ModelKind), Vec<f64>> = BTreeMap::new();
    for path in files {
        let dataset = read(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let known = |key: &str| reference[&name][key].as_f64().unwrap_or(f64::NAN);
        let best = known("published_best_mape").min(known("ensemble_mape"));
        print!("{name:18} {best:5.1}");
        for &kind in &kinds {
            let models = if kind == ModelKind::Ensemble { kinds.clone() } else { vec![kind] };
            let options = BuildOptions { policy: Policy::Cost, models, ..BuildOptions::default() };
            let started = Instant::now();
            let Ok(model) = build(&dataset, &options) else {
                print!(" | {kind:.10} -");
                continue;
            };
            let seconds = started.elapsed().as_secs_f64();
            let test = model.evaluate(&dataset, |row| row.scale == Scale::Test)?.estimate;
            let test = test.map_or(f64::NAN, |scores| scores.mape);
            print!(" | {kind:.14} {test:.1} ({seconds:.1})");
            let share = name.rsplit(".p").next().unwrap_or_default().to_owned();
            ratios.entry((share, kind)).or_default().push((test / best).ln());
        }
        println!();
    }
    for ((share, kind), logarithms) in ratios {
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        println!("{share:>3} % {kind:30} {:.3} × the best known ({} sweeps)", mean.exp(), logarithms.len());
    }
    Ok(())
}

fn read(path: &Path) -> Result<Dataset, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let place = |name: &str| header.iter().position(|h| *h == name).ok_or(format!("no column {name}"));
    let (target, split) = (place("seconds")?, place("split")?);
    let mut rows = Vec::new();
    for (group, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let feature = |(index, field): (usize, &&str)| {
            let cell = (!field.is_empty()).then(|| Value::from_text(field));
            (index != target && index != split).then_some(cell)
        };
        rows.push(Row {
            cells: fields.iter().enumerate().filter_map(feature).collect(),
            observed: Observed::Exact(fields[target].parse()?),
            scale: fields[split].parse::<Scale>()?,
            group: group as u64,
        });
    }
    let columns = header.iter().enumerate().filter(|(index, _)| *index != target && *index != split);
    let columns = columns.map(|(_, name)| Column { name: (*name).to_owned() }).collect();
    Ok(Dataset::new(Target::Walltime, columns, rows)?)
}
