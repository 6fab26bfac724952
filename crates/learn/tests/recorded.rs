//! What the training examples promise, on sweeps of theirs that were recorded: `harp generate` in
//! examples/mnist-mlp and examples/cnn, then `harp history --csv`. New sweeps depend on what else a machine
//! does; these do not, and show whether a change of the learners keeps the promise.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use harp_core::{Column, Dataset, Observed, Row, Scale, Scores, Target, Value};
use harp_learn::{Backtest, BuildOptions, Formula, Kept, TargetModel, build_both_ways, build_from, few_runs};

const MLP: &str = include_str!("data/mnist-mlp.csv");
const CNN: &str = include_str!("data/cnn.csv");
const FORMULA: &str = "load_seconds + epochs * epoch_seconds";
/// What was measured; all other columns are features.
const MEASURED: [&str; 4] = ["scale", "seconds", "load_seconds", "epoch_seconds"];

/// The tables of walltime, load_seconds and epoch_seconds.
fn tables(text: &str) -> Vec<Dataset> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let runs: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let features: Vec<usize> = (0..names.len()).filter(|&index| !MEASURED.contains(&names[index])).collect();
    let columns: Vec<Column> =
        features.iter().map(|&index| Column { name: names[index].to_owned() }).collect();
    let table = |target: Target, measured: &str| {
        let row = |(group, run): (usize, &Vec<&str>)| Row {
            cells: features.iter().map(|&index| Some(Value::Integer(run[index].parse().unwrap()))).collect(),
            observed: Observed::Exact(run[place(measured)].parse().unwrap()),
            scale: run[place("scale")].parse().unwrap(),
            group: group as u64,
        };
        Dataset::new(target, columns.clone(), runs.iter().enumerate().map(row).collect()).unwrap()
    };
    let component = |name: &str| table(Target::Metric(name.to_owned()), name);
    vec![table(Target::Walltime, "seconds"), component("load_seconds"), component("epoch_seconds")]
}

fn on_test(model: &TargetModel, table: &Dataset) -> Scores {
    Backtest::of(model, table, 0.0).unwrap().scores
}

#[test]
fn components_beat_one_model_of_the_whole() {
    let (tables, formula) = (tables(MLP), Formula::parse(FORMULA).unwrap());
    let both = build_both_ways(&tables[0], &formula, &tables[1..], &BuildOptions::default()).unwrap();
    let whole = on_test(&both.basic, &tables[0]);
    let by_parts = on_test(both.custom.as_ref().unwrap(), &tables[0]);
    assert!(by_parts.mape < whole.mape && by_parts.upp <= whole.upp, "{by_parts:?} {whole:?}");
    let found = both.basic.comparison.as_ref().unwrap();
    assert_eq!(found.kept, Kept::Custom, "{}", found.reason);
}

#[test]
fn anothers_runs_and_a_tenth_of_its_own_reach_all_of_its_own() {
    let (source, target, formula) = (tables(MLP), tables(CNN), Formula::parse(FORMULA).unwrap());
    let few = few_runs(&target[0], 0.1, 0.25);
    let seconds = |rows: &[usize]| rows.iter().map(|&row| target[0].rows[row].observed.value()).sum::<f64>();
    let own: Vec<usize> =
        (0..target[0].rows.len()).filter(|&row| target[0].rows[row].scale != Scale::Test).collect();
    assert!(few.len() * 10 <= own.len() && seconds(&few) <= 0.25 * seconds(&own), "{few:?}");
    let is_kept = |row: &Row| row.scale == Scale::Test || few.contains(&(row.group as usize));
    let kept: Vec<Dataset> = target.iter().map(|table| table.filtered(is_kept)).collect();
    let options = BuildOptions::default();
    let sources = [("mnist-mlp".to_owned(), source)];
    let reused = build_from(&kept, &sources, Some(&formula), &options).unwrap();
    assert!(reused.reuse.kept, "{}", reused.reuse.reason);
    let all = build_both_ways(&target[0], &formula, &target[1..], &options).unwrap().kept();
    let (with_others, alone) = (on_test(&reused.model, &target[0]).mape, on_test(&all, &target[0]).mape);
    assert!(with_others <= alone, "{with_others} with a tenth and others, {alone} with all");
}
