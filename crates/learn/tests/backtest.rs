//! Judging on rows a model never saw: the keys programs read, and scores that agree with each other.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::cell::Cell;

use common::{Noise, columns, row, sweep};
use harp_core::{Dataset, Policy, Scale, Target, Value};
use harp_learn::{BuildOptions, LearnError, backtest};

#[test]
fn the_keys_are_there_and_agree() {
    let dataset = sweep(1, 0.05, 1);
    let ticks = Cell::new(0.0);
    let clock = || ticks.replace(ticks.get() + 2.0);
    let options = BuildOptions { policy: Policy::Upp { per_mille: 50 }, ..BuildOptions::default() };
    let result = backtest(&dataset, &options, clock).unwrap();
    assert_eq!(result.seconds_to_build, 2.0);
    assert_eq!((result.rows.sd, result.rows.fs, result.rows.test), (24, 8, 12));
    assert!(result.intervals.mape.0 <= result.scores.mape && result.scores.mape <= result.intervals.mape.1);
    assert!(result.request.reserved_ratio >= result.request.used_ratio);
    assert!(result.request.used_ratio >= 1.0 && result.request.upp <= result.scores.upp);
    assert!(result.coverage_80 <= result.coverage_90);
    let intervals = serde_json::to_value(&result.intervals).unwrap();
    for key in ["mse", "mae", "mape", "median_ape", "upp", "coverage_90", "coverage_80", "pinball_90"] {
        assert!(intervals[key][0].as_f64().unwrap() <= intervals[key][1].as_f64().unwrap(), "{key}");
    }
    let json = serde_json::to_value(&result).unwrap();
    let keys = [
        "/rows/sd",
        "/rows/fs",
        "/rows/test",
        "/model/name",
        "/model/formula",
        "/mae",
        "/mape",
        "/median_ape",
        "/upp",
        "/ov_mape",
        "/coverage_90",
        "/request/upp",
        "/request/ov_mape",
        "/request/reserved_ratio",
        "/request/used_ratio",
        "/candidates/0",
        "/seconds_to_build",
    ];
    for key in keys {
        assert!(json.pointer(key).is_some(), "{key}");
    }
    assert_eq!(json["policy"], "upp=0.05");
    let models: Vec<&str> =
        json["candidates"].as_array().unwrap().iter().filter_map(|row| row["model"].as_str()).collect();
    for candidate in result.candidates.iter().filter(|candidate| candidate.scores.is_some()) {
        assert!(candidate.formula.is_some(), "{candidate}");
    }
    assert!(models.contains(&"power law") && !models.contains(&"power_law"), "{models:?}");
}

#[test]
fn nothing_to_judge_is_said() {
    let dataset = sweep(1, 0.05, 1).filtered(|row| row.scale != Scale::Test);
    let error = backtest(&dataset, &BuildOptions::default(), || 0.0).unwrap_err();
    assert!(matches!(error, LearnError::NothingToJudge { .. }), "{error}");
}

#[test]
fn a_test_row_that_cannot_be_asked_about_is_left_out_and_said() {
    let mut dataset = sweep(1, 0.05, 1);
    let last = dataset.rows.len() - 1;
    assert_eq!(dataset.rows[last].scale, Scale::Test);
    let whole = backtest(&dataset, &BuildOptions::default(), || 0.0).unwrap();
    dataset.rows[last].cells[0] = None;
    let result = backtest(&dataset, &BuildOptions::default(), || 0.0).unwrap();
    assert_eq!(result.rows.test + 1, whole.rows.test);
    let said = |warning: &String| warning.starts_with("1 test row left out");
    assert!(result.warnings.iter().any(said), "{:?}", result.warnings);
    dataset.rows.iter_mut().filter(|row| row.scale == Scale::Test).for_each(|row| row.cells[0] = None);
    let error = backtest(&dataset, &BuildOptions::default(), || 0.0).unwrap_err();
    assert!(matches!(error, LearnError::MissingFeature { .. }), "{error}");
}

#[test]
fn a_stricter_limit_asks_for_more() {
    let dataset = sweep(2, 0.05, 1);
    let request = |per_mille| {
        let options = BuildOptions { policy: Policy::Upp { per_mille }, ..BuildOptions::default() };
        backtest(&dataset, &options, || 0.0).unwrap().request
    };
    let (strict, loose) = (request(10), request(200));
    assert!(strict.ov_mape > loose.ov_mape && strict.upp <= loose.upp);
}

