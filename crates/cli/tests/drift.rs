//! A program that is edited between runs, a system that becomes slower: harp notices, says since when and
//! by how much, and what to do. Beside advice it says how past predictions did.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

fn write_program(here: &Path, factor: f64) {
    // The file `load` stands for what harp does not record.
    let text = format!(
        "#!/bin/sh\nexec sleep $(awk -v n=\"$1\" -v load=\"$(cat load)\" 'BEGIN {{ printf \"%.3f\", {factor} * load * n / 1000 }}')\n"
    );
    fs::write(here.join("app"), text).unwrap();
    fs::set_permissions(here.join("app"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn write_experiment(here: &Path, repetitions: u32) {
    let text = format!(
        "name = \"app\"\n[program]\ncommand = \"./app {{n}}\"\n[parameters.n]\ntype = \"integer\"\n\
         sd = [40, 60, 90, 130, 180, 240]\n[design]\nrepetitions = {repetitions}\n[learn]\ntargets = [\"walltime\"]\n"
    );
    fs::write(here.join("harp.toml"), text).unwrap();
}

fn drift(here: &Path) -> Value {
    let answer = support::json(here, &["predict", "n=100", "--json"]);
    assert_eq!(support::json(here, &["status", "--json"])["drift"], answer["drift"]);
    answer["drift"].clone()
}

/// When a run began, counted from the first.
fn started(here: &Path, index: usize) -> Value {
    let runs = support::json(here, &["history", "--json"]);
    let mut started: Vec<i64> =
        runs.as_array().unwrap().iter().map(|run| run["started"].as_i64().unwrap()).collect();
    started.sort_unstable();
    started[index].into()
}

fn about(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value / expected).ln().abs() < 0.25)
}

#[test]
fn a_program_that_changes_between_runs_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("load"), "1\n").unwrap();
    write_program(here, 1.0);
    write_experiment(here, 2);
    support::run(here, &["generate", "--quiet"], 0);
    let built = support::json(here, &["build", "--json"]);
    assert!(built[0]["drift"].is_null(), "{built:#}");
    assert!(drift(here).is_null());
    let score = &support::json(here, &["recommend", "n=100", "--json"])["backtest"];
    assert_eq!((&score["judged_on"], &score["too_small"]), (&"held_back".into(), &Value::Null), "{score:#}");
    let text = support::stdout(here, &["recommend", "n=100"]).replace("\n    ", " ");
    assert!(text.contains("backtest: MAPE ") && text.contains("held back while it was chosen"), "{text}");

    // Edited, and not run yet.
    write_program(here, 2.0);
    let found = drift(here);
    assert_eq!(
        (&found["cause"], &found["since_ms"], &found["runs"]),
        (&"program".into(), &Value::Null, &0.into())
    );
    let said = support::stderr(&support::run(here, &["predict", "n=100"], 0));
    assert!(said.contains("warning: the program is not the one the model learned from"), "{said}");

    let said = support::stderr(&support::run(here, &["generate"], 0));
    assert!(said.contains("has changed since 12 runs that count as done"), "{said}");

    // Run again: twice as long as the model says.
    write_experiment(here, 4);
    support::run(here, &["generate", "--quiet"], 0);
    let found = drift(here);
    assert!(found["cause"] == "program" && found["runs"] == 12 && about(&found["ratio"], 2.0), "{found:#}");
    let advised = support::json(here, &["recommend", "n=100", "--json"]);
    let warnings = advised["warnings"].to_string();
    assert!(warnings.contains("harp build --since"), "{advised:#}");
    let score = &advised["backtest"];
    assert_eq!((&score["judged_on"], &score["cases"]), (&"unseen".into(), &12.into()));
    assert!(score["too_small"].as_u64().unwrap() >= 9, "{score:#}");
    assert!(score["mape"].as_f64().unwrap() > 30.0, "{score:#}");

    // A model of old and new runs together says so, and one of the new runs alone is right again.
    let built = support::json(here, &["build", "--json"]);
    let mixed = &built[0]["drift"];
    assert!(mixed["cause"] == "program" && about(&mixed["ratio"], 2.0), "{mixed:#}");
    // The moment is that of the first run of the new program, not the one where times begin to differ.
    assert_eq!((&mixed["runs"], &mixed["since_ms"]), (&12.into(), &started(here, 12)), "{mixed:#}");
    // The model keeps it.
    let kept = drift(here);
    for key in ["cause", "since_ms", "ratio", "runs"] {
        assert_eq!(kept[key], mixed[key], "{kept:#}");
    }
    let message = mixed["message"].as_str().unwrap();
    let since = message.rsplit("--since ").next().unwrap();
    let built = support::json(here, &["build", "--since", since, "--json"]);
    // Runs that others on the machine disturbed are left out.
    let learned = built[0]["evidence"]["scaled_down_runs"].as_i64().unwrap();
    assert!((7..=12).contains(&learned), "{built:#}");
    assert!(drift(here).is_null());
    let answer = support::json(here, &["predict", "n=100", "--json"]);
    assert!(about(&answer["cases"][0]["predictions"][0]["estimate"], 0.2), "{answer:#}");

    // The program is the same, but something else makes it slower.
    fs::write(here.join("load"), "2\n").unwrap();
    write_experiment(here, 5);
    support::run(here, &["generate", "--quiet"], 0);
    let found = drift(here);
    assert!(found["cause"] == "unknown" && about(&found["ratio"], 2.0), "{found:#}");
    assert!(
        found["message"].as_str().unwrap().contains("nothing that harp records has changed"),
        "{found:#}"
    );
    // That is said no more once the program is another one.
    write_program(here, 3.0);
    let found = drift(here);
    assert!(found["message"].as_str().unwrap().contains("has changed, too, but only later"), "{found:#}");
    let said = support::stderr(&support::run(here, &["build", "--since", "2999-01-01"], 3));
    assert!(said.contains("none of 30 runs began since then"), "{said}");
}

