//! A program of known appetite, to test the measurement with: it uses memory in one of several ways
//! and frees it before it exits.
//!
//! `allocate <way> <mebibytes> <processes> <milliseconds>`
#![allow(unsafe_code, clippy::print_stdout, clippy::print_stderr, clippy::expect_used)]

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::process::exit;
use std::thread::sleep;
use std::time::Duration;

const MEBIBYTE: usize = 1 << 20;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
    let (size, count) = (number(2) * MEBIBYTE, number(3));
    let time = Duration::from_millis(number(4) as u64);
    match words.get(1).map(String::as_str) {
        Some("alone") => hold(size, time),
        Some("children") => children(count, time, || touched(size)),
        Some("inherited") => {
            let common = touched(size);
            children(count, time, || vec![common.iter().step_by(4096).fold(0, |sum, byte| sum | byte)]);
        }
        Some("rewritten") => {
            let mut common = touched(size);
            children(count, time, move || {
                common.fill(2);
                std::mem::take(&mut common)
            });
        }
        Some("daemon") => daemon(size, time),
        Some("compute") => compute(time),
        _ => {
            eprintln!("allocate: alone, children, inherited, rewritten, daemon or compute");
            exit(2);
        }
    }
    // The memory is free again; a measurement that only looks at the end sees nothing of it.
    sleep(Duration::from_millis(20));
}

/// Memory in which every page was written to.
fn touched(size: usize) -> Vec<u8> {
    black_box(vec![1; size])
}

fn hold(size: usize, time: Duration) {
    let memory = touched(size);
    sleep(time);
    drop(black_box(memory));
}

/// Forks children that each take memory, waits until all have it, lets them keep it, and collects
/// them.
fn children(count: usize, time: Duration, mut take: impl FnMut() -> Vec<u8>) {
    let (mut ready, mut say_ready) = io::pipe().expect("pipe");
    let (mut go, say_go) = io::pipe().expect("pipe");
    for _ in 0..count {
        if fork() == 0 {
            drop(say_go);
            let memory = take();
            say_ready.write_all(b"r").expect("write");
            // Ends when the parent closes its side.
            let _ = go.read(&mut [0]);
            drop(black_box(memory));
            exit(0);
        }
    }
    ready.read_exact(&mut vec![0; count]).expect("every child becomes ready");
    sleep(time);
    drop(say_go);
    for _ in 0..count {
        // SAFETY: a null status pointer is allowed.
        unsafe { libc::wait(std::ptr::null_mut()) };
    }
}

/// Starts a process that has neither this parent nor this session, as daemons do, and prints its
/// number.
fn daemon(size: usize, time: Duration) {
    let (mut known, mut tell) = io::pipe().expect("pipe");
    if fork() == 0 {
        // SAFETY: setsid takes no arguments.
        unsafe { libc::setsid() };
        if fork() == 0 {
            tell.write_all(&std::process::id().to_ne_bytes()).expect("write");
            drop(tell);
            hold(size, Duration::from_secs(600));
            exit(0);
        }
        exit(0);
    }
    let mut number = [0; 4];
    known.read_exact(&mut number).expect("the daemon tells its number");
    println!("{}", u32::from_ne_bytes(number));
    sleep(time);
}

/// Computes until it has used so much processor time.
fn compute(time: Duration) {
    let used = || {
        let clock = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(clock.tv_sec.unsigned_abs(), clock.tv_nsec.unsigned_abs() as u32)
    };
    let mut sum = 0u64;
    while used() < time {
        sum = black_box((0..10_000).fold(sum, u64::wrapping_add));
    }
}

fn fork() -> i32 {
    // SAFETY: this program has a single thread.
    unsafe { libc::fork() }
}
