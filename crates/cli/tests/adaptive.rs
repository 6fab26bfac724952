//! Runs chosen one at a time, on a program whose law is known because it only sleeps.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// Sleeps as long as the law says, notes that it began, and reports the law's figure with a deviation of
/// up to 5 % that is the same whenever the case is run.
const LAW: &str = r#"#!/bin/sh
echo "$1 $2 $3" >> log
set -- $(awk -v n="$1" -v m="$2" -v t="$3" 'BEGIN {
  c = (m == "direct") ? 0.010 : 0.022; e = (m == "direct") ? 1.35 : 1.05
  law = 0.02 + c * (n / 100) ^ e * (0.15 + 0.85 / t)
  printf "%.4f %.6f", law, law * (1 + 0.05 * sin(n * 12.9898 + t * 78.233 + c * 1e5)) }')
echo "steady = $2"
exec sleep $1
"#;

fn law(n: f64, method: &str, threads: f64) -> f64 {
    let (factor, exponent) = if method == "direct" { (0.010, 1.35) } else { (0.022, 1.05) };
    0.02 + factor * (n / 100.0_f64).powf(exponent) * (0.15 + 0.85 / threads)
}

fn experiment(design: &str, target: &str) -> String {
    format!(
        r#"
name = "law"
[program]
command = "./law.sh {{n}} {{method}} {{threads}}"
[parameters.n]
type = "integer"
sd = [100, 180, 320, 560, 1000]
fs = [2000, 3000]
test = 4000
[parameters.method]
values = ["direct", "iterative"]
[allocation]
threads = [1, 2, 4]
[design]
timeout = "1.3s"
{design}
[metrics.steady]
pattern = "steady = (?<value>.*)"
[learn]
targets = ["{target}"]
"#
    )
}

fn folder(design: &str) -> tempfile::TempDir {
    folder_for(design, "walltime")
}

fn folder_for(design: &str, target: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_program(folder.path(), "law.sh", LAW);
    fs::write(folder.path().join("harp.toml"), experiment(design, target)).unwrap();
    folder
}

