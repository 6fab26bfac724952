//! Whole sweeps on a real Slurm: killed, restarted, cancelled, packed, and in agreement with accounting.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;
#[path = "support/sweeps.rs"]
mod sweeps;

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use cluster::Cluster;
use sweeps::{begin, history, jobs_of, keys, starts, wait_until};

/// Runs that end well, fail, take too long for harp, for Slurm, or too much memory. Each says that it
/// began, so that a second start would be seen.
const EXPERIMENT: &str = r#"
name = "mixed"

[program]
command = "sh ./work.sh {n}"

[parameters.n]
type = "integer"
sd = { from = 1, to = 32, step = 1 }
fs = [101, 102]

[allocation]
cores = [1, 2]
memory = "150M"
[allocation.fs]
cores = 1

[design.sd]
timeout = "12s"

[learn]
targets = ["walltime"]
"#;

const WORK: &str = r#"
echo $1 >> starts
case $1 in
  7|8) exit 3 ;;
  14|15) sleep 60 ;;
  21|22) head -c 500M /dev/zero | tail | sleep 30 ;;
  101|102) sleep 300 ;;
  *) i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1 ;;
esac
"#;

fn folder(experiment: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("harp.toml"), experiment).unwrap();
    fs::write(folder.path().join("work.sh"), WORK).unwrap();
    folder
}

fn seconds(text: &str) -> f64 {
    let (days, rest) = text.split_once('-').unwrap_or(("0", text));
    let parts = rest.split(':').map(|part| part.parse::<f64>().unwrap());
    days.parse::<f64>().unwrap() * 86_400.0 + parts.fold(0.0, |sum, part| 60.0 * sum + part)
}

#[test]
fn a_sweep_survives_two_kills_and_a_restart_of_the_controller_and_agrees_with_accounting() {
    let cluster = Cluster::shared();
    let folder = folder(EXPERIMENT);
    let here = folder.path();
    let call = ["generate", "--on", "slurm", "--yes", "--pack", "0", "--time", "1m", "--max-jobs", "40"];
    // killed while it submits or a moment after
    let mut harp = begin(cluster, here, &call);
    wait_until("a first submission", 60, || {
        fs::read_dir(here.join(".harp/slurm"))
            .is_ok_and(|mut entries| entries.any(|entry| entry.unwrap().path().join("tasks.json").exists()))
    });
    harp.kill().unwrap();
    harp.wait().unwrap();
    // killed in the middle
    let mut harp = begin(cluster, here, &call);
    wait_until("some runs", 90, || starts(here).len() >= 8);
    harp.kill().unwrap();
    harp.wait().unwrap();
    cluster.restart_controller();
    let output = cluster.harp(here, &call, 7);
    let said = support::stderr(&output);

    let runs = history(here);
    assert_eq!(runs.len(), 66, "32 values on 1 and 2 cores, and two at full scale; {said}");
    let starts = starts(here);
    assert_eq!(starts.len(), 34);
    for (n, count) in &starts {
        let expected = if n.len() == 3 { 1 } else { 2 };
        assert_eq!(*count, expected, "n = {n} began {count} times");
    }
    let jobs = jobs_of(cluster, here);
    assert_eq!(jobs.len(), 66);
    let cell = |id: &str, field: &str| -> String {
        let lines = cluster.ask("sacct", &["-n", "-P", "--noconvert", "-j", id, "-o", field]);
        lines.lines().next().unwrap_or("").to_owned()
    };
    let keys = keys(here);
    let (mut agreed, mut filled, mut of_memory, mut of_processor) = (0, 0, 0, 0);
    for run in &runs {
        let n = run["configuration"]["parameters"]["n"].as_i64().unwrap();
        let outcome = &run["outcome"];
        let expected = match n {
            7 | 8 => "failed",
            14 | 15 | 101 | 102 => "timed_out",
            21 | 22 => "out_of_memory",
            _ => "completed",
        };
        assert_eq!(outcome["outcome"], expected, "{run:#}");
        let job = &jobs[&format!("{}-{}", keys[&run["configuration"].to_string()], run["repetition"])];
        let is_filled = |name: &str| {
            run["usage"]["filled"].as_array().is_some_and(|names| names.iter().any(|filled| filled == name))
        };
        let elapsed: f64 = cell(job, "ElapsedRaw").parse().unwrap();
        if is_filled("walltime") {
            // finer than accounting's seconds, or it had none yet: what harp measured must be what it says
            let own = run["usage"]["walltime"].as_f64().unwrap();
            assert!((own - elapsed).abs() < 2.0, "accounting says {elapsed}: {run:#}");
            filled += 1;
        } else {
            assert_eq!(run["usage"]["walltime"].as_f64(), Some(elapsed), "{run:#}");
            agreed += 1;
        }
        let memory: Option<f64> =
            cell(&format!("{job}.batch"), "MaxRSS").parse().ok().filter(|&rss: &f64| rss > 0.0);
        match memory {
            // of a program that is gone at once nobody has a figure
            None if n == 7 || n == 8 => {}
            None => assert!(is_filled("peak_memory"), "{run:#}"),
            Some(memory) => {
                let least = if expected == "out_of_memory" { f64::from(150 << 20) } else { 0.0 };
                assert_eq!(run["usage"]["peak_memory"].as_f64(), Some(memory.max(least)), "{run:#}");
                assert!(!is_filled("peak_memory"));
                of_memory += 1;
            }
        }
        // of a job that was killed at once, accounting may know no time of the processor either
        if let Some(used) = run["usage"]["user_time"].as_f64().filter(|_| !is_filled("user_time")) {
            assert!((used - seconds(&cell(job, "UserCPU"))).abs() < 0.002, "{run:#}");
            of_processor += 1;
        }
    }
    // where there is no figure there is nothing to compare: that must stay the exception
    assert!(filled > 40 && agreed >= 4, "{agreed} walltimes are accounting's, {filled} harp's");
    assert!(of_memory > 40 && of_processor > 40, "{of_memory} of memory, {of_processor} of the processor");
    // nothing is left to do, and nothing is asked
    cluster.harp(here, &["generate", "--on", "slurm"], 7);
    assert_eq!(history(here).len(), 66);
    // runs that harp submitted are not imported a second time
    let imported = cluster.harp_json(
        here,
        &["import", "slurm", "--since", "1h", "--history", ".harp/history.sqlite", "--json"],
    );
    assert_eq!(imported["imported"]["own"], 66, "{imported:#}");
    assert_eq!(history(here).len(), 66);
}

