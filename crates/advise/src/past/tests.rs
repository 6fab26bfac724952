use super::*;
use harp_core::{Allocation, Bytes, Seconds};
use harp_site::{Charge, NodeType, Rule};

const HOUR: f64 = 3600.0;

fn job(name: &str, end: PastEnd, elapsed: f64, peak_gib: f64) -> PastJob {
    PastJob {
        name: name.to_owned(),
        partition: Some("batch".into()),
        end,
        requested_time: Some(Seconds(24.0 * HOUR)),
        elapsed: Some(Seconds(elapsed)),
        allocation: Allocation { nodes: Some(1), cores: Some(16), ..Allocation::default() },
        memory_limit: Some(Bytes(64 << 30)),
        peak_memory: Some(Bytes((peak_gib * f64::from(1 << 30)) as u64)),
        cpu_time: Some(Seconds(elapsed * 3.5)),
        gpu_utilisation: None,
    }
}

fn site() -> Site {
    let host = harp_core::Host { cores: Some(64), memory: Some(Bytes(256 << 30)), ..Default::default() };
    let mut site = Site::local(&host).with_charge("$", Charge::per(Rule::core_hours(0.01, None)));
    site.node_types = vec![NodeType { cores: Some(64), ..site.node_types[0].clone() }];
    site
}

#[test]
fn what_is_asked_for_too_much_is_told_line_by_line_with_its_price() {
    let jobs: Vec<PastJob> = (0..40)
        .map(|n| job(&format!("heat_{n}"), PastEnd::Completed, HOUR + 60.0 * f64::from(n), 4.0))
        .collect();
    let advice = advise_on_past(&jobs, Some(&site()), &Care::default());
    assert_eq!(advice.len(), 1);
    let advice = &advice[0];
    assert_eq!((advice.name.as_str(), advice.jobs), ("heat_#", 40));
    // the 39th of 40 took 3600 + 38 * 60 s; a fifth more is 7056 s, in steps of five minutes 7200 s
    let after: Vec<&str> = advice.changes.iter().map(|change| change.after.as_str()).collect();
    assert_eq!(after, ["#SBATCH --time=02:00:00", "#SBATCH --mem=5120M", "#SBATCH --cpus-per-task=6"]);
    assert_eq!(advice.changes[0].before.as_deref(), Some("#SBATCH --time=1-00:00:00"));
    let hours: f64 = jobs.iter().map(|job| job.elapsed.unwrap().hours()).sum();
    assert!((advice.core_hours - 16.0 * hours).abs() < 1e-9);
    assert!((advice.core_hours_saved - 10.0 * hours).abs() < 1e-9);
    assert!((advice.saved.unwrap().0 - 0.01 * 10.0 * hours).abs() < 1e-9);
    assert!((advice.core_hours_reserved - 16.0 * (40.0 * 24.0 - hours)).abs() < 1e-6);
    // one in 41 for time, one in 41 for memory
    assert!((advice.risk.unwrap() - (1.0 - 39.0 / 41.0) * 2.0).abs() < 1e-12, "{:?}", advice.risk);
    assert_eq!(advice.risk_now, 0.0);
}

#[test]
fn jobs_that_are_killed_get_more() {
    let mut jobs: Vec<PastJob> = (0..6).map(|_| job("a", PastEnd::Completed, 20.0 * HOUR, 60.0)).collect();
    jobs.extend((0..4).map(|_| job("a", PastEnd::TimedOut, 24.0 * HOUR, 30.0)));
    jobs.extend((0..2).map(|_| job("a", PastEnd::OutOfMemory, HOUR, 64.0)));
    let advice = advise_on_past(&jobs, None, &Care::default()).remove(0);
    assert_eq!((advice.timed_out, advice.out_of_memory, advice.completed), (4, 2, 6));
    let after: Vec<&str> = advice.changes.iter().take(2).map(|change| change.after.as_str()).collect();
    assert_eq!(after, ["#SBATCH --time=2-00:00:00", "#SBATCH --mem=131072M"]);
    assert!((advice.core_hours_lost - 16.0 * (4.0 * 24.0 + 2.0)).abs() < 1e-9);
    assert_eq!(advice.risk_now, 0.5);
    assert_eq!((advice.cost, advice.saved), (None, None));
}

#[test]
fn nothing_is_said_about_few_jobs_and_what_is_right_stays() {
    let few: Vec<PastJob> = (0..4).map(|_| job("a", PastEnd::Completed, HOUR, 4.0)).collect();
    assert!(advise_on_past(&few, None, &Care::default()).is_empty());
    let right: Vec<PastJob> = (0..30)
        .map(|_| PastJob {
            cpu_time: Some(Seconds(20.0 * HOUR * 15.0)),
            ..job("a", PastEnd::Completed, 20.0 * HOUR, 55.0)
        })
        .collect();
    let advice = advise_on_past(&right, None, &Care::default()).remove(0);
    assert!(advice.changes.is_empty(), "{:?}", advice.changes);
}

#[test]
fn a_request_holds_for_jobs_that_come_later() {
    // a heavy tail: 200 times 30 jobs are looked at, and 70 more come
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        600.0 * share.powf(-0.5)
    };
    let care = Care { headroom: 0.0, ..Care::default() };
    let (mut exceeded, mut promised, mut count) = (0.0, 0.0, 0.0);
    for _ in 0..200 {
        let jobs: Vec<PastJob> = (0..30).map(|_| job("a", PastEnd::Completed, next(), 1.0)).collect();
        let need = advise_on_past(&jobs, None, &care).remove(0).time.unwrap();
        exceeded += (0..70).filter(|_| next() > need.advised).count() as f64;
        promised += 70.0 * need.risk;
        count += 70.0;
    }
    assert!(
        (exceeded / count - promised / count).abs() < 0.01,
        "{} against {}",
        exceeded / count,
        promised / count
    );
}
