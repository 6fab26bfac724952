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