const SHORT: &str = r#"
name = "short"

[program]
command = "sh -c 'echo {n} >> starts; sleep 0.2; echo figure {n}; test {n} -ne 13'"

[parameters.n]
type = "integer"
sd = { from = 1, to = 40, step = 1 }

[metrics.figure]
pattern = 'figure (?<value>\d+)'

[allocation]
cores = 1

[design.sd]
timeout = "10s"
"#;

#[test]
fn short_runs_share_jobs_and_go_on_after_a_kill() {
    let cluster = Cluster::shared();
    let folder = folder(SHORT);
    let here = folder.path();
    let call = ["generate", "--on", "slurm", "--yes", "--partition", "batch", "--account", "biology"];
    let shown = cluster.harp_json(here, &[&call[..], &["--dry-run", "--json"]].concat());
    assert_eq!((&shown["runs"], &shown["jobs"]), (&40.into(), &2.into()), "{shown:#}");
    assert!(!here.join("starts").exists());
    let mut harp = begin(cluster, here, &call);
    wait_until("some runs", 90, || starts(here).len() >= 5);
    harp.kill().unwrap();
    harp.wait().unwrap();
    cluster.harp(here, &[&call[..], &["--allow-failed"]].concat(), 0);
    assert!(starts(here).values().all(|count| *count == 1), "{:?}", starts(here));
    let runs = history(here);
    assert_eq!(runs.len(), 40);
    for run in &runs {
        let n = run["configuration"]["parameters"]["n"].as_i64().unwrap();
        assert_eq!(run["outcome"]["outcome"], if n == 13 { "failed" } else { "completed" });
        let walltime = run["usage"]["walltime"].as_f64().unwrap();
        assert!((0.19..5.0).contains(&walltime), "{run:#}");
        assert_eq!(run["usage"]["filled"][0], "walltime", "harp's own figure says so");
        assert_eq!(run["metrics"]["figure"].as_f64(), Some(n as f64));
    }
    let accounts = cluster
        .ask("sacct", &["-n", "-X", "-P", "-o", "Account,Partition,Comment", "--starttime=now-1hours"]);
    assert!(accounts.lines().any(|line| line == "biology|batch|harp short"), "{accounts}");
}

const LONG: &str = r#"
name = "long"

[program]
command = "sh -c 'echo {n} >> starts; sleep {n}'"

[parameters.n]
type = "integer"
sd = [500, 501]

[allocation]
cores = 1

[learn]
targets = ["walltime"]
"#;