fn write_program(here: &Path, name: &str, text: &str) {
    fs::write(here.join(name), text).unwrap();
    fs::set_permissions(here.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Run time of all runs in the history.
fn spent(here: &Path) -> f64 {
    let history = support::json(here, &["history", "--json"]);
    history.as_array().unwrap().iter().map(|run| run["usage"]["walltime"].as_f64().unwrap()).sum()
}

/// Mean |ln(estimate/law)| of the test cases.
fn error(here: &Path) -> f64 {
    support::run(here, &["build", "--quiet"], 0);
    let mut errors = Vec::new();
    for method in ["direct", "iterative"] {
        let case = format!("method={method}");
        let answer = support::json(here, &["predict", "n=4000", &case, "--json"]);
        for case in answer["cases"].as_array().unwrap() {
            let estimate = case["predictions"][0]["estimate"].as_f64().unwrap();
            let threads = case["features"]["threads"].as_f64().unwrap();
            errors.push((estimate / law(4000.0, method, threads)).ln().abs());
        }
    }
    assert_eq!(errors.len(), 6);
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// That choosing is better is shown by `learn`, where nothing depends on a clock; here, that the whole
/// program chooses so. A machine busy with something else makes runs dearer than they are and spoils
/// single searches, so the one in the middle counts, by a figure that is the same whenever a case is run.
#[test]
fn choosing_is_not_worse_than_the_grid_at_equal_cost() {
    let mut errors = Vec::new();
    for seed in [3, 5, 7, 11, 29] {
        // As much of the user's grid as a budget pays for, in the grid's own order.
        let grid = folder_for(&format!("seed = {seed}\nbudget_time = \"1.5s\""), "steady");
        support::run(grid.path(), &["generate", "--scale", "sd", "--scale", "fs", "--quiet"], 0);
        let budget = spent(grid.path());
        let chosen = folder_for(&format!("seed = {seed}"), "steady");
        let budget_text = format!("{budget}s");
        let answer =
            support::json(chosen.path(), &["generate", "--adaptive", "--budget", &budget_text, "--json"]);
        assert_eq!(answer["ended"], "budget", "{answer:#}");
        let used = spent(chosen.path());
        assert!(used <= budget + 0.1, "{used} of {budget}");
        errors.push((error(grid.path()), error(chosen.path())));
    }
    let middle = |one: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = errors.iter().map(one).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (of_grid, of_choices) = (middle(|pair| pair.0), middle(|pair| pair.1));
    println!("error of the grid {of_grid:.3}, of the choices {of_choices:.3}: {errors:.3?}");
    assert!(of_choices <= of_grid + 0.05, "grid {of_grid}, choices {of_choices}");
}

#[test]
fn it_stops_when_every_interval_is_narrow_and_explains_each_run() {
    let folder = folder("");
    let here = folder.path();
    let output = support::run(here, &["generate", "--adaptive", "--until-width", "1.5"], 0);
    let said = support::stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with("1. sd method="), "{said}");
    assert!(said.contains("of the doubt (start: the most telling of the small runs, 1 of 5)"), "{said}");
    assert!(said.contains(", the most for its time among "), "{said}");
    let text = String::from_utf8(output.stdout).unwrap().replace('\n', " ");
    assert!(text.contains("interval of every target case is narrow enough"), "{text}");
    let history = support::json(here, &["history", "--json"]);
    assert!(history.as_array().unwrap().len() < 42, "the whole grid was run");

    // The history is the state: nothing is left to do, and less is wanted than was reached.
    let again = support::json(here, &["generate", "--adaptive", "--until-width", "1.5", "--json"]);
    assert_eq!((&again["ended"], again["choices"].as_array().unwrap().len()), (&"narrow".into(), 0));
    assert!(again["width"].as_f64().unwrap() <= 1.5, "{again:#}");
    let planned = support::json(here, &["generate", "--adaptive", "--dry-run", "--json"]);
    let first = &planned["choices"][0];
    assert!(first["doubt_taken"].as_f64().unwrap() > 0.0 && first["seconds"].is_null(), "{planned:#}");
    assert_eq!(support::json(here, &["history", "--json"]), history, "a dry run runs nothing");
}

/// What was run before takes as long as it took, whatever a model says.
#[test]
fn a_repetition_is_expected_to_take_what_was_measured() {
    let folder = folder("");
    let here = folder.path();
    support::run(here, &["generate", "--scale", "sd", "--quiet"], 0);
    fs::write(here.join("harp.toml"), experiment("repetitions = 2", "walltime")).unwrap();
    let planned = support::json(here, &["generate", "--adaptive", "--scale", "sd", "--dry-run", "--json"]);
    let choice = &planned["choices"][0];
    assert_eq!(choice["repetition"], 1, "{planned:#}");
    let history = support::json(here, &["history", "--json"]);
    let same = |run: &&Value| {
        let run = &run["configuration"];
        run["parameters"] == choice["parameters"] && run["allocation"] == choice["allocation"]
    };
    let before = history.as_array().unwrap().iter().find(same).unwrap();
    let (expected, took) =
        (choice["expected_seconds"].as_f64().unwrap(), before["usage"]["walltime"].as_f64().unwrap());
    assert!((expected - took).abs() < 1e-9, "{expected} and {took}");
}

#[test]
fn killed_it_goes_on_where_it_was_and_keeps_the_budget() {
    let folder = folder("");
    let here = folder.path();
    let arguments = ["generate", "--adaptive", "--budget", "2.5s", "--json"];
    for pause in [400, 700, 300] {
        let mut child = support::harp(here, &arguments).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let answer = support::json(here, &arguments);
    assert_eq!(answer["ended"], "budget", "{answer:#}");
    let used = spent(here);
    assert!(used <= 2.6, "{used} s of 2.5 s");
    let history = support::json(here, &["history", "--json"]);
    let recorded = history.as_array().unwrap().len();
    let made_last = answer["choices"].as_array().unwrap().len();
    assert!(recorded > made_last, "nothing was kept of the killed calls");
    let started = fs::read_to_string(here.join("log")).unwrap().lines().count();
    assert!((recorded..=recorded + 3).contains(&started), "{started} starts for {recorded} runs, 3 kills");
}

/// A case shared by threads, each of which costs something: a minimum in the middle.
const SHARED: &str = r#"#!/bin/sh
exec sleep $(awk -v n="$1" -v t="$2" 'BEGIN { printf "%.4f", n * (0.02 + 0.6 / t + 0.025 * t) }')
"#;

const SHARED_EXPERIMENT: &str = r#"
name = "shared"
[program]
command = "./shared.sh {n} {threads}"
[parameters.n]
type = "real"
sd = [0.1, 0.2]
fs = [1.0]
test = [1.0]
[allocation]
threads = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]
"#;

#[test]
fn the_best_allocation_is_found_with_fewer_runs_than_there_are_allocations() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_program(here, "shared.sh", SHARED);
    fs::write(here.join("harp.toml"), SHARED_EXPERIMENT).unwrap();
    let answer = support::json(here, &["generate", "--adaptive", "--goal", "fastest", "--json"]);
    assert_eq!(answer["ended"], "found", "{answer:#}");
    let choices = answer["choices"].as_array().unwrap();
    assert!(choices.len() <= 8, "{answer:#}");
    assert!(choices.iter().all(|choice| choice["scale"] == "fs"), "{answer:#}");
    // 0.27 s with 4, 5 and 6 threads, give or take 1.5 %; the next best is a tenth slower.
    let threads = answer["best"]["allocation"]["threads"].as_i64().unwrap();
    assert!((4..=6).contains(&threads), "{answer:#}");
    let text = support::stdout(here, &["generate", "--adaptive", "--goal", "fastest"]);
    assert!(text.contains("fastest: n=1 on ") && text.contains("of 10 allocations were run"), "{text}");

    let failed = support::run(here, &["generate", "--adaptive", "--goal", "fastest", "--max-time", "1ms"], 4);
    assert!(support::stderr(&failed).contains("no allocation that was run meets the limits"));
    // Within what five core-minutes cost, the price of the best is told, too.
    let cheapest = support::json(here, &["generate", "--adaptive", "--goal", "cheapest", "--json"]);
    let price = |value: &Value| value["best"]["cost"].as_f64().unwrap();
    assert!(price(&cheapest) <= price(&answer), "{cheapest:#}");
}

#[test]
fn the_best_allocation_keeps_to_a_price() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    // Two cores take 0.3 s and cost 0.6 core-seconds, one takes 0.5 s.
    write_program(
        here,
        "shared.sh",
        "#!/bin/sh\nexec sleep $(awk -v t=\"$2\" 'BEGIN { print 0.1 + 0.4 / t }')\n",
    );
    let text = SHARED_EXPERIMENT.replace("{threads}", "{cores}");
    let (parameters, _) = text.split_once("threads").unwrap();
    fs::write(here.join("harp.toml"), format!("{parameters}cores = [1, 2]\n")).unwrap();
    let cores = |limits: &[&str]| {
        let answer = support::json(here, &[&["generate", "--adaptive", "--json"], limits].concat());
        answer["best"]["allocation"]["cores"].as_i64().unwrap()
    };
    let price = (0.55_f64 / 3600.0).to_string();
    assert_eq!(cores(&["--goal", "fastest"]), 2);
    assert_eq!(cores(&["--goal", "fastest", "--max-cost", &price]), 1);
    assert_eq!(cores(&["--goal", "cheapest"]), 1);
    assert_eq!(cores(&["--goal", "cheapest", "--max-time", "0.4s"]), 2);
    let none = ["generate", "--adaptive", "--goal", "fastest", "--max-cost", "0.00001", "--json"];
    let failed = support::run(here, &none, 4);
    assert!(support::stderr(&failed).contains("raise --max-time or --max-cost"));
    let answer: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert!(answer["best"].is_null() && answer["reason"] == "every allocation has been run", "{answer:#}");
}

