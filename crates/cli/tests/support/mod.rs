//! What the whole-program tests share: running harp as a person would, in a folder of its own.
#![allow(dead_code)] // each test program uses a part of it

pub mod documents;
pub mod trace;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary under test: the one named by `HARP` (the static release), else the one just built.
pub fn binary() -> PathBuf {
    match std::env::var_os("HARP") {
        Some(path) => repository().join(path),
        None => env!("CARGO_BIN_EXE_harp").into(),
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// harp in a folder, with a known environment.
pub fn harp(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command
        .args(arguments)
        .current_dir(directory)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8");
    command
}

/// Runs harp and gives what it printed; fails the test when the exit code is not the one expected.
pub fn run(directory: &Path, arguments: &[&str], expected: i32) -> Output {
    let output = harp(directory, arguments).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(expected),
        "harp {arguments:?}\nstdout: {}\nstderr: {}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// What harp printed on stdout.
pub fn stdout(directory: &Path, arguments: &[&str]) -> String {
    String::from_utf8(run(directory, arguments, 0).stdout).unwrap()
}

/// What harp printed on stdout, as JSON.
pub fn json(directory: &Path, arguments: &[&str]) -> serde_json::Value {
    let text = stdout(directory, arguments);
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("harp {arguments:?} printed no JSON: {error}\n{text}"))
}

/// What harp said on stderr, its sentences in one line each.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).replace("\n    ", " ")
}

/// A copy of an example in a temporary folder.
pub fn example(name: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(repository().join("examples").join(name)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            std::fs::copy(&path, directory.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    directory
}
