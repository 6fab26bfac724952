//! `harp submit` on a real Slurm: attempts by what ended the one before, and what they cost.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;
#[path = "support/sweeps.rs"]
mod sweeps;

use std::fs;
use std::path::{Path, PathBuf};

use cluster::Cluster;
use serde_json::{Value, json};

use support::documents::promised;
use sweeps::{begin, job_name, wait_until};

/// Small runs need next to nothing; above 50 it is 200 MiB, which nobody could know.
const SURPRISE: &str = r#"
name = "surprise"

[program]
command = "sh ./work.sh {n}"

[parameters.n]
type = "integer"
sd = { from = 1, to = 16, count = 6, spacing = "geometric" }
fs = 20

[allocation]
cores = 1

[design]
repetitions = 2
"#;

const WORK: &str = r#"
if [ $1 -gt 50 ]; then head -c 200M /dev/zero | tail | sleep 4; fi
if [ $1 -eq 49 ]; then exit 3; fi
if [ $1 -eq 48 ]; then [ -e again ] || { touch again; sleep 400; }; fi
sleep 0.2
"#;

fn surprise() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("harp.toml"), SURPRISE).unwrap();
    fs::write(folder.path().join("work.sh"), WORK).unwrap();
    support::run(folder.path(), &["generate"], 0);
    support::run(folder.path(), &["build"], 0);
    folder
}

fn submit(cluster: &Cluster, here: &Path, more: &[&str], expected: i32) -> Value {
    let call = [&["submit", "--extrapolate", "--yes", "--json"], more].concat();
    serde_json::from_slice(&cluster.harp(here, &call, expected).stdout).unwrap()
}

#[test]
fn a_job_is_tried_again_by_what_ended_it_and_all_attempts_are_paid() {
    let cluster = Cluster::shared();
    let folder = surprise();
    let here = folder.path();
    let capped = submit(cluster, here, &["n=60", "--dry-run", "--cap-memory", "3M", "--cap-time", "60s"], 0);
    let script = capped["script"].as_str().unwrap();
    assert!(
        script.contains("#SBATCH --mem=3M\n") && script.contains("#SBATCH --time=00:01:00\n"),
        "{script}"
    );
    let shown = submit(cluster, here, &["n=60", "--dry-run"], 0);
    let script = shown["script"].as_str().unwrap().replace("--chdir=", "--chdir=/tmp #");
    fs::write(here.join("job.sh"), &script).unwrap();
    let output = cluster.client("sbatch", &["--test-only", "job.sh"]).current_dir(here).output().unwrap();
    assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));

    // without --retry it stays at one
    let call = ["submit", "n=60", "--extrapolate", "--yes", "--json", "--partition", "batch"];
    let output = cluster.harp(here, &call, 7);
    let once: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = support::stderr(&output);
    let job =
        said.lines().find_map(|line| line.strip_prefix("submitted job ")).unwrap_or_else(|| panic!("{said}"));
    let name = cluster.ask("sacct", &["-n", "-P", "-X", "-j", job, "-o", "JobName"]);
    assert_eq!(name.trim(), job_name(batches(here).last().unwrap()).unwrap());
    assert!(name.starts_with("harp-surprise-"), "{name}");
    assert_eq!(once["attempts"].as_array().unwrap().len(), 1, "{once:#}");
    assert_eq!(once["outcome"]["outcome"], "out_of_memory", "{once:#}");
    // memory grows until it is enough
    let retried = submit(cluster, here, &["n=61", "--partition", "batch", "--retry"], 0);
    promised(&retried, "submit");
    let attempts = retried["attempts"].as_array().unwrap();
    assert!((2..=4).contains(&attempts.len()), "{retried:#}");
    let (last, killed) = attempts.split_last().unwrap();
    assert_eq!(last["outcome"], json!({ "outcome": "completed" }));
    let limits: Vec<u64> = killed.iter().map(|made| made["outcome"]["limit"].as_u64().unwrap()).collect();
    assert!(limits.windows(2).all(|pair| pair[1] == 2 * pair[0]), "{limits:?}");
    let total: f64 = attempts.iter().map(|made| made["cost"].as_f64().unwrap()).sum();
    assert!((retried["total_cost"].as_f64().unwrap() - total).abs() < 1e-12 && total > 0.0, "{retried:#}");
    // a cap holds
    let capped = submit(cluster, here, &["n=62", "--retry", "--cap-memory", "100M"], 7);
    assert!(capped["why_no_more"].as_str().unwrap().contains("cap"), "{capped:#}");
    // a program that fails is not tried again
    let failed = submit(cluster, here, &["n=49", "--retry"], 7);
    assert_eq!(failed["attempts"].as_array().unwrap().len(), 1, "{failed:#}");
    assert_eq!(failed["outcome"], json!({ "outcome": "failed", "exit_code": 3 }));
    // outcomes are in the history, the last of each case
    let runs = support::json(here, &["history", "--json"]);
    let of = |n: i64| {
        let is_this = |run: &&Value| run["configuration"]["parameters"]["n"] == n;
        let found: Vec<&Value> = runs.as_array().unwrap().iter().filter(is_this).collect();
        assert_eq!(found.len(), 1, "n = {n}");
        found[0].clone()
    };
    let again = of(61);
    assert_eq!(again["attempts"], attempts.len(), "{again:#}");
    let took: f64 = attempts.iter().filter_map(|made| made["walltime"].as_f64()).sum();
    assert!((again["attempts_walltime"].as_f64().unwrap() - took).abs() < 1e-9, "{again:#}");
    assert_eq!(of(60)["attempts"], 1);
    let of = |n: i64| of(n)["outcome"]["outcome"].as_str().unwrap().to_owned();
    assert_eq!((of(60).as_str(), of(61).as_str(), of(49).as_str()), ("out_of_memory", "completed", "failed"));
}

