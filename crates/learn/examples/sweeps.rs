//! Builds a model from each CSV file of a folder and scores it on the rows of scale `test`.
//!
//! `cargo run --release -p harp-learn --example sweeps -- FOLDER [POLICY] [REFERENCE.json]`
//!
//! A file has one row a run, a column `seconds`, a column `split` (sd, fs, test) and features. The
//! reference, if given, holds `harp_mae_mape`, `published_best_mape` and `ensemble_mape` for each file name
//! without its ending.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};
use harp_learn::{BuildOptions, Policy, build};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(folder) = arguments.first() else {
        return Err("usage: sweeps FOLDER [POLICY] [REFERENCE.json]".into());
    };
    let policy: Policy = arguments.get(1).map_or(Ok(Policy::Cost), |text| text.parse())?;
    let reference: serde_json::Value = match arguments.get(2) {
        Some(path) => serde_json::from_str(&std::fs::read_to_string(path)?)?,
        None => serde_json::Value::Null,
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "csv"));
    files.sort();
    println!(
        "{:20} {:>7} {:>7} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>6} | {:>5} winner",
        "sweep", "MAPE", "best", "study", "UPP", "r.UPP", "reser.", "used", "cover", "s"
    );
    for path in files {
        report(&path, policy, &reference)?;
    }
    Ok(())
}

fn report(path: &Path, policy: Policy, reference: &serde_json::Value) -> Result<(), Box<dyn Error>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let dataset = read(path)?;
    let started = Instant::now();
    let model = build(&dataset, &BuildOptions { policy, ..BuildOptions::default() })?;
    let seconds = started.elapsed().as_secs_f64();
    let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test)?;
    let (Some(estimate), Some(request)) = (&evaluation.estimate, &evaluation.request) else {
        return Ok(());
    };
    let known = |key: &str| reference[&name][key].as_f64().unwrap_or(f64::NAN);
    let best = known("published_best_mape").min(known("ensemble_mape"));
    let winner = model.winner().map(ToString::to_string).unwrap_or_default();
    println!(
        "{name:20} {:7.1} {best:7.1} {:7.1} | {:6.1} {:6.1} {:6.2} {:6.2} {:6.1} | {seconds:5.2} {winner}",
        estimate.mape,
        known("harp_mae_mape"),
        estimate.upp,
        request.upp,
        evaluation.reserved_ratio.unwrap_or(f64::NAN),
        evaluation.used_ratio.unwrap_or(f64::NAN),
        evaluation.coverage_90.unwrap_or(f64::NAN),
    );
    if std::env::var_os("VERBOSE").is_some() {
        println!("  {}\n  {:?}\n  {:?}", model.explanation, model.formula, model.warnings);
        for candidate in &model.candidates {
            match (&candidate.scores, &candidate.excluded) {
                (Some(scores), _) => println!(
                    "    {candidate}: MAE {:.3} MAPE {:.1} UPP {:.1} OV {:?} reserved {:?}",
                    scores.mae, scores.mape, scores.upp, scores.ov_mape, candidate.reserved_ratio
                ),
                (None, reason) => println!("    {candidate}: {reason:?}"),
            }
        }
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
