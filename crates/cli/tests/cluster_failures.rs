//! Sweeps on a real Slurm whose nodes fail and whose jobs have to make room for others.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

#[path = "support/cluster.rs"]
mod cluster;
mod support;
#[path = "support/sweeps.rs"]
mod sweeps;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cluster::Cluster;
use sweeps::{begin_with, history, starts, wait_until};

/// What these tests break they have to have for themselves.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Six runs that go on until they may end, and say where they began.
const WAITING: &str = r#"
name = "waiting"

[program]
command = "sh ./work.sh {n}"

[parameters.n]
type = "integer"
sd = { from = 1, to = 6, step = 1 }

[allocation]
cores = 1

[learn]
targets = ["walltime"]
"#;

const WAIT: &str = r#"
echo $1 >> starts
echo $1 $SLURMD_NODENAME >> places
while [ ! -e go ]; do sleep 0.1; done
"#;

fn folder(experiment: &str, work: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("harp.toml"), experiment).unwrap();
    fs::write(folder.path().join("work.sh"), work).unwrap();
    folder
}

/// The runs that began on a node, and on the others.
fn begun(here: &Path, node: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = fs::read_to_string(here.join("places")).unwrap();
    let places = text.lines().map(|line| line.split_once(' ').unwrap());
    let (there, elsewhere): (Vec<_>, Vec<_>) = places.partition(|(_, place)| *place == node);
    let names = |places: Vec<(&str, &str)>| places.into_iter().map(|(n, _)| n.to_owned()).collect();
    (names(there), names(elsewhere))
}

fn wait_for_end(harp: &mut Child, here: &Path) {
    wait_until("the end", 120, || harp.try_wait().unwrap().is_some());
    let said = fs::read_to_string(here.join("harp.log")).unwrap();
    assert_eq!(harp.wait().unwrap().code(), Some(0), "{said}");
}

/// Every run has one outcome, and it is a good one.
fn all_completed(here: &Path, runs: usize) {
    let history = history(here);
    let values: BTreeSet<i64> =
        history.iter().map(|run| run["configuration"]["parameters"]["n"].as_i64().unwrap()).collect();
    assert_eq!((history.len(), values.len()), (runs, runs), "{history:#?}");
    for run in &history {
        assert_eq!(run["outcome"]["outcome"], "completed", "{run:#}");
    }
}

/// The tasks that accounting knows to have ended so once.
fn ended_as(cluster: &Cluster, state: &str) -> usize {
    let rows = cluster.ask("sacct", &["-n", "-P", "-X", "-D", "-S", "now-1hours", "-o", "State"]);
    rows.lines().filter(|row| *row == state).count()
}

fn waiting_tasks(cluster: &Cluster) -> Vec<String> {
    let text = cluster.ask("squeue", &["--array", "-h", "-t", "PD", "-o", "%i"]);
    text.lines().map(str::to_owned).collect()
}

/// Six jobs on two nodes, of which one loses its power.
fn a_node_fails(variables: &[(&str, &str)], put_back: bool) {
    let cluster = Cluster::shared();
    let folder = folder(WAITING, WAIT);
    let here = folder.path();
    let before = ended_as(cluster, "NODE_FAIL");
    let call = ["generate", "--on", "slurm", "--yes", "--pack", "0", "--time", "10m"];
    let mut harp = begin_with(cluster, here, &call, variables);
    wait_until("all runs", 90, || starts(here).len() == 6);
    let node = cluster.ask("squeue", &["-h", "-t", "R", "-o", "%N"]).lines().next().unwrap().to_owned();
    let (hit, spared) = begun(here, &node);
    assert!(!hit.is_empty() && !spared.is_empty(), "{hit:?} on {node}, {spared:?} on others");
    cluster.fail_node(&node);
    fs::write(here.join("go"), "").unwrap();
    let waiting = waiting_tasks(cluster);
    assert_eq!(waiting.len(), if put_back { hit.len() } else { 0 }, "{waiting:?}");
    waiting.iter().for_each(|task| cluster.start_at_once(task));
    wait_for_end(&mut harp, here);
    all_completed(here, 6);
    for (n, count) in starts(here) {
        assert_eq!(count, if hit.contains(&n) { 2 } else { 1 }, "n = {n} on {node}");
    }
    assert_eq!(ended_as(cluster, "NODE_FAIL") - before, hit.len());
    cluster.start_what_is_down();
}