#[test]
fn what_cannot_be_chosen_for_is_said() {
    let folder = folder("");
    let here = folder.path();
    let refused = |arguments: &[&str], words: &str| {
        let said = support::stderr(&support::run(here, arguments, 2));
        assert!(said.contains(words), "{said}");
    };
    refused(&["generate", "--adaptive", "--for", "size=3"], "`size` is not a parameter or resource of law");
    refused(&["generate", "--adaptive", "--for", "n=3"], "the case does not say `method`");
    refused(
        &["generate", "--adaptive", "--goal", "fastest"],
        "there are 2 test cases, and a best allocation",
    );
    refused(&["generate", "--budget", "3s"], "--adaptive");
    let far = support::run(here, &["generate", "--adaptive", "--for", "n=1e15", "method=direct"], 5);
    let far = support::stderr(&far);
    assert!(far.contains("is far outside the 100 to 3000 of the small and full-scale runs"), "{far}");
    let far_to_run = ["generate", "--adaptive", "--goal", "fastest", "--for", "n=1e15", "method=direct"];
    let said = support::stderr(&support::run(here, &far_to_run, 5));
    assert!(said.contains("is far outside the 100 to 4000 of the experiment"), "{said}");
    refused(&["generate", "--adaptive", "--for", "n=200.5", "method=direct"], "`n` is a whole number, not");
    refused(&["generate", "--adaptive", "--for", "n=many", "method=direct"], "`n` is a whole number, not");
    assert!(far.contains("give larger values as fs under [parameters.n]"), "{far}");
    refused(&["generate", "--adaptive", "--until-width", "0.9"], "larger than 1");
    let text = experiment("", "walltime").replace("test = 4000\n", "");
    fs::write(here.join("harp.toml"), text).unwrap();
    refused(&["generate", "--adaptive"], "no `test` values: nothing is to be predicted");
}

