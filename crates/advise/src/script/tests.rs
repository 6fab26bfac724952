use super::*;
use crate::recommend::tests::{around, ask, site};
use crate::{Limits, recommend};
use harp_core::{Bytes, Host};
use std::process::Command;

fn plan_at(site: &Site, candidate: Allocation) -> Plan {
    let candidates = [candidate];
    let answer =
        recommend::<String>(&ask(site, &candidates, Limits::default()), |_| Ok(around(5000.0, Some(2.0))));
    answer.unwrap().plan().unwrap().clone()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn job<'a>(command: &'a [String], environment: &'a BTreeMap<String, String>) -> Job<'a> {
    Job {
        name: "my job",
        command,
        environment,
        working_directory: None,
        account: None,
        modules: &[],
        mpi: false,
        harp_version: "0.1.0",
    }
}

/// Runs a script and gives what it printed, after `bash -n` found no fault.
fn run(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("job.sh");
    std::fs::write(&path, text).unwrap();
    let checked = Command::new("bash").arg("-n").arg(&path).output().unwrap();
    assert!(checked.status.success(), "{text}\n{}", String::from_utf8_lossy(&checked.stderr));
    let output = Command::new("bash").arg(&path).env_remove("OMP_NUM_THREADS").output().unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_batch_script_asks_for_the_plan() {
    let site = site();
    let candidate = Allocation { cores: Some(4), threads: Some(8), gpus: Some(1), ..Allocation::default() };
    let plan = plan_at(&site, candidate);
    let command = words(&["./app", "--size", "10 000", "it's"]);
    let environment = BTreeMap::from([("MODE".to_owned(), "fast & loose".to_owned())]);
    let job =
        Job { account: Some("PAS0001"), working_directory: Some("/a b"), ..job(&command, &environment) };
    let text = script(&site, &plan, &job).unwrap();
    let expected = "\
#!/bin/bash
#SBATCH --job-name=my-job
#SBATCH --account=PAS0001
#SBATCH --partition=normal
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=2479M
#SBATCH --gpus-per-node=1
#SBATCH --time=01:40:00
#
# Written by harp 0.1.0 for test: 4 cores, 8 threads, 2.42 GiB, 1 GPU, large.
# Predicted time: 1 h 23 min, between 1 h 15 min and 1 h 31 min.
# Predicted peak memory: 2.00 GiB a node, up to 2.20 GiB.
# Expected price: $0.147; risk of being killed: 10.0 %.
# Learned from 30 scaled-down and 4 full-scale runs; 3 of them, held back in turn, judged the model.

set -eo pipefail
cd -- '/a b'
export OMP_NUM_THREADS=8
export MODE='fast & loose'

./app --size '10 000' 'it'\\''s'
";
    assert_eq!(text, expected);
}

#[test]
fn several_nodes_start_through_srun_and_names_of_the_site_are_used() {
    let mut site = site();
    site.partitions[1].automatic = true;
    site.node_types[1].constraint = Some("v100".into());
    site.node_types[1].gpus.as_mut().unwrap().gres = Some("tesla".into());
    let candidate = Allocation { nodes: Some(2), cores: Some(4), gpus: Some(2), ..Allocation::default() };
    let plan = plan_at(&site, candidate);
    let (command, environment) = (words(&["app"]), BTreeMap::new());
    let text = script(&site, &plan, &job(&command, &environment)).unwrap();
    for line in [
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks=2",
        "#SBATCH --constraint=v100",
        "#SBATCH --gpus-per-node=tesla:2",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
    assert!(text.ends_with("\nsrun --cpus-per-task=4 app\n"));
    assert!(!text.contains("#SBATCH --partition") && !text.contains("\n#SBATCH --account"));
    assert!(text.contains("add  #SBATCH --account=NAME"), "{text}");
}

#[test]
fn a_local_script_runs_as_it_was_measured() {
    let host = Host { cores: Some(64), memory: Some(Bytes(8 << 30)), ..Host::default() };
    let site = Site::local(&host);
    let plan = plan_at(&site, Allocation { cores: Some(1), threads: Some(3), ..Allocation::default() });
    let environment = BTreeMap::from([
        ("PLAIN".to_owned(), "$HOME `x` \"y\" 'z'\nnext".to_owned()),
        ("odd.name".to_owned(), "v w".to_owned()),
    ]);
    let show = "printf '%s|' \"$PLAIN\" \"$OMP_NUM_THREADS\" \"$(nproc --ignore=0)\" \"$@\"; env | grep odd";
    let command = words(&["bash", "-c", show, "name", "", "*", "a\\b", "-n", "é"]);
    let text = script(&site, &plan, &job(&command, &environment)).unwrap();
    assert!(!text.contains("#SBATCH"));
    assert_eq!(run(&text), "$HOME `x` \"y\" 'z'\nnext|3|3||*|a\\b|-n|é|odd.name=v w\n");
    // nproc obeys OMP_NUM_THREADS; without it the pinned core is all it sees.
    let plan = plan_at(&site, Allocation { cores: Some(1), ..Allocation::default() });
    let (command, environment) = (words(&["nproc"]), BTreeMap::new());
    assert_eq!(run(&script(&site, &plan, &job(&command, &environment)).unwrap()), "1\n");
}

#[test]
fn nothing_escapes_into_the_script() {
    let site = Site::local(&Host { cores: Some(64), ..Host::default() });
    let plan = plan_at(&site, Allocation::default());
    let environment = BTreeMap::new();
    let command = words(&["echo", "$(touch x); rm -rf y", "`z`", "a\nb", "!!", "~"]);
    let text = script(&site, &plan, &job(&command, &environment)).unwrap();
    assert_eq!(run(&text), "$(touch x); rm -rf y `z` a\nb !! ~\n");
    let version =
        Job { modules: &[], mpi: false, harp_version: "1\nrm -rf y", ..job(&command, &environment) };
    assert!(script(&site, &plan, &version).unwrap().contains("# Written by harp 1 rm -rf y for local"));
    assert_eq!(quote_program("A=b"), "'A=b'");
    assert_eq!(quote_program("if"), "'if'");
    assert_eq!(safe_name("a\n#SBATCH b"), "a--SBATCH-b");
}

#[test]
fn jobs_no_script_can_run() {
    let site = Site::local(&Host { cores: Some(64), ..Host::default() });
    let plan = plan_at(&site, Allocation::default());
    let none = BTreeMap::new();
    let refused = |job: &Job<'_>| script(&site, &plan, job).unwrap_err();
    assert_eq!(refused(&job(&[], &none)), ScriptError::NoCommand);
    let nul = words(&["a\0b"]);
    assert!(matches!(refused(&job(&nul, &none)), ScriptError::Nul(_)));
    let command = words(&["a"]);
    let odd = BTreeMap::from([("a=b".to_owned(), String::new())]);
    assert!(matches!(refused(&job(&command, &odd)), ScriptError::VariableName(_)));
    let account = Job { account: Some("a b"), ..job(&command, &none) };
    assert!(matches!(refused(&account), ScriptError::Account(_)));
}
