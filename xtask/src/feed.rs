//! Arbitrary text fed to harp: an answer or a clear refusal, never a panic, a NaN or a negative time.
//! `cargo xtask fuzz` makes up the text, the targets in `fuzz/` search for it.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use harp_core::{Policy, Prediction, Scale, Value};
use harp_history::SweepColumns;
use harp_learn::{BuildOptions, Measured, ModelFile, TargetModel};

/// A CSV table, from its text to predictions of its test rows; the model, if there was one.
pub fn table(text: &[u8], seed: u64) -> Result<Option<TargetModel>> {
    let columns = SweepColumns {
        target: "seconds".to_owned(),
        split: Some("split".to_owned()),
        ..SweepColumns::default()
    };
    let Ok(sweep) = harp_history::read_sweep("fuzz", text, &columns) else { return Ok(None) };
    let dataset = sweep.dataset;
    let choose = |among: u64, of: u64| (seed / of % among) as usize;
    let policies = Policy::ALL;
    let policy = policies[choose(policies.len() as u64, 1)];
    let loss = ["symmetric", "pinball=0.9", "asymmetric"][choose(3, policies.len() as u64)];
    let loss = loss.parse().map_err(anyhow::Error::msg)?;
    let options = BuildOptions { policy, loss, seed, ..BuildOptions::default() };
    let Ok(model) = harp_learn::build(&dataset, &options) else { return Ok(None) };
    for row in dataset.rows.iter().filter(|row| row.scale == Scale::Test) {
        let cells = dataset.columns.iter().zip(&row.cells);
        let case = cells.filter_map(|(column, cell)| cell.clone().map(|value| (column.name.clone(), value)));
        if let Ok(prediction) = model.predict(&case.collect()) {
            sound(&prediction)?;
        }
    }
    Ok(Some(model))
}

/// What is inside a model file, sealed as harp would, then read and asked; whether it was read.
pub fn model(inside: &[u8]) -> Result<bool> {
    let Ok(file) = serde_json::from_slice::<ModelFile>(inside) else { return Ok(false) };
    let Ok(text) = file.to_text() else { return Ok(false) };
    let Ok(file) = ModelFile::from_text(&text) else { return Ok(false) };
    for model in &file.targets {
        for share in [-1.0, 0.0, 0.5, 1.0, 3.0] {
            let cases = model.features.iter().map(|feature| {
                let value = match &feature.measured {
                    Measured::Numbers { smallest, largest } => {
                        Value::Real(smallest + share * (largest - smallest))
                    }
                    Measured::Categories { levels, .. } if share < 1.0 => {
                        Value::Text(levels.first().cloned().unwrap_or_default())
                    }
                    Measured::Categories { .. } | Measured::Nothing => Value::Text("new".to_owned()),
                };
                (feature.name.clone(), value)
            });
            if let Ok(prediction) = model.predict(&cases.collect::<BTreeMap<String, Value>>()) {
                sound(&prediction)?;
            }
        }
    }
    Ok(true)
}

/// An experiment file; whether it was accepted.
pub fn experiment(text: &[u8]) -> bool {
    harp_experiment::parse("harp.toml", &String::from_utf8_lossy(text)).is_ok()
}

fn sound(prediction: &Prediction) -> Result<()> {
    let (low, high) = prediction.distribution.interval(0.9);
    let sound = low > 0.0
        && low <= prediction.estimate
        && prediction.estimate <= high
        && high.is_finite()
        && prediction.request >= prediction.estimate
        && prediction.request.is_finite();
    if !sound {
        bail!("unsound prediction {prediction:?}");
    }
    Ok(())
}
