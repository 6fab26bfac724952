//! What a real Slurm 22.05.8 printed (the testbed of this project), read and checked job by job.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

use harp_core::{Bytes, Interruption, Outcome, Seconds};
use harp_slurm::{AccountedJob, AccountingError, Ended, Reading, TimeLimit, read_accounting};
use jiff::tz::TimeZone;
use proptest::prelude::*;

const TEXT: &str = include_str!("../samples/sacct.txt");

fn read_in(text: &str, zone: &TimeZone) -> (Vec<AccountedJob>, Reading) {
    let mut jobs = Vec::new();
    let reading = read_accounting("sample", text.as_bytes(), zone, &mut |job| jobs.push(job)).unwrap();
    (jobs, reading)
}

fn read(text: &str) -> (Vec<AccountedJob>, Reading) {
    read_in(text, &TimeZone::UTC)
}

/// The jobs with an id, in order: one put back into the queue is there twice.
fn with_id<'a>(jobs: &'a [AccountedJob], id: &str) -> Vec<&'a AccountedJob> {
    jobs.iter().filter(|job| job.id.to_string() == id).collect()
}

fn only<'a>(jobs: &'a [AccountedJob], id: &str) -> &'a AccountedJob {
    let found = with_id(jobs, id);
    assert_eq!(found.len(), 1, "job {id}");
    found[0]
}

