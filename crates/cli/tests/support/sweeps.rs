//! Sweeps on a cluster, watched from outside.
#![allow(dead_code)] // each test program uses a part of it

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cluster::Cluster;
use super::support;

/// harp in the background.
pub fn begin(cluster: &Cluster, here: &Path, arguments: &[&str]) -> Child {
    begin_with(cluster, here, arguments, &[])
}

/// harp in the background with some variables.
pub fn begin_with(cluster: &Cluster, here: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Child {
    let mut command = support::harp(here, arguments);
    let log = fs::File::options().create(true).append(true).open(here.join("harp.log")).unwrap();
    command.env("SLURM_CONF", cluster.configuration()).envs(variables.iter().copied());
    command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Waits for something; fails the test when it takes too long.
pub fn wait_until(what: &str, seconds: u64, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(seconds), "{what}: not within {seconds} s");
        sleep(Duration::from_millis(100));
    }
}

/// The runs in the history.
pub fn history(here: &Path) -> Vec<Value> {
    support::json(here, &["history", "--json"]).as_array().unwrap().clone()
}

/// How often each run has begun, by what it wrote into `starts`.
pub fn starts(here: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(here.join("starts")).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// The name a batch's script gives to its job; none where harp was killed before it wrote one.
pub fn job_name(batch: &Path) -> Option<String> {
    let script = fs::read_to_string(batch.join("job.sh")).ok()?;
    script.lines().find_map(|line| line.strip_prefix("#SBATCH --job-name=")).map(str::to_owned)
}

/// The job of each run: `<key>-<repetition>` to `job_task`, from what the jobs were given to do.
pub fn jobs_of(cluster: &Cluster, here: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(here.join(".harp/slurm")).unwrap().flatten() {
        // what was withdrawn is in another batch by now
        if entry.path().extension().is_some() {
            continue;
        }
        let Ok(tasks) = fs::read(entry.path().join("tasks.json")) else { continue };
        let tasks: Value = serde_json::from_slice(&tasks).unwrap();
        let Some(name) = job_name(&entry.path()) else { continue };
        let ids = cluster.ask("sacct", &["-n", "-P", "-X", "-o", "JobID", &format!("--name={name}")]);
        let Some(job) = ids.lines().next().map(|id| id.split('_').next().unwrap().to_owned()) else {
            continue;
        };
        for (number, task) in tasks.as_array().unwrap().iter().enumerate() {
            for run in task.as_array().unwrap() {
                let logs = run["logs"].as_str().unwrap();
                let key = logs.rsplit('/').next().unwrap().to_owned();
                let before = found.insert(key, format!("{job}_{number}"));
                assert_eq!(before, None, "a run is in two jobs");
            }
        }
    }
    found
}

/// The key of each configuration, by its JSON.
pub fn keys(here: &Path) -> BTreeMap<String, String> {
    let plan = support::json(here, &["plan", "--json"]);
    let one = |planned: &Value| {
        let parts = ["scale", "parameters", "allocation"];
        let configuration: serde_json::Map<String, Value> =
            parts.iter().map(|part| (part.to_string(), planned[*part].clone())).collect();
        (Value::from(configuration).to_string(), planned["key"].as_str().unwrap().to_owned())
    };
    plan["configurations"].as_array().unwrap().iter().map(one).collect()
}
