//! Targets put together from components, reuse of other applications' runs, and ablation: on runs of the
//! two training examples (each the fastest of several, on one machine) and on made-up ones.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use std::collections::BTreeMap;

use harp_core::{Column, Dataset, Observed, Row, Scale, Scores, Target, Value};
use harp_learn::{
    Axis, Backtest, BuildOptions, Formula, Kept, ModelFile, TargetModel, ablate, build, build_both_ways,
    build_from, few_runs,
};

const MLP: &str = include_str!("data/mnist-mlp.csv");
const CNN: &str = include_str!("data/cnn.csv");
const FORMULA: &str = "load_seconds + epochs * epoch_seconds";

/// The tables of walltime, load_seconds and epoch_seconds.
fn tables(csv: &str) -> Vec<Dataset> {
    let lines: Vec<Vec<&str>> =
        csv.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect()).collect();
    let (header, rows) = lines.split_first().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let features: Vec<usize> = (1..place("walltime")).collect();
    let columns: Vec<Column> =
        features.iter().map(|&column| Column { name: header[column].to_owned() }).collect();
    [
        ("walltime", Target::Walltime),
        ("load_seconds", Target::Metric("load_seconds".into())),
        ("epoch_seconds", Target::Metric("epoch_seconds".into())),
    ]
    .into_iter()
    .map(|(name, target)| {
        let row = |(group, cells): (usize, &Vec<&str>)| Row {
            cells: features.iter().map(|&column| Some(Value::from_text(cells[column]))).collect(),
            observed: Observed::Exact(cells[place(name)].parse().unwrap()),
            scale: cells[0].parse().unwrap(),
            group: group as u64,
        };
        Dataset::new(target, columns.clone(), rows.iter().enumerate().map(row).collect()).unwrap()
    })
    .collect()
}

fn on_test(model: &TargetModel, table: &Dataset) -> Scores {
    Backtest::of(model, table, 0.0).unwrap().scores
}

#[test]
fn components_beat_one_model_of_the_whole_on_the_shipped_examples() {
    for csv in [MLP, CNN] {
        let tables = tables(csv);
        let formula = Formula::parse(FORMULA).unwrap();
        let both = build_both_ways(&tables[0], &formula, &tables[1..], &BuildOptions::default()).unwrap();
        let custom = both.custom.as_ref().unwrap();
        let found = custom.comparison.as_ref().unwrap();
        assert_eq!(found.kept, Kept::Custom, "{}", found.reason);
        let (by_parts, whole) = (on_test(custom, &tables[0]), on_test(&both.basic, &tables[0]));
        assert!(by_parts.mape < whole.mape, "{by_parts:?} {whole:?}");
        let request = |model: &TargetModel| Backtest::of(model, &tables[0], 0.0).unwrap().request;
        assert!(request(custom).upp <= request(&both.basic).upp);
        // A model put together survives its file.
        let file = ModelFile::new("mlp", "test", vec![both.kept()]);
        let read = ModelFile::from_text(&file.to_text().unwrap()).unwrap();
        assert_eq!(read, file);
        assert_eq!(on_test(&read.targets[0], &tables[0]), by_parts);
    }
}

#[test]
fn a_formula_that_is_wrong_is_not_kept() {
    let tables = tables(MLP);
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
fn a_tenth_of_the_runs_with_another_networks_runs_does_what_all_do_alone() {
    let (source, target) = (tables(MLP), tables(CNN));
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
    assert!(with_others <= with_all * 1.1, "{with_others} with a tenth and others, {with_all} with all");
    let file = ModelFile::new("cnn", "test", vec![reused.model.clone()]);
    let read = ModelFile::from_text(&file.to_text().unwrap()).unwrap();
    assert_eq!(on_test(&read.targets[0], &target[0]).mape, with_others);
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
    let reused = build_from(&[own.clone()], &[("other".to_owned(), vec![other])], None, &options).unwrap();
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
    assert!(
        size.shuffled > 10.0 * found.error.max(1.0) && size.dropped.unwrap() > 10.0 * found.error.max(1.0)
    );
    assert!(threads.dropped.unwrap() < found.error + 5.0, "{found:?}");
    assert_eq!((size.levels, threads.levels), (6, 3));
    assert!(size.held_out.unwrap() < 20.0, "a law that goes on: {found:?}");
    assert!(size.levels_needed.is_none_or(|levels| levels < 6));
    assert!(found.with_principal_components.is_some());
    assert!(ablate(&table.filtered(|row| row.group < 2), &[], &BuildOptions::default()).is_err());
}