#[test]
fn a_model_of_two_programs_is_never_built_unsaid() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("load"), "1\n").unwrap();
    let write_full_scale = |values: &str| {
        let text = format!(
            "name = \"app\"\n[program]\ncommand = \"./app {{n}}\"\n[parameters.n]\ntype = \"integer\"\n\
             sd = [20, 40, 80, 120, 160]\nfs = [{values}]\ntest = [400]\n[learn]\ntargets = [\"walltime\"]\n"
        );
        fs::write(here.join("harp.toml"), text).unwrap();
    };
    write_program(here, 1.0);
    write_full_scale("300");
    support::run(here, &["run", "--quiet"], 0);
    assert!(drift(here).is_null());

    // Runs of the edited program, all larger than what the model knows.
    write_program(here, 3.0);
    write_full_scale("300, 340, 380");
    support::run(here, &["generate", "--quiet"], 0);
    let first = started(here, 7);
    let found = drift(here);
    assert_eq!((&found["runs"], &found["since_ms"]), (&2.into(), &first), "{found:#}");
    let said = support::stderr(&support::run(here, &["predict", "n=100"], 0));
    assert!(said.contains("2 runs were made with it since") && !said.contains("no run was made"), "{said}");

    // Learned from together, with or without a look at how long they take.
    let since = "harp build --since ";
    let told = |drift: &Value| {
        assert_eq!(
            (&drift["cause"], &drift["runs"], &drift["since_ms"]),
            (&"program".into(), &2.into(), &first)
        );
        assert!(drift["message"].as_str().unwrap().contains(since), "{drift:#}");
    };
    let built = support::json(here, &["build", "--json"]);
    told(&built[0]["drift"]);
    let kept = drift(here);
    told(&kept);
    assert!(kept["message"].as_str().unwrap().contains("the model is a mix of runs that differ"), "{kept:#}");
    let advised = support::json(here, &["recommend", "n=100", "--json"]);
    assert!(advised["warnings"].to_string().contains(since), "{advised:#}");
    let judged = support::json(here, &["backtest", "--json"]);
    assert!(judged["warnings"].to_string().contains("harp backtest --since "), "{judged:#}");
    let whole = support::json(here, &["run", "--json"]);
    assert!(whole["warnings"].to_string().contains(since), "{whole:#}");

    // The newer ones alone are of one program.
    fs::write(
        here.join("harp.toml"),
        fs::read_to_string(here.join("harp.toml")).unwrap() + "[design]\nrepetitions = 2\n",
    )
    .unwrap();
    support::run(here, &["generate", "--quiet"], 0);
    let moment = kept["message"].as_str().unwrap().rsplit("--since ").next().unwrap();
    let built = support::json(here, &["build", "--since", moment, "--json"]);
    assert!(built[0]["drift"].is_null(), "{built:#}");
    assert!(drift(here).is_null());
    let judged = support::json(here, &["backtest", "--since", moment, "--by", "time", "--json"]);
    assert!(!judged["warnings"].to_string().contains("another program"), "{judged:#}");
}