/// Rows of size, kind and seconds.
fn table(rows: &[(Value, &str, f64, Scale)]) -> Dataset {
    let rows = rows.iter().enumerate().map(|(index, (size, kind, seconds, scale))| {
        row(vec![size.clone(), Value::from(*kind)], *seconds, *scale, index as u64)
    });
    Dataset::new(Target::Walltime, columns(&["size", "kind"]), rows.collect()).unwrap()
}

fn warned(dataset: &Dataset, of: &str) -> bool {
    let result = backtest(dataset, &BuildOptions::default(), || 0.0).unwrap();
    result.warnings.iter().any(|warning| warning.contains(of))
}

/// A handful of runs knows next to nothing: that is said, and nobody asks for ages.
#[test]
fn a_handful_of_runs_asks_for_nothing_absurd() {
    let small = [(431, 5.5), (648, 14.6), (312, 9.1), (120, 0.9), (220, 6.2), (90, 0.2)];
    let mut rows: Vec<_> = small
        .iter()
        .map(|&(size, seconds)| {
            (Value::Integer(size), if size % 4 == 0 { "a" } else { "b" }, seconds, Scale::Sd)
        })
        .collect();
    rows.push((Value::Integer(3000), "a", 600.0, Scale::Test));
    let result = backtest(&table(&rows), &BuildOptions::default(), || 0.0).unwrap();
    // Ten times the longest, and the fourth power of 3000/648.
    assert!(result.request.reserved_ratio < 14.6 * 10.0 * 460.0 / 600.0 * 2.0, "{:?}", result.request);
    assert!(
        result.warnings.iter().any(|warning| warning.contains("next to nothing")),
        "{:?}",
        result.warnings
    );
}

#[test]
fn what_makes_a_result_doubtful_is_said() {
    let law = |size: i64| 1e-3 * (size as f64).powf(1.5);
    let kinds = ["a", "b"];
    let sized = |index: i64, scale| {
        let size = 50 + 37 * index;
        (Value::Integer(size), kinds[index as usize % 2], law(size), scale)
    };
    let mut rows: Vec<_> = (0..20).map(|index| sized(index, Scale::Sd)).collect();
    rows.extend((20..30).map(|index| sized(index, Scale::Test)));
    assert!(!warned(&table(&rows), "`"));
    let mut mixed = rows.clone();
    mixed[3].0 = Value::from("12MB");
    assert!(warned(&table(&mixed), "`12MB` or another text in 1"));
    let mut unseen = rows.clone();
    unseen[25].1 = "c";
    assert!(warned(&table(&unseen), "in 1 of 10 test rows `kind`"));
    let mut zero = rows.clone();
    zero[25].2 = 0.0;
    assert!(warned(&table(&zero), "between 1e-60 and 1e60: 1"));
}

/// Intervals without width hold what they predict.
#[test]
fn equal_targets_are_inside() {
    let rows: Vec<_> = (0..30)
        .map(|index| {
            (Value::Integer(10 + index), "a", 10.0, if index < 20 { Scale::Sd } else { Scale::Test })
        })
        .collect();
    let result = backtest(&table(&rows), &BuildOptions::default(), || 0.0).unwrap();
    assert_eq!(result.coverage_90, 100.0, "{:?}", result.scores);
}

/// Runs like those learned from, without scales: what is off beyond the largest is not off among them. (It was
/// believed to be once: 72 % of the intervals held, all misses below, and 2.07 times as much was reserved.)
#[test]
fn intervals_hold_inside_the_range_of_small_runs() {
    let (mut held, mut reserved, draws) = (0.0, 0.0, 6);
    for seed in 0..draws {
        let mut random = Noise::new(seed);
        let mut rows = Vec::new();
        for index in 0..110 {
            let n = 10f64.powf(2.0 + 2.3 * random.uniform()).round();
            let cores = [1.0, 2.0, 4.0, 8.0][(4.0 * random.uniform()) as usize];
            let kind = (3.0 * random.uniform()) as usize;
            let law = 1.0 + [2e-3, 4e-3, 1e-3][kind] * n / cores + 5e-8 * n * n;
            let cells = [n, cores, kind as f64].map(Value::Real).to_vec();
            let scale = if index < 82 { Scale::Sd } else { Scale::Test };
            rows.push(row(cells, law * (0.05 * random.normal()).exp(), scale, index));
        }
        let dataset = Dataset::new(Target::Walltime, columns(&["n", "cores", "kind"]), rows).unwrap();
        let result = backtest(&dataset, &BuildOptions::default(), || 0.0).unwrap();
        held += result.coverage_90 / f64::from(draws as u32);
        reserved += result.request.reserved_ratio / f64::from(draws as u32);
    }
    assert!(held > 85.0 && reserved < 1.8, "{held} % held, {reserved} reserved");
}
