//! How fast policies are simulated, against the plain simulator of the tests, and how the cost grows with
//! the length of the trace: `cargo bench -p harp-sim`. With `HARP_TRACES` set, also on the logs there.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/plain/mod.rs"]
mod plain;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use harp_sim::{Oversized, Policy, Requested, SimJob, Workload, WorkloadBuilder, simulate};
use harp_trace::generate::{GenerateOptions, generate};

fn main() {
    against_plain();
    let generated =
        GenerateOptions { jobs: 20_000, processors: 256, load: Some(0.85), ..GenerateOptions::default() };
    let mut workloads = vec![("generated".to_owned(), synthetic(&generated))];
    if let Some(folder) = std::env::var_os("HARP_TRACES") {
        let logs = [("KTH-SP2", 100), ("Mira", 49_152), ("Theta23", 4392), ("Lublin-256", 256)];
        for (name, processors) in logs {
            let path = Path::new(&folder).join(format!("{name}.swf.gz"));
            if path.exists() {
                workloads.push((name.to_owned(), read(&path, processors)));
            }
        }
    }
    for (name, workload) in &workloads {
        for policy in [
            "fcfs",
            "easy",
            "easy-sjbf",
            "sjf+easy",
            "relaxed",
            "adaptive-relaxed",
            "conservative",
            "wfp3+easy",
        ] {
            let seconds = best(workload, policy, 3);
            println!("{name:>10} {policy:>17} {:>10.0} jobs/s", workload.jobs.len() as f64 / seconds);
        }
    }
    println!("growth of easy with the length of the trace:");
    for (name, workload) in &workloads {
        let mut first = None;
        for times in [1, 10, 100] {
            let longer = workload.repeated(times);
            let seconds = best(&longer, "easy", if times == 100 { 1 } else { 3 });
            let per_job = seconds / longer.jobs.len() as f64;
            let base = *first.get_or_insert(per_job);
            println!(
                "{name:>10} {times:>4} x {:>9} jobs {:>8.3} s, {:>5.2} times the cost a job at 1 x",
                longer.jobs.len(),
                seconds,
                per_job / base
            );
        }
    }
}

/// The engine and the plain simulator on the same jobs, with the same result.
fn against_plain() {
    let options =
        GenerateOptions { jobs: 3000, processors: 128, load: Some(0.9), ..GenerateOptions::default() };
    let workload = synthetic(&options);
    let policy: Policy = "easy".parse().unwrap();
    let estimates: Vec<i64> = workload.jobs.iter().map(|job| job.request).collect();
    let begin = Instant::now();
    let plain = plain::simulate(&workload.jobs, workload.processors, policy, &estimates);
    let plain_seconds = begin.elapsed().as_secs_f64();
    assert_eq!(simulate(&workload, policy, &mut Requested).starts, plain.starts);
    let seconds = best(&workload, "easy", 5);
    let rate = |seconds: f64| workload.jobs.len() as f64 / seconds;
    println!("plain simulator {:>10.0} jobs/s", rate(plain_seconds));
    println!(
        "easy            {:>10.0} jobs/s, {:.0} times the plain simulator",
        rate(seconds),
        plain_seconds / seconds
    );
}

fn best(workload: &Workload, policy: &str, times: usize) -> f64 {
    let policy: Policy = policy.parse().unwrap();
    let run = |_| {
        let begin = Instant::now();
        black_box(simulate(workload, policy, &mut Requested));
        begin.elapsed().as_secs_f64()
    };
    (0..times).map(run).fold(f64::INFINITY, f64::min)
}

fn synthetic(options: &GenerateOptions) -> Workload {
    let job = |job: &harp_trace::Job| SimJob {
        number: job.number,
        submit: job.submit,
        run: job.run.unwrap(),
        request: job.requested_time.unwrap(),
        processors: job.requested_processors.unwrap(),
        user: job.user.unwrap() as u32,
    };
    Workload::new(generate(options).iter().map(job).collect(), options.processors)
}

fn read(path: &Path, processors: u32) -> Workload {
    let mut builder = WorkloadBuilder::default();
    let reading = harp_trace::visit_path(path, &Default::default(), &mut |job| builder.add(job)).unwrap();
    builder.finish(&reading, Some(processors), Oversized::Refuse).unwrap()
}
