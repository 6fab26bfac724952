//! Runs of several measured machines let a model predict on one without any.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::path::Path;

use harp_core::{
    Allocation, Configuration, Descriptors, Host, Metrics, Outcome, Run, Scale, Seconds, Timestamp, Usage,
    Value,
};
use harp_history::Store;

const EXPERIMENT: &str = r#"
name = "app"
[program]
command = "true {n}"
[parameters.n]
type = "integer"
sd = [100, 200, 400, 800, 1600]
[learn]
targets = ["walltime"]
"#;

const SITE: &str = r#"
name = "cluster"
unit = "core-hours"
[charge]
rule = "core_hours"
core_hour = 1.0
[[node_type]]
name = "fast"
cores = 8
memory = "64G"
descriptors = { floating_gflops = 6.0, bandwidth_gbs = 30.0 }
[[node_type]]
name = "unmeasured"
cores = 8
memory = "64G"
"#;

/// What a run takes on a machine: the program only computes.
fn law(n: f64, gflops: f64) -> f64 {
    0.5 * (n / 100.0).powf(1.5) / gflops
}

fn descriptors(gflops: f64) -> Descriptors {
    Descriptors {
        cores: Some(8.0),
        floating_gflops: Some(gflops),
        bandwidth_gbs: Some(5.0 * gflops),
        ..Descriptors::default()
    }
}

/// Puts runs of a machine into the history, a little off the law.
fn run_on(here: &Path, name: &str, gflops: f64, sizes: &[i64], repetition: u32) {
    fs::create_dir_all(here.join(".harp")).unwrap();
    let mut store = Store::open(&here.join(".harp/history.sqlite")).unwrap();
    store.describe_machine(name, &descriptors(gflops), Timestamp(1)).unwrap();
    for (index, &n) in sizes.iter().enumerate() {
        let off = 1.0 + 0.02 * ((index as f64 * 2.7 + gflops).sin());
        let run = Run {
            application: "app".into(),
            configuration: Configuration {
                scale: Scale::Sd,
                parameters: [("n", Value::Integer(n))].into_iter().collect(),
                allocation: Allocation::default(),
            },
            repetition,
            host: name.into(),
            started: Timestamp(1_000_000 + i64::from(repetition) * 1000 + index as i64),
            outcome: Outcome::Completed,
            usage: Usage { walltime: Some(Seconds(off * law(n as f64, gflops))), ..Usage::default() },
            metrics: Metrics::default(),
        };
        store.record(&run, &Host { name: name.into(), cores: Some(8), ..Host::default() }).unwrap();
    }
}

/// Estimate, width of the interval, and what was said.
fn predicted(here: &Path, machine: &str) -> (f64, f64, String) {
    let arguments = ["predict", "n=1000", "--node-type", machine, "--site", "./cluster.toml", "--json"];
    let output = support::run(here, &arguments, 0);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let prediction = &answer["cases"][0]["predictions"][0];
    let value = |key: &str| prediction[key].as_f64().unwrap();
    (value("estimate"), value("high") / value("low"), support::stderr(&output))
}

