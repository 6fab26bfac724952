//! harp against a real Slurm: the testbed of this project, started for these tests alone.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use cluster::Cluster;
use serde_json::Value;

use support::harp;

#[test]
fn the_cluster_is_discovered_live_and_from_a_saved_answer() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let live = cluster.harp_json(here, &["site", "discover", "--json"]);
    let names: Vec<&str> =
        live["node_types"].as_array().unwrap().iter().map(|kind| kind["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["big", "a100", "v100", "small", "threads"]);
    let saved: String = ["nodes", "config", "partitions"]
        .map(|what| cluster.ask("scontrol", &["show", what]) + "\n")
        .concat();
    fs::write(here.join("saved.txt"), saved).unwrap();
    let from_file = support::json(here, &["site", "discover", "--file", "saved.txt", "--json"]);
    assert_eq!(from_file, live);
    cluster.harp(here, &["site", "discover", "--output", "cluster.toml"], 0);
    support::run(here, &["site", "check", "cluster.toml"], 0);
}

const EXPERIMENT: &str = r#"
name = "count"

[program]
command = "sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i+1)); done'"

[parameters.n]
type = "integer"
sd = { from = 1000, to = 16000, count = 6, spacing = "geometric" }
test = 24000

[allocation]
cores = [1, 2]
"#;

#[test]
fn the_scheduler_accepts_the_scripts_of_every_partition() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    support::run(here, &["generate", "--scale", "sd"], 0);
    support::run(here, &["build"], 0);
    cluster.harp(here, &["site", "discover", "--output", "cluster.toml"], 0);
    let profile = fs::read_to_string(here.join("cluster.toml")).unwrap();
    let (head, partitions) = profile.split_once("[[partition]]").unwrap();
    let mut tried = 0;
    for partition in partitions.split("[[partition]]") {
        // a site with this partition alone: the script has to go there
        fs::write(here.join("one.toml"), format!("{head}[[partition]]{partition}")).unwrap();
        for account in [&[][..], &["--account", "physics"]] {
            let call =
                [&["recommend", "n=20000", "--site", "./one.toml", "--script", "job.sh"], account].concat();
            support::run(here, &call, 0);
            let script = fs::read_to_string(here.join("job.sh")).unwrap();
            let output =
                cluster.client("sbatch", &["--test-only", "job.sh"]).current_dir(here).output().unwrap();
            assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));
            tried += 1;
        }
    }
    assert_eq!(tried, 10);
}

/// A command that holds so many mebibytes for some seconds.
fn hold(mebibytes: u32, seconds: u32) -> String {
    format!("head -c {mebibytes}M /dev/zero | tail | sleep {seconds}")
}

