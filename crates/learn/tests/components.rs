//! Targets put together from components, reuse of other applications' runs, and ablation, on made-up runs
//! that follow the laws of the two training examples with the noise of a quiet machine. The examples
//! themselves are run by the tests of the command.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use std::collections::BTreeMap;

use harp_core::{Column, Dataset, Observed, Row, Scale, Scores, Target, Value};
use harp_learn::{
    Axis, Backtest, BuildOptions, Formula, Kept, ModelFile, TargetModel, ablate, build, build_both_ways,
    build_from, few_runs,
};

const FORMULA: &str = "load_seconds + epochs * epoch_seconds";

/// A training example: how wide its networks are, how many operations a sample takes, and how fast.
struct Example {
    samples: [i64; 3],
    widths: [i64; 3],
    flops: fn(i64, i64) -> i64,
    rate: f64,
}

const MLP: Example = Example {
    samples: [400, 800, 1600],
    widths: [32, 64, 128],
    flops: |layers, width| 6 * (784 * width + (layers - 1) * width * width + 10 * width),
    rate: 10e9,
};
const CNN: Example = Example {
    samples: [50, 100, 200],
    widths: [8, 12, 16],
    flops: |layers, width| 6 * (784 * 9 * width + (layers - 1) * 196 * 9 * width * width),
    rate: 4e9,
};

/// The tables of walltime, load_seconds and epoch_seconds: 48 small runs, 6 large, 6 to be predicted.
fn tables(example: &Example, noise: f64) -> Vec<Dataset> {
    let mut state = 12_345_u64;
    let mut next = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let columns = ["batch", "epochs", "flops", "layers", "samples"].map(|name| Column { name: name.into() });
    let mut rows = Vec::new();
    for run in 0..60_u64 {
        let (scale, larger, epochs) = match run {
            0..48 => (Scale::Sd, 1, [1, 2, 3]),
            48..54 => (Scale::Fs, 2, [2, 3, 4]),
            _ => (Scale::Test, 2, [10, 11, 12]),
        };
        let layers = 1 + next(2) as i64;
        let width = example.widths[next(3) as usize] * larger * 3 / if larger == 2 { 4 } else { 3 };
        let samples = example.samples[next(3) as usize] * larger;
        let (batch, epochs) = ([32, 64, 128][next(3) as usize], epochs[next(3) as usize]);
        let flops = (example.flops)(layers, width);
        let mut noisy = |value: f64| {
            let sum: f64 = (0..4).map(|_| next(1000) as f64 / 1000.0 - 0.5).sum();
            value * (1.7 * noise * sum).exp()
        };
        let load = noisy(8.2e-6 * samples as f64);
        let steps = samples as f64 / batch as f64;
        let epoch = noisy(samples as f64 * flops as f64 / example.rate + 2e-5 * steps);
        let walltime = 0.004 + load + epochs as f64 * epoch;
        let cells = [batch, epochs, flops, layers, samples].map(|value| Some(Value::Integer(value)));
        rows.push((cells.to_vec(), scale, run, [walltime, load, epoch]));
    }
    let metric = |name: &str| Target::Metric(name.into());
    let targets = [Target::Walltime, metric("load_seconds"), metric("epoch_seconds")];
    let table = |(index, target): (usize, Target)| {
        let row = |(cells, scale, group, values): &(Vec<Option<Value>>, Scale, u64, [f64; 3])| Row {
            cells: cells.clone(),
            observed: Observed::Exact(values[index]),
            scale: *scale,
            group: *group,
        };
        Dataset::new(target, columns.to_vec(), rows.iter().map(row).collect()).unwrap()
    };
    targets.into_iter().enumerate().map(table).collect()
}

fn on_test(model: &TargetModel, table: &Dataset) -> Scores {
    Backtest::of(model, table, 0.0).unwrap().scores
}