/// The start counts configurations: it does not repeat one while another is left, and goes on after the last.
#[test]
fn the_start_counts_each_configuration_once() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = "name = 'few'\n[program]\ncommand = 'true {n}'\n[parameters.n]\ntype = 'integer'\nsd = [1, 2, 3]\n\
                fs = [6]\ntest = [9]\n[allocation]\ncores = [1]\n[design]\nrepetitions = 3\n";
    fs::write(here.join("harp.toml"), text).unwrap();
    let reasons = |call: &[&str], code: i32| -> Vec<String> {
        let output = support::run(here, &[&["generate", "--adaptive", "--json"], call].concat(), code);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let choices = answer["choices"].as_array().unwrap().clone();
        choices.iter().map(|choice| choice["reason"].as_str().unwrap().to_owned()).collect()
    };
    let planned = reasons(&["--dry-run"], 0);
    let starts: Vec<&String> = planned.iter().filter(|reason| reason.contains("(start: ")).collect();
    assert_eq!(starts.len(), 3, "{planned:#?}");
    for (index, reason) in starts.iter().enumerate() {
        assert!(reason.contains(&format!("{} of 3)", index + 1)), "{planned:#?}");
    }
    assert!(planned.len() > 3, "{planned:#?}");
    fs::write(here.join("harp.toml"), text.replace("true {n}", "false {n}")).unwrap();
    let failing = reasons(&["--scale", "sd"], 7);
    assert!(failing[1].contains("1 of 3 besides 1 that did not complete)"), "{failing:#?}");
    let several = text.replace("true {n}", "false {n}").replace("[1]", "[1, 2, 3, 4, 5]");
    fs::write(here.join("harp.toml"), several).unwrap();
    let call = ["generate", "--adaptive", "--goal", "fastest"];
    let said = support::stderr(&support::run(here, &call, 4));
    assert!(said.contains("3 of 3)") && !said.contains("4 of 3)"), "{said}");
}

const SIZES: &str = "name = 'sizes'\n[program]\ncommand = 'sleep {n}'\n[parameters.n]\ntype = 'real'\n\
                     sd = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]\nfs = [0.15]\ntest = [0.3]\n[design]\nrepetitions = 3\n";

/// A wide interval and a budget are reasons to go on until nothing is left, and the width that is said last is
/// that of the model of all runs.
#[test]
fn it_goes_on_while_the_interval_is_wide_and_says_the_last_width() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), SIZES).unwrap();
    let call = ["generate", "--adaptive", "--budget", "60s", "--until-width", "1.0001", "--json"];
    let answer = support::json(here, &call);
    assert_eq!(answer["ended"], "nothing_left", "{answer:#}");
    assert_eq!(answer["reason"], "every run of the experiment has been made", "{answer:#}");
    let choices = answer["choices"].as_array().unwrap();
    assert_eq!((choices.len(), &answer["runs"]), (21, &21.into()), "{answer:#}");
    // None is expected to be much faster than the fastest that was run.
    let expected = choices.iter().filter_map(|choice| choice["expected_seconds"].as_f64());
    assert!(expected.into_iter().all(|seconds| seconds > 0.004), "{answer:#}");
    let again = support::json(here, &call);
    assert_eq!((&again["runs"], &again["width"]), (&0.into(), &answer["width"]), "{again:#}");
}

#[test]
fn what_the_budget_cuts_off_is_said_and_may_run_again_with_a_larger_one() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("harp.toml"), SIZES.replace("[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]", "[0.4, 0.5]"))
        .unwrap();
    let call =
        |budget: &'static str| ["generate", "--adaptive", "--scale", "sd", "--budget", budget, "--json"];
    let first = support::json(here, &call("0.1s"));
    let cut = &first["failures"][0];
    assert_eq!(cut["reason"], "cut off by the budget after 100 ms", "{first:#}");
    let same = |choice: &Value| choice["parameters"] == cut["parameters"] && choice["repetition"] == 0;
    let again = support::json(here, &call("0.2s"));
    assert!(!again["choices"].as_array().unwrap().iter().any(same), "no more time than before: {again:#}");
    let third = support::json(here, &call("20s"));
    let run = third["choices"].as_array().unwrap().iter().find(|choice| same(choice));
    assert!(run.is_some_and(|run| run["seconds"].as_f64().unwrap() >= 0.4), "{third:#}");
}

#[test]
fn allocations_that_cannot_be_run_here_are_named_and_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = SHARED_EXPERIMENT.replace("./shared.sh {n} {threads}", "sleep {n}");
    let (parameters, _) = text.split_once("threads").unwrap();
    fs::write(here.join("harp.toml"), format!("{parameters}cores = [1, 4000, 8000]\n")).unwrap();
    let call = ["generate", "--adaptive", "--goal", "cheapest", "--json"];
    let output = support::run(here, &call, 7);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["runs"], 1, "{answer:#}");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.starts_with("no allocation is left; 2 of 3 could not be run to the end: "), "{reason}");
    assert!(reason.contains("on 8000 cores (not started: it asks for 8000 cores"), "{reason}");
}
