//! Kill -9 at any moment loses nothing that had finished, and nothing runs twice.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

const EXPERIMENT: &str = r#"
name = "ticks"

[program]
command = "sh -c 'echo start {n} >> log; sleep 0.01; echo end {n} >> log'"

[parameters.n]
type = "integer"
values = { from = 1, to = 100, step = 1 }

[design]
seed = 7
repetitions = 2

[learn]
targets = ["walltime"]
"#;

#[test]
fn twenty_kills_in_a_sweep_of_two_hundred_runs() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    // Moments spread over the sweep by a fixed sequence: start-up, between runs, inside runs.
    let mut state = 12_345u64;
    let mut kills = 0;
    while kills < 20 {
        let mut child = support::harp(here, &["generate", "--scale", "sd", "--quiet"]).spawn().unwrap();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros(2_000 + (state >> 33) % 180_000));
        if let Some(status) = child.try_wait().unwrap() {
            panic!("the sweep ended with {status} after {kills} kills; make it longer");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    let finished_before = recorded(here).len();
    assert!(finished_before > 0, "nothing was recorded between the kills");
    assert!(finished_before < 200, "the sweep was over before the last kill");
    support::run(here, &["generate", "--scale", "sd"], 0);

    let runs = recorded(here);
    assert_eq!(runs.len(), 200, "every configuration and repetition has an outcome");
    assert!(runs.values().all(|count| *count == 1), "and only one");

    // A recorded run is never started again: each kill costs at most the run that was going on.
    let log = fs::read_to_string(here.join("log")).unwrap();
    let starts = log.lines().filter(|line| line.starts_with("start")).count();
    assert!((200..=220).contains(&starts), "{starts} starts for 200 runs and 20 kills");

    // And once more: nothing is left to do.
    support::run(here, &["generate", "--scale", "sd"], 0);
    assert_eq!(fs::read_to_string(here.join("log")).unwrap(), log);
}

/// How often each parameter value and repetition is recorded.
fn recorded(here: &std::path::Path) -> BTreeMap<(i64, u64), usize> {
    let mut counts = BTreeMap::new();
    if !here.join(".harp/history.sqlite").exists() {
        return counts;
    }
    let output = support::harp(here, &["history", "--json"]).output().unwrap();
    let Ok(runs) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else { return counts };
    for run in runs.as_array().unwrap() {
        assert_eq!(run["outcome"]["outcome"], "completed");
        let n = run["configuration"]["parameters"]["n"].as_i64().unwrap();
        *counts.entry((n, run["repetition"].as_u64().unwrap())).or_default() += 1;
    }
    counts
}