#[test]
fn a_node_fails_and_slurm_puts_its_jobs_back() {
    let _alone = alone();
    a_node_fails(&[], true);
}

#[test]
fn a_node_fails_and_harp_submits_its_runs_anew_where_slurm_does_not() {
    let _alone = alone();
    a_node_fails(&[("SBATCH_NO_REQUEUE", "1")], false);
}

/// Runs that share jobs: the first two of a job end at once, the others when they may.
const SHARED: &str = r#"
name = "shared"

[program]
command = "sh ./work.sh {n}"

[parameters.n]
type = "integer"
sd = { from = 1, to = 8, step = 1 }

[allocation]
cores = 1
constraint = "big"

[design.sd]
timeout = "60s"

[learn]
targets = ["walltime"]
"#;

const WAIT_AFTER_TWO: &str = r#"
echo $1 >> starts
begun=begun-$SLURM_ARRAY_TASK_ID
echo $1 >> $begun
[ $(wc -l < $begun) -le 2 ] || while [ ! -e go ]; do sleep 0.1; done
"#;

#[test]
fn jobs_make_room_for_others_and_go_on_where_they_were() {
    let _alone = alone();
    let cluster = Cluster::shared();
    let folder = folder(SHARED, WAIT_AFTER_TWO);
    let here = folder.path();
    let before = ended_as(cluster, "PREEMPTED");
    let call = ["generate", "--on", "slurm", "--yes", "--partition", "spare"];
    let mut harp = begin_with(cluster, here, &call, &[]);
    let begun = |task: usize| -> Vec<String> {
        let text = fs::read_to_string(here.join(format!("begun-{task}"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    wait_until("the third run of both jobs", 90, || begun(0).len() == 3 && begun(1).len() == 3);
    let interrupted: BTreeSet<String> = [begun(0)[2].clone(), begun(1)[2].clone()].into();
    // somebody with a better claim wants the whole node
    let other = cluster.submit(&["--partition=large", "-c32", "--time=20"], "sleep 1000");
    wait_until("the other job", 60, || {
        cluster.ask("squeue", &["-h", "-j", &other, "-o", "%T"]).trim() == "RUNNING"
    });
    let waiting = waiting_tasks(cluster);
    assert_eq!(waiting.len(), 2, "{waiting:?}");
    fs::write(here.join("go"), "").unwrap();
    cluster.ask("scancel", &[&other]);
    waiting.iter().for_each(|task| cluster.start_at_once(task));
    wait_for_end(&mut harp, here);
    all_completed(here, 8);
    for (n, count) in starts(here) {
        assert_eq!(count, if interrupted.contains(&n) { 2 } else { 1 }, "n = {n}");
    }
    assert_eq!(ended_as(cluster, "PREEMPTED") - before, 2);
}

/// Jobs that accounting knows, however they ended.
fn accounted(cluster: &Cluster) -> usize {
    cluster.ask("sacct", &["-n", "-P", "-X", "-D", "-S", "now-1hours", "-o", "JobID"]).lines().count()
}

#[test]
fn a_job_that_vanishes_without_a_trace_is_given_up_and_its_run_submitted_again() {
    let _alone = alone();
    let cluster = Cluster::shared();
    let one = WAITING.replace("{ from = 1, to = 6, step = 1 }", "1");
    let folder = folder(&one, WAIT);
    let here = folder.path();
    let before = accounted(cluster);
    // the controller cannot tell accounting of the job, and then forgets it
    cluster.stop("slurmdbd");
    let mut harp = begin_with(cluster, here, &["generate", "--on", "slurm", "--yes", "--time", "10m"], &[]);
    wait_until("the run", 90, || starts(here).len() == 1);
    cluster.forget_jobs();
    assert_eq!((cluster.ask("squeue", &["-h"]), accounted(cluster)), (String::new(), before));
    // after two minutes it is given up
    wait_until("the second start", 200, || starts(here).get("1") == Some(&2));
    fs::write(here.join("go"), "").unwrap();
    wait_for_end(&mut harp, here);
    all_completed(here, 1);
    wait_until("accounting", 30, || accounted(cluster) == before + 1);
}
