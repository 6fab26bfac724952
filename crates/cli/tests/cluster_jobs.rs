//! Single jobs on a real Slurm: scripts it accepts, GPUs, many processes, modules, retries, and advice.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cluster::Cluster;
use serde_json::{Value, json};

use support::documents::{documented, has};

fn promised(answer: &Value, command: &str) {
    for path in &documented()[command] {
        assert!(has(answer, path), "harp {command} --json has no `{path}`:\n{answer:#}");
    }
}

/// Everything an allocation can vary, each combination one the testbed has.
const EVERYTHING: &str = r#"
name = "everything"

[program]
command = "sh -c 'true {n}'"
mpi = true
modules = ["gcc/12.2"]

[parameters.n]
values = [1]

[allocation]
nodes = [1, 2]
tasks = [1, 2]
cores = [2, 4]
memory = ["200M", "1G"]

[design]
timeout = "100s"
"#;

#[test]
fn the_scheduler_accepts_every_script_of_a_sweep() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let gpus = "[allocation]\ncores = 2\ngpus = [1, 2]\ngpu_kind = [\"a100\", \"v100\"]\n";
    let gpus =
        format!("{}{gpus}[design]\ntimeout = \"100s\"\n", EVERYTHING.split("[allocation]").next().unwrap());
    let features = EVERYTHING
        .replace("memory =", "constraint = \"small\"\nmemory =")
        .replace("[1, 2]\ntasks", "1\ntasks");
    let types = "[allocation]\ncores = 2\nnode_type = [\"big\", \"small\", \"threads\"]\n";
    let types = format!("{}{types}", EVERYTHING.split("[allocation]").next().unwrap());
    let mut tried = 0;
    for experiment in [EVERYTHING, &gpus, &features, &types] {
        fs::write(here.join("harp.toml"), experiment).unwrap();
        let shown = cluster
            .harp_json(here, &["generate", "--on", "slurm", "--dry-run", "--account", "physics", "--json"]);
        promised(&shown, "generate --on slurm --dry-run");
        for array in shown["arrays"].as_array().unwrap() {
            // it runs in a folder that is made when it is submitted
            let script = array["script"].as_str().unwrap().replace("--chdir=", "--chdir=/tmp #");
            fs::write(here.join("job.sh"), &script).unwrap();
            let output =
                cluster.client("sbatch", &["--test-only", "job.sh"]).current_dir(here).output().unwrap();
            assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));
            tried += 1;
        }
    }
    assert_eq!(tried, 16 + 4 + 8 + 3);
    let output = cluster.harp(here, &["generate", "--on", "slurm", "--dry-run"], 0);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("module load gcc/12.2") && text.contains("--constraint=big"), "{text}");
}

const PARALLEL: &str = r#"
name = "parallel"

[program]
command = "sh -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS on $SLURM_CPUS_PER_TASK; sleep 2; true {n}'"
mpi = true
modules = ["gcc/12.2", "openmpi"]
environment = { FLAVOUR = "sweet {n}" }
after = "echo $FLAVOUR > flavour"

[parameters.n]
values = [1]

[metrics.ranks]
pattern = 'rank \d+ of 4 on (?<value>2)'
take = "count"

[allocation]
nodes = 2
tasks = 2
cores = 4
memory = "300M"
"#;

#[test]
fn many_processes_start_through_srun_with_modules_and_environment() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), PARALLEL).unwrap();
    // a cluster's `module`, as a shell hands functions on
    let module = format!("() {{ echo \"$@\" >> {}; }}", here.join("modules").display());
    let output = support::harp(here, &["generate", "--on", "slurm", "--yes", "--time", "2m"])
        .env("SLURM_CONF", cluster.configuration())
        .env("BASH_FUNC_module%%", module)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", support::stderr(&output));
    let runs = support::json(here, &["history", "--json"]);
    assert_eq!(runs[0]["metrics"]["ranks"], 4.0, "{runs:#}");
    assert_eq!(fs::read_to_string(here.join("modules")).unwrap(), "load gcc/12.2 openmpi\n");
    let flavour =
        fs::read_dir(here.join(".harp/runs")).unwrap().next().unwrap().unwrap().path().join("work/flavour");
    assert_eq!(fs::read_to_string(flavour).unwrap(), "sweet 1\n");
}

const GPUS: &str = r#"
name = "gpus"

[program]
command = "sh -c 'echo devices $SLURM_GPUS_ON_NODE $SLURMD_NODENAME; sleep 1; true {n}'"

[parameters.n]
values = [1]

[metrics.devices]
pattern = 'devices (?<value>\d+) gpu1'

[allocation]
cores = 2
gpus = 2
gpu_kind = "a100"
"#;

