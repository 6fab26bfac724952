//! The peak memory of programs of known appetite, with and without control groups.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{BOTH, allocate, run, shell};
use harp_core::{Bytes, MemorySource, Outcome};
use harp_measure::{MemoryMethod, Program, Task};

/// Held by each test, so that they do not disturb each other's timing.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The peak in MiB, after checking that the program completed.
fn peak(task: &Task) -> f64 {
    let measured = run(task);
    assert_eq!(measured.outcome, Outcome::Completed);
    let expected_source = measured.usage.peak_memory_source.unwrap();
    if task.memory_method == MemoryMethod::Sampling {
        assert_eq!(expected_source, MemorySource::Sampled);
    }
    measured.usage.peak_memory.unwrap().as_f64() / f64::from(1 << 20)
}

#[track_caller]
fn assert_within_two_percent(found: f64, expected: f64, what: &str) {
    let error = (found - expected) / expected;
    println!("{what}: {found:.2} MiB for {expected} MiB, {:+.2} %", error * 100.0);
    assert!(error.abs() < 0.02, "{what}: {found:.2} MiB for {expected} MiB");
}

fn check(way: &str, mebibytes: u32, processes: u32, milliseconds: u32, expected: f64) {
    for method in BOTH {
        let task = Task { memory_method: method, ..allocate(way, mebibytes, processes, milliseconds) };
        assert_within_two_percent(peak(&task), expected, &format!("{way} {method:?}"));
    }
}

#[test]
fn one_process() {
    let _alone = alone();
    check("alone", 256, 0, 50, 256.0);
}

#[test]
fn a_peak_of_a_few_milliseconds() {
    let _alone = alone();
    check("alone", 256, 0, 5, 256.0);
}

#[test]
fn children_that_free_their_memory_before_they_exit() {
    let _alone = alone();
    check("children", 96, 3, 100, 288.0);
}

#[test]
fn a_short_peak_of_several_children() {
    let _alone = alone();
    check("children", 96, 3, 60, 288.0);
}

#[test]
fn memory_shared_after_a_fork_counts_once() {
    let _alone = alone();
    check("inherited", 256, 3, 100, 256.0);
}

#[test]
fn memory_written_to_after_a_fork_counts_in_each_process() {
    let _alone = alone();
    check("rewritten", 96, 2, 500, 288.0);
}

#[test]
fn files_that_are_read_are_not_memory() {
    let _alone = alone();
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let line = "dd if=/dev/zero of=large bs=1M count=192 2>/dev/null && cat large > /dev/null";
    for memory_method in BOTH {
        let task = Task { memory_method, directory: directory.path().to_owned(), ..shell(line) };
        let found = peak(&task);
        assert!(found < 12.0, "{found} MiB with {memory_method:?}");
    }
}

#[test]
fn files_in_memory_are_memory() {
    let _alone = alone();
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let line = "dd if=/dev/zero of=large bs=1M count=128 2>/dev/null; sleep 0.1; rm large; sleep 0.1";
    let task = Task { directory: directory.path().to_owned(), ..shell(line) };
    let measured = run(&task);
    if measured.usage.peak_memory_source == Some(MemorySource::Sampled) {
        return; // Nobody has it mapped: only a control group can tell whose it is.
    }
    let found = measured.usage.peak_memory.unwrap().as_f64() / f64::from(1 << 20);
    assert!((128.0..134.0).contains(&found), "{found} MiB");
}

#[test]
fn a_program_over_its_limit_is_out_of_memory() {
    let _alone = alone();
    for memory_method in BOTH {
        let limit = Some(Bytes(128 << 20));
        let task = Task { memory_method, memory_limit: limit, ..allocate("children", 80, 3, 2000) };
        let measured = run(&task);
        assert_eq!(measured.outcome, Outcome::OutOfMemory { limit }, "{memory_method:?}");
        assert!(measured.usage.peak_memory.unwrap() > Bytes(120 << 20), "{:?}", measured.usage);
        assert!(measured.usage.walltime.unwrap().0 < 1.5, "it was not ended at once");
    }
}

#[test]
fn a_program_within_its_limit_completes() {
    let _alone = alone();
    for memory_method in BOTH {
        let task =
            Task { memory_method, memory_limit: Some(Bytes(160 << 20)), ..allocate("alone", 128, 0, 50) };
        assert_eq!(run(&task).outcome, Outcome::Completed, "{memory_method:?}");
    }
}

#[test]
fn reserved_address_space_is_no_memory() {
    let _alone = alone();
    let line = "ulimit -v unlimited; exec \"$0\" alone 8 0 20";
    let line = line.replace("$0", &common::example("allocate"));
    let task = Task { memory_limit: Some(Bytes(64 << 20)), ..shell(&line) };
    assert_eq!(run(&task).outcome, Outcome::Completed);
}

#[test]
fn the_figure_does_not_contain_this_process() {
    let _alone = alone();
    // Whoever forks passes its own size on to the kernel's peak of the child.
    let ballast = std::hint::black_box(vec![1u8; 128 << 20]);
    for memory_method in BOTH {
        let task = Task { memory_method, ..allocate("alone", 16, 0, 50) };
        let found = peak(&task);
        assert!((16.0..22.0).contains(&found), "{found} MiB with {memory_method:?}");
    }
    drop(ballast);
}

#[test]
fn a_program_too_short_to_be_looked_at_has_no_figure_rather_than_a_wrong_one() {
    let _alone = alone();
    for memory_method in BOTH {
        // A control group does not count libraries that another program has brought into memory.
        let least = if memory_method == MemoryMethod::Best { 256 << 10 } else { 700 << 10 };
        let wrong = (0..50).filter(|_| {
            let task = Task { memory_method, ..Task::new(Program::Direct(vec!["true".into()])) };
            run(&task).usage.peak_memory.is_some_and(|found| found <= Bytes(least))
        });
        // On a busy machine even several looks may all come before the program has begun.
        let wrong = wrong.count();
        assert!(wrong <= 2, "{wrong} of 50 with {memory_method:?}");
    }
}