#[test]
fn on_made_up_trainings_with_few_runs_components_beat_one_model_of_the_whole() {
    let formula = Formula::parse(FORMULA).unwrap();
    for example in [MLP, CNN] {
        // So few small runs do not tell how time grows with epochs; the formula does.
        let few = |table: Dataset| table.filtered(|row| row.group >= 32);
        let tables: Vec<Dataset> = tables(&example, 0.05).into_iter().map(few).collect();
        let both = build_both_ways(&tables[0], &formula, &tables[1..], &BuildOptions::default()).unwrap();
        let custom = both.custom.as_ref().unwrap();
        let found = custom.comparison.as_ref().unwrap();
        let (by_parts, whole) = (on_test(custom, &tables[0]), on_test(&both.basic, &tables[0]));
        assert!(by_parts.mape < whole.mape && by_parts.upp <= whole.upp, "{by_parts:?} {whole:?}");
        let better = if found.custom.mape < found.basic.mape { Kept::Custom } else { Kept::Basic };
        assert_eq!(found.kept, better, "{}", found.reason);
        let request = |model: &TargetModel| Backtest::of(model, &tables[0], 0.0).unwrap().request;
        assert!(request(custom).upp <= request(&both.basic).upp);
        // A model put together survives its file.
        let file = ModelFile::new("mlp", "test", vec![custom.clone()]);
        let read = ModelFile::from_text(&file.to_text().unwrap()).unwrap();
        assert_eq!(read, file);
        assert_eq!(on_test(&read.targets[0], &tables[0]), by_parts);
    }
}

#[test]
fn a_formula_that_is_wrong_is_not_kept() {
    let tables = tables(&MLP, 0.05);
    let formula = Formula::parse("load_seconds + 3 * epoch_seconds").unwrap();
    let both = build_both_ways(&tables[0], &formula, &tables[1..], &BuildOptions::default()).unwrap();
    let kept = both.kept();
    assert_eq!(kept.comparison.as_ref().unwrap().kept, Kept::Basic);
    assert!(kept.custom.is_none());
    // Without runs of a component there is nothing to put together, and that is said.
    let empty = tables[1].filtered(|_| false);
    let formula = Formula::parse(FORMULA).unwrap();
    let both =
        build_both_ways(&tables[0], &formula, &[empty, tables[2].clone()], &BuildOptions::default()).unwrap();
    assert!(both.custom.is_none());
    assert!(
        both.basic.warnings.iter().any(|warning| warning.contains("is not used")),
        "{:?}",
        both.basic.warnings
    );
}

/// The tables with only the rows wanted of the first.
fn only(tables: &[Dataset], rows: &[usize]) -> Vec<Dataset> {
    let keep = |table: &Dataset| {
        let groups: Vec<u64> = rows.iter().map(|&row| table.rows[row].group).collect();
        table.filtered(|row| row.scale == Scale::Test || groups.contains(&row.group))
    };
    tables.iter().map(keep).collect()
}

#[test]
fn on_made_up_trainings_a_tenth_of_the_runs_with_anothers_does_what_all_do_alone() {
    let (source, target) = (tables(&MLP, 0.05), tables(&CNN, 0.05));
    let options = BuildOptions::default();
    let few = few_runs(&target[0], 0.1, 0.25);
    let own: Vec<&Row> = target[0].rows.iter().filter(|row| row.scale != Scale::Test).collect();
    assert!(!few.is_empty() && few.len() * 10 <= own.len(), "{} of {}", few.len(), own.len());
    let cost = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|row| row.observed.value()).sum::<f64>();
    let spent = cost(&mut few.iter().map(|&row| &target[0].rows[row]));
    assert!(spent <= 0.25 * cost(&mut own.iter().copied()), "{spent}");
    let tables = only(&target, &few);
    let formula = Formula::parse(FORMULA).unwrap();
    let sources = [("mnist-mlp".to_owned(), source)];
    let reused = build_from(&tables, &sources, Some(&formula), &options).unwrap();
    assert!(reused.reuse.kept, "{}", reused.reuse.reason);
    let with_others = on_test(&reused.model, &target[0]).mape;
    let alone =
        build(&tables[0], &options).map(|model| on_test(&model, &target[0]).mape).unwrap_or(f64::INFINITY);
    let with_all = on_test(&build(&target[0], &options).unwrap(), &target[0]).mape;
    assert!(with_others < 0.5 * alone, "{with_others} {alone}");
    assert!(with_others <= with_all, "{with_others} with a tenth and others, {with_all} with all");
    let file = ModelFile::new("cnn", "test", vec![reused.model.clone()]);
    let read = ModelFile::from_text(&file.to_text().unwrap()).unwrap();
    assert_eq!(on_test(&read.targets[0], &target[0]).mape, with_others);
    // The file names everything that counts: nothing else changes an answer, and nothing may lack.
    let row = target[0].of_scale(Scale::Test).next().unwrap();
    let whole: BTreeMap<String, Value> = (target[0].columns.iter().zip(&row.cells))
        .filter_map(|(column, cell)| Some((column.name.clone(), cell.clone()?)))
        .collect();
    let mut case = whole.clone();
    case.retain(|name, _| read.features.contains(name));
    assert_eq!(read.targets[0].predict(&case).unwrap(), read.targets[0].predict(&whole).unwrap());
    case.remove("epochs");
    let error = read.targets[0].predict(&case).unwrap_err().to_string();
    assert!(error.contains("`epochs`"), "{error}");
}

