//! The way from a command line to a prediction, as a newcomer goes it.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Reads its input and counts to its size.
const APP: &str = "#!/bin/sh\n[ \"$1 $3\" = '--size --in' ] || exit 9\ncat \"$4\" > /dev/null\ni=0\nwhile [ $i -lt \"$2\" ]; do i=$((i+1)); done\n";

fn write_app(here: &Path) {
    fs::write(here.join("app"), APP).unwrap();
    fs::set_permissions(here.join("app"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn from_init_with_an_input_file_to_a_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_app(here);
    for (name, size) in [("a.bin", 1000), ("b.bin", 4000), ("c.bin", 9000), ("data.bin", 20_000)] {
        fs::write(here.join(name), vec![7; size]).unwrap();
    }
    let said = support::stdout(here, &["init", "--", "./app", "--size", "2000", "--in", "data.bin"]);
    assert!(said.starts_with("wrote harp.toml\n"), "{said}");
    assert!(said.contains("to fill in: [parameters.in]"), "{said}");
    assert!(said.contains("  harp plan     shows what would run"), "{said}");

    let said = support::stderr(&support::run(here, &["plan"], 2));
    let text = fs::read_to_string(here.join("harp.toml")).unwrap();
    let line = text.lines().position(|line| line.starts_with("sd = []")).unwrap() + 1;
    assert!(said.contains(&format!("error: harp.toml:{line}:6: `sd` has no values")), "{said}");

    let text =
        text.replace("\nsd = []", "\nsd = [\"a.bin\", \"b.bin\"]").replace("\nfs = []", "\nfs = [\"c.bin\"]");
    fs::write(here.join("harp.toml"), text).unwrap();
    support::run(here, &["plan"], 0);
    support::run(here, &["generate"], 0);
    support::run(here, &["build"], 0);
    let by_file = support::json(here, &["predict", "size=1500", "in=c.bin", "--json"]);
    let by_size = support::json(here, &["predict", "size=1500", "in_bytes=9000", "--json"]);
    let estimate = |answer: &serde_json::Value| answer["cases"][0]["predictions"][0]["estimate"].clone();
    assert_eq!(estimate(&by_file), estimate(&by_size));
    let in_units = support::json(here, &["predict", "size=1500", "in_bytes=9KB", "--json"]);
    assert_eq!(in_units["cases"][0]["features"]["in_bytes"], 9000, "{in_units:#}");

    // Both commands take the same keys; what only the file itself can tell is said.
    let recommended = support::json(here, &["recommend", "size=1500", "in_bytes=9000", "--json"]);
    assert!(recommended["job_script"].is_null(), "{recommended:#}");
    let said = support::stderr(&support::run(here, &["recommend", "size=1500", "in_bytes=9000"], 0));
    assert!(said.contains("the case does not say `in`; add in=VALUE"), "{said}");
    support::run(here, &["recommend", "size=1500", "in_bytes=9000", "--script", "job.sh"], 2);
    let with_file = support::json(here, &["recommend", "size=1500", "in=c.bin", "--json"]);
    assert!(with_file["job_script"].as_str().unwrap().contains("c.bin"), "{with_file:#}");
}

#[test]
fn a_program_that_cannot_be_started_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = support::stdout(here, &["init", "--", "./app", "--size", "100"]);
    assert!(said.contains("note: there is no ./app yet"), "{said}");
    for command in ["plan", "generate", "run"] {
        let said = support::stderr(&support::run(here, &[command], 2));
        assert!(said.contains("harp.toml:5:11: the program `./app` does not exist"), "{command}: {said}");
    }
    fs::write(here.join("app"), APP).unwrap();
    let said = support::stderr(&support::run(here, &["generate"], 2));
    assert!(
        said.contains("the program `./app` cannot be executed") && said.contains("chmod +x ./app"),
        "{said}"
    );
    assert!(!here.join(".harp/runs").exists(), "nothing was run");

    // What the setup makes is looked for afterwards, and what it does not make is missed then.
    let text = fs::read_to_string(here.join("harp.toml")).unwrap();
    fs::remove_file(here.join("app")).unwrap();
    let with_setup = |line: &str| text.replace("\n[program]\n", &format!("\n[program]\nsetup = '{line}'\n"));
    fs::write(here.join("harp.toml"), with_setup("true")).unwrap();
    let said = support::stderr(&support::run(here, &["generate"], 2));
    assert!(said.contains("does not exist, though the setup has run"), "{said}");
    fs::write(here.join("harp.toml"), with_setup("echo \"#!/bin/sh\" > app; chmod +x app")).unwrap();
    support::run(here, &["generate", "--scale", "sd"], 0);
}

#[test]
fn a_resource_that_is_not_given_is_predicted_for_every_value() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let experiment = r#"
name = "split"
constraints = ["threads == cores"]
[program]
command = "sh -c 'i=0; while [ $i -lt $(({n} / {threads})) ]; do i=$((i+1)); done'"
[parameters.n]
sd = { from = 2000, to = 16000, count = 4, spacing = "geometric" }
[allocation]
cores = [1, 2]
threads = [1, 2]
[design]
repetitions = 2
"#;
    fs::write(here.join("harp.toml"), experiment).unwrap();
    support::run(here, &["generate"], 0);
    support::run(here, &["build"], 0);
    let answer = support::json(here, &["predict", "n=9000", "--json"]);
    assert_eq!(answer["cases"].as_array().unwrap().len(), 2, "{answer:#}");
    let text = support::stdout(here, &["predict", "n=9000"]);
    assert!(text.contains("not given: predicted for every value that was varied\nwith n=9000"), "{text}");
    let options =
        support::json(here, &["recommend", "n=9000", "--site", "osc-pitzer", "--json"])["options"].clone();
    let rows = options.as_array().unwrap();
    // One row an allocation, and the full node: no GPU nodes, none twice.
    assert_eq!(rows.len(), 3, "{options:#}");
    assert!(rows.iter().all(|row| !row["allocation"]["node_type"].as_str().unwrap().contains("v100")));
    assert_eq!(rows[0]["also_on"], serde_json::json!(["cascade48", "largemem48"]));
    let (full, chosen) = (&rows[2], rows.iter().find(|row| row["chosen"] == true).unwrap());
    assert_eq!((&full["default"], &full["allocation"]["cores"]), (&true.into(), &40.into()));
    assert_eq!(full["request_time"], 7.0 * 86_400.0);
    let value = |row: &serde_json::Value, key: &str| row["walltime"][key].as_f64().unwrap();
    assert!(value(full, "low") < value(full, "value"), "an interval has a width: {full:#}");
    // Charged for what is used: forty cores for as long as the program runs.
    let cores = chosen["allocation"]["cores"].as_f64().unwrap();
    let dearer = full["price"].as_f64().unwrap() / chosen["price"].as_f64().unwrap();
    assert!((dearer - 40.0 / cores).abs() < 1e-6, "{options:#}");
    let text = support::stdout(here, &["recommend", "n=9000", "--site", "osc-pitzer"]);
    assert!(
        text.contains("#SBATCH --account=NAME") && !text.split_whitespace().any(|word| word == "$"),
        "{text}"
    );

    let fixed = support::json(here, &["predict", "n=9000", "threads=2", "--json"]);
    assert_eq!(fixed["cases"].as_array().unwrap().len(), 1, "{fixed:#}");
    let said = support::stderr(&support::run(here, &["predict", "n=9000", "threads=2", "cores=1"], 2));
    assert!(said.contains("breaks the constraint `threads == cores`"), "{said}");
}

