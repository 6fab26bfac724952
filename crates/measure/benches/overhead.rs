//! What measuring costs: `/bin/true` a thousand times by a plain spawn-and-wait and through
//! [`harp_measure::execute`], one after the other in one run.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use harp_measure::{MemoryMethod, Program, Stop, Task, execute};

const PROGRAM: &str = "/bin/true";
const ROUNDS: usize = 1000;

fn main() {
    let stop = Stop::new();
    let task = Task::new(Program::Direct(vec![PROGRAM.into()]));
    let sampling = Task { memory_method: MemoryMethod::Sampling, ..task.clone() };
    let (mut plain, mut measured, mut sampled) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(timed(|| {
            let mut command = Command::new(PROGRAM);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            assert!(command.spawn().expect("spawn").wait().expect("wait").success());
        }));
        for (task, times) in [(&task, &mut measured), (&sampling, &mut sampled)] {
            times.push(timed(|| assert!(execute(task, &stop).expect("execute").outcome.is_completed())));
        }
    }
    println!("{ROUNDS} x {PROGRAM}             median     mean");
    let baseline = report("plain spawn and wait", &mut plain);
    for (name, times) in [("execute", &mut measured), ("execute, sampling only", &mut sampled)] {
        let median = report(name, times);
        println!(
            "  over plain: {:.3} ms, {:.2} times as long",
            median - baseline,
            median / baseline.max(f64::MIN_POSITIVE)
        );
    }
}

fn timed(action: impl FnOnce()) -> Duration {
    let started = Instant::now();
    action();
    started.elapsed()
}

/// Prints median and mean in milliseconds; returns the median.
fn report(name: &str, times: &mut [Duration]) -> f64 {
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let median = milliseconds(times[times.len() / 2]);
    let mean = milliseconds(times.iter().sum::<Duration>()) / times.len() as f64;
    println!("{name:<28} {median:>7.3} ms {mean:>7.3} ms");
    median
}
