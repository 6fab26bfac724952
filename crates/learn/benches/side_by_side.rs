//! Building every candidate of harp beside scikit-learn and LightGBM on the same rows, in one run:
//! `cargo bench -p harp-learn`. The Python half (side_by_side.py) runs in a throw-away environment
//! that this installs and removes; without Python or a package index only harp's half is printed.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use harp_core::{Column, Dataset, Observed, Policy, Row, Scale, Target, Value};
use harp_learn::{BuildOptions, build};

const TRAINING_ROWS: u64 = 650;
const TEST_ROWS: u64 = 300;
const FEATURES: usize = 12;

/// A program with two phases, one of which does not scale, and columns that do not matter; of the rows that teach
/// a tenth is of full scale, as are all that are to be predicted.
fn sweep() -> Dataset {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let columns = (0..FEATURES).map(|index| Column { name: format!("x{index}") }).collect();
    let rows = (0..TRAINING_ROWS + TEST_ROWS).map(|index| {
        let test = index >= TRAINING_ROWS;
        let full_scale = test || index % 10 == 0;
        let cells: Vec<f64> = (0..FEATURES)
            .map(|feature| {
                let level = 2f64.powi((uniform() * 5.0) as i32);
                if full_scale && feature == 0 { 16.0 * level } else { level }
            })
            .collect();
        let noise = (0.05 * (uniform() + uniform() + uniform() - 1.5)).exp();
        let work = 0.2 * cells[0].powf(1.4) * cells[1] / cells[2].powf(0.8);
        let seconds = (1.0 + 0.05 * cells[0] * cells[3] + work) * noise;
        let scale = match (full_scale, test) {
            (false, _) => Scale::Sd,
            (true, false) => Scale::Fs,
            (true, true) => Scale::Test,
        };
        let cells = cells.into_iter().map(|value| Some(Value::Real(value))).collect();
        Row { cells, observed: Observed::Exact(seconds), scale, group: index }
    });
    Dataset::new(Target::Walltime, columns, rows.collect()).unwrap()
}

fn main() {
    let dataset = sweep();
    println!("{:44} {:>9} {:>8} {:>14}", "", "build", "MAPE", "predict a case");
    let started = Instant::now();
    let model = build(&dataset, &BuildOptions { policy: Policy::Cost, ..BuildOptions::default() }).unwrap();
    let built = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap();
    let each = 1e6 * started.elapsed().as_secs_f64() / evaluation.cases.len() as f64;
    let mape = evaluation.estimate.unwrap().mape;
    println!("{:44} {built:8.2}s {mape:7.1}% {each:11.1} µs", "harp: all candidates, judged, with interval");

    let mut text = String::new();
    for row in &dataset.rows {
        for cell in row.cells.iter().flatten() {
            write!(text, "{cell},").unwrap();
        }
        let split = if row.scale == Scale::Test { "test" } else { "train" };
        writeln!(text, "{},{split}", row.observed.value()).unwrap();
    }
    let folder = std::env::temp_dir().join(format!("harp-side-by-side-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("rows.csv"), text).unwrap();
    if let Err(reason) = python(&folder) {
        println!("scikit-learn and LightGBM: {reason}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The Python half, in an environment of its own.
fn python(folder: &Path) -> Result<(), String> {
    let run = |program: &Path, arguments: &[&str], what: &str| {
        let output = Command::new(program).args(arguments).current_dir(folder).output();
        match output {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(format!("{what} failed: {}", String::from_utf8_lossy(&output.stderr).trim())),
            Err(error) => Err(format!("{what} failed: {error}")),
        }
    };
    run(Path::new("python3"), &["-m", "venv", "environment"], "making a Python environment")?;
    let python = folder.join("environment/bin/python");
    let packages = ["-m", "pip", "install", "--quiet", "numpy", "scikit-learn", "lightgbm"];
    run(&python, &packages, "installing the packages")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/side_by_side.py");
    print!("{}", run(&python, &[script, "rows.csv"], "the script")?);
    Ok(())
}