#[test]
fn a_job_that_is_out_of_time_gets_twice_as_much_also_after_harp_was_killed() {
    let cluster = Cluster::shared();
    let folder = surprise();
    let here = folder.path();
    let call = ["submit", "n=48", "--extrapolate", "--yes", "--json", "--retry", "--partition", "batch"];
    let mut harp = begin(cluster, here, &call);
    wait_until("it begins", 60, || here.join("again").exists());
    harp.kill().unwrap();
    harp.wait().unwrap();
    end_its_time(cluster, here);
    let answer: Value = serde_json::from_slice(&cluster.harp(here, &call, 0).stdout).unwrap();
    let attempts = answer["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{answer:#}");
    assert_eq!(attempts[0]["outcome"]["outcome"], "timed_out", "{answer:#}");
    assert_eq!(attempts[1]["outcome"]["outcome"], "completed");
    let minutes = minutes_asked_for(here);
    assert_eq!((minutes.len(), minutes[1]), (2, 2.0 * minutes[0]), "{minutes:?}");
}

/// The folders of the jobs of an experiment, the earliest first.
fn batches(here: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(here.join(".harp/slurm")).unwrap().flatten();
    let mut folders: Vec<PathBuf> =
        folders.map(|entry| entry.path()).filter(|folder| folder.join("job.sh").exists()).collect();
    folders.sort_by_key(|folder| fs::metadata(folder.join("job.sh")).unwrap().modified().unwrap());
    folders
}

/// The time of its latest job is over: Slurm looks every half minute.
fn end_its_time(cluster: &Cluster, here: &Path) {
    let name = format!("--name={}", job_name(batches(here).last().unwrap()).unwrap());
    let id = cluster.ask("squeue", &["-h", "-t", "R", "-o", "%i", &name]).trim().to_owned();
    cluster.ask("scontrol", &["update", &format!("jobid={id}"), "endtime=now"]);
}

