//! Learning from runs that are jobs of a real Slurm: the whole story, and runs chosen as results come.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;
#[path = "support/sweeps.rs"]
mod sweeps;

use std::fs;
use std::path::Path;

use cluster::Cluster;
use serde_json::Value;
use sweeps::{begin, history, starts, wait_until};

/// Sleeps as long as the law says; a run that began is seen.
const LAW: &str = r#"
name = "law"

[program]
command = "sh -c 'echo {n} on {cores} >> starts; sleep $(({n} / {cores}))'"

[parameters.n]
type = "integer"
sd = [2, 4, 6, 8, 10, 12]
test = 16

[allocation]
cores = [1, 2]

[design]
timeout = "30s"

[learn]
targets = ["walltime"]
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("harp.toml"), LAW).unwrap();
    folder
}

#[test]
fn the_whole_story_is_told_of_runs_that_are_jobs() {
    let cluster = Cluster::shared();
    let folder = folder();
    let here = folder.path();
    let refused = cluster.harp(here, &["run", "--on", "slurm"], 2);
    assert!(support::stderr(&refused).contains("--yes"), "{}", support::stderr(&refused));
    assert!(starts(here).is_empty(), "nothing is run before a yes");
    let told = cluster.harp_json(here, &["run", "--on", "slurm", "--yes", "--partition", "batch", "--json"]);
    let cases = told["targets"][0]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2, "{told:#}");
    assert!(here.join(".harp/report.html").exists());
    assert_eq!(history(here).len(), 14);
    assert_eq!(starts(here).len(), 14);
    assert!(starts(here).values().all(|count| *count == 1), "{:?}", starts(here));
    let jobs = cluster.ask("sacct", &["-n", "-X", "-P", "-o", "Partition,Comment", "--starttime=now-1hours"]);
    assert!(jobs.lines().any(|line| line == "batch|harp law"), "{jobs}");

    // Jobs know their program, too: once it is another, the model is not about it.
    let drift = || cluster.harp_json(here, &["predict", "n=16", "cores=1", "--json"])["drift"].clone();
    assert!(drift().is_null(), "{:#}", drift());
    fs::write(here.join("harp.toml"), LAW.replace("sleep ", "exec sleep ")).unwrap();
    assert_eq!(drift()["cause"], "program");
}

/// Runs chosen three at a time, each its own job.
const CHOOSING: [&str; 8] = ["generate", "--on", "slurm", "--adaptive", "--together", "3", "--pack", "0"];

#[test]
fn runs_are_chosen_as_jobs_end_and_a_kill_loses_and_repeats_none() {
    let cluster = Cluster::shared();
    let folder = folder();
    let here = folder.path();
    let call = [&CHOOSING[..], &["--yes", "--json"]].concat();
    // killed while jobs of the second round run
    let mut harp = begin(cluster, here, &call);
    wait_until("the second round", 120, || starts(here).len() >= 4);
    harp.kill().unwrap();
    harp.wait().unwrap();
    // made here, they would be made twice
    let refused = support::run(here, &["generate", "--adaptive"], 2);
    assert!(support::stderr(&refused).contains("in the queue of Slurm"), "{}", support::stderr(&refused));
    let answer = cluster.harp_json(here, &call);
    assert_eq!(answer["ended"], "nothing_left", "{answer:#}");
    let runs = history(here);
    assert!(runs.iter().all(|run| run["outcome"]["outcome"] == "completed"), "{runs:#?}");
    let chosen_last = answer["choices"].as_array().unwrap().len();
    assert!(chosen_last > 0 && chosen_last + 4 <= runs.len(), "{answer:#}");
    assert_eq!(starts(here).len(), runs.len(), "{:?}", starts(here));
    assert!(starts(here).values().all(|count| *count == 1), "{:?}", starts(here));
    // of three runs on one of two allocations, two at least share an array
    assert!((2..=3).contains(&most_jobs(here)), "{}", most_jobs(here));
}

/// The most jobs that were submitted at once.
fn most_jobs(here: &Path) -> usize {
    let folders = fs::read_dir(here.join(".harp/slurm")).unwrap().flatten();
    let texts = folders.filter_map(|entry| fs::read(entry.path().join("tasks.json")).ok());
    texts.map(|text| serde_json::from_slice::<Vec<Value>>(&text).unwrap().len()).max().unwrap()
}

#[test]
fn jobs_that_run_side_by_side_keep_to_one_budget() {
    let cluster = Cluster::shared();
    let folder = folder();
    let here = folder.path();
    let call = [&CHOOSING[..], &["--budget", "25s"]].concat();
    let said = support::stderr(&cluster.harp(here, &call, 2));
    assert!(said.contains("at most 3 jobs at a time") && said.contains("25.0 s of run time"), "{said}");
    assert!(starts(here).is_empty(), "nothing is run before a yes");
    let answer = cluster.harp_json(here, &[&call[..], &["--yes", "--json"]].concat());
    assert_eq!(answer["ended"], "budget", "{answer:#}");
    let runs = history(here);
    let spent: f64 = runs.iter().map(|run| run["usage"]["walltime"].as_f64().unwrap()).sum();
    // Slurm counts whole seconds, and the job around the program: what the last three are over nobody made up
    assert!(runs.len() > 1 && spent <= 25.0 + 3.0 * 2.0, "{spent} s of 25 s in {} runs", runs.len());
}