fn outcome(job: &AccountedJob) -> Outcome {
    match job.ended() {
        Ended::Run(outcome) => outcome,
        other => panic!("{}: {other:?}", job.id),
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

#[test]
fn memory_is_per_node_and_steps_are_summed_rightly() {
    let (jobs, reading) = read(TEXT);
    assert_eq!(reading.skipped, 0, "{:?}", reading.bad);
    let peak = |id: &str| only(&jobs, id).peak_memory.map(|memory| memory.0 / KIB);
    // two nodes, a task each: the larger one and the job script on its node
    assert_eq!(peak("1"), Some(107_320 + 11_036));
    assert_eq!(only(&jobs, "1").total_memory, Some(Bytes((214_568 + 11_036) * KIB)));
    // four tasks on one node: all of them
    assert_eq!(peak("4"), Some(429_892 + 10_808));
    // two steps in turn: the larger; side by side: both
    assert_eq!(peak("5"), Some(158_868 + 10_740));
    assert_eq!(peak("6"), Some(158_856 + 128_248 + 19_876));
    // two steps on different nodes: the fuller node, 97132K + 20004K or 125M alone
    assert_eq!(peak("33"), Some(125 * 1024));
    // nobody looked in time: missing, not 0
    assert_eq!(peak("30"), None);
}

#[test]
fn requests_and_limits_are_per_node() {
    let (jobs, _) = read(TEXT);
    let limit = |id: &str| only(&jobs, id).memory_limit().map(|memory| memory.0 / MIB);
    assert_eq!(limit("1"), Some(300), "--mem=300M on two nodes is printed as 600M");
    assert_eq!(limit("2"), Some(200), "--mem-per-cpu=100M with two CPUs");
    assert_eq!(limit("3"), Some(400), "one CPU of a core with two threads is given both, and their memory");
    let gpu = only(&jobs, "9").allocation();
    assert_eq!((gpu.gpus, gpu.cores, gpu.nodes), (Some(2), Some(1), Some(1)));
    assert_eq!(only(&jobs, "9").gpu_kind.as_deref(), Some("a100"));
    assert_eq!(only(&jobs, "25").limit, TimeLimit::Unlimited);
    assert_eq!(only(&jobs, "1").limit, TimeLimit::Of(Seconds(300.0)));
}

#[test]
fn ends_are_told_apart() {
    let (jobs, _) = read(TEXT);
    let ended = |id: &str| outcome(only(&jobs, id));
    assert_eq!(ended("1"), Outcome::Completed);
    assert_eq!(ended("7"), Outcome::Failed { exit_code: 3 });
    assert_eq!(ended("10"), Outcome::OutOfMemory { limit: Some(Bytes(60 * MIB)) }, "printed as FAILED 0:9");
    assert_eq!(ended("13"), Outcome::Interrupted { cause: Interruption::Cancelled });
    assert_eq!(ended("23"), Outcome::TimedOut { limit: Seconds(15.0) }, "its end was brought forward");
    assert_eq!(ended("28"), Outcome::Rejected { reason: "a step ended with exit code 4".into() });
    assert_eq!(ended("29"), Outcome::Signalled { signal: 11 });
    assert_eq!(ended("8_3"), Outcome::Failed { exit_code: 1 });
    assert_eq!(ended("8_4"), Outcome::Completed);
    let twice: Vec<Outcome> = with_id(&jobs, "26").into_iter().map(outcome).collect();
    assert_eq!(twice, [Outcome::Interrupted { cause: Interruption::Requeued }, Outcome::Completed]);
    let origins: Vec<String> = with_id(&jobs, "26").into_iter().map(AccountedJob::origin).collect();
    assert_ne!(origins[0], origins[1], "two runs of one job");
}

#[test]
fn components_of_a_heterogeneous_job_are_one() {
    let (jobs, _) = read(TEXT);
    let job = only(&jobs, "11+0");
    assert_eq!((job.components, job.nodes, job.cpus), (2, Some(2), Some(3)));
    assert_eq!(job.memory, Some(Bytes(110 * MIB)));
    assert_eq!(outcome(job), Outcome::Completed);
}

#[test]
fn names_with_separators_and_line_ends() {
    let (jobs, reading) =
        read("JobID|JobName|State|Elapsed\n7|pipe|name|FAILED|00:01\n24|two\nlines|COMPLETED|00:02\n");
    assert_eq!((jobs.len(), reading.skipped), (2, 0));
    assert_eq!((jobs[0].name.as_deref(), jobs[1].name.as_deref()), (Some("pipe|name"), Some("two\nlines")));
}

#[test]
fn units_time_zones_and_tables() {
    let (jobs, _) = read(include_str!("../samples/sacct-units.txt"));
    assert_eq!(jobs[0].peak_memory, Some(Bytes(((104.80 + 10.78) * MIB as f64).round() as u64)));
    assert_eq!(jobs[0].memory_limit(), Some(Bytes(300 * MIB)));

    let (here, _) = read(TEXT);
    let zone = TimeZone::fixed(jiff::tz::offset(-5));
    let (there, _) = read_in(include_str!("../samples/sacct-new-york.txt"), &zone);
    for job in &there {
        let same = only(&here, &job.id.to_string());
        assert_eq!((job.submit, job.start, job.end), (same.submit, same.start, same.end));
    }

    let (jobs, reading) = read(include_str!("../samples/sacct-table.txt"));
    assert_eq!((jobs.len(), reading.steps, reading.skipped), (4, 5, 0));
    assert_eq!(only(&jobs, "1").name, None, "cut off to lulesh_s3+");
    assert_eq!(only(&jobs, "10").name.as_deref(), Some("oom"));
    let cancelled = only(&jobs, "13");
    assert_eq!(outcome(cancelled), Outcome::Interrupted { cause: Interruption::Cancelled });
    assert!(reading.notes.iter().any(|note| note.contains("NTasks")), "{:?}", reading.notes);
}

#[test]
fn json_says_the_same_as_text_where_it_says_it() {
    let (text, _) = read(TEXT);
    let (json, reading) = read(include_str!("../samples/sacct.json"));
    assert_eq!(reading.skipped, 0, "{:?}", reading.bad);
    assert_eq!(only(&json, "10").exit.map(|exit| exit.signal), Some(9), "its code is null");
    assert_eq!(json.len(), 8, "five jobs, one of them an array of four");
    for job in &json {
        let same = only(&text, &job.id.to_string());
        assert_eq!(job.peak_memory, same.peak_memory, "{}", job.id);
        assert_eq!(job.memory_limit(), same.memory_limit(), "{}", job.id);
        assert_eq!(
            (job.submit, job.start, job.elapsed),
            (same.submit, same.start, same.elapsed),
            "{}",
            job.id
        );
        assert_eq!(outcome(job).is_completed(), outcome(same).is_completed(), "{}", job.id);
        assert_eq!(outcome(job).memory_is_lower_bound(), outcome(same).memory_is_lower_bound(), "{}", job.id);
    }
}

#[test]
fn what_never_ran_or_still_runs_is_no_run() {
    let rows = "JobID|State|Start|Elapsed|MaxRSS|NTasks\n\
        27|CANCELLED|None|00:00:00||\n31_[11,16%1]|CANCELLED|2026-11-15T19:43:03|00:00:00||\n\
        40|RUNNING|2026-11-15T19:43:03|01:00:00||\n41|PENDING|Unknown|00:00:00||\n";
    let (jobs, _) = read(rows);
    let ended: Vec<Ended> = jobs.iter().map(AccountedJob::ended).collect();
    assert_eq!(ended, [Ended::NeverStarted, Ended::NeverStarted, Ended::NotYet, Ended::NotYet]);
}

#[test]
fn what_is_no_accounting_says_so() {
    let refused = |text: &str| {
        read_accounting("x", text.as_bytes(), &TimeZone::UTC, &mut |_| ()).unwrap_err().to_string()
    };
    assert_eq!(refused("hello world\n"), "x:1: the first line has no column JobID");
    assert_eq!(
        refused("JobID|Elapsed\n1|1\n"),
        "x:1: there is no column State, so how a job ended is not known"
    );
    assert!(refused("JobID|State\n").contains("Elapsed"));
    assert!(refused("{\"jobs\": [").starts_with("x:1: the document cannot be read"));
    assert!(refused("{\"nodes\": []}").contains("there is no array `jobs` in it"));
    let empty = read_accounting("x", "  \n".as_bytes(), &TimeZone::UTC, &mut |_| ());
    assert!(matches!(empty, Err(AccountingError::Empty { .. })));
    let (jobs, reading) =
        read("JobID|State|Elapsed\n12345_1+|COMPLETED|1:00\n5|WONDERFUL|1:00\n5.0|FAILED|1:00\n");
    assert_eq!((jobs.len(), reading.skipped), (0, 3));
    assert_eq!(reading.bad[0].reason, "the job id `12345_1+` is cut off");
}

proptest! {
    /// Whatever is changed in a real answer, reading it ends without a panic.
    #[test]
    fn no_change_of_an_answer_makes_the_reader_panic(
        place in 0usize..20_000, cut in 0usize..200, put in "[|0-9.:+_\\[\\]a-z\n-]{0,8}", json in any::<bool>(),
    ) {
        let mut text = if json { include_str!("../samples/sacct.json") } else { TEXT }.to_owned();
        let start = (0..=place.min(text.len())).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(0);
        let end = (start + cut).min(text.len());
        let end = (start..=end).rev().find(|&place| text.is_char_boundary(place)).unwrap_or(start);
        text.replace_range(start..end, &put);
        let mut visit = |job: AccountedJob| {
            let _ = (job.ended(), job.usage(), job.allocation(), job.origin());
        };
        let _ = read_accounting("x", text.as_bytes(), &TimeZone::UTC, &mut visit);
    }
}
