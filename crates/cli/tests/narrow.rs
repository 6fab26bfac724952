//! Whatever the width of the terminal, no line is wider.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::path::Path;

const EXPERIMENT: &str = r#"
name = "a-program-with-a-rather-long-name"
constraints = ["threads == cores"]

[program]
command = "sh -c 'i=0; while [ $i -lt $(({number_of_cells} / {threads})) ]; do i=$((i+1)); done; echo steps {number_of_cells}'"

[metrics.steps]
pattern = 'steps (?<value>\d+)'

[parameters.number_of_cells]
sd = { from = 2000, to = 16000, count = 4, spacing = "geometric" }
fs = 20000
test = 24000

[parameters.method]
values = ["explicit", "implicit"]
environment = "METHOD"

[allocation]
cores = [1, 2]
threads = [1, 2]

[design]
timeout = "1m"

[learn]
targets = ["walltime", "peak_memory", "steps"]
"#;

fn assert_fits(here: &Path, arguments: &[&str], columns: usize) {
    let output = support::harp(here, arguments).env("COLUMNS", columns.to_string()).output().unwrap();
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        for line in text.lines() {
            // A path that is longer by itself is not broken: it is to be copied.
            let fits = line.chars().count() <= columns || !line.trim().contains(' ');
            assert!(fits, "harp {arguments:?} at {columns} columns, {stream}:\n{line}\n\nof\n{text}");
        }
    }
    assert!(output.status.code().is_some_and(|code| code != 1), "{arguments:?}: {output:?}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    support::run(here, &["trace", "generate", "--jobs", "300", "--output", "a.swf"], 0);
    let case = ["number_of_cells=23000", "method=implicit"];
    for columns in [60, 80] {
        for arguments in [
            &["init", "--force", "--output", "new.toml", "--", "./app", "--size", "1000", "--in", "a.swf"][..],
            &["plan"],
            &["run"],
            &["generate"],
            &["status"],
            &["history"],
            &["build"],
            &["models"],
            &["predict", case[0], case[1]],
            &["predict", case[0], case[1], "threads=2", "cores=2"],
            &["predict", case[0], "methd=implicit"],
            &["predict", "number_of_cells=99999999", case[1]],
            &["recommend", case[0], case[1], "--script", "job.sh"],
            &["recommend", case[0], case[1], "--script", "job.sh", "--site", "osc-pitzer"],
            &["recommend", case[0], case[1], "--max-time", "0.00001s"],
            &["site"],
            &["host"],
            &["trace", "summary", "a.swf"],
            &["trace", "compare", "a.swf", "a.swf"],
            &["simulate", "a.swf", "--compare", "easy", "fcfs"],
        ] {
            assert_fits(here, arguments, columns);
        }
    }
}

#[test]
fn pictures_say_what_is_held_and_which_runs_were_scaled() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("harp.toml"), EXPERIMENT).unwrap();
    let result = support::json(folder.path(), &["run", "--json"]);
    for scaling in result["targets"][0]["scaling"].as_array().unwrap() {
        let name = scaling["x"]["name"].as_str().unwrap();
        assert_eq!(scaling["x"]["whole"], ["cores", "threads"].contains(&name), "{scaling:#}");
        assert!(scaling["subtitle"].as_str().unwrap().starts_with("with "), "{scaling:#}");
        let series = scaling["series"].as_array().unwrap();
        let mut runs = series.iter().flat_map(|series| series["measured"].as_array().unwrap());
        assert!(runs.all(|run| run["moved"].is_boolean()), "{scaling:#}");
    }
}
