//! Measures a shell line, to test what happens to a program when its supervisor is killed.
#![allow(clippy::print_stderr)]

use harp_measure::{MemoryMethod, Program, Stop, Task, execute};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let line = words.get(1).cloned().unwrap_or_default();
    let memory_method = if words.get(2).is_some_and(|word| word == "sampling") {
        MemoryMethod::Sampling
    } else {
        MemoryMethod::Best
    };
    let task = Task { memory_method, ..Task::new(Program::Shell(line)) };
    if let Err(error) = execute(&task, &Stop::on_signals()) {
        eprintln!("{error}");
        std::process::exit(3);
    }
}
