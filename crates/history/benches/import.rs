//! How fast accounting is imported, against splitting its lines and doing nothing with them:
//! `cargo bench -p harp-history`. The promise is a million jobs in less than 20 seconds.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use harp_history::Store;
use harp_history::import::{Importer, Rules, read_beside};
use harp_slurm::{FIELDS, read_accounting};
use jiff::tz::TimeZone;

const JOBS: u64 = 1_000_000;

fn main() {
    let text = accounting();
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    println!("{JOBS} jobs, {lines} lines, {} MB", text.len() / 1_000_000);
    let rules =
        Rules::parse("rules", "[[rule]]\napplication = 'heat'\npattern = '^heat_n(?<n>\\d+)$'\n").unwrap();
    let plain = timed("split the lines", 1.0, || plain_reader(&text));
    timed("read the jobs", plain, || {
        let mut jobs = 0;
        read_accounting("bench", text.as_slice(), &TimeZone::UTC, &mut |job| {
            black_box(job.ended());
            jobs += 1;
        })
        .unwrap();
        jobs
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.sqlite");
    for what in ["import all", "import again"] {
        timed(what, plain, || {
            let mut store = Store::open(&path).unwrap();
            let mut importer = Importer::new(&mut store, &rules).unwrap();
            let mut take = |job| drop(importer.add(&job, None).unwrap());
            read_beside("bench", text.as_slice(), &TimeZone::UTC, &mut take).unwrap();
            let imported = importer.finish().unwrap();
            imported.new + imported.unchanged
        });
    }
    println!("history of {} MB", std::fs::metadata(&path).unwrap().len() / 1_000_000);
}

/// Seconds this thread has had a processor: a busy machine makes the clock say more.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn timed(what: &str, plain: f64, work: impl FnOnce() -> u64) -> f64 {
    let (begin, cpu) = (Instant::now(), processor_time());
    assert_eq!(black_box(work()), JOBS);
    let seconds = processor_time() - cpu;
    println!("{what:16} {:7.2} s on the clock", begin.elapsed().as_secs_f64());
    println!(
        "{what:16} {seconds:7.2} s, {:6.1} times splitting the lines",
        if plain == 1.0 { 1.0 } else { seconds / plain }
    );
    seconds
}

/// What a reader written in five minutes does: cells of every line, jobs counted.
fn plain_reader(text: &[u8]) -> u64 {
    let text = std::str::from_utf8(text).unwrap();
    let mut jobs = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\u{1f}').collect();
        jobs += u64::from(!black_box(&cells)[0].contains('.'));
    }
    jobs
}

/// Jobs as `sacct` prints them for harp, each with its script's step, every third with another.
fn accounting() -> Vec<u8> {
    let mut text = FIELDS.join("\u{1f}") + "\n";
    for job in 0..JOBS {
        let (cpus, memory, elapsed) = (1 << (job % 6), 1000 + job * 37 % 64_000, 10 + job * 7919 % 80_000);
        let start = 1_700_000_000 + job * 20;
        let state =
            ["COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED", "TIMEOUT", "FAILED"][(job % 6) as usize];
        let times = |start: u64| format!("{}\u{1f}{start}\u{1f}{}", start - 60, start + elapsed);
        let row = |text: &mut String, cells: [&str; 33]| writeln!(text, "{}", cells.join("\u{1f}")).unwrap();
        let (id, cpu, tres) =
            (job.to_string(), cpus.to_string(), format!("billing={cpus},cpu={cpus},mem={memory}M,node=1"));
        let (time, elapsed_text) = (times(start), elapsed.to_string());
        let mut parts = time.split('\u{1f}');
        let (submit, begin, end) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let name = format!("heat_n{}", job % 1000);
        row(
            &mut text,
            [
                &id,
                "cluster",
                "anna",
                "physics",
                "batch",
                state,
                "0:0",
                "0:0",
                submit,
                begin,
                end,
                &elapsed_text,
                "",
                "1-00:00:00",
                "1",
                "",
                &cpu,
                &cpu,
                &format!("{memory}M"),
                &tres,
                &tres,
                "",
                "",
                "",
                "",
                "00:10:11",
                "00:00:12.345",
                "",
                "n17",
                "/home/anna/heat",
                "",
                "sbatch heat.sh",
                &name,
            ],
        );
        let steps: &[&str] = if job % 3 == 0 { &["batch", "0"] } else { &["batch"] };
        for step in steps {
            let (id, rss) = (format!("{job}.{step}"), (memory * 700_000 + job).to_string());
            let used = format!("cpu=00:10:23,energy=0,fs/disk=11083,mem={rss},pages=0,vmem=5512000");
            row(
                &mut text,
                [
                    &id,
                    "cluster",
                    "",
                    "physics",
                    "",
                    state,
                    "0:0",
                    "",
                    submit,
                    begin,
                    end,
                    &elapsed_text,
                    "",
                    "",
                    "1",
                    "1",
                    &cpu,
                    &cpu,
                    "",
                    &tres,
                    "",
                    &rss,
                    &rss,
                    &used,
                    "",
                    "00:10:11",
                    "00:00:12.345",
                    "0",
                    "n17",
                    "",
                    "",
                    "",
                    step,
                ],
            );
        }
    }
    text.into_bytes()
}
