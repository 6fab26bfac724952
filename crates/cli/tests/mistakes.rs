//! Bad input gets a message with place and fix, and the documented exit code.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::io::Read;
use std::process::Stdio;

const GOOD: &str = r#"
name = "echo"

[program]
command = "true {n}"

[parameters.n]
type = "integer"
sd = [1, 2, 3, 4, 5, 6]
test = [8]
"#;

fn folder(experiment: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("harp.toml"), experiment).unwrap();
    directory
}

#[test]
fn without_an_experiment_it_says_how_to_make_one() {
    let empty = tempfile::tempdir().unwrap();
    for command in ["plan", "generate", "status", "build", "run", "history", "recommend"] {
        let said = support::stderr(&support::run(empty.path(), &[command], 2));
        assert!(said.starts_with("error: there is no harp.toml"), "{command}: {said}");
        assert!(said.contains("hint: `harp init"), "{command}: {said}");
    }
}

#[test]
fn mistakes_in_the_file_are_named_with_line_column_and_fix() {
    let directory = folder(&GOOD.replace("type = \"integer\"", "tpye = \"integer\"").replace("{n}", "{m}"));
    let said = support::stderr(&support::run(directory.path(), &["plan"], 2));
    assert!(said.contains("error: harp.toml:8:1: "), "{said}");
    assert!(said.contains("type"), "{said}");
    assert!(said.contains("harp.toml:5:"), "every mistake is named at once: {said}");
    assert!(!directory.path().join(".harp").exists(), "nothing was started");
}

#[test]
fn nothing_learned_yet_is_exit_3() {
    let directory = folder(GOOD);
    support::run(directory.path(), &["build"], 3);
    support::run(directory.path(), &["predict", "n=4"], 3);
    support::run(directory.path(), &["models"], 3);
    // Two different configurations teach nothing.
    let few = folder(&GOOD.replace("[1, 2, 3, 4, 5, 6]", "[1, 2]"));
    support::run(few.path(), &["generate", "--scale", "sd"], 0);
    let said = support::stderr(&support::run(few.path(), &["build"], 3));
    assert!(said.contains("at least 4 are needed"), "{said}");
}

#[test]
fn predictions_are_refused_far_outside_what_was_measured() {
    let directory = folder(GOOD);
    let here = directory.path();
    support::run(here, &["generate", "--scale", "sd"], 0);
    support::run(here, &["build"], 0);
    support::run(here, &["predict", "n=5"], 0);
    let beyond = support::json(here, &["predict", "n=12", "--json"]);
    assert_eq!(beyond["cases"][0]["predictions"][0]["extrapolates"], true);
    let said = support::stderr(&support::run(here, &["predict", "n=100000"], 5));
    assert!(
        said.contains("n=100000 is outside the measured 1 to 6") && said.contains("--extrapolate"),
        "{said}"
    );
    support::run(here, &["predict", "n=100000", "--extrapolate"], 0);
    let said = support::stderr(&support::run(here, &["predict", "m=5"], 2));
    assert!(said.contains("`m` is not a parameter") && said.contains("it has n"), "{said}");
    support::run(here, &["predict", "n"], 2);
    let said = support::stderr(&support::run(here, &["recommend", "n=5", "--max-time", "0.000001s"], 4));
    assert!(said.contains("error:"), "{said}");
}

#[test]
fn an_account_that_nobody_charges_is_remarked_on() {
    let directory = folder(GOOD);
    let here = directory.path();
    support::run(here, &["generate", "--scale", "sd"], 0);
    support::run(here, &["build"], 0);
    let said = |more: &[&str]| {
        let call = [&["recommend", "n=5", "--account", "physics"], more].concat();
        support::stderr(&support::run(here, &call, 0))
    };
    let here_alone = said(&[]);
    assert!(
        here_alone.contains("warning: --account says nothing to local, which has no scheduler"),
        "{here_alone}"
    );
    let at_a_cluster = said(&["--site", "osc-pitzer"]);
    assert!(!at_a_cluster.contains("--account"), "{at_a_cluster}");
}

