//! How programs are started, limited, ended and accounted for.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{BOTH, allocate, example, is_running, run, shell, soon};
use harp_core::{Bytes, Outcome, Seconds};
use harp_measure::{ExecuteError, Program, Stop, Task, available_cores, execute};

#[test]
fn every_way_to_end_is_told_apart() {
    assert_eq!(run(&shell("exit 0")).outcome, Outcome::Completed);
    assert_eq!(run(&shell("exit 7")).outcome, Outcome::Failed { exit_code: 7 });
    assert_eq!(run(&shell("kill -SEGV $$")).outcome, Outcome::Signalled { signal: 11 });
    let missing = Task::new(Program::Direct(vec!["no-such-program-anywhere".into()]));
    let Outcome::NotStarted { reason } = run(&missing).outcome else { panic!("it cannot have started") };
    assert!(reason.contains("no-such-program-anywhere"), "{reason}");
    let nowhere = Task { directory: "/no/such/directory".into(), ..shell("true") };
    let Outcome::NotStarted { reason } = run(&nowhere).outcome else { panic!("it cannot have started") };
    assert!(reason.contains("/no/such/directory"), "{reason}");
    assert!(matches!(run(&Task::new(Program::Direct(Vec::new()))).outcome, Outcome::NotStarted { .. }));
}

#[test]
fn arguments_are_passed_without_a_shell() {
    let directory = tempfile::tempdir().unwrap();
    let stdout = directory.path().join("out");
    let words = ["printf", "%s|", "a b", "$HOME", "*"].map(String::from).to_vec();
    let task = Task { stdout: Some(stdout.clone()), ..Task::new(Program::Direct(words)) };
    assert_eq!(run(&task).outcome, Outcome::Completed);
    assert_eq!(fs::read_to_string(stdout).unwrap(), "a b|$HOME|*|");
}

#[test]
fn environment_directory_and_output_are_as_asked() {
    let directory = tempfile::tempdir().unwrap();
    let (stdout, stderr) = (directory.path().join("out"), directory.path().join("err"));
    let mut task = shell("echo $COLOUR; pwd; cat; echo bad >&2");
    task.environment.insert("COLOUR".into(), "green".into());
    task.directory = directory.path().to_owned();
    (task.stdout, task.stderr) = (Some(stdout.clone()), Some(stderr.clone()));
    assert_eq!(run(&task).outcome, Outcome::Completed);
    let real = directory.path().canonicalize().unwrap();
    assert_eq!(fs::read_to_string(stdout).unwrap(), format!("green\n{}\n", real.display()));
    assert_eq!(fs::read_to_string(stderr).unwrap(), "bad\n");
    task.stdout = Some("/no/such/directory/out".into());
    assert!(matches!(execute(&task, &Stop::new()), Err(ExecuteError::Output { .. })));
}

#[test]
fn a_program_stays_on_its_cores() {
    let directory = tempfile::tempdir().unwrap();
    let stdout = directory.path().join("out");
    let (cores, _) = available_cores();
    let last = *cores.iter().max().unwrap();
    let task = Task {
        cores: vec![last],
        stdout: Some(stdout.clone()),
        ..shell("grep Cpus_allowed_list /proc/self/status")
    };
    assert_eq!(run(&task).outcome, Outcome::Completed);
    assert_eq!(fs::read_to_string(stdout).unwrap().split_whitespace().last(), Some(&*last.to_string()));
    let impossible = Task { cores: vec![100_000], ..shell("true") };
    assert!(matches!(run(&impossible).outcome, Outcome::NotStarted { .. }));
}

#[test]
fn time_is_measured_on_the_wall_and_on_the_processor() {
    let slept = run(&shell("sleep 0.25")).usage;
    let walltime = slept.walltime.unwrap().0;
    assert!((0.25..0.35).contains(&walltime), "{walltime}");
    assert!(slept.cpu_time().unwrap().0 < 0.1);
    // Children that were waited for count.
    let line = format!("{0} compute 0 0 150; {0} compute 0 0 150", example("allocate"));
    let computed = run(&shell(&line)).usage.user_time.unwrap().0;
    assert!((0.28..0.5).contains(&computed), "{computed}");
}

#[test]
fn bytes_are_counted_over_the_whole_tree() {
    let line = "head -c 3000000 /dev/zero > /dev/null; sleep 0.3";
    let written = run(&shell(line)).usage.written.unwrap();
    assert_eq!(written, Bytes(3_000_000), "long enough for every user to see");
    if !rustix::process::geteuid().is_root() {
        return; // The counts of short programs are shown to root only.
    }
    let line =
        "head -c 3000000 /dev/zero | tail -c 1000000 > /dev/null; (head -c 500000 /dev/zero > /dev/null)";
    let usage = run(&shell(line)).usage;
    // Written: 3,000,000 into the pipe, 1,000,000 and 500,000 to the end.
    let written = usage.written.unwrap();
    assert_eq!(written, Bytes(4_500_000));
    let read = usage.read.unwrap();
    assert!((6_500_000..6_700_000).contains(&read.0), "{read:?}");
    assert!(usage.voluntary_switches.unwrap() > 0);
    assert_eq!(run(&Task::new(Program::Direct(vec!["true".into()]))).usage.written, Some(Bytes(0)));
}