#[test]
fn jobs_of_the_cluster_become_runs_that_agree_with_its_accounting() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let steps = format!("srun -n2 sh -c '{}'; srun -n1 sh -c '{}'", hold(60, 3), hold(90, 3));
    let stepped = cluster.submit(&["-J", "heat_n30", "-n2", "--mem=400M"], &steps);
    let plain = cluster.submit(&["-J", "heat_n40", "--mem=200M"], &hold(80, 3));
    let two =
        cluster.submit(&["-J", "a|b", "-N2", "-n2", "--mem=300M"], &format!("srun sh -c '{}'", hold(70, 3)));
    let failed = cluster.submit(&["-J", "fails"], "exit 3");
    let memory = cluster.submit(&["-J", "greedy", "--mem=50M"], &hold(300, 20));
    let array = cluster.submit(&["-J", "array", "--array=1-3"], "exit $((SLURM_ARRAY_TASK_ID == 2))");
    let stopped = cluster.submit(&["-J", "stopped", "--comment", "n=5 method=slow"], "sleep 100");
    let held = cluster.submit(&["-J", "held", "--hold"], "true");
    let ids = [&stepped, &plain, &two, &failed, &memory, &array].map(String::as_str);
    cluster.wait_until_accounted(&ids, 8);
    cluster.ask("scancel", &[&stopped]);
    cluster.wait_until_accounted(&[&stopped], 1);

    fs::write(here.join("rules.toml"), "[[rule]]\napplication = 'heat'\npattern = '^heat_n(?<n>\\d+)$'\n")
        .unwrap();
    let answer = cluster
        .harp_json(here, &["import", "slurm", "--since", "1h", "--rules", "rules.toml", "--runs", "--json"]);
    let run = |id: &str| -> &Value {
        let runs = answer["runs"].as_array().unwrap();
        runs.iter().find(|run| run["job"] == id).unwrap_or_else(|| panic!("no job {id}: {answer:#}"))
    };
    // every figure once more, by hand from what sacct prints
    let cell = |id: &str, field: &str| -> String {
        let lines = cluster.ask("sacct", &["-n", "-P", "--noconvert", "-j", id, "-o", field]);
        lines.lines().next().unwrap_or("").to_owned()
    };
    let number =
        |id: &str, field: &str| cell(id, field).parse::<f64>().unwrap_or_else(|_| panic!("{id} {field}"));
    for id in [&stepped, &plain, &two, &failed] {
        assert_eq!(run(id)["usage"]["walltime"], number(id, "ElapsedRaw"), "{id}");
    }
    let total = |step: &str| -> f64 {
        let used = cell(step, "TRESUsageInTot");
        used.split(',').find_map(|part| part.strip_prefix("mem=")).unwrap().parse().unwrap()
    };
    let step = |job: &str, step: &str| format!("{job}.{step}");
    let both = total(&step(&stepped, "0")).max(total(&step(&stepped, "1")))
        + number(&step(&stepped, "batch"), "MaxRSS");
    assert_eq!(run(&stepped)["usage"]["peak_memory"], both, "two steps in turn beside the script");
    assert_eq!(run(&plain)["usage"]["peak_memory"], number(&step(&plain, "batch"), "MaxRSS"));
    let fullest = number(&step(&two, "0"), "MaxRSS") + number(&step(&two, "batch"), "MaxRSS");
    assert_eq!(run(&two)["usage"]["peak_memory"], fullest, "per node");
    assert_eq!(run(&two)["configuration"]["allocation"]["memory"], 300 << 20, "per node");
    assert_eq!(run(&two)["application"], "a|b");
    assert_eq!(run(&plain)["application"], "heat");
    assert_eq!(run(&plain)["configuration"]["parameters"]["n"], 40);
    assert_eq!(run(&failed)["outcome"], serde_json::json!({ "outcome": "failed", "exit_code": 3 }));
    assert_eq!(run(&memory)["outcome"]["outcome"], "out_of_memory");
    assert_eq!(run(&format!("{array}_2"))["outcome"]["outcome"], "failed");
    assert_eq!(run(&format!("{array}_3"))["outcome"]["outcome"], "completed");
    assert_eq!(
        run(&stopped)["outcome"],
        serde_json::json!({ "outcome": "interrupted", "cause": "cancelled" })
    );

    let again =
        cluster.harp_json(here, &["import", "slurm", "--since", "1h", "--rules", "rules.toml", "--json"]);
    assert_eq!(
        (&again["imported"]["new"], &again["imported"]["unchanged"]),
        (&0.into(), &answer["imported"]["new"])
    );
    // jobs of a day ago: none, and nothing is wrong with that
    cluster.harp(here, &["import", "slurm", "--user", "nobody", "--dry-run"], 0);
    // a rule may look into the script
    let script = "[[rule]]\nfrom = 'script'\napplication = 'ender'\npattern = 'exit (?<code>\\d+)'\n";
    fs::write(here.join("script.toml"), script).unwrap();
    let answer = cluster.harp_json(
        here,
        &["import", "slurm", "--since", "1h", "--rules", "script.toml", "--dry-run", "--runs", "--json"],
    );
    let runs = answer["runs"].as_array().unwrap();
    let ender = runs.iter().find(|run| run["job"] == failed.as_str()).unwrap();
    assert_eq!(
        (&ender["application"], &ender["configuration"]["parameters"]["code"]),
        (&"ender".into(), &3.into())
    );
    cluster.ask("scancel", &[&held]);
}

