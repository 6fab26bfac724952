//! How fast traces are read and characterised, against a plain reader (split at blanks, parse, keep):
//! `cargo bench -p harp-trace`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use harp_trace::generate::{GenerateOptions, generate};
use harp_trace::summary::{Collector, Machine};
use harp_trace::{Format, Header, ReadOptions, TraceWriter, visit};

const JOBS: usize = 1_000_000;

fn main() {
    let options = GenerateOptions { jobs: JOBS, processors: 256, ..GenerateOptions::default() };
    let header = Header { max_processors: Some(256), ..Header::default() };
    let mut writer = TraceWriter::new(Vec::new(), Format::Swf, &header).unwrap();
    for job in generate(&options) {
        writer.write(&job).unwrap();
    }
    let text = writer.finish().unwrap();
    println!("{JOBS} jobs, {} MB of SWF", text.len() / 1_000_000);
    let plain = best(|| plain_reader(&text));
    let read = best(|| {
        let mut count = 0u64;
        let mut sum = 0;
        visit("bench", text.as_slice(), &ReadOptions::default(), &mut |job| {
            count += 1;
            sum += job.submit + job.run.unwrap_or(0);
        })
        .unwrap();
        black_box(sum);
        count
    });
    let summary = best(|| {
        let mut collector = Collector::default();
        let reading =
            visit("bench", text.as_slice(), &ReadOptions::default(), &mut |job| collector.add(job)).unwrap();
        collector.finish(&reading, Machine::default()).unwrap().jobs
    });
    let rate = |seconds: f64| JOBS as f64 / seconds / 1e6;
    println!("plain reader    {:6.2} million lines/s", rate(plain));
    println!(
        "read            {:6.2} million lines/s, {:.1} times the plain reader",
        rate(read),
        plain / read
    );
    println!(
        "read + summary  {:6.2} million lines/s, {:.1} times the plain reader",
        rate(summary),
        plain / summary
    );
}

/// The shortest of several runs, in seconds.
fn best(mut work: impl FnMut() -> u64) -> f64 {
    let run = |_| {
        let begin = Instant::now();
        assert_eq!(black_box(work()), JOBS as u64);
        begin.elapsed().as_secs_f64()
    };
    (0..5).map(run).fold(f64::INFINITY, f64::min)
}

/// What a reader written in five minutes does.
fn plain_reader(text: &[u8]) -> u64 {
    let text = std::str::from_utf8(text).unwrap();
    let mut jobs: Vec<Vec<f64>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with(';')) {
        jobs.push(line.split_whitespace().map(|word| word.parse().unwrap()).collect());
    }
    black_box(&jobs).len() as u64
}