#[test]
fn where_slurm_is_at_hand_and_no_site_was_named_the_way_to_it_is_shown() {
    use std::os::unix::fs::PermissionsExt;
    let directory = folder(GOOD);
    let here = directory.path();
    support::run(here, &["generate", "--scale", "sd"], 0);
    support::run(here, &["build"], 0);
    fs::create_dir(here.join("slurm")).unwrap();
    fs::write(here.join("slurm/sinfo"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(here.join("slurm/sinfo"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = |path: &str, more: &[&str]| {
        let call = [&["recommend", "n=5"], more].concat();
        let output = support::harp(here, &call).env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{}", support::stderr(&output));
        support::stderr(&output)
    };
    let with_slurm = here.join("slurm").display().to_string();
    let shown = said(&with_slurm, &[]);
    assert!(shown.contains("hint: ") && shown.contains("harp site discover"), "{shown}");
    for other in [said(&with_slurm, &["--site", "osc-pitzer"]), said("/nonexistent", &[])] {
        assert!(!other.contains("site discover"), "{other}");
    }
}

#[test]
fn a_site_profile_that_exists_is_replaced_only_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let described = support::repository().join("crates/slurm/samples/scontrol.txt");
    let call = ["site", "discover", "--file", described.to_str().unwrap(), "-o", "cluster.toml"];
    support::run(here, &call, 0);
    let profile = fs::read_to_string(here.join("cluster.toml")).unwrap();
    fs::write(here.join("cluster.toml"), "# prices by hand").unwrap();
    let said = support::stderr(&support::run(here, &call, 2));
    assert!(
        said.contains("cluster.toml exists already") && said.contains("hint: --force replaces it"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(here.join("cluster.toml")).unwrap(), "# prices by hand");
    support::run(here, &[&call[..], &["--force"]].concat(), 0);
    assert_eq!(fs::read_to_string(here.join("cluster.toml")).unwrap(), profile);
}

#[test]
fn values_that_make_no_sense_are_refused_without_talk_of_extrapolation() {
    let here = &folder(&GOOD.replace("name = ", "constraints = ['n < 1000']\nname = "));
    let here = here.path();
    support::run(here, &["generate", "--scale", "sd"], 0);
    support::run(here, &["build"], 0);
    for (setting, reason) in [
        ("n=-5", "n=-5: `n` is nowhere below 0"),
        ("n=many", "n=many: `n` is a whole number"),
        ("n=2.5", "n=2.5: `n` is a whole number"),
        ("n=1000", "breaks the constraint `n < 1000`"),
    ] {
        for command in ["predict", "recommend"] {
            let said = support::stderr(&support::run(here, &[command, setting], 2));
            assert!(said.contains(reason) && !said.contains("extrapolate"), "{command} {setting}: {said}");
        }
    }
    let said = support::stderr(&support::run(here, &["recommend", "n=5", "threads=0"], 2));
    assert!(said.contains("threads=0: a job has at least 1 threads"), "{said}");
}

#[test]
fn attempts_that_did_not_count_are_told_in_the_history() {
    let directory = folder(&GOOD.replace("true {n}", "sh -c 'test -e ready || test {n} -ne 3'"));
    let here = directory.path();
    support::run(here, &["generate", "--scale", "sd"], 7);
    assert!(!support::stdout(here, &["history"]).contains("attempts"), "each was tried once");
    fs::write(here.join("ready"), "").unwrap();
    support::run(here, &["generate", "--scale", "sd", "--retry-failed"], 0);
    let runs = support::json(here, &["history", "--json"]);
    for run in runs.as_array().unwrap() {
        let again = run["configuration"]["parameters"]["n"] == 3;
        assert_eq!(run["attempts"], if again { 2 } else { 1 }, "{run:#}");
        let (all, last) =
            (run["attempts_walltime"].as_f64().unwrap(), run["usage"]["walltime"].as_f64().unwrap());
        assert!(if again { all > last } else { all == last }, "{run:#}");
    }
    assert!(support::stdout(here, &["history"]).contains("attempts  all of them"));
}

#[test]
fn a_folder_stands_for_the_experiment_in_it() {
    let directory = folder(GOOD);
    let above = directory.path().parent().unwrap();
    let name = directory.path().file_name().unwrap().to_str().unwrap();
    support::run(above, &["generate", name, "--scale", "sd"], 0);
    support::run(above, &["build", name], 0);
    for command in ["plan", "status", "history", "models"] {
        let by_folder = support::stdout(above, &[command, name]);
        assert_eq!(by_folder, support::stdout(above, &[command, &format!("{name}/harp.toml")]), "{command}");
    }
    for command in ["predict", "recommend"] {
        support::run(above, &[command, "n=5", "--experiment", name], 0);
    }
    let said = support::stderr(&support::run(above, &["status", "."], 2));
    assert!(said.contains("there is no ./harp.toml"), "{said}");
}

#[test]
fn one_bracket_left_open_is_one_error() {
    let directory = folder(&GOOD.replace("[1, 2, 3, 4, 5, 6]", "[1, 2, 3, 4, 5, 6"));
    let said = support::stderr(&support::run(directory.path(), &["plan"], 2));
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    assert!(said.contains("harp.toml:9:6: not TOML: what is opened here is never closed"), "{said}");
}

#[test]
fn errors_are_json_where_json_is_asked_for() {
    let directory = folder(&GOOD.replace("type = \"integer\"", "tpye = \"integer\"").replace("{n}", "{m}"));
    let here = directory.path();
    let error = |arguments: &[&str], code: i32| {
        let output = support::run(here, arguments, code);
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer:#}");
        answer["error"].clone()
    };
    let found = error(&["plan", "--json"], 2);
    assert_eq!(found["place"], serde_json::json!({ "file": "harp.toml", "line": 5, "column": 17 }));
    assert!(found["all"].as_array().unwrap().len() > 1, "{found:#}");
    assert!(found["all"][1]["fix"].as_str().unwrap().contains("type"), "{found:#}");
    fs::write(here.join("harp.toml"), GOOD).unwrap();
    let found = error(&["predict", "n=4", "--json"], 3);
    assert!(found["message"].as_str().unwrap().contains("there is no model"), "{found:#}");
    assert!(found["fix"].as_str().unwrap().contains("harp build"), "{found:#}");
    assert!(error(&["predict", "--json", "--bogus"], 2)["message"].as_str().unwrap().contains("--bogus"));
}

#[test]
fn damaged_files_are_refused_and_not_overwritten() {
    let directory = folder(GOOD);
    let here = directory.path();
    fs::create_dir(here.join(".harp")).unwrap();
    let notes = "these are my notes, not a database\n".repeat(100);
    fs::write(here.join(".harp/history.sqlite"), &notes).unwrap();
    let said = support::stderr(&support::run(here, &["generate"], 2));
    assert!(said.contains("is not a harp history"), "{said}");
    assert_eq!(fs::read_to_string(here.join(".harp/history.sqlite")).unwrap(), notes);

    fs::write(here.join(".harp/model.json"), "{\"format\":\"harp-model\",\"version\":99}").unwrap();
    support::run(here, &["predict", "n=1"], 2);
    fs::write(here.join("model.json"), "[]").unwrap();
    support::run(here, &["predict", "n=1", "--model", "model.json"], 2);
}

#[test]
fn failed_runs_are_kept_told_and_retried_on_request() {
    let directory =
        folder(&GOOD.replace("true {n}", "sh -c 'test -e go || (echo nothing to go by >&2; false)' {n}"));
    let here = directory.path();
    let said = support::stderr(&support::run(here, &["generate", "--scale", "sd"], 7));
    for told in
        ["6 runs failed with exit code 1", "last line of stderr: nothing to go by", "- sd n=", "- and 3 more"]
    {
        assert!(said.contains(told), "{told}\nnot in\n{said}");
    }
    let log = said.split("log: ").nth(1).unwrap().lines().next().unwrap();
    assert!(here.join(log).is_file(), "{log}");
    let again = support::run(here, &["generate", "--scale", "sd", "--json"], 7);
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["already_done"], 6, "what failed before is told again: {again:#}");
    assert_eq!(again["failures"][0]["reason"], "failed with exit code 1", "{again:#}");
    support::run(here, &["generate", "--scale", "sd", "--allow-failed"], 0);
    let status = support::json(here, &["status", "--json"]);
    assert_eq!(status["scales"][0]["failed"], 6, "{status:#}");
    support::run(here, &["build"], 3);
    support::run(here, &["generate", "--scale", "sd", "--retry-failed"], 7);
    fs::write(here.join("go"), "").unwrap();
    support::run(here, &["generate", "--scale", "sd", "--retry-failed", "--strict"], 0);
    assert_eq!(support::json(here, &["status", "--json"])["scales"][0]["done"], 6);
    assert_eq!(support::json(here, &["history", "--json"]).as_array().unwrap().len(), 6);
}

#[test]
fn runs_ended_at_a_limit_are_lower_bounds_and_no_failure() {
    let slow = GOOD.replace("true {n}", "sh -c 'test {n} -lt 6 || sleep 5'");
    let directory = folder(&format!("{slow}\n[design]\ntimeout = 0.2\n"));
    let here = directory.path();
    let said = support::stderr(&support::run(here, &["generate", "--scale", "sd"], 0));
    assert!(said.contains("1 run timed out after 200 ms\n  - sd n=6, repetition 0"), "{said}");
    assert!(said.contains("lower bounds; with a larger limit, --retry-failed"), "{said}");
    support::run(here, &["generate", "--scale", "test"], 0);
    let said = support::stderr(&support::run(here, &["backtest"], 2));
    assert!(said.contains("no test run has completed") && !said.contains("rows"), "{said}");
    support::run(here, &["generate", "--scale", "sd", "--strict"], 7);
}

#[test]
fn when_every_test_run_fails_it_is_predicted_told_and_exit_7() {
    let directory = folder(&GOOD.replace("true {n}", "sh -c 'test {n} -lt 8 || kill -9 $$'"));
    let output = support::run(directory.path(), &["run"], 7);
    let (said, printed) = (support::stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(said.contains("1 run ended by signal 9 (SIGKILL)\n  - test n=8, repetition 0"), "{said}");
    assert!(printed.contains("no run has finished that it could be judged by"), "{printed}");
    assert!(printed.contains("predicted") && printed.contains('8'), "{printed}");
    support::run(directory.path(), &["run", "--allow-failed"], 0);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let directory = folder(&GOOD.replace("[1, 2, 3, 4, 5, 6]", "{ from = 1, to = 3000, step = 1 }"));
    let mut child = support::harp(directory.path(), &["plan"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut some).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn output_is_plain_when_piped_and_ascii_where_the_locale_is() {
    let directory = folder(GOOD);
    let text = support::stdout(directory.path(), &["plan"]);
    assert!(!text.contains('\u{1b}'), "{text}");
    let coloured = support::stdout(directory.path(), &["status", "--color", "always"]);
    let ascii = support::harp(directory.path(), &["plan"]).env("LC_ALL", "C").output().unwrap();
    assert!(ascii.stdout.is_ascii(), "{}", String::from_utf8_lossy(&ascii.stdout));
    assert!(!coloured.is_empty());
}

#[test]
fn two_sweeps_of_one_experiment_do_not_run_at_once() {
    let directory = folder(&GOOD.replace("true {n}", "sh -c 'sleep 0.3' {n}"));
    let here = directory.path();
    let mut first = support::harp(here, &["generate", "--scale", "sd"]).spawn().unwrap();
    while !here.join(".harp/running.json").exists() {
        assert!(first.try_wait().unwrap().is_none(), "the sweep ended early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let said = support::stderr(&support::run(here, &["generate"], 2));
    assert!(said.contains("another harp is running this experiment"), "{said}");
    let status = support::json(here, &["status", "--json"]);
    assert_eq!(status["running"].as_array().unwrap().len(), 1, "{status:#}");
    assert!(first.wait().unwrap().success());
}

#[test]
fn a_case_to_be_predicted_is_never_learned_from() {
    let directory = folder(&GOOD.replace("test = [8]", "fs = [8]"));
    let here = directory.path();
    support::run(here, &["generate"], 0);
    fs::write(here.join("harp.toml"), GOOD).unwrap();
    let output = support::run(here, &["run"], 0);
    assert!(
        support::stderr(&output).contains("now to be predicted (scale test): 1 run"),
        "{}",
        support::stderr(&output)
    );
    let built = support::json(here, &["build", "--json"]);
    assert_eq!(built[0]["evidence"]["full_scale_runs"], 0, "{built:#}");
}

/// Rows that cannot be used, and texts among numbers, are named in JSON as well; a bare number is no time.
#[test]
fn a_sweep_with_slips_is_judged_and_its_slips_are_named() {
    let here = tempfile::tempdir().unwrap();
    let row = |index: i32| {
        let (scale, size) = if index < 24 { ("sd", 10 + index) } else { ("test", 40 + index) };
        let size_text = if index == 3 { "4x".to_owned() } else { size.to_string() };
        let widgets = if index == 5 { String::new() } else { (3 * size * size).to_string() };
        format!("{size_text},{widgets},{scale}\n")
    };
    let text: String = (0..32).map(row).collect();
    fs::write(here.path().join("sweep.csv"), format!("size,widgets,split\n{text}")).unwrap();
    let arguments = ["backtest", "--csv", "sweep.csv", "--target", "widgets", "--split", "split"];
    let answer = support::json(here.path(), &[&arguments[..], &["--json"]].concat());
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("1 row without a target left out, the first in line 7"), "{warnings}");
    assert!(warnings.contains("`4x` or another text in 1"), "{warnings}");
    let shown = support::run(here.path(), &arguments, 0);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let mae = shown.lines().find(|line| line.starts_with("MAE")).unwrap();
    assert!(!mae.contains(" s ") && !mae.contains(" h "), "{mae}");
    let both = [&arguments[..], &["--latest", "0.5"]].concat();
    support::run(here.path(), &both, 2);
}

/// A table of a spreadsheet that writes decimals with a comma says the same as one with points.
#[test]
fn semicolons_tabs_and_decimal_commas_are_read() {
    let here = tempfile::tempdir().unwrap();
    let rows: String =
        (1..=24).map(|n| format!("{n}.5,{}.25,{}\n", n * n, if n < 20 { "sd" } else { "test" })).collect();
    let commas = format!("size,seconds,split\n{rows}");
    let judged = |text: &str| {
        fs::write(here.path().join("sweep.csv"), text).unwrap();
        let call = ["backtest", "--csv", "sweep.csv", "--target", "seconds", "--split", "split", "--json"];
        support::json(here.path(), &call)["mape"].clone()
    };
    let expected = judged(&commas);
    assert!(expected.is_number(), "{expected}");
    assert_eq!(judged(&commas.replace(',', "\t")), expected);
    assert_eq!(judged(&commas.replace(',', ";").replace('.', ",")), expected);
    fs::write(here.path().join("empty.csv"), "").unwrap();
    let call = ["backtest", "--csv", "empty.csv", "--target", "seconds"];
    let said = support::stderr(&support::run(here.path(), &call, 2));
    assert!(said.contains("empty.csv:1: the file is empty"), "{said}");
}

/// Runs killed at a limit teach as lower bounds: without them the largest sizes look as fast as the limit is.
#[test]
fn killed_runs_of_a_sweep_teach_and_are_not_judged_on() {
    let here = tempfile::tempdir().unwrap();
    let row = |n: i32| {
        let needed = f64::from(n).powi(2) / 10.0;
        let (seconds, end) = if needed > 20.0 { (20.0, "TIMEOUT") } else { (needed, "COMPLETED") };
        let scale = if n % 4 == 3 { "test" } else { "sd" };
        format!("{n},{seconds},{scale},{end}\n")
    };
    let rows: String = (2..=24).map(row).collect();
    fs::write(here.path().join("sweep.csv"), format!("n,seconds,split,end\n{rows}25,1,sd,FAILED\n")).unwrap();
    let call = ["backtest", "--csv", "sweep.csv", "--target", "seconds", "--split", "split"];
    let marked = [&call[..], &["--killed", "end"]].concat();
    let answer = support::json(here.path(), &[&marked[..], &["--json"]].concat());
    assert_eq!(answer["rows"]["killed"], 7, "{:#}", answer["rows"]);
    assert_eq!(answer["rows"]["test_killed"], 3, "{:#}", answer["rows"]);
    assert_eq!(answer["rows"]["test"], 3, "{:#}", answer["rows"]);
    assert!(answer["mape"].as_f64().unwrap() < 5.0, "{answer:#}");
    assert!(answer["warnings"].to_string().contains("1 row of failed runs left out"), "{answer:#}");
    let shown = String::from_utf8(support::run(here.path(), &marked, 0).stdout).unwrap();
    assert!(
        shown.contains("7 killed at a limit") && shown.contains("(3 killed at a limit left out)"),
        "{shown}"
    );
    let wrong = [&call[..], &["--killed", "n"]].concat();
    let said = support::stderr(&support::run(here.path(), &wrong, 2));
    assert!(said.contains("sweep.csv:2: `n` is `2`; use true, yes"), "{said}");
}

/// What a sweep holds that could not be used, and test rows that nobody would be told a prediction of.
#[test]
fn columns_without_use_and_rows_far_away_are_named() {
    let here = tempfile::tempdir().unwrap();
    let row = |n: i64, scale: &str| format!("{n},{},8,{},{scale}\n", 2 * n, n * n);
    let rows: String = (2..=20).map(|n| row(n, "sd")).collect();
    let text = format!("n,cores,nodes,seconds,split\n{rows}{}{}", row(22, "test"), row(9000, "test"));
    fs::write(here.path().join("sweep.csv"), &text).unwrap();
    let call = ["backtest", "--csv", "sweep.csv", "--target", "seconds", "--split", "split"];
    let answer = support::json(here.path(), &[&call[..], &["--json"]].concat());
    let expected = serde_json::json!([
        { "feature": "cores", "reason": "says the same as `n`" },
        { "feature": "nodes", "reason": "the same in every run" },
    ]);
    assert_eq!(answer["not_used"], expected, "{answer:#}");
    let warnings = answer["warnings"].to_string();
    let far =
        "in 1 of 2 test rows `n` is far outside the 2 to 20 of the runs learned from, 9000 at the farthest";
    assert!(warnings.contains(far), "{warnings}");
    let shown = String::from_utf8(support::run(here.path(), &call, 0).stdout).unwrap();
    assert!(
        shown.contains("Not used: cores (says the same as `n`), nodes (the same in every run)."),
        "{shown}"
    );
    fs::write(here.path().join("sweep.csv"), text.replace("test", "sd")).unwrap();
    let said = support::stderr(&support::run(here.path(), &call, 2));
    assert!(said.contains("hint: mark some rows that finished as test in `split`"), "{said}");
}

/// Scores can be checked by hand, row by row.
#[test]
fn every_run_judged_on_is_told_when_asked() {
    let here = tempfile::tempdir().unwrap();
    let row = |n: i32| format!("{n},{},{}\n", n * n, if n % 3 == 0 { "TEST" } else { "SD" });
    let rows: String = (2..=24).map(row).collect();
    fs::write(here.path().join("sweep.csv"), format!("n,seconds,part\n{rows}")).unwrap();
    let call = ["backtest", "--csv", "sweep.csv", "--target", "seconds", "--split", "part", "--cases"];
    let answer = support::json(here.path(), &[&call[..], &["--json"]].concat());
    let judged = answer["judged"].as_array().unwrap();
    let figure = |case: &serde_json::Value, key: &str| case[key].as_f64().unwrap();
    let errors = judged.iter().map(|case| (figure(case, "estimate") / figure(case, "actual") - 1.0).abs());
    let mape = 100.0 * errors.sum::<f64>() / judged.len() as f64;
    assert!(judged.len() == 8 && (mape - answer["mape"].as_f64().unwrap()).abs() < 1e-9, "{answer:#}");
    assert_eq!((&judged[0]["features"]["n"], &judged[0]["actual"]), (&3.into(), &9.0.into()), "{judged:?}");
    let shown = String::from_utf8(support::run(here.path(), &call, 0).stdout).unwrap();
    assert!(shown.lines().any(|line| line.starts_with("24") && line.contains("9 min 36 s")), "{shown}");
    // Without `--split` the column that splits is recognised, but never used behind one's back.
    let answer = support::json(here.path(), &[&call[..5], &["--json"]].concat());
    assert!(answer["warnings"].to_string().contains("`--split part` judges"), "{answer:#}");
    assert_eq!(answer["judged"], serde_json::Value::Null);
}

/// Targets that cannot be measurements are the reason, under the name they have in the file; empty cells are
/// not repetitions of each other.
#[test]
fn targets_and_cells_that_say_nothing_are_told_of() {
    let here = tempfile::tempdir().unwrap();
    let write = |row: &dyn Fn(i32) -> String| {
        let rows: String = (2..=30).map(row).collect();
        fs::write(here.path().join("sweep.csv"), format!("n,cost,split\n{rows}")).unwrap();
    };
    let scale = |n: i32| if n > 24 { "test" } else { "sd" };
    let call = ["backtest", "--csv", "sweep.csv", "--target", "cost", "--split", "split", "--json"];
    write(&|n| format!("{n},0,{}\n", scale(n)));
    let said = support::run(here.path(), &call, 3).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("cost: 0 different configurations") && said.contains("skipped 23 rows whose target"),
        "{said}"
    );
    write(&|n| format!("{n},{},{}\n", if n > 24 { 0 } else { n * n }, scale(n)));
    let said = String::from_utf8(support::run(here.path(), &call, 2).stdout).unwrap();
    assert!(said.contains("none of the 6 rows to be judged has a positive target"), "{said}");
    write(&|n| {
        format!("{},{},{}\n", if n % 5 == 0 { String::new() } else { n.to_string() }, n * n, scale(n))
    });
    let warnings = support::json(here.path(), &call)["warnings"].to_string();
    assert!(warnings.contains("`n` is empty in 4 of 23 rows"), "{warnings}");
    assert!(!warnings.contains("repetition"), "{warnings}");
    let ignored = [&call[..], &["--ignore", "cost"]].concat();
    support::run(here.path(), &ignored, 2);
}