#[test]
fn a_scheduler_out_of_reach_is_exit_6_with_a_way_out() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let good = fs::read_to_string(cluster.configuration()).unwrap();
    let change = |key: &str, value: &str| -> String {
        let line =
            |line: &str| if line.starts_with(key) { format!("{key}={value}\n") } else { format!("{line}\n") };
        good.lines().map(line).collect()
    };
    fs::write(here.join("gone.conf"), change("AccountingStoragePort", "1")).unwrap();
    fs::write(here.join("none.conf"), change("AccountingStorageType", "accounting_storage/none")).unwrap();
    for (file, message) in [("gone.conf", "cannot reach Slurm"), ("none.conf", "keeps no accounting")] {
        let output = harp(here, &["import", "slurm"]).env("SLURM_CONF", here.join(file)).output().unwrap();
        let said = support::stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains(message) && said.contains("hint: "), "{said}");
    }
    for command in [&["import", "slurm"][..], &["site", "discover"]] {
        let output = harp(here, command).env("PATH", "/nonexistent").output().unwrap();
        let said = support::stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains("there is no `s") && said.contains("login node"), "{said}");
    }
}

/// The testbed's only person may see everything, so clients that stand in for Slurm's play the others.
#[test]
fn another_persons_jobs_that_are_not_shown_are_exit_6_and_no_jobs_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let client = |name: &str, text: &str| {
        let file = here.join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let header = "JobID State ElapsedRaw";
    client(
        "sacct",
        &format!("case $1 in --helpformat) echo {header};; *) echo {header} | tr ' ' '\\037';; esac"),
    );
    let path = format!("{}:/usr/bin:/bin", here.display());
    let ask = |command: &[&str]| harp(here, command).env("PATH", &path).env("USER", "me").output().unwrap();
    for (private, exit) in [("jobs,usage", 6), ("none", 0)] {
        client("sacctmgr", &format!("echo 'PrivateData = none'; echo 'PrivateData = {private}'"));
        for command in [&["import", "slurm", "--dry-run", "--user", "you"][..], &["advise", "--user", "you"]]
        {
            let output = ask(command);
            let said = support::stderr(&output);
            assert_eq!(output.status.code(), Some(exit), "{command:?}: {said}");
            assert_eq!(said.contains("leave out --user"), exit == 6, "{said}");
        }
        assert_eq!(ask(&["advise", "--user", "me"]).status.code(), Some(0), "one's own are never hidden");
    }
}

#[test]
fn a_cluster_ends_with_its_owner_and_leaves_nothing() {
    let folder = std::env::temp_dir().join(format!("harp-testbed-owned-{}", std::process::id()));
    let mut owner = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let started = std::process::Command::new(support::repository().join("testbed/start.sh"))
        .arg(&folder)
        .env("TESTBED_OWNER", owner.id().to_string())
        .output()
        .unwrap();
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    // a job that will not go by itself
    let job = format!("trap '' TERM; sleep 600.{}", std::process::id());
    let submitted = std::process::Command::new("sbatch")
        .args(["--output=/dev/null", "--wrap", &job])
        .env("SLURM_CONF", folder.join("client/slurm.conf"))
        .status()
        .unwrap();
    assert!(submitted.success());
    std::thread::sleep(std::time::Duration::from_secs(2));
    owner.kill().unwrap();
    owner.wait().unwrap();
    let begin = std::time::Instant::now();
    while folder.exists() {
        assert!(begin.elapsed().as_secs() < 60, "{} is still there", folder.display());
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let mark = format!("600.{}", std::process::id());
    let folder = folder.display().to_string();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        assert!(!line.contains(&folder) && !line.contains(&mark), "left behind: {line}");
    }
}
