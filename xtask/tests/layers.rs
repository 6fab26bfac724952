//! Data flows one way: a room may depend only on rooms to its left.

use std::collections::BTreeSet;
use std::process::Command;

/// The rooms from left to right.
const ROOMS: [&str; 13] = [
    "harp-core",
    "harp-slurm",
    "harp-site",
    "harp-experiment",
    "harp-measure",
    "harp-history",
    "harp-learn",
    "harp-advise",
    "harp-dnn",
    "harp-trace",
    "harp-sim",
    "harp-report",
    "harp-cli",
];

/// Rooms that must stay pure, and all they may use of harp.
const PURE: [(&str, &[&str]); 9] = [
    ("harp-core", &[]),
    ("harp-slurm", &["harp-core"]),
    ("harp-site", &["harp-core", "harp-slurm"]),
    ("harp-learn", &["harp-core"]),
    ("harp-advise", &["harp-core", "harp-site"]),
    ("harp-dnn", &["harp-core"]),
    ("harp-trace", &["harp-slurm"]),
    ("harp-sim", &["harp-trace"]),
    ("harp-report", &["harp-core"]),
];

fn dependencies() -> Vec<(String, BTreeSet<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |value: &serde_json::Value| value["name"].as_str().unwrap().to_owned();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| name(package).starts_with("harp-"))
        .map(|package| {
            let used = package["dependencies"].as_array().unwrap().iter().map(name);
            (name(package), used.filter(|used| used.starts_with("harp-")).collect())
        })
        .collect()
}

#[test]
fn rooms_depend_only_on_rooms_to_their_left() {
    let place = |name: &str| {
        ROOMS
            .iter()
            .position(|room| *room == name)
            .unwrap_or_else(|| panic!("{name} is not in the list of rooms"))
    };
    let found = dependencies();
    assert_eq!(found.len(), ROOMS.len());
    for (room, used) in &found {
        for other in used {
            assert!(place(other) < place(room), "{room} must not depend on {other}, which is to its right");
        }
    }
}

#[test]
fn pure_rooms_stay_pure() {
    let found = dependencies();
    for (room, allowed) in PURE {
        let (_, used) = found.iter().find(|(name, _)| name == room).unwrap();
        let allowed: BTreeSet<String> = allowed.iter().map(|name| name.to_string()).collect();
        assert!(used.is_subset(&allowed), "{room} may use {allowed:?} but uses {used:?}");
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for room in ["core", "slurm", "site", "experiment", "learn", "advise", "dnn", "sim", "report"] {
        for file in sources(&format!("{root}/crates/{room}/src").into()) {
            if file.ends_with("tests.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            for forbidden in
                ["std::fs", "std::net", "std::process", "std::env::", "SystemTime", "Instant::now"]
            {
                assert!(
                    !code.contains(forbidden),
                    "{} uses {forbidden}; {room} must stay pure",
                    file.display()
                );
            }
        }
    }
}

fn sources(directory: &std::path::PathBuf) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
