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

/// Makes the runs of a training example; gives its folder.
fn trained(name: &str) -> tempfile::TempDir {
    let directory = support::example(name);
    support::run(directory.path(), &["generate"], 0);
    directory
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value:#} is no number"))
}

/// How well either way does depends on how busy the machine is; that one of them is chosen, by what was
/// measured, and said, does not. crates/learn/tests/components.rs compares them on made-up runs.
#[test]
fn trainings_go_through_the_pipeline_and_say_which_of_basic_and_custom_is_kept() {
    let mlp = trained("mnist-mlp");
    let built = support::json(mlp.path(), &["build", "--json"]);
    let comparison = &built[0]["comparison"];
    assert_eq!(comparison["formula"], "load_seconds + epochs * epoch_seconds");
    let (basic, custom) = (number(&comparison["basic"]["mape"]), number(&comparison["custom"]["mape"]));
    let better = if custom < basic { "custom" } else { "basic" };
    // Errors within 10 % of each other are equal: then fewer under-predictions decide.
    let equal = (custom / basic - 1.0).abs() <= 0.101;
    assert!(comparison["kept"] == better || equal, "{comparison:#}");
    let reason = comparison["reason"].as_str().unwrap();
    let said = if comparison["kept"] == "custom" { "the formula is kept" } else { "of the whole is kept" };
    assert!(reason.ends_with(said), "{comparison:#}");
    let compared = &support::json(mlp.path(), &["backtest", "--json"])["compared"];
    assert_eq!(compared["kept"], comparison["kept"]);
    assert!(
        number(&compared["basic"]["mape"]).is_finite() && number(&compared["custom"]["mape"]).is_finite()
    );
    let model = "dense:784,{neurons}x{layers},10";
    let network = ["dnn", "memory", model, "--set", "neurons=128", "--set", "layers=2", "--batch", "64"];
    let training =
        ["--precision", "fp32", "--optimizer", "sgd", "--gpu", "8G", "--calibrate", "harp.toml", "--json"];
    let memory = support::json(mlp.path(), &[network.as_slice(), training.as_slice()].concat());
    assert!(number(&memory["calibration"]["peaks"]) > 40.0, "{memory:#}");

    let cnn = trained("cnn");
    let source = mlp.path().to_str().unwrap();
    let reused = support::json(cnn.path(), &["build", "--from", source, "--share", "10%", "--json"]);
    let walltime = &reused[0];
    let cost = |name: &str| number(&walltime["cost"][name]);
    assert!(cost("own_runs") <= 0.1 * cost("all_runs"), "{walltime:#}");
    assert!(cost("own_seconds") <= 0.25 * cost("all_seconds"), "{walltime:#}");
    let end = if walltime["reuse"]["kept"] == true { "are used" } else { "are refused" };
    assert!(walltime["reuse"]["reason"].as_str().unwrap().ends_with(end), "{walltime:#}");
    assert!(number(&walltime["test"]["reused"]["mape"]).is_finite(), "{walltime:#}");
    let case = ["samples=300", "batch=32", "layers=2", "channels=20", "epochs=8", "cores=1", "threads=1"];
    let said = support::json(cnn.path(), &[&["predict"], case.as_slice(), &["--json"]].concat());
    assert!(number(&said["cases"][0]["predictions"][0]["estimate"]) > 0.0, "{said:#}");
}