#[test]
fn a_model_that_is_behind_its_runs_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = "name = \"count\"\n[program]\ncommand = \"sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i+1)); done'\"\n\
                [parameters.n]\ntype = \"integer\"\nsd = [1000, 2000, 4000, 8000]\n";
    fs::write(here.join("harp.toml"), text).unwrap();
    support::run(here, &["generate"], 0);
    support::run(here, &["build"], 0);
    let warned =
        |arguments: &[&str]| support::stderr(&support::run(here, arguments, 0)).contains("warning: ");
    assert!(!support::stderr(&support::run(here, &["predict", "n=5000"], 0)).contains("`harp build`"));
    let said = support::stderr(&support::run(here, &["predict", "n=5000", "cores=8"], 0));
    assert!(said.contains("warning: cores=8 changes nothing"), "{said}");
    fs::write(here.join("harp.toml"), text.replace("8000]", "8000, 9000]")).unwrap();
    support::run(here, &["generate"], 0);
    let said = support::stderr(&support::run(here, &["predict", "n=5000"], 0));
    assert!(said.contains("warning: 1 run was made after this model was built"), "{said}");
    assert!(warned(&["recommend", "n=5000"]));
    fs::write(here.join("harp.toml"), text.replace("\"count\"", "\"other\"")).unwrap();
    let said = support::stderr(&support::run(here, &["predict", "n=5000"], 0));
    assert!(said.contains("the model is of count, the experiment file of other"), "{said}");
}

/// A memory limit ends runs; it is nothing that time or memory grow with.
#[test]
fn a_varied_memory_limit_needs_no_value_in_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = "name = \"count\"\n[program]\ncommand = \"sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i+1)); done'\"\n\
                [parameters.n]\ntype = \"integer\"\nsd = [1000, 2000, 4000, 8000]\ntest = 9000\n\
                [allocation]\nmemory = [\"256M\", \"512M\"]\n";
    fs::write(here.join("harp.toml"), text).unwrap();
    let result = support::json(here, &["run", "--json"]);
    assert_eq!(result["targets"][0]["cases"].as_array().unwrap().len(), 2, "{result:#}");
    let answer = support::json(here, &["predict", "n=8500", "--json"]);
    assert_eq!(answer["cases"].as_array().unwrap().len(), 1, "{answer:#}");
    support::run(here, &["recommend", "n=8500"], 0);
}

#[test]
fn what_is_judged_by_scale_was_not_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = "name = \"count\"\n[program]\ncommand = \"sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i+1)); done'\"\n\
                [parameters.n]\ntype = \"integer\"\nsd = [1000, 2000, 4000, 6000, 8000]\ntest = 8000\n";
    fs::write(here.join("harp.toml"), text).unwrap();
    support::run(here, &["generate"], 0);
    let by_scale = support::json(here, &["backtest", "--json"]);
    assert_eq!((&by_scale["rows"]["sd"], &by_scale["rows"]["test"]), (&4.into(), &1.into()), "{by_scale:#}");
    assert_eq!(by_scale["cases"], 1);
    let by_time = support::json(here, &["backtest", "--by", "time", "--latest", "0.2", "--json"]);
    assert_eq!((&by_time["rows"]["sd"], &by_time["rows"]["test"]), (&5.into(), &1.into()), "{by_time:#}");
}
