//! Judging on rows a model never saw: the keys programs read, and scores that agree with each other.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::cell::Cell;

use common::sweep;
use harp_core::{Policy, Scale};
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
}

#[test]
fn nothing_to_judge_is_said() {
    let dataset = sweep(1, 0.05, 1).filtered(|row| row.scale != Scale::Test);
    let error = backtest(&dataset, &BuildOptions::default(), || 0.0).unwrap_err();
    assert!(matches!(error, LearnError::NothingToJudge { .. }), "{error}");
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
