//! `harp trace` as a person calls it.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should stop

mod support;

use std::fs;

use support::trace::{TRACE, folder, said};

#[test]
fn a_summary_counts_what_is_in_the_trace() {
    let directory = folder(TRACE);
    let here = directory.path();
    let answer = support::json(here, &["trace", "summary", "t.swf", "--json"]);
    assert_eq!(answer["jobs"], 4);
    assert_eq!(answer["machine"]["size"], 4);
    assert_eq!(answer["failures"]["pass"]["job_share"], 0.5);
    assert_eq!(answer["failures"]["killed"]["jobs"], 1);
    assert_eq!(answer["users"]["count"], 2);
    assert_eq!(answer["geometry"]["by_size"][2]["jobs"], 2);
    let larger = support::json(here, &["trace", "summary", "t.swf", "--machine", "procs=40", "--json"]);
    assert_eq!(larger["geometry"]["by_size"][0]["jobs"], 3, "{larger:#}");
    let text = support::stdout(here, &["trace", "summary", "t.swf"]);
    assert!(text.contains("4 jobs of 2 users") && text.contains("How jobs ended"), "{text}");
}

#[test]
fn hours_are_told_in_the_zone_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    // one job of summer, one of winter, both at half past noon by the clock on the wall
    let rows = "submit,run,processors\n2024-07-01T12:30:00,60,1\n2024-12-02 12:30:00,60,1\n";
    fs::write(here.join("t.csv"), rows).unwrap();
    let summary =
        |more: &[&str]| support::json(here, &[&["trace", "summary", "t.csv", "--json"], more].concat());
    let first = |answer: &serde_json::Value| answer["geometry"]["first_submit"].as_i64().unwrap();
    let universal = summary(&[]);
    assert_eq!((first(&universal), &universal["time_zone"]), (1_719_837_000, &"UTC".into()));
    let berlin = summary(&["--timezone", "Europe/Berlin"]);
    assert_eq!((first(&berlin), &berlin["time_zone"]), (1_719_837_000 - 7200, &"Europe/Berlin".into()));
    assert_eq!(berlin["geometry"]["by_hour"][12], 2);
    let west = summary(&["--timezone", "-05:00"]);
    assert_eq!((first(&west), &west["geometry"]["by_hour"][12]), (1_719_837_000 + 18_000, &2.into()));
    assert!(said(here, &["trace", "summary", "t.csv", "--timezone", "Mars"], 2).contains("Europe/Berlin"));
    // the header of an SWF trace names its own
    let header = "; UnixStartTime: 1719837000\n; TimeZoneString: Europe/Stockholm\n";
    fs::write(here.join("t.swf"), format!("{header}{TRACE}")).unwrap();
    let answer = support::json(here, &["trace", "summary", "t.swf", "--json"]);
    assert_eq!(
        (&answer["time_zone"], &answer["geometry"]["by_hour"][14]),
        (&"Europe/Stockholm".into(), &4.into())
    );
    fs::write(here.join("odd.swf"), format!("{}{TRACE}", header.replace("Europe/", "our "))).unwrap();
    assert!(
        said(here, &["trace", "summary", "odd.swf"], 0).contains("time zone `our Stockholm` is not known")
    );
    fs::write(here.join("undated.swf"), TRACE).unwrap();
    let undated = support::json(here, &["trace", "summary", "undated.swf", "--json"]);
    assert!(undated["time_zone"].is_null());
}

#[test]
fn waits_that_cannot_be_are_told() {
    // Two jobs of three processors at once on four.
    let directory = folder(&TRACE.replace("2 10 90 50 4 -1 -1 4", "2 10 20 50 3 -1 -1 3"));
    let here = directory.path();
    let notes = |arguments: &[&str]| support::json(here, arguments)["notes"].to_string();
    let impossible = notes(&["trace", "summary", "t.swf", "--json"]);
    assert!(impossible.contains("of 4 processors are in use at once"), "{impossible}");
    assert!(said(here, &["trace", "summary", "t.swf"], 0).contains("note: by the trace's own waits"));
    assert_eq!(notes(&["trace", "summary", "t.swf", "--machine", "procs=7", "--json"]), "[]");
}

