//! Every key that docs/json.md promises is there.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const EXPERIMENT: &str = r#"
name = "count"

[program]
command = "sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i+1)); done; echo done {n}'"

[metrics.reached]
pattern = 'done (?<value>\d+)'

[parameters.n]
type = "integer"
sd = { from = 1000, to = 16000, count = 5, spacing = "geometric" }
fs = 24000
test = 32000

[allocation]
cores = [1]

[design]
seed = 3
repetitions = 2
"#;

#[test]
fn every_documented_key_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    let documented = documented();
    let samples = support::repository().join("crates/slurm/samples");
    let scontrol = samples.join("scontrol.txt");
    let scontrol = scontrol.to_str().unwrap();
    // names enough for a guess
    let named = "JobID|State|Elapsed|JobName\n1|COMPLETED|1:00|a_n1\n2|FAILED|2:00|a_n2\n";
    fs::write(here.join("named.txt"), named).unwrap();
    let calls: [(&str, &[&str]); 28] = [
        ("init", &["init", "--output", "new.toml", "--json", "--", "./app", "--size", "100"]),
        ("generate", &["generate", "--scale", "sd", "--json"]),
        ("plan", &["plan", "--json"]),
        ("run", &["run", "--json"]),
        ("build", &["build", "--json"]),
        ("status", &["status", "--json"]),
        ("history", &["history", "--json"]),
        ("models", &["models", "--json"]),
        ("backtest", &["backtest", "--json"]),
        ("predict", &["predict", "n=30000", "cores=1", "--json"]),
        ("recommend", &["recommend", "n=30000", "--json"]),
        ("host", &["host", "--json"]),
        ("site", &["site", "--json"]),
        ("build --from", &["build", "--from", "harp.toml", "--model", "other.json", "--json"]),
        ("ablate", &["ablate", "--json"]),
        ("dnn time", &["dnn", "time", "gpt2", "--gpu", "V100-16", "--samples", "1000", "--json"]),
        ("site list", &["site", "list", "--json"]),
        ("site show", &["site", "show", "osc-pitzer", "--json"]),
        ("site discover", &["site", "discover", "--file", scontrol, "--output", "cluster.toml", "--json"]),
        ("site check", &["site", "check", "cluster.toml", "--json"]),
        ("import slurm", &["import", "slurm", "--file", "named.txt", "--runs", "--json"]),
        ("dnn memory", &["dnn", "memory", "gpt2", "--gpu", "V100-16", "--json"]),
        ("trace generate", &["trace", "generate", "--jobs", "2000", "--output", "a.swf", "--json"]),
        ("trace convert", &["trace", "convert", "a.swf", "--output", "a.csv", "--json"]),
        ("trace summary", &["trace", "summary", "a.swf", "--json"]),
        ("trace compare", &["trace", "compare", "a.swf", "a.csv", "--json"]),
        ("trace predict", &["trace", "predict", "a.swf", "--json"]),
        ("simulate", &["simulate", "a.swf", "--compare", "easy", "fcfs", "--json"]),
    ];
    assert_eq!(documented.len(), calls.len(), "{:?}", documented.keys());
    for (name, arguments) in calls {
        let answer = support::json(here, arguments);
        for path in &documented[name] {
            assert!(has(&answer, path), "harp {name} --json has no `{path}`:\n{answer:#}");
        }
    }
}

/// The key paths of each command, from the tables of the document.
fn documented() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(support::repository().join("docs/json.md")).unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut command = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## harp ") {
            command = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("| `") {
            found.entry(command.clone()).or_default().push(rest.split('`').next().unwrap().to_owned());
        }
    }
    found
}

/// Whether a value has a path such as `cases[].features`; `[]` is any element.
fn has(value: &Value, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    if let Some(rest) = path.strip_prefix("[]") {
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        return value.as_array().is_some_and(|elements| elements.iter().any(|element| has(element, rest)));
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    value.get(name).is_some_and(|inner| has(inner, rest.strip_prefix('.').unwrap_or(rest)))
}
