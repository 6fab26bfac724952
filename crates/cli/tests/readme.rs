//! The commands shown in README.md, docs/tutorial.md, docs/traces.md and docs/dnn.md are run, and print what is shown.
//!
//! A block marked `console` is executed: lines after `$ ` are commands, the others what they print on
//! stdout. What is measured differs from run to run: numbers and their units are not compared, and of
//! the lines shown the first and at least half of all must be printed. A block marked `file NAME` is written to that file first. All blocks of a
//! document run one after the other in one folder.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

#[test]
fn the_readme_is_true() {
    check("README.md", Figures::OfThisMachine);
}

#[test]
fn the_tutorial_is_true() {
    check("docs/tutorial.md", Figures::OfThisMachine);
}

#[test]
fn the_page_of_traces_is_true() {
    check("docs/traces.md", Figures::OfThisMachine);
}

#[test]
fn the_page_of_networks_is_true() {
    check("docs/dnn.md", Figures::Computed);
}

/// Whether what a page shows was measured, and differs elsewhere, or is the same everywhere.
#[derive(Clone, Copy, PartialEq)]
enum Figures {
    OfThisMachine,
    Computed,
}

fn check(document: &str, figures: Figures) {
    let text = fs::read_to_string(support::repository().join(document)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(fs::canonicalize(support::binary()).unwrap(), folder.path().join("harp"))
        .unwrap();
    let mut executed = 0;
    for (kind, body) in blocks(&text) {
        if let Some(name) = kind.strip_prefix("file ") {
            let file = folder.path().join(name);
            fs::write(&file, body.join("\n") + "\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        } else if kind == "console" {
            for (command, expected) in calls(&body) {
                execute(document, folder.path(), &command, &expected, figures);
                executed += 1;
            }
        }
    }
    assert!(executed > 0, "{document} shows no command");
}

/// Fenced blocks: the info string and the lines.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => open = Some((kind.to_owned(), Vec::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, lines)), None) => lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    found
}

/// Commands of a block and what is shown after each.
fn calls(lines: &[String]) -> Vec<(String, Vec<String>)> {
    let mut calls: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), calls.last_mut()) {
            (Some(command), _) => calls.push((command.to_owned(), Vec::new())),
            (None, Some((_, shown))) => shown.push(line.clone()),
            (None, None) => panic!("a console block begins with `$ `: {line}"),
        }
    }
    calls
}

fn execute(document: &str, folder: &Path, command: &str, expected: &[String], figures: Figures) {
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{document}: `{command}` failed\n{printed}\n{said}");
    if figures == Figures::Computed {
        let shown = expected.iter().filter(|line| *line != "…");
        let missing: Vec<&String> =
            shown.filter(|line| !printed.lines().any(|other| other == *line)).collect();
        assert!(missing.is_empty(), "{document}: `{command}` does not print {missing:#?}\nbut\n{printed}");
        return;
    }
    let printed: Vec<String> = printed.lines().map(shape).collect();
    let shown: Vec<String> =
        expected.iter().map(|line| shape(line)).filter(|line| !line.is_empty() && line != "…").collect();
    // A sentence may be broken elsewhere than shown, where numbers are longer or shorter.
    let sentences = printed.join(" ");
    let is_printed = |line: &String| {
        printed.contains(line) || (line.split(' ').count() >= 6 && sentences.contains(line.as_str()))
    };
    let found = shown.iter().filter(|line| is_printed(line)).count();
    assert!(
        shown.first().is_none_or(is_printed) && 2 * found >= shown.len(),
        "{document}: `{command}` prints something else ({found} of {} lines found)\nshown:\n{}\nprinted:\n{}\nstderr:\n{said}",
        shown.len(),
        shown.join("\n"),
        printed.join("\n")
    );
}

/// A line without what changes from run to run: numbers, units, the drawing of a curve.
fn shape(line: &str) -> String {
    if line.chars().any(|c| ('\u{2800}'..='\u{28ff}').contains(&c) || "│┤└".contains(c)) {
        return String::new();
    }
    const UNITS: [&str; 16] = [
        "s",
        "ms",
        "µs",
        "min",
        "h",
        "d",
        "B",
        "KiB",
        "MiB",
        "GiB",
        "hit",
        "hit,",
        "miss,",
        "above,",
        "below,",
        "extrapolated",
    ];
    let words: Vec<&str> = line
        .split_whitespace()
        .filter(|word| {
            !word.contains(|c: char| c.is_ascii_digit())
                && !UNITS.contains(word)
                && !word.chars().all(|c| c == '─')
        })
        .collect();
    words.join(" ")
}
