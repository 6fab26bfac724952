//! The characterisation as a whole: of a small trace worked out by hand, and of a published log. The log
//! is not part of the project; `HARP_TRACES` names the folder that holds it, and without it that test says
//! so and passes.

// helpers of tests may unwrap as tests do
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;

use harp_trace::summary::{ClassSummary, Collector, Machine, Summary, compare};
use harp_trace::{ReadOptions, visit, visit_path};

fn summary(text: &str, machine: Machine) -> Summary {
    let mut collector = Collector::default();
    let reading =
        visit("t.csv", text.as_bytes(), &ReadOptions::default(), &mut |job| collector.add(job)).unwrap();
    collector.finish(&reading, machine).unwrap()
}

/// Percentages to one place.
fn percents(shares: impl IntoIterator<Item = f64>) -> Vec<String> {
    shares.into_iter().map(|share| format!("{:.1}", 100.0 * share)).collect()
}

const TRACE: &str = "submit,wait,run,processors,requested_time,user,status\n\
    0,0,3600,5,7200,anna,Pass\n\
    100,150,3600,20,3600,anna,Pass\n\
    200,7100,90000,40,172800,bert,Killed\n\
    86400,0,1800,5,3600,anna,Failed\n\
    86500,,,5,3600,anna,\n";

#[test]
fn a_small_trace_worked_out_by_hand() {
    let found = summary(TRACE, Machine { processors: Some(100), gpus: None });
    assert_eq!((found.jobs, found.span_s), (5, 97_300));
    assert_eq!((found.machine.size, found.machine.source), (100, "given"));
    let area = [5.0 * 5400.0, 20.0 * 3600.0, 40.0 * 90_000.0];
    let whole: f64 = area.iter().sum();
    for (class, area) in found.geometry.by_size.iter().zip(area) {
        assert!((class.core_hour_share - area / whole).abs() < 1e-12);
    }
    let jobs = |classes: &[ClassSummary]| classes.iter().map(|class| class.jobs).collect::<Vec<_>>();
    assert_eq!(jobs(&found.geometry.by_size), [3, 1, 1]);
    assert_eq!(jobs(&found.geometry.by_length), [2, 2, 1]);
    assert_eq!(found.geometry.by_size[2].average_wait_h, Some(7100.0 / 3600.0));
    assert_eq!(found.geometry.by_size[0].pass_rate, Some(0.5));
    assert_eq!(
        (found.failures.unknown, found.failures.pass.jobs, found.failures.killed.job_share),
        (1, 2, 0.25)
    );
    assert_eq!(found.geometry.by_hour[0], 5);
    assert_eq!((found.geometry.by_weekday[3], found.geometry.by_weekday[4]), (3, 2));
    let utilisation = whole / (100.0 * 97_300.0);
    assert!((found.geometry.utilisation.unwrap() - utilisation).abs() < 1e-9);
    // anna: groups of 18 000, 72 000 and 9000 processor-seconds; bert: one
    let literal = &found.users.repeated[0];
    assert!((literal.top_1 - (72.0 / 99.0 + 1.0) / 2.0).abs() < 1e-12);
    assert!((literal.top_3 - 1.0).abs() < 1e-12);
    assert_eq!(
        (found.users.largest[0].user.as_str(), found.users.largest[1].user.as_str()),
        ("bert", "anna")
    );
    assert_eq!(found.users.wasted_core_hours, (5.0 * 3600.0 + 40.0 * 82_800.0 + 5.0 * 1800.0) / 3600.0);
    // one job waits when the third is submitted
    assert_eq!(found.users.by_queue.iter().map(|bin| bin.jobs).collect::<Vec<_>>(), [4, 1, 0]);
}

#[test]
fn a_trace_that_does_not_tell_the_machine_says_so() {
    let found = summary(TRACE, Machine::default());
    assert_eq!((found.machine.size, found.machine.source), (40, "largest job"));
    assert!(found.notes[0].contains("t.csv:1:") && found.notes[0].contains("--machine procs=N"));
}

#[test]
fn gpu_systems_count_gpus() {
    let text = "submit,wait,run,processors,gpus,user\n0,0,10,8,1,a\n1,0,10,8,8,a\n2,0,10,64,16,b\n";
    let found = summary(text, Machine::default());
    assert_eq!((found.machine.unit, found.machine.size), ("gpus", 16));
    assert_eq!(found.geometry.by_size.iter().map(|class| class.jobs).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn comparisons_hold_every_trace() {
    let machine = Machine { processors: Some(100), gpus: None };
    let found = compare(&[summary(TRACE, machine), summary(TRACE, Machine::default())]);
    assert_eq!(found.traces.len(), 2);
    assert!(found.figures.iter().all(|figure| figure.values.len() == 2));
    let share = found.figures.iter().find(|figure| figure.figure == "core-hours of large jobs").unwrap();
    assert!(share.values[0].unwrap() < share.values[1].unwrap() + 1e-12);
    assert_eq!(found.takeaways[0].holds.len(), 2);
}

#[test]
fn the_figures_of_mira() {
    let folder = std::env::var_os("HARP_TRACES").unwrap_or_default();
    let path = Path::new(&folder).join("mira_jobs.csv.gz");
    if !path.exists() {
        eprintln!("skipped: set HARP_TRACES to a folder that holds mira_jobs.csv.gz");
        return;
    }
    let mut collector = Collector::default();
    let reading = visit_path(&path, &ReadOptions::default(), &mut |job| collector.add(job)).unwrap();
    let found = collector.finish(&reading, Machine::parse("procs=49152").unwrap()).unwrap();
    let core_hours = |classes: &[ClassSummary]| percents(classes.iter().map(|class| class.core_hour_share));
    assert_eq!(core_hours(&found.geometry.by_size), ["34.1", "46.6", "19.3"]);
    assert_eq!(core_hours(&found.geometry.by_length), ["4.7", "81.2", "14.1"]);
    let waits: Vec<String> =
        found.geometry.by_size.iter().map(|class| format!("{:.1}", class.average_wait_h.unwrap())).collect();
    assert_eq!(waits, ["12.2", "51.0", "42.8"]);
    let failures = &found.failures;
    let ends = [failures.pass, failures.fail, failures.killed].map(|state| state.job_share);
    assert_eq!(percents(ends), ["70.1", "8.9", "21.0"]);
    assert_eq!(percents([failures.pass.core_hour_share]), ["56.9"]);
    let tops: Vec<Vec<String>> =
        found.users.repeated.iter().map(|r| percents([r.top_1, r.top_3, r.top_10])).collect();
    assert_eq!(tops[0], ["60.4", "85.2", "98.0"]);
    assert_eq!(tops[1], ["69.5", "92.3", "99.6"]);
    assert_eq!(tops[2], ["69.3", "92.0", "99.6"]);
}
