//! Single jobs on a real Slurm: scripts it accepts, GPUs, many processes, modules, and advice.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;
#[path = "support/sweeps.rs"]
mod sweeps;

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cluster::Cluster;

use support::documents::promised;
use sweeps::{begin, wait_until};

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
    let more =
        ["generate", "--on", "slurm", "--dry-run", "--sbatch=--nice=7", "--sbatch", "--mail-type=NONE"];
    let text = String::from_utf8(cluster.harp(here, &more, 0).stdout).unwrap();
    assert!(text.contains("#SBATCH --nice=7\n#SBATCH --mail-type=NONE\n"), "{text}");
    let refused = cluster.harp(here, &["generate", "--on", "slurm", "--sbatch=--mem=1G"], 2);
    assert!(support::stderr(&refused).contains("harp sets --mem itself"), "{}", support::stderr(&refused));
    // longer than any partition gives, or than the usual one does
    let long = ["generate", "--on", "slurm", "--dry-run", "--time", "9000d"];
    let refused = cluster.harp(here, &[&long[..], &["--partition", "batch"]].concat(), 4);
    assert!(support::stderr(&refused).contains("the longest time is 7 d"), "{}", support::stderr(&refused));
    fs::write(here.join("harp.toml"), EVERYTHING.replace("memory = [\"200M\", \"1G\"]", "")).unwrap();
    let warned = support::stderr(&cluster.harp(here, &long, 0));
    assert!(warned.contains("is longer than debug gives (1 h 00 min): such jobs go to spare"), "{warned}");
    let text = String::from_utf8(cluster.harp(here, &long, 0).stdout).unwrap();
    assert!(text.contains("--partition=spare") && text.contains("--time=9000-00:00:00"), "{text}");
    assert!(!text.contains("--partition=debug"), "{text}");
    fs::write(here.join("harp.toml"), &types).unwrap();
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
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Usage: harp") && output.stderr.is_empty());
    let unknown = cluster.harp(here, &["advise", "--user", "no-such-user"], 2);
    assert!(support::stderr(&unknown).contains("a name that the cluster knows"), "{unknown:?}");
    let nothing = cluster.harp(here, &["advise", "--since", "1h", "--user", "nobody"], 0);
    assert!(String::from_utf8_lossy(&nothing.stdout).contains("too few"), "{nothing:?}");
}

const LASTING: &str = r#"
name = "lasting"

[program]
command = "sh -c 'sleep 6{n}'"

[parameters.n]
values = [1, 2]

[allocation]
cores = 1
"#;

#[test]
fn a_job_is_named_when_it_is_submitted_and_when_harp_is_stopped_before_it_ends() {
    let cluster = Cluster::shared();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), LASTING).unwrap();
    let said = || fs::read_to_string(here.join("harp.log")).unwrap_or_default().replace("\n    ", " ");
    let mut harp =
        begin(cluster, here, &["generate", "--on", "slurm", "--yes", "--pack", "0", "--time", "2m"]);
    wait_until("it is submitted", 60, || said().contains("submitted job "));
    let told = said();
    let line = told.lines().find_map(|line| line.strip_prefix("submitted job ")).unwrap();
    let (job, what) = line.split_once(": ").unwrap();
    assert_eq!(what, "2 runs in 2 tasks");
    let names = cluster.ask("squeue", &["-h", "-j", job, "-o", "%j"]);
    assert!(names.lines().all(|name| name.starts_with("harp-lasting-")) && !names.is_empty(), "{names}");
    assert!(Command::new("kill").args(["-INT", &harp.id().to_string()]).status().unwrap().success());
    assert!(!harp.wait().unwrap().success());
    assert!(said().contains(&format!("what is in the queue (job {job}) goes on")), "{}", said());
    let dry = cluster.harp(here, &["generate", "--on", "slurm", "--dry-run"], 0);
    assert!(dry.stdout.is_empty(), "what is in the queue is not submitted again");
    assert!(support::stderr(&dry).contains("nothing is left to submit"), "{}", support::stderr(&dry));
    cluster.ask("scancel", &[job]);
}