#[test]
fn a_time_out_ends_the_whole_tree() {
    for memory_method in BOTH {
        let directory = tempfile::tempdir().unwrap();
        let numbers = directory.path().join("out");
        let limit = Seconds(0.3);
        let line = "setsid sh -c 'echo $$; exec sleep 600' & sh -c 'echo $$; exec sleep 600' & echo $$; wait";
        let task =
            Task { memory_method, stdout: Some(numbers.clone()), time_limit: Some(limit), ..shell(line) };
        let started = Instant::now();
        let measured = run(&task);
        assert_eq!(measured.outcome, Outcome::TimedOut { limit });
        assert!(started.elapsed() < Duration::from_secs(2), "nothing ignored the request to end");
        let walltime = measured.usage.walltime.unwrap().0;
        assert!((0.3..0.5).contains(&walltime), "{walltime}");
        let numbers = fs::read_to_string(numbers).unwrap();
        assert_eq!(numbers.lines().count(), 3, "{numbers}");
        for number in numbers.lines() {
            assert!(!is_running(number.parse().unwrap()), "{number} is left with {memory_method:?}");
        }
    }
}

#[test]
fn a_program_that_ignores_the_request_to_end_is_made_to() {
    let limit = Seconds(0.1);
    let task = Task { time_limit: Some(limit), ..shell("trap '' TERM; while :; do sleep 0.05; done") };
    let started = Instant::now();
    let measured = run(&task);
    assert_eq!(measured.outcome, Outcome::TimedOut { limit });
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(measured.usage.walltime.unwrap().0 < 0.5, "the grace is not part of the time");
}

#[test]
fn daemons_do_not_outlive_the_run() {
    for memory_method in BOTH {
        let directory = tempfile::tempdir().unwrap();
        let number = directory.path().join("out");
        let task = Task { memory_method, stdout: Some(number.clone()), ..allocate("daemon", 64, 0, 250) };
        let measured = run(&task);
        assert_eq!(measured.outcome, Outcome::Completed);
        let peak = measured.usage.peak_memory.unwrap();
        assert!(peak > Bytes(64 << 20), "the daemon's memory counts: {peak} with {memory_method:?}");
        let number: i32 = fs::read_to_string(number).unwrap().trim().parse().unwrap();
        assert!(!fs::exists(format!("/proc/{number}")).unwrap(), "ended and reaped");
    }
}

#[test]
fn the_stop_flag_ends_a_program_and_yields_no_measurement() {
    let stop = Stop::new();
    let started = Instant::now();
    let result = thread::scope(|scope| {
        let running = scope.spawn(|| execute(&shell("sleep 600"), &stop));
        thread::sleep(Duration::from_millis(100));
        stop.request();
        running.join().unwrap()
    });
    assert!(matches!(result, Err(ExecuteError::Stopped)));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(matches!(execute(&shell("true"), &stop), Err(ExecuteError::Stopped)));
}

#[test]
fn runs_beside_each_other_do_not_take_each_others_processes() {
    thread::scope(|scope| {
        for number in 0..8 {
            let memory_method = BOTH[number % 2];
            scope.spawn(move || {
                for code in 1..10 {
                    let line = format!("(setsid sleep 0.02 &) ; (sleep 0.01 &) ; sleep 0.01; exit {code}");
                    let task = Task { memory_method, ..shell(&line) };
                    assert_eq!(run(&task).outcome, Outcome::Failed { exit_code: code });
                }
            });
        }
    });
}

#[test]
fn a_program_dies_with_a_killed_supervisor() {
    for method in ["best", "sampling"] {
        let directory = tempfile::tempdir().unwrap();
        let number = directory.path().join("number");
        let line = format!("echo $$ > {}; exec sleep 600", number.display());
        let mut supervisor =
            Command::new(example("supervise")).args([&line, method]).stdin(Stdio::null()).spawn().unwrap();
        let read = || fs::read_to_string(&number).unwrap_or_default().trim().parse::<i32>().ok();
        soon("the program's start", || read().is_some_and(is_running));
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        soon("the program's end", || !is_running(read().unwrap()));
    }
}

#[test]
fn what_a_killed_supervisor_left_running_is_ended_by_the_next() {
    for method in ["best", "sampling"] {
        let directory = tempfile::tempdir().unwrap();
        let number = directory.path().join("number");
        // The shell dies with its supervisor; what it has started does not.
        let line = format!("setsid sh -c 'echo $$ > {}; exec sleep 600'; true", number.display());
        let mut supervisor =
            Command::new(example("supervise")).args([&line, method]).stdin(Stdio::null()).spawn().unwrap();
        let read = || fs::read_to_string(&number).unwrap_or_default().trim().parse::<i32>().ok();
        soon("the program's start", || read().is_some_and(is_running));
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        let left = read().unwrap();
        let next = Command::new(example("supervise")).args(["true", method]).status().unwrap();
        assert!(next.success());
        soon("the end of what was left", || !is_running(left));
    }
}

#[test]
fn the_first_signal_is_a_request_to_stop() {
    let mut supervisor = Command::new(example("supervise"))
        .arg("sleep 600")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    Command::new("kill").args(["-INT", &supervisor.id().to_string()]).status().unwrap();
    let started = Instant::now();
    assert_eq!(supervisor.wait().unwrap().code(), Some(3));
    assert!(started.elapsed() < Duration::from_secs(3));
}
