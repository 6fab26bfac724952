use super::*;
use harp_core::{Bytes, Host, MemorySource, Seconds, Timestamp};
use harp_slurm::read_accounting;

const HEADER: &str =
    "JobID|State|ExitCode|ElapsedRaw|Timelimit|NNodes|AllocCPUS|ReqMem|MaxRSS|UserCPU|SystemCPU";

fn job(rows: &str) -> AccountedJob {
    let text = format!("{HEADER}\n{rows}\n");
    let mut jobs = Vec::new();
    read_accounting("t", text.as_bytes(), &jiff::tz::TimeZone::UTC, &mut |job| jobs.push(job)).unwrap();
    jobs.pop().unwrap()
}

fn result(outcome: Outcome) -> InsideResult {
    InsideResult {
        started: Timestamp(5),
        outcome,
        usage: Usage {
            walltime: Some(Seconds(1.5)),
            user_time: Some(Seconds(1.0)),
            system_time: Some(Seconds(0.1)),
            peak_memory: Some(Bytes(7)),
            peak_memory_source: Some(MemorySource::Sampled),
            read: Some(Bytes(3)),
            ..Usage::default()
        },
        objection: None,
        host: Host::default(),
    }
}

fn facts(standing: Standing<'_>) -> Facts<'_> {
    Facts { alone: true, result: None, started: true, last: true, task_started: true, standing, returned: 0 }
}

fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Ended(outcome, _) => outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn accounting_goes_first_and_what_it_lacks_is_filled_and_named() {
    let done = job(
        "5_0|COMPLETED|0:0|12|00:05:00|1|2|100M||00:09.500|00:00.500\n5_0.batch|COMPLETED|0:0|12||1|2||50M|00:09.500|00:00.500",
    );
    let own = result(Outcome::Completed);
    let facts = Facts { result: Some(&own), ..facts(Standing::Accounted(&done)) };
    let Verdict::Ended(outcome, usage) = verdict(&facts) else { panic!() };
    assert_eq!(outcome, Outcome::Completed);
    assert_eq!((usage.walltime, usage.peak_memory), (Some(Seconds(12.0)), Some(Bytes(50 << 20))));
    assert_eq!(usage.user_time, Some(Seconds(9.5)));
    assert_eq!((usage.read, usage.filled), (Some(Bytes(3)), vec!["read".to_owned()]));

    let short = job("5_0|COMPLETED|0:0|0|00:05:00|1|2|100M||00:00|00:00\n5_0.batch|COMPLETED|0:0|0||1|2||||");
    let facts = Facts { standing: Standing::Accounted(&short), ..facts };
    let Verdict::Ended(_, usage) = verdict(&facts) else { panic!() };
    assert_eq!((usage.walltime, usage.peak_memory), (Some(Seconds(1.5)), Some(Bytes(7))));
    assert_eq!(usage.peak_memory_source, Some(MemorySource::Sampled));
    assert_eq!(usage.filled, ["walltime", "user_time", "system_time", "peak_memory", "read"]);
}

#[test]
fn of_a_run_among_others_only_harp_knows_the_figures() {
    let own = result(Outcome::Completed);
    let early = Facts { alone: false, result: Some(&own), ..facts(Standing::Open) };
    let Verdict::Ended(Outcome::Completed, usage) = verdict(&early) else { panic!() };
    assert_eq!(usage.walltime, Some(Seconds(1.5)));
    assert!(usage.filled.contains(&"walltime".to_owned()));
    let failed = result(Outcome::Signalled { signal: 9 });
    let wait = Facts { result: Some(&failed), ..early };
    assert_eq!(verdict(&wait), Verdict::Wait, "accounting may say why");
    assert_eq!(verdict(&Facts { alone: true, result: Some(&own), ..early }), Verdict::Wait);
}

#[test]
fn memory_is_slurms_to_tell() {
    let memory = job(
        "5_0|OUT_OF_MEMORY|0:125|12|00:05:00|1|2|100M||00:01|00:00\n5_0.batch|OUT_OF_MEMORY|0:125|12||1|2||99M||",
    );
    let killed = result(Outcome::Signalled { signal: 9 });
    let facts = Facts { result: Some(&killed), ..facts(Standing::Accounted(&memory)) };
    let Verdict::Ended(Outcome::OutOfMemory { limit }, usage) = verdict(&facts) else { panic!() };
    assert_eq!((limit, usage.peak_memory), (Some(Bytes(100 << 20)), Some(Bytes(100 << 20))));
    let among = Facts { alone: false, result: None, ..facts };
    let Verdict::Ended(Outcome::OutOfMemory { .. }, usage) = verdict(&among) else { panic!() };
    assert_eq!((usage.peak_memory, usage.walltime), (Some(Bytes(100 << 20)), None));
}

#[test]
fn what_says_nothing_about_the_program_is_submitted_again_but_not_for_ever() {
    for state in ["NODE_FAIL", "PREEMPTED", "BOOT_FAIL"] {
        let lost = job(&format!("5_0|{state}|0:0|12|00:05:00|1|2|100M||00:01|00:00"));
        let facts = facts(Standing::Accounted(&lost));
        assert_eq!(verdict(&facts), Verdict::Return, "{state}");
        let often = Facts { returned: MOST_RETURNS, ..facts };
        assert!(matches!(outcome(verdict(&often)), Outcome::Interrupted { .. }), "{state}");
    }
    assert_eq!(verdict(&facts(Standing::Lost)), Verdict::Return);
    let own = result(Outcome::Completed);
    assert_eq!(outcome(verdict(&Facts { result: Some(&own), ..facts(Standing::Lost) })), Outcome::Completed);
}

#[test]
fn cancelled_stays_cancelled() {
    let cause = Interruption::Cancelled;
    let running = job("5_0|CANCELLED by 0|0:15|12|00:05:00|1|2|100M||00:01|00:00");
    let waiting = job("5_0|CANCELLED by 0|0:0|0|00:05:00|1|2|100M||00:00|00:00");
    for job in [&running, &waiting] {
        assert_eq!(outcome(verdict(&facts(Standing::Accounted(job)))), Outcome::Interrupted { cause });
    }
}

#[test]
fn a_time_out_counts_for_the_run_that_had_the_job_alone() {
    let late = job("5_0|TIMEOUT|0:0|60|00:01:00|1|2|100M||00:01|00:00");
    let alone = facts(Standing::Accounted(&late));
    assert_eq!(outcome(verdict(&alone)), Outcome::TimedOut { limit: Seconds(60.0) });
    assert_eq!(verdict(&Facts { alone: false, ..alone }), Verdict::Return);
    assert_eq!(verdict(&Facts { alone: false, started: false, ..alone }), Verdict::Return);
}

#[test]
fn a_program_that_ends_with_its_job_did_not_fail() {
    let late = job("5_0|TIMEOUT|0:0|60|00:01:00|1|2|100M||00:01|00:00");
    let lost = job("5_0|PREEMPTED|0:0|60|00:01:00|1|2|100M||00:01|00:00");
    let terminated = result(Outcome::Failed { exit_code: 143 });
    let facts = Facts { result: Some(&terminated), ..facts(Standing::Accounted(&late)) };
    assert_eq!(outcome(verdict(&facts)), Outcome::TimedOut { limit: Seconds(60.0) });
    assert_eq!(verdict(&Facts { standing: Standing::Accounted(&lost), ..facts }), Verdict::Return);
    assert_eq!(verdict(&Facts { alone: false, ..facts }), Verdict::Return);
    // one that failed before another of its task began failed by itself
    let before = Facts { alone: false, last: false, ..facts };
    assert_eq!(outcome(verdict(&before)), Outcome::Failed { exit_code: 143 });
}

#[test]
fn a_job_that_fails_before_its_run_begins_is_not_tried_for_ever() {
    let failed = job("5_0|FAILED|1:0|1|00:05:00|1|2|100M||00:00|00:00");
    let facts = Facts { started: false, task_started: false, ..facts(Standing::Accounted(&failed)) };
    assert!(matches!(outcome(verdict(&facts)), Outcome::NotStarted { .. }));
    let behind = Facts { alone: false, task_started: true, ..facts };
    assert_eq!(verdict(&behind), Verdict::Return);
}
