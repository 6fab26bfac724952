//! What the tests of execution share.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use harp_measure::{Measured, MemoryMethod, Program, Stop, Task, execute};

pub const BOTH: [MemoryMethod; 2] = [MemoryMethod::Best, MemoryMethod::Sampling];

/// A compiled example of this package; cargo builds them beside the tests.
pub fn example(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let path: PathBuf = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: run all tests of the package, which builds it", path.display());
    path.to_str().unwrap().to_owned()
}

pub fn allocate(way: &str, mebibytes: u32, processes: u32, milliseconds: u32) -> Task {
    let numbers = [mebibytes, processes, milliseconds].map(|number| number.to_string());
    let words = [example("allocate"), way.to_owned()].into_iter().chain(numbers);
    Task::new(Program::Direct(words.collect()))
}

pub fn shell(line: &str) -> Task {
    Task::new(Program::Shell(line.to_owned()))
}

pub fn run(task: &Task) -> Measured {
    execute(task, &Stop::new()).unwrap()
}

pub fn is_running(process: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|text| !text.rsplit(')').next().unwrap().trim().starts_with('Z'))
}

/// Waits for something that must become true soon.
pub fn soon(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what} did not happen");
        sleep(Duration::from_millis(2));
    }
}