/// A made-up application: seconds from size and threads.
fn made_up(seconds: impl Fn(f64, f64) -> f64) -> Dataset {
    let mut rows = Vec::new();
    for (index, size) in [100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0].into_iter().enumerate() {
        for (other, threads) in [1.0, 2.0, 4.0].into_iter().enumerate() {
            rows.push(Row {
                cells: vec![Some(Value::Real(size)), Some(Value::Real(threads))],
                observed: Observed::Exact(seconds(size, threads)),
                scale: if index > 3 { Scale::Fs } else { Scale::Sd },
                group: (index * 3 + other) as u64,
            });
        }
    }
    let columns = ["size", "threads"].map(|name| Column { name: name.into() }).to_vec();
    Dataset::new(Target::Walltime, columns, rows).unwrap()
}

#[test]
fn reuse_that_hurts_is_refused() {
    let own = made_up(|size, threads| 1e-3 * size * size / threads);
    // Another program altogether: it hardly grows, and threads slow it down, unevenly.
    let other = made_up(|size, threads| 5.0 + threads * (1.0 + 0.5 * (size * 7.3).sin()));
    let options = BuildOptions::default();
    let reused =
        build_from(std::slice::from_ref(&own), &[("other".to_owned(), vec![other])], None, &options).unwrap();
    assert!(!reused.reuse.kept, "{}", reused.reuse.reason);
    assert!(reused.reuse.reason.contains("refused"));
    assert!(reused.model.correction.is_none());
    // The same program on a machine three times as fast helps at once.
    let faster = made_up(|size, threads| 0.33e-3 * size * size / threads);
    let few = own.filtered(|row| [0, 7, 17].contains(&row.group));
    let reused = build_from(&[few], &[("faster".to_owned(), vec![faster])], None, &options).unwrap();
    assert!(reused.reuse.kept && reused.reuse.alone.is_none(), "{}", reused.reuse.reason);
    let case: BTreeMap<String, Value> =
        [("size".to_owned(), Value::Real(3200.0)), ("threads".to_owned(), Value::Real(1.0))].into();
    let said = reused.model.predict(&case).unwrap();
    assert!((said.estimate / 10_240.0 - 1.0).abs() < 0.1, "{}", said.estimate);
}

#[test]
fn ablation_finds_what_matters() {
    let table = made_up(|size, threads| 1e-3 * size.powf(1.5) + 0.01 * threads);
    let axis = |name: &str| Axis { name: name.into(), features: vec![name.into()] };
    let found = ablate(&table, &[axis("threads"), axis("size")], &BuildOptions::default()).unwrap();
    assert_eq!(found.axes[0].axis.name, "size", "{found:?}");
    let (size, threads) = (&found.axes[0], &found.axes[1]);
    // Without it only three configurations are left, which teach nothing.
    assert!(size.shuffled > 10.0 * found.error.max(1.0) && size.dropped.is_none());
    assert!(threads.dropped.unwrap() < found.error + 5.0, "{found:?}");
    assert_eq!((size.levels, threads.levels), (6, 3));
    assert!(size.held_out.unwrap() < 20.0, "a law that goes on: {found:?}");
    assert!(size.levels_needed.is_none_or(|levels| levels < 6));
    assert!(found.with_principal_components.is_some());
    assert!(ablate(&table.filtered(|row| row.group < 2), &[], &BuildOptions::default()).is_err());
}