#[test]
fn a_job_gets_the_gpus_it_asks_for_where_they_are() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), GPUS).unwrap();
    cluster.harp(here, &["generate", "--on", "slurm", "--yes", "--time", "2m"], 0);
    let runs = support::json(here, &["history", "--json"]);
    assert_eq!(runs[0]["metrics"]["devices"], 2.0, "{runs:#}");
    assert_eq!(runs[0]["configuration"]["allocation"]["gpu_kind"], "a100");
}

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
    let shown = submit(cluster, here, &["n=60", "--dry-run"], 0);
    let script = shown["script"].as_str().unwrap().replace("--chdir=", "--chdir=/tmp #");
    fs::write(here.join("job.sh"), &script).unwrap();
    let output = cluster.client("sbatch", &["--test-only", "job.sh"]).current_dir(here).output().unwrap();
    assert!(output.status.success(), "{}\n{script}", String::from_utf8_lossy(&output.stderr));

    // without --retry it stays at one
    let once = submit(cluster, here, &["n=60", "--partition", "batch"], 7);
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
        found[0]["outcome"]["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!((of(60).as_str(), of(61).as_str(), of(49).as_str()), ("out_of_memory", "completed", "failed"));
}

#[test]
fn a_job_that_is_out_of_time_gets_twice_as_much_also_after_harp_was_killed() {
    let cluster = Cluster::shared();
    let folder = surprise();
    let here = folder.path();
    let call = ["submit", "n=48", "--extrapolate", "--yes", "--json", "--retry", "--partition", "batch"];
    let mut harp = support::harp(here, &call)
        .env("SLURM_CONF", cluster.configuration())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !here.join("again").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not begin");
        sleep(Duration::from_millis(100));
    }
    harp.kill().unwrap();
    harp.wait().unwrap();
    // its time is over now: Slurm looks every half minute
    let queue = cluster.ask("squeue", &["--me", "-h", "-t", "R", "-o", "%i %j"]);
    let id = queue.lines().find(|line| line.contains("harp-")).unwrap().split(' ').next().unwrap().to_owned();
    cluster.ask("scontrol", &["update", &format!("jobid={id}"), "endtime=now"]);
    let answer: Value = serde_json::from_slice(&cluster.harp(here, &call, 0).stdout).unwrap();
    let attempts = answer["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{answer:#}");
    assert_eq!(attempts[0]["outcome"]["outcome"], "timed_out", "{answer:#}");
    assert_eq!(attempts[1]["outcome"]["outcome"], "completed");
    let limits = cluster
        .ask("sacct", &["-n", "-P", "-X", "-o", "JobName,TimelimitRaw,Partition", "--starttime=now-1hours"]);
    let minutes: Vec<u32> = limits
        .lines()
        .filter(|line| line.starts_with("harp-") && line.ends_with("|batch"))
        .map(|line| line.split('|').nth(1).unwrap().parse().unwrap())
        .collect();
    let last: Vec<u32> = minutes.iter().rev().take(2).copied().collect();
    assert_eq!(last[0], 2 * last[1], "{minutes:?}");
}

#[test]
fn past_jobs_are_advised_on_with_one_question() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let hold = "head -c 60M /dev/zero | tail | sleep 2";
    let jobs: Vec<String> = (0..6)
        .map(|n| cluster.submit(&["-J", &format!("wasteful_{n}"), "--mem=2000M", "--time=55", "-c2"], hold))
        .collect();
    let ids: Vec<&str> = jobs.iter().map(String::as_str).collect();
    cluster.wait_until_accounted(&ids, 6);
    // asked for by time and not by number, they appear a moment later
    let begin = Instant::now();
    while cluster
        .ask("sacct", &["-n", "-X", "-P", "-S", "now-1hours", "-o", "JobName"])
        .matches("wasteful_")
        .count()
        < 6
    {
        assert!(begin.elapsed() < Duration::from_secs(60), "accounting does not show the jobs");
        sleep(Duration::from_millis(300));
    }
    let answer = cluster.harp_json(here, &["advise", "--since", "1h", "--json"]);
    promised(&answer, "advise");
    let recurring = answer["recurring"].as_array().unwrap();
    let advice = recurring.iter().find(|advice| advice["name"] == "wasteful_#").unwrap();
    assert_eq!((&advice["jobs"], &advice["time"]["asked"]), (&6.into(), &3300.0.into()), "{advice:#}");
    let lines: Vec<&str> = advice["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["after"].as_str().unwrap())
        .collect();
    assert_eq!(lines[0], "#SBATCH --time=00:01:00");
    assert!(
        lines[1].starts_with("#SBATCH --mem=") && lines[1].len() < "#SBATCH --mem=1000M".len(),
        "{lines:?}"
    );
    // by hand from what sacct prints
    let elapsed: f64 = ids
        .iter()
        .map(|id| {
            let text = cluster.ask("sacct", &["-n", "-P", "-X", "-j", id, "-o", "ElapsedRaw"]);
            text.trim().parse::<f64>().unwrap()
        })
        .sum();
    assert!((advice["core_hours"].as_f64().unwrap() - 2.0 * elapsed / 3600.0).abs() < 1e-9);
    // `harp` alone asks the same, and without Slurm shows the help
    let bare = cluster.harp(here, &[], 0);
    assert!(String::from_utf8_lossy(&bare.stdout).contains("wasteful_#"));
    let output = support::harp(here, &[]).env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(support::stderr(&output).contains("Usage: harp"));
    let nothing = cluster.harp(here, &["advise", "--since", "1h", "--user", "nobody"], 0);
    assert!(String::from_utf8_lossy(&nothing.stdout).contains("too few"), "{nothing:?}");
}