/// The time limits of its jobs as they were submitted, the earliest first.
fn minutes_asked_for(here: &Path) -> Vec<f64> {
    let limit = |batch: &PathBuf| {
        let script = fs::read_to_string(batch.join("job.sh")).unwrap();
        let time = script.lines().find_map(|line| line.strip_prefix("#SBATCH --time=")).unwrap().to_owned();
        let parts: Vec<f64> = time.split(':').map(|part| part.parse().unwrap()).collect();
        60.0 * parts[0] + parts[1]
    };
    batches(here).iter().map(limit).collect()
}

/// A program that takes minutes, and never twice the same.
const SLOW: &str = r#"
name = "slow"

[program]
command = "sh ./work.sh {n}"

[parameters.n]
type = "integer"
sd = [10, 20, 40]

[allocation]
cores = 1

[learn]
targets = ["walltime"]
"#;

/// What accounting would say of its past: ten seconds a unit, give or take a lot.
fn past_of_slow() -> String {
    let mut text = "JobID|State|ExitCode|Submit|Start|End|ElapsedRaw|NNodes|AllocCPUS|JobName\n".to_owned();
    let luck = [0.6, 0.75, 0.9, 1.0, 1.1, 1.35, 1.7];
    let runs = [10, 14, 20, 28, 40, 56].iter().flat_map(|n| luck.map(|luck| (*n, luck)));
    for (number, (n, luck)) in runs.enumerate() {
        let seconds = (10.0 * f64::from(n) * luck).round();
        let begin = format!("2026-01-{:02}T{:02}:00:00", 1 + number / 24, number % 24);
        text.push_str(&format!("{number}|COMPLETED|0:0|{begin}|{begin}||{seconds}|1|1|slow_n{n}\n"));
    }
    text
}

#[test]
fn a_job_that_is_out_of_time_gets_what_the_model_says_next() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), SLOW).unwrap();
    fs::write(here.join("work.sh"), "[ -e again ] || { touch again; sleep 3000; }\nsleep 1\n").unwrap();
    fs::write(here.join("saved.txt"), past_of_slow()).unwrap();
    fs::write(here.join("rules.toml"), "[[rule]]\napplication = 'slow'\npattern = '^slow_n(?<n>\\d+)$'\n")
        .unwrap();
    let import =
        ["import", "slurm", "--file", "saved.txt", "--time-zone", "UTC", "--rules", "rules.toml", "--json"];
    assert_eq!(support::json(here, &import)["imported"]["new"], 42);
    support::run(here, &["build"], 0);
    let call = ["submit", "n=30", "--yes", "--json", "--retry", "--grow", "model", "--partition", "batch"];
    let mut harp = begin(cluster, here, &call);
    wait_until("it begins", 60, || here.join("again").exists());
    end_its_time(cluster, here);
    wait_until("the end", 120, || harp.try_wait().unwrap().is_some());
    assert_eq!(
        harp.wait().unwrap().code(),
        Some(0),
        "{}",
        fs::read_to_string(here.join("harp.log")).unwrap()
    );
    let ended: Vec<Value> = support::json(here, &["history", "--json"])
        .as_array()
        .unwrap()
        .iter()
        .filter(|run| run["configuration"]["parameters"]["n"] == 30)
        .map(|run| run["outcome"]["outcome"].clone())
        .collect();
    assert_eq!(ended, ["completed"]);
    let minutes = minutes_asked_for(here);
    assert_eq!(minutes.len(), 2, "{minutes:?}");
    // The first asks for what suffices in 19 of 20 cases, the second for what does in 99 of 100; in
    // whole minutes, which leave a little less risk than that.
    let upper = |interval: &str| {
        let answer = support::json(here, &["predict", "n=30", "--interval", interval, "--json"]);
        answer["cases"][0]["predictions"][0]["high"].as_f64().unwrap() / 60.0
    };
    assert_eq!(minutes[0], upper("0.9").ceil(), "{minutes:?}");
    let next = upper("0.98");
    assert!(minutes[1] >= next && minutes[1] < next + 2.0, "{minutes:?}, and the model says {next}");
    assert!(minutes[1] < 0.9 * 2.0 * minutes[0], "twice the time would be no news: {minutes:?}");
}