#[test]
fn a_node_type_never_run_on_is_predicted_with_a_wide_interval() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    fs::write(here.join("cluster.toml"), SITE).unwrap();
    support::run(here, &["site", "check", "cluster.toml"], 0);
    let sizes = [100, 200, 400, 800, 1600];
    run_on(here, "a", 2.0, &sizes, 0);
    support::run(here, &["build", "--quiet"], 0);
    let said = support::stderr(&support::run(here, &["predict", "n=1000", "--node-type", "fast"], 3));
    assert!(said.contains("the model knows one machine"), "{said}");

    run_on(here, "b", 4.0, &sizes, 1);
    run_on(here, "c", 8.0, &sizes, 2);
    support::run(here, &["build", "--quiet"], 0);
    let (known, known_width, said) = predicted(here, "b");
    assert!((known / law(1000.0, 4.0)).ln().abs() < 0.2, "{known}");
    assert!(!said.contains("no run was made on"), "{said}");
    let (estimate, width, said) = predicted(here, "fast");
    assert!((estimate / law(1000.0, 6.0)).ln().abs() < 0.25, "{estimate} {}", law(1000.0, 6.0));
    assert!(width > 1.8 && width > 1.3 * known_width, "{width} {known_width}");
    assert!(said.contains("warning: no run was made on `fast`"), "{said}");
    let advised = support::json(
        here,
        &["recommend", "n=1000", "--node-type", "fast", "--site", "./cluster.toml", "--json"],
    );
    assert!(advised["warnings"].to_string().contains("no run was made on `fast`"), "{advised:#}");
    let missing = ["predict", "n=1000", "--node-type", "unmeasured", "--site", "./cluster.toml"];
    let said = support::stderr(&support::run(here, &missing, 3));
    assert!(said.contains("nothing was measured of the machine or node type `unmeasured`"), "{said}");

    // One run there, and it is known.
    run_on(here, "fast", 6.0, &[400], 3);
    support::run(here, &["build", "--quiet"], 0);
    let (_, narrower, said) = predicted(here, "fast");
    assert!(narrower < width, "{narrower} {width}");
    assert!(!said.contains("no run was made on"), "{said}");
}

#[test]
fn this_machine_is_measured_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let alone = support::json(here, &["site", "bench", "--json"]);
    assert!(alone["recorded"].is_null() && alone["descriptors"]["bandwidth_gbs"].as_f64().unwrap() > 0.0);
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    let output = support::run(here, &["site", "bench", "--output", "line.toml"], 0);
    let said = support::stderr(&output);
    assert!(said.contains("1/5 integer operations") && said.contains("5/5 writing to disk"), "{said}");
    let store = Store::open_for_reading(&here.join(".harp/history.sqlite")).unwrap();
    assert_eq!(store.machines().unwrap().len(), 1);
    // What it prints is what a profile takes.
    let line = fs::read_to_string(here.join("line.toml")).unwrap();
    let profile = SITE.replace("descriptors = { floating_gflops = 6.0, bandwidth_gbs = 30.0 }", &line);
    fs::write(here.join("own.toml"), profile).unwrap();
    let shown = support::json(here, &["site", "show", "./own.toml", "--json"]);
    assert!(shown["node_types"][0]["descriptors"]["floating_gflops"].as_f64().unwrap() > 0.0, "{shown:#}");
    let wrong = SITE.replace("floating_gflops = 6.0", "floating_gflops = -6.0");
    fs::write(here.join("own.toml"), wrong).unwrap();
    let said = support::stderr(&support::run(here, &["site", "check", "own.toml"], 2));
    assert!(said.contains("`floating_gflops` must be a number above 0"), "{said}");
}

/// Rates measured again are a little other; what was learned stays what it was, and machines whose rates hardly
/// differ are not told apart by them.
#[test]
fn measuring_a_machine_again_changes_no_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    fs::write(here.join("cluster.toml"), SITE).unwrap();
    let sizes = [100, 200, 400, 800, 1600];
    run_on(here, "a", 2.0, &sizes, 0);
    run_on(here, "b", 2.1, &sizes, 1);
    support::run(here, &["build", "--quiet"], 0);
    let said = support::stderr(&support::run(here, &["predict", "n=1000", "--node-type", "fast"], 3));
    assert!(said.contains("the model knows machines with the same rates"), "{said}");

    run_on(here, "c", 8.0, &sizes, 2);
    support::run(here, &["build", "--quiet"], 0);
    let before = predicted(here, "a");
    let mut store = Store::open(&here.join(".harp/history.sqlite")).unwrap();
    store.describe_machine("a", &descriptors(1.5), Timestamp(2)).unwrap();
    drop(store);
    let after = predicted(here, "a");
    assert_eq!((before.0, before.1), (after.0, after.1));
    assert!((before.0 / law(1000.0, 2.0)).ln().abs() < 0.2, "{before:?}");
}