#[test]
fn cancelled_from_outside_is_an_outcome_and_a_requeued_run_runs_again() {
    let cluster = Cluster::shared();
    let folder = folder(LONG);
    let here = folder.path();
    let mut harp = begin(cluster, here, &["generate", "--on", "slurm", "--yes", "--time", "20m"]);
    wait_until("both runs", 60, || starts(here).len() == 2);
    let task_of = |n: i64| -> String {
        let jobs = jobs_of(cluster, here);
        let is_this = |(text, _): &(&String, &String)| text.contains(&format!("\"n\":{n}"));
        let keys = keys(here);
        let (_, key) = keys.iter().find(is_this).unwrap();
        jobs[&format!("{key}-0")].clone()
    };
    wait_until("accounting", 30, || jobs_of(cluster, here).len() == 2);
    // Slurm puts one back into the queue, as when its node fails, and it runs again
    let requeued = task_of(501);
    cluster.ask("scontrol", &["requeue", &requeued]);
    cluster.start_at_once(&requeued);
    wait_until("the second start", 200, || starts(here).get("501") == Some(&2));
    for n in [500, 501] {
        cluster.ask("scancel", &[&task_of(n)]);
    }
    wait_until("the end", 60, || harp.try_wait().unwrap().is_some());
    assert_eq!(harp.wait().unwrap().code(), Some(7));
    let runs = history(here);
    assert_eq!(runs.len(), 2);
    for run in &runs {
        let expected = serde_json::json!({ "outcome": "interrupted", "cause": "cancelled" });
        assert_eq!(run["outcome"], expected, "{run:#}");
    }
}

#[test]
fn nothing_is_submitted_without_a_yes_and_what_cannot_run_is_refused() {
    let cluster = Cluster::shared();
    let folder = folder(SHORT);
    let here = folder.path();
    let output = cluster.harp(here, &["generate", "--on", "slurm"], 2);
    let said = support::stderr(&output);
    assert!(said.contains("core-hours") && said.contains("--yes"), "{said}");
    let is_batch = |entry: &fs::DirEntry| entry.path().join("tasks.json").exists();
    let batches = fs::read_dir(here.join(".harp/slurm"))
        .map_or(0, |entries| entries.flatten().filter(is_batch).count());
    assert_eq!(batches, 0);
    let output = cluster.harp(here, &["generate", "--on", "slurm", "--yes", "--partition", "moon"], 2);
    assert!(support::stderr(&output).contains("it has debug, batch"), "{}", support::stderr(&output));
    fs::write(here.join("harp.toml"), SHORT.replace("cores = 1", "cores = 5000")).unwrap();
    let output = cluster.harp(here, &["generate", "--on", "slurm", "--yes"], 4);
    assert!(support::stderr(&output).contains("5000 cores asked for"), "{}", support::stderr(&output));
    let featured = SHORT.replace("cores = 1", "cores = 1\nconstraint = \"nowhere\"");
    fs::write(here.join("harp.toml"), featured).unwrap();
    let output = cluster.harp(here, &["generate", "--on", "slurm", "--yes"], 4);
    let said = support::stderr(&output);
    assert!(said.contains("Slurm does not take the job: ") && said.contains("feature"), "{said}");
    assert!(said.contains("--test-only"), "{said}");
    let output =
        support::harp(here, &["generate", "--on", "slurm"]).env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", support::stderr(&output));
}

/// The queue is asked from outside all the while: never more tasks of the sweep than allowed, and the
/// allowance is used.
#[test]
fn no_more_jobs_are_in_the_queue_than_allowed() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let experiment = "name = 'capped'\n[program]\ncommand = \"sh -c 'sleep 1; true {n}'\"\n[parameters.n]\n\
                      sd = { from = 1, to = 10, step = 1 }\n[allocation]\ncores = 1\nmemory = '100M'\n\
                      [design]\ntimeout = '50s'\n[learn]\ntargets = ['walltime']\n";
    fs::write(here.join("harp.toml"), experiment).unwrap();
    let call = ["generate", "--on", "slurm", "--yes", "--pack", "0", "--time", "1m", "--max-jobs", "3"];
    let mut harp = begin(cluster, here, &call);
    let mut most = 0;
    let status = loop {
        let queue = cluster.ask("squeue", &["--array", "-h", "-o", "%j"]);
        most = most.max(queue.lines().filter(|name| name.starts_with("harp-capped-")).count());
        if let Some(status) = harp.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(100));
    };
    assert!(status.success(), "{}", fs::read_to_string(here.join("harp.log")).unwrap_or_default());
    assert_eq!(most, 3);
    assert_eq!(history(here).len(), 10);
}