#[test]
fn the_page_of_a_summary_is_whole_and_safe() {
    let directory = folder(TRACE);
    let here = directory.path();
    fs::write(here.join("<b>&.swf"), TRACE).unwrap();
    let told = said(here, &["trace", "summary", "<b>&.swf", "--html", "page.html"], 0);
    assert!(told.contains("wrote page.html"), "{told}");
    let page = fs::read_to_string(here.join("page.html")).unwrap();
    for expected in [
        "How long jobs run and wait",
        "Submissions by hour of the day",
        "Utilisation over time",
        "Who uses the machine",
        "How jobs end",
        "Users repeat themselves",
        "What follows",
        "</html>",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    for forbidden in ["<b>", "<script", "<link", "src=", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn traces_survive_conversion_there_and_back() {
    let directory = folder(TRACE);
    let here = directory.path();
    for (from, to) in [("t.swf", "a.csv"), ("a.csv", "b.jsonl.gz"), ("b.jsonl.gz", "c.swf")] {
        support::run(here, &["trace", "convert", from, "--output", to], 0);
    }
    let jobs = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with(';')).map(str::to_owned).collect()
    };
    assert_eq!(jobs(&fs::read_to_string(here.join("c.swf")).unwrap()), jobs(TRACE));
    assert_eq!(fs::read(here.join("b.jsonl.gz")).unwrap()[..2], [0x1f, 0x8b]);
    assert_eq!(support::stdout(here, &["trace", "convert", "t.swf"]), TRACE);
    // In its own place.
    support::run(here, &["trace", "anonymise", "t.swf", "--output", "t.swf"], 0);
    let anonymous = fs::read_to_string(here.join("t.swf")).unwrap();
    assert!(anonymous.contains("\n1 0 0 100 3 -1 -1 3 100 -1 1 1 1 "), "{anonymous}");
    let said = said(here, &["trace", "convert", "c.swf", "--output", "c.txt"], 2);
    assert!(said.contains("--to swf|csv|jsonl") && !here.join("c.txt").exists(), "{said}");
    support::run(here, &["trace", "convert", "c.swf", "--to", "sacct"], 2);
}

#[test]
fn made_up_traces_repeat_with_their_seed() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let generate = |seed: &str| {
        support::stdout(here, &["trace", "generate", "--jobs", "300", "--procs", "64", "--seed", seed])
    };
    assert_eq!(generate("1"), generate("1"));
    assert_ne!(generate("1"), generate("2"));
    fs::write(here.join("a.swf"), generate("1")).unwrap();
    fs::write(here.join("b.swf"), generate("2")).unwrap();
    let compared = support::json(here, &["trace", "compare", "a.swf", "b.swf", "--json"]);
    assert_eq!(compared["figures"][0]["values"], serde_json::json!([300.0, 300.0]));
    let text = support::stdout(here, &["trace", "compare", "a.swf", "b.swf"]);
    assert!(text.contains("a.swf") && text.contains("median run time"), "{text}");
    let text = support::stdout(here, &["trace", "predict", "a.swf", "--at", "1/4"]);
    assert!(text.contains("boosted-elapsed"), "{text}");
    support::run(here, &["trace", "compare", "a.swf"], 2);
    support::run(here, &["trace", "compare", "a.swf", "b.swf", "--machine", "procs=9"], 2);
}

#[test]
fn lines_that_cannot_be_used_are_listed_and_strict_is_exit_7() {
    let directory = folder(&format!("{TRACE}5 70 what\n6 80\n"));
    let here = directory.path();
    for command in [
        &["trace", "summary", "t.swf"][..],
        &["trace", "convert", "t.swf", "--output", "o.csv"],
        &["trace", "predict", "t.swf"],
        &["simulate", "t.swf"],
    ] {
        let loud = said(here, command, 0);
        assert!(loud.contains("t.swf:6: ") && loud.contains("t.swf:7: "), "{command:?}: {loud}");
        assert!(loud.contains("skipped 2 of 7 lines"), "{command:?}: {loud}");
        let strict = said(here, &[command, &["--strict"]].concat(), 7);
        assert!(strict.contains("error: t.swf:6: 2 lines could not be used"), "{command:?}: {strict}");
    }
    let answer = support::json(here, &["simulate", "t.swf", "--json"]);
    assert_eq!(answer["skipped"]["lines"][1]["line"], 7);
    support::run(folder(TRACE).path(), &["trace", "summary", "t.swf", "--strict"], 0);
}

#[test]
fn bad_input_is_named_with_its_line_and_a_way_out() {
    let directory = folder(TRACE);
    let here = directory.path();
    fs::write(here.join("empty.swf"), "").unwrap();
    fs::write(here.join("binary.swf"), b"; hello\n\x00\x01\x02").unwrap();
    fs::write(here.join("bare.swf"), TRACE.replace("; MaxProcs: 4\n", "")).unwrap();
    fs::write(here.join("story.txt"), "once upon a time\n").unwrap();
    fs::write(here.join("t.csv"), "when,run,procs\n1,2,3\n").unwrap();
    for (arguments, expected) in [
        (&["trace", "summary", "empty.swf"][..], "error: empty.swf:1: the file is empty"),
        (&["simulate", "empty.swf"], "error: empty.swf:1: the file is empty"),
        (&["trace", "summary", "binary.swf"], "error: binary.swf:2: byte 8 is not text"),
        (&["simulate", "bare.swf"], "error: bare.swf:1: the trace has no MaxProcs header"),
        (&["simulate", "t.swf", "--procs", "3"], "error: t.swf:3: job 2 asks for 4 processors"),
        (&["trace", "summary", "story.txt"], "error: story.txt:1: not a known kind of trace"),
        (&["trace", "summary", "t.csv"], "error: t.csv:1: no column holds the submit time"),
    ] {
        let said = said(here, arguments, 2);
        assert!(said.starts_with(expected) && said.contains("hint: "), "{arguments:?}: {said}");
    }
    assert!(said(here, &["simulate", "t.swf", "--policy", "fifo"], 2).contains("`fifo` is not a policy"));
    assert!(said(here, &["simulate", "t.swf", "--estimates", "x"], 2).contains("last2"));
    said(here, &["trace", "summary", "absent.swf"], 2);
    let dropped = ["simulate", "t.swf", "--procs", "3", "--drop-oversized", "--json"];
    assert_eq!(support::json(here, &dropped)["changes"]["oversized"], 1);
    let mapped = ["trace", "summary", "t.csv", "--columns", "submit=when", "--json"];
    assert_eq!(support::json(here, &mapped)["jobs"], 1);
}
