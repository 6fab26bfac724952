//! Every key that docs/json.md promises is there, and it tells of every key at the top of an answer.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::path::Path;

use support::documents::{documented, has};

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
    let other = EXPERIMENT.replace("\"count\"", "\"chosen\"").replace("repetitions = 2", "");
    fs::write(here.join("chosen.toml"), other).unwrap();
    fs::copy(here.join("harp.toml"), here.join("twin.toml")).unwrap();
    let past: String = (0..8)
        .map(|n| {
            let job =
                format!("{n}|COMPLETED|600|01:00:00|heat_{n}|1|4|4000M|billing=4,cpu=4,mem=4000M,node=1");
            format!("{job}||00:10:00|00:00:01\n{n}.batch|COMPLETED|600||batch|1|4|||500M|00:10:00|00:00:01\n")
        })
        .collect();
    let header = "JobID|State|ElapsedRaw|Timelimit|JobName|NNodes|AllocCPUS|ReqMem|AllocTRES|MaxRSS|UserCPU|SystemCPU\n";
    fs::write(here.join("past.txt"), format!("{header}{past}")).unwrap();
    let calls: [(&str, &[&str]); 31] = [
        ("init", &["init", "--output", "new.toml", "--json", "--", "./app", "--size", "100"]),
        ("generate", &["generate", "--scale", "sd", "--json"]),
        ("generate --adaptive", &["generate", "chosen.toml", "--adaptive", "--json"]),
        ("plan", &["plan", "--json"]),
        ("run", &["run", "--json"]),
        ("build", &["build", "--json"]),
        ("status", &["status", "--json"]),
        ("history", &["history", "--json"]),
        ("models", &["models", "--json"]),
        ("backtest", &["backtest", "--cases", "--json"]),
        ("predict", &["predict", "n=30000", "cores=1", "--json"]),
        ("recommend", &["recommend", "n=30000", "--json"]),
        ("host", &["host", "--json"]),
        ("site", &["site", "--json"]),
        ("build --from", &["build", "--from", "twin.toml", "--model", "other.json", "--json"]),
        ("ablate", &["ablate", "--json"]),
        ("dnn time", &["dnn", "time", "gpt2", "--gpu", "V100-16", "--samples", "1000", "--json"]),
        ("site list", &["site", "list", "--json"]),
        ("site show", &["site", "show", "osc-pitzer", "--json"]),
        ("site discover", &["site", "discover", "--file", scontrol, "--output", "cluster.toml", "--json"]),
        ("site bench", &["site", "bench", "--json"]),
        ("site check", &["site", "check", "cluster.toml", "--json"]),
        ("advise", &["advise", "--file", "past.txt", "--json"]),
        ("import slurm", &["import", "slurm", "--file", "named.txt", "--runs", "--json"]),
        ("dnn memory", &["dnn", "memory", "gpt2", "--gpu", "V100-16", "--json"]),
        ("trace generate", &["trace", "generate", "--jobs", "2000", "--output", "a.swf", "--json"]),
        ("trace convert", &["trace", "convert", "a.swf", "--output", "a.csv", "--json"]),
        ("trace summary", &["trace", "summary", "a.swf", "--json"]),
        ("trace compare", &["trace", "compare", "a.swf", "a.csv", "--json"]),
        ("trace predict", &["trace", "predict", "a.swf", "--json"]),
        ("simulate", &["simulate", "a.swf", "--compare", "easy", "fcfs", "--json"]),
    ];
    // the others need a cluster: crates/cli/tests/cluster_jobs.rs
    let on_a_cluster = ["generate --on slurm --dry-run", "submit"];
    assert_eq!(documented.len(), calls.len() + on_a_cluster.len(), "{:?}", documented.keys());
    let mut untold = Vec::new();
    for (name, arguments) in calls {
        let answer = support::json(here, arguments);
        for path in &documented[name] {
            assert!(has(&answer, path), "harp {name} --json has no `{path}`:\n{answer:#}");
        }
        let keys = answer.as_object().into_iter().flat_map(|answer| answer.keys());
        let is_known = |key: &&String| {
            // A site that was discovered has all that one that is shown has.
            let alike = if name == "site discover" { "site show" } else { name };
            documented[alike].iter().any(|path| path.split(['.', '[']).next() == Some(key.as_str()))
        };
        untold.extend(keys.filter(|key| !is_known(key)).map(|key| format!("{key} of harp {name}")));
    }
    assert!(untold.is_empty(), "docs/json.md does not tell of {untold:?}");
    every_model_explains_itself(here);
    nothing_left_to_run_takes_no_time(here);
}

/// A plan of runs that were all made adds up to nothing, not to less than nothing.
fn nothing_left_to_run_takes_no_time(here: &Path) {
    let plan = support::json(here, &["plan", "--json"]);
    assert_eq!(plan["missing"], 0, "{plan:#}");
    for key in ["expected_seconds", "longest_seconds", "expected_cost"] {
        assert_eq!(plan[key].to_string(), "0.0", "{key}");
    }
}

/// What a program reads of each model, people are told on request.
fn every_model_explains_itself(here: &Path) {
    let models = support::json(here, &["models", "--json"]);
    let told = support::stdout(here, &["models", "--explain"]);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let competed = models[0]["candidates"].as_array().unwrap().iter().filter(|row| !row["scores"].is_null());
    for candidate in competed {
        let (kind, formula) = (candidate["regressor"].as_str().unwrap(), candidate["formula"].as_str());
        let formula = formula.unwrap_or_else(|| panic!("{candidate:#}"));
        let words = format!("{kind}: {formula}").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&words), "{words}\nnot in\n{told}");
    }
}
