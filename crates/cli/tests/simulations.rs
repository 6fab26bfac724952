//! `harp simulate` as a person calls it.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;

use support::trace::{TRACE, folder, said};

const COLUMNS: &str = "job,submit,start,end,processors\n";

#[test]
fn schedules_are_those_worked_out_by_hand() {
    let directory = folder(TRACE);
    let here = directory.path();
    let easy = "1,0,0,100,3\n2,10,100,150,4\n3,20,20,50,1\n4,60,150,190,1\n";
    let fcfs = "1,0,0,100,3\n2,10,100,150,4\n3,20,150,180,1\n4,60,150,190,1\n";
    // Shortest first: 3 and 4 go before 2 only where they are ahead of it in the queue.
    let sjf = "1,0,0,100,3\n2,10,100,150,4\n3,20,20,50,1\n4,60,150,190,1\n";
    for (policy, expected) in [("easy", easy), ("fcfs", fcfs), ("sjf", sjf), ("conservative", easy)] {
        support::run(here, &["simulate", "t.swf", "--policy", policy, "--schedule", "out.csv"], 0);
        let found = fs::read_to_string(here.join("out.csv")).unwrap();
        assert_eq!(found, format!("{COLUMNS}{expected}"), "{policy}");
    }
    // Exact estimates let 4 know that it ends at 100, in time for 2.
    let exact = ["simulate", "t.swf", "--estimates", "perfect", "--schedule", "out.csv"];
    support::run(here, &exact, 0);
    assert!(fs::read_to_string(here.join("out.csv")).unwrap().contains("\n4,60,60,100,1\n"));
}

#[test]
fn estimates_may_come_from_a_table() {
    let directory = folder(TRACE);
    let here = directory.path();
    // 4 is known to end in time for 2; the others are not in the table and keep their request
    fs::write(here.join("told.csv"), "seconds,job\n40,4\n").unwrap();
    let call = ["simulate", "t.swf", "--estimates", "file:told.csv", "--schedule", "out.csv"];
    assert!(said(here, &call, 0).contains("3 of 4 jobs have no estimate"));
    assert!(fs::read_to_string(here.join("out.csv")).unwrap().contains("\n4,60,60,100,1\n"));
    let answer = support::json(here, &[&call[..], &["--json"]].concat());
    assert_eq!(answer["policies"][0]["estimates"], "file");
    for (table, exit, expected) in [
        ("seconds,job\nsoon,4\n", 2, "job 4 has no number in `seconds`"),
        ("seconds,job\n1,x\n", 2, "told.csv:2: there is no number in `job`"),
        ("seconds,job\n1,99\n", 3, "no job of the trace is in it"),
    ] {
        fs::write(here.join("told.csv"), table).unwrap();
        let told = said(here, &call, exit);
        assert!(told.contains(expected), "{told}");
    }
}

/// Sleeps a hundredth of a second for each n, so that what a model learns of it is sure.
const EXPERIMENT: &str = r#"
name = "sleep"

[program]
command = "sh -c 'sleep $(printf 0.%02d {n})'"

[parameters.n]
type = "integer"
sd = [4, 8, 12, 16, 20]
fs = 40

[allocation]
cores = [1]
"#;

#[test]
fn estimates_may_come_from_a_model_of_harp() {
    let directory = folder(TRACE);
    let here = directory.path();
    fs::write(here.join("harp.toml"), EXPERIMENT).unwrap();
    support::run(here, &["generate", "--scale", "sd"], 0);
    support::run(here, &["build"], 0);
    let call = ["simulate", "t.swf", "--estimates", "model:.harp/model.json"];
    let told = said(here, &call, 3);
    assert!(told.contains("the model asks for") && told.contains("--cases"), "{told}");
    fs::write(here.join("cases.csv"), "job,n\n4,10\n").unwrap();
    let with_cases = [&call[..], &["--cases", "cases.csv", "--schedule", "out.csv"]].concat();
    assert!(said(here, &with_cases, 0).contains("3 of 4 jobs have no estimate"));
    // a tenth of a second becomes one second, and 4 goes ahead of 2
    assert!(fs::read_to_string(here.join("out.csv")).unwrap().contains("\n4,60,60,100,1\n"));
}

#[test]
fn the_figures_of_a_simulation_follow_from_its_schedule() {
    let directory = folder(TRACE);
    let here = directory.path();
    let answer = support::json(here, &["simulate", "t.swf", "--procs", "8", "--policy", "easy", "--json"]);
    assert_eq!(answer["policies"][0]["average_wait_s"], 0.0, "{answer:#}");
    let answer = support::json(here, &["simulate", "t.swf", "--procs", "4", "--policy", "easy", "--json"]);
    let policy = &answer["policies"][0];
    assert_eq!(policy["name"], "easy");
    assert_eq!(policy["average_wait_s"], (90.0 + 90.0) / 4.0);
    assert_eq!(policy["average_bounded_slowdown"], (1.0 + 140.0 / 50.0 + 1.0 + 130.0 / 40.0) / 4.0);
    assert_eq!(policy["utilisation"], (300.0 + 200.0 + 30.0 + 40.0) / (4.0 * 190.0));
    assert_eq!(policy["violation_mean_s"], 0.0);
}

#[test]
fn policies_are_compared_in_one_table_and_have_a_schedule_each() {
    let directory = folder(TRACE);
    let here = directory.path();
    let calls = ["simulate", "t.swf", "--compare", "easy", "sjf+easy", "easy", "--schedule", "s.csv"];
    let text = support::stdout(here, &calls);
    assert!(text.contains("Against the first"), "{text}");
    assert!(here.join("s-easy.csv").exists() && here.join("s-sjf-easy.csv").exists());
    let answer = support::json(
        here,
        &["simulate", "t.swf", "--policy", "fcfs", "--compare", "easy,relaxed", "--json"],
    );
    let names: Vec<&str> = answer["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fcfs", "easy", "relaxed"]);
    assert_eq!(answer["policies"][1]["against_first"]["average_wait_s"], 45.0 - (90.0 + 130.0 + 90.0) / 4.0);
}

#[test]
fn the_charts_of_a_simulation_are_written_for_every_policy() {
    let directory = folder(TRACE);
    let here = directory.path();
    let arguments = ["simulate", "t.swf", "--compare", "easy", "sjf+easy", "--charts", "charts"];
    support::run(here, &arguments, 0);
    let chart = |name: &str| fs::read_to_string(here.join("charts").join(name)).unwrap();
    for name in ["wait.svg", "queue.svg", "utilisation.svg"] {
        let text = chart(name);
        assert!(text.starts_with("<svg") && text.contains("sjf+easy"), "{name}: {text}");
    }
    // All four jobs, 2 on all processors.
    let text = chart("gantt-easy.svg");
    for job in ["<title>1</title>", "<title>2</title>", "<title>3</title>", "<title>4</title>"] {
        assert!(text.contains(job), "{job}: {text}");
    }
    assert!(here.join("charts/gantt-sjf-easy.svg").exists());
    support::run(here, &[&arguments[..], &["--window", "0..60"]].concat(), 0);
    let text = chart("gantt-easy.svg");
    assert!(text.contains("<title>3</title>") && !text.contains("<title>2</title>"), "{text}");
    support::run(here, &["simulate", "t.swf", "--window", "0..60"], 2);
}
