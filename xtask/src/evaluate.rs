//! How the learners do on sweeps of real applications that are not part of the repository.
//!
//! Each CSV has one row a configuration, a column `seconds` (the target) and a column `split` (sd, fs
//! or test); every other column is a feature.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use harp_core::Policy;
use harp_core::{Dataset, Scale};
use harp_history::SweepColumns;
use harp_learn::BuildOptions;

use crate::metadata;

/// Where the sweeps lie when no folder is named.
const USUAL: &str = "../shared/data/prediction";

/// Builds a model on every sweep of a folder and prints its errors on the test rows.
pub fn evaluate(directory: Option<&str>) -> Result<()> {
    let files = sweeps(directory);
    println!(
        "{:24} {:>8} {:>8} {:>6} {:>9} {:>8} {:>7}  winner",
        "sweep", "policy", "MAPE %", "UPP %", "reserved", "cover90", "build s"
    );
    for file in files {
        let dataset = read(&file)?;
        for policy in Policy::ALL {
            let start = Instant::now();
            let built = harp_learn::build(&dataset, &BuildOptions { policy, ..BuildOptions::default() });
            let seconds = start.elapsed().as_secs_f64();
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let model = match built {
                Ok(model) => model,
                Err(error) => {
                    println!("{name:24} {policy:>8} {error}");
                    continue;
                }
            };
            let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test)?;
            let scores = evaluation.estimate.context("no test rows")?;
            println!(
                "{name:24} {policy:>8} {:8.1} {:6.1} {:9.2} {:8.1} {seconds:7.2}  {}",
                scores.mape,
                scores.upp,
                evaluation.reserved_ratio.unwrap_or(f64::NAN),
                evaluation.coverage_90.unwrap_or(f64::NAN),
                model.winner().map(ToString::to_string).unwrap_or_default(),
            );
        }
    }
    Ok(())
}

/// The CSV files of a folder in the order of their names; none, with a word about it, where there is
/// no such folder.
pub fn sweeps(directory: Option<&str>) -> Vec<PathBuf> {
    let directory = directory.map_or_else(|| metadata::root().join(USUAL), PathBuf::from);
    let mut files: Vec<PathBuf> = match fs::read_dir(&directory) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => {
            println!("no sweeps at {}: nothing evaluated; name a folder with CSV files", directory.display());
            Vec::new()
        }
    };
    files.retain(|file| file.extension().is_some_and(|extension| extension == "csv"));
    files.sort();
    files
}

/// The rows of a sweep.
pub fn read(file: &Path) -> Result<Dataset> {
    let source = fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let columns = SweepColumns {
        target: "seconds".to_owned(),
        split: Some("split".to_owned()),
        ..SweepColumns::default()
    };
    Ok(harp_history::read_sweep(&file.display().to_string(), source, &columns)?.dataset)
}
