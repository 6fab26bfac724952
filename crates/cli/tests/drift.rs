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
    // The last of the old runs may by chance be the slowest of them.
    assert!((11..=13).contains(&mixed["runs"].as_i64().unwrap()), "{mixed:#}");
    let message = mixed["message"].as_str().unwrap();
    let since = message.rsplit("--since ").next().unwrap();
    let built = support::json(here, &["build", "--since", since, "--json"]);
    // Runs that others on the machine disturbed are left out.
    let learned = built[0]["evidence"]["scaled_down_runs"].as_i64().unwrap();
    assert!((7..=13).contains(&learned), "{built:#}");
    assert!(drift(here).is_null());
    let answer = support::json(here, &["predict", "n=100", "--json"]);
    assert!(about(&answer["cases"][0]["predictions"][0]["estimate"], 0.2), "{answer:#}");

    // The program is the same, but something else makes it slower.
    fs::write(here.join("load"), "2\n").unwrap();
    write_experiment(here, 5);
    support::run(here, &["generate", "--quiet"], 0);
    let found = drift(here);
    assert!(found["cause"] == "unknown" && about(&found["ratio"], 2.0), "{found:#}");
    let said = support::stderr(&support::run(here, &["build", "--since", "2999-01-01"], 3));
    assert!(said.contains("none of 30 runs began since then"), "{said}");
}
