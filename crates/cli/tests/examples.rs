//! The shipped examples run from end to end and predict as well as they promise.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use serde_json::Value;

/// Fresh starts a test may take: a machine that is busy for a moment disturbs what is measured, but
/// not three times in a row.
const TRIES: usize = 3;

/// Runs an example until its result is good enough, and gives the last one.
fn tell(name: &str, good: impl Fn(&Value) -> bool) -> Value {
    let mut result = Value::Null;
    for _ in 0..TRIES {
        let directory = support::example(name);
        result = support::json(directory.path(), &["run", "--json"]);
        assert!(directory.path().join(".harp/report.html").exists());
        assert_eq!(result["targets"][0]["target"], "walltime");
        assert_eq!(result["targets"][1]["target"], "peak_memory");
        if good(&result) {
            break;
        }
    }
    assert!(good(&result), "{:#}\n{:#}", result["targets"][0]["cases"], result["targets"][1]["cases"]);
    result
}

fn score(result: &Value, target: usize, scores: &str, name: &str) -> f64 {
    result["targets"][target][scores][name].as_f64().unwrap()
}

#[test]
fn euler_is_predicted_within_20_percent_and_its_requests_are_rarely_too_small() {
    let result = tell("euler", |result| {
        score(result, 0, "scores", "mape") < 20.0 && score(result, 0, "request_scores", "upp") <= 10.0
    });
    assert_eq!(result["sweep"]["scaled_down"], 24);
    assert_eq!(result["sweep"]["full_scale"], 4);
    assert_eq!(result["sweep"]["test"], 4);
}

#[test]
fn matmul_is_predicted_and_its_memory_almost_exactly() {
    tell("matmul", |result| {
        score(result, 0, "scores", "mape") < 40.0 && score(result, 1, "scores", "mape") < 15.0
    });
}

#[test]
fn sort_is_predicted_from_the_size_of_its_input() {
    tell("sort", |result| {
        score(result, 0, "scores", "mape") < 30.0 && score(result, 1, "scores", "mape") < 15.0
    });
}

/// Runs a training example as far as a model; gives its folder.
fn trained(name: &str) -> tempfile::TempDir {
    let directory = support::example(name);
    support::run(directory.path(), &["generate"], 0);
    directory
}

#[test]
fn trainings_are_put_together_from_components_and_lend_each_other_their_runs() {
    let mlp = trained("mnist-mlp");
    let built = support::json(mlp.path(), &["build", "--json"]);
    let comparison = &built[0]["comparison"];
    assert_eq!(comparison["formula"], "load_seconds + epochs * epoch_seconds");
    let error = |way: &str| comparison[way]["mape"].as_f64().unwrap();
    // On a busy machine either may be ahead; what is kept must be the better of the two.
    let kept = comparison["kept"].as_str().unwrap();
    let better = if error("custom") < error("basic") { "custom" } else { "basic" };
    let close = (error("custom") / error("basic") - 1.0).abs() <= 0.02;
    assert!(kept == better || close, "{comparison:#}");
    assert!(error("custom") < 60.0, "{comparison:#}");
    let judged = support::json(mlp.path(), &["backtest", "--json"]);
    assert!(judged["compared"]["custom"]["mape"].as_f64().unwrap() < 100.0, "{judged:#}");
    // Memory does not depend on who else computes: the formula, calibrated by the runs, is close.
    let model = "dense:784,{neurons}x{layers},10";
    let arguments = ["dnn", "memory", model, "--set", "neurons=128", "--set", "layers=2", "--batch", "64"];
    let more =
        ["--precision", "fp32", "--optimizer", "sgd", "--gpu", "8G", "--calibrate", "harp.toml", "--json"];
    let memory = support::json(mlp.path(), &[arguments.as_slice(), more.as_slice()].concat());
    assert!(memory["calibration"]["peaks"].as_u64().unwrap() > 40, "{memory:#}");

    let cnn = trained("cnn");
    let source = mlp.path().to_str().unwrap();
    let reused = support::json(cnn.path(), &["build", "--from", source, "--share", "10%", "--json"]);
    let walltime = &reused[0];
    let cost = |name: &str| walltime["cost"][name].as_f64().unwrap();
    assert!(cost("own_runs") <= 0.1 * cost("all_runs"), "{walltime:#}");
    assert!(cost("own_seconds") <= 0.25 * cost("all_seconds"), "{walltime:#}");
    assert_eq!(walltime["reuse"]["kept"], true, "{walltime:#}");
    let test = |name: &str| walltime["test"][name]["mape"].as_f64().unwrap();
    assert!(test("reused") < test("alone_with_the_same"), "{walltime:#}");
    let said = support::json(
        cnn.path(),
        &[
            "predict",
            "samples=300",
            "batch=32",
            "layers=2",
            "channels=20",
            "epochs=8",
            "cores=1",
            "threads=1",
            "--json",
        ],
    );
    assert!(said["cases"][0]["predictions"][0]["estimate"].as_f64().unwrap() > 0.0, "{said:#}");
}
