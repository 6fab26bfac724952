//! Files are checked where they are, programs before anything runs.

use std::path::Path;

use crate::samples::sound;
use crate::{Files, Startable};

/// What is said of an experiment when only some files exist.
fn said(text: &str, existing: &[&str], program: Startable, is_set_up: bool, read: Option<&str>) -> String {
    let files = Files {
        size: &|path| existing.iter().any(|name| Path::new(name) == path).then_some(7),
        read: &|_| read.map(str::to_owned),
        program: &|_| program,
        is_set_up,
    };
    let found = sound(text).check_files(&files);
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn files_are_checked_where_they_are() {
    let text = r#"name = "sort"
[program]
command = "./sort script.py {data}"
inputs = ["gone.txt"]
[parameters.data]
type = "file"
values = ["a.txt", "b.txt"]
[parameters.n]
values = [1]
template = "input.in"
"#;
    let there = ["./script.py", "./a.txt"];
    let found = said(text, &there, Startable::Missing, false, Some("n = {m}"));
    for expected in [
        "error: harp.toml:3:11: the program `./sort` does not exist",
        "warning: harp.toml:3:11: each run has a directory of its own, where `script.py` is not",
        "error: harp.toml:4:11: the input `gone.txt` does not exist",
        "error: harp.toml:5:13: the file `b.txt` of parameter `data` does not exist",
        "error: harp.toml:10:12: the template file `input.in` does not contain `{n}`",
    ] {
        assert!(found.contains(expected), "{expected}\nnot in\n{found}");
    }
    let found = said(text, &there, Startable::Yes, false, None);
    assert!(found.contains("the template file `input.in` does not exist"), "{found}");
}

#[test]
fn programs_are_looked_for_on_the_path_or_where_they_are() {
    let with = |command: &str, rest: &str| format!("name = 'a'\n[program]\ncommand = '{command}'\n{rest}");
    let found = said(&with("solve", ""), &[], Startable::Missing, false, None);
    assert!(found.contains("harp.toml:3:11: there is no program `solve` on the PATH"), "{found}");
    let found = said(&with("solve", ""), &["./solve"], Startable::Missing, false, None);
    assert!(found.contains("hint: it is in this directory: write `./solve`"), "{found}");
    let found = said(&with("./solve", ""), &[], Startable::NotExecutable, false, None);
    assert!(found.contains("`./solve` cannot be executed\n  hint: chmod +x ./solve"), "{found}");
    assert_eq!(said(&with("./solve", ""), &[], Startable::Yes, false, None), "");
    let found = said(&with("python3 train.py", ""), &[], Startable::Yes, false, None);
    assert!(found.contains("the script `train.py` does not exist"), "{found}");
    assert_eq!(said(&with("python3 train.py", ""), &["./train.py"], Startable::Yes, false, None), "");
    let own_path = "environment = { PATH = \"/opt/bin\" }";
    assert_eq!(said(&with("solve", own_path), &[], Startable::Missing, false, None), "");
}

#[test]
fn what_the_setup_makes_is_looked_for_after_it() {
    let text = "name = 'a'\n[program]\ncommand = './solve'\nsetup = 'make'\n";
    assert_eq!(said(text, &[], Startable::Missing, false, None), "");
    let found = said(text, &[], Startable::Missing, true, None);
    assert!(found.contains("the program `./solve` does not exist, though the setup has run"), "{found}");
}
