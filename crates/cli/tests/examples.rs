//! The shipped examples run from end to end and predict as well as they promise.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use serde_json::Value;

struct Quality {
    mape: f64,
    upp: f64,
}

/// Runs an example and gives the scores of the walltime on the test runs.
fn quality(name: &str) -> (Quality, Value) {
    let directory = support::example(name);
    let result = support::json(directory.path(), &["run", "--json"]);
    let walltime = &result["targets"][0];
    assert_eq!(walltime["target"], "walltime");
    assert!(directory.path().join(".harp/report.html").exists());
    let scores = &walltime["scores"];
    let quality = Quality { mape: scores["mape"].as_f64().unwrap(), upp: scores["upp"].as_f64().unwrap() };
    (quality, result)
}

#[test]
fn euler_is_predicted_within_20_percent_and_rarely_under() {
    let (quality, result) = quality("euler");
    assert!(quality.mape < 20.0, "MAPE {}\n{result:#}", quality.mape);
    assert!(quality.upp <= 10.0, "UPP {}\n{result:#}", quality.upp);
    assert_eq!(result["sweep"]["scaled_down"], 24);
    assert_eq!(result["sweep"]["full_scale"], 4);
    assert_eq!(result["sweep"]["test"], 4);
}

#[test]
fn matmul_is_predicted_and_its_memory_almost_exactly() {
    let (quality, result) = quality("matmul");
    assert!(quality.mape < 40.0, "MAPE {}\n{result:#}", quality.mape);
    let memory = &result["targets"][1];
    assert_eq!(memory["target"], "peak_memory");
    assert!(memory["scores"]["mape"].as_f64().unwrap() < 15.0, "{memory:#}");
}

#[test]
fn sort_is_predicted_from_the_size_of_its_input() {
    let (quality, result) = quality("sort");
    assert!(quality.mape < 30.0, "MAPE {}\n{result:#}", quality.mape);
}
