use super::*;
use harp_core::{Bytes, Outcome, Scale, Value};
use harp_slurm::read_accounting;

const TEXT: &str = include_str!("../../../slurm/samples/sacct.txt");

const RULES: &str = r#"
[[rule]]
application = "lulesh"
pattern = 'lulesh_s(?<size>\d+)_i(?<iterations>\d+)'

[[rule]]
from = "submit_line"
pattern = '--comment n=(?<n>\d+) method=(?<method>\w+) .*(?<application>sleep)'
scale = "sd"
"#;

/// The jobs of the sample, read beside.
fn jobs() -> Vec<AccountedJob> {
    let mut jobs = Vec::new();
    let zone = jiff::tz::TimeZone::UTC;
    read_beside("sample", TEXT.as_bytes(), &zone, &mut |job| jobs.push(job)).unwrap();
    let mut plain = Vec::new();
    read_accounting("sample", TEXT.as_bytes(), &zone, &mut |job| plain.push(job)).unwrap();
    assert_eq!(jobs, plain, "in the same order");
    jobs
}

fn import(store: &mut Store, rules: &Rules, jobs: &[AccountedJob]) -> Imported {
    let mut importer = Importer::new(store, rules).unwrap();
    for job in jobs {
        importer.add(job, None).unwrap();
    }
    importer.finish().unwrap()
}

#[test]
fn jobs_become_runs_once_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("h.sqlite")).unwrap();
    let rules = Rules::parse("rules.toml", RULES).unwrap();
    let mut jobs = jobs();
    let first = import(&mut store, &rules, &jobs);
    assert_eq!(first.jobs, jobs.len() as u64);
    assert_eq!(first.new, first.jobs - first.unfinished - first.never_started);
    assert_eq!((first.changed, first.unchanged, first.heterogeneous), (0, 0, 1));
    let again = import(&mut store, &rules, &jobs);
    assert_eq!((again.new, again.changed, again.unchanged), (0, 0, first.new));
    // after a controller's restart accounting says something else of the same job
    let cancelled = jobs.iter_mut().find(|job| job.id.job == 13).unwrap();
    cancelled.elapsed = Some(harp_core::Seconds(10.0));
    let third = import(&mut store, &rules, &jobs);
    assert_eq!((third.new, third.changed, third.unchanged), (0, 1, first.new - 1));
    assert_eq!(store.runs(None).unwrap().len() as u64, first.new);
}

/// A batch of runs is no application; where somebody's rule speaks of it, it is what the rule says.
#[test]
fn jobs_harp_submitted_elsewhere_are_left_to_the_history_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("h.sqlite")).unwrap();
    let mut job = jobs().into_iter().find(|job| job.id.job == 4).unwrap();
    job.name = Some("harp-heat-0123456789abcdef".into());
    let imported = import(&mut store, &Rules::default(), std::slice::from_ref(&job));
    assert_eq!((imported.own, imported.new), (1, 0));
    let rules = "[[rule]]\npattern = 'harp-(?<application>heat)-'";
    let imported = import(&mut store, &Rules::parse("rules.toml", rules).unwrap(), &[job]);
    assert_eq!((imported.own, imported.new, imported.recognised), (0, 1, 1));
}

#[test]
fn rules_recover_application_and_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("h.sqlite")).unwrap();
    let rules = Rules::parse("rules.toml", RULES).unwrap();
    let mut job = jobs().into_iter().find(|job| job.id.job == 4).unwrap();
    job.name = Some("lulesh_s30_i100".into());
    let mut plain = job.clone();
    (plain.name, plain.submit) = (Some("lulesh".into()), Some(1));
    let mut other = job.clone();
    (other.name, other.submit) = (Some("else".into()), Some(2));
    let imported = import(&mut store, &rules, &[job, plain, other]);
    assert_eq!((imported.new, imported.recognised, imported.left_out), (2, 1, 1));
    assert_eq!(imported.applications, [("else".to_owned(), 1), ("lulesh".to_owned(), 1)]);
    let run = &store.runs(Some("lulesh")).unwrap()[0].run;
    assert_eq!(run.configuration.parameters.0["size"], Value::Integer(30));
    assert_eq!(run.configuration.scale, Scale::Fs);
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(run.usage.peak_memory, Some(Bytes((429_892 + 10_808) << 10)));
    assert_eq!(run.configuration.allocation.memory, Some(Bytes(900 << 20)));
    assert!(run.metrics.contains_key("queue_wait") && !run.metrics.contains_key("requested_time"));
}

#[test]
fn an_import_without_rules_does_not_undo_what_rules_recovered_and_a_look_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.sqlite");
    let rules = Rules::parse("rules.toml", RULES).unwrap();
    let look = |rules: &Rules| {
        let mut store = Store::open_for_reading(&path).unwrap();
        let mut importer = Importer::looking(&mut store, rules);
        jobs().iter().for_each(|job| drop(importer.add(job, None).unwrap()));
        importer.finish().unwrap()
    };
    let mut store = Store::open(&path).unwrap();
    let wanted = look(&rules).new;
    let first = import(&mut store, &rules, &jobs());
    assert!(first.recognised > 0 && first.new == wanted);
    let looked = look(&Rules::default());
    let again = import(&mut store, &Rules::default(), &jobs());
    assert_eq!((again.new, again.changed, again.kept), (0, 0, first.recognised));
    assert_eq!((looked.new, looked.changed, looked.kept), (0, 0, first.recognised));
    let restored = import(&mut store, &rules, &jobs());
    assert_eq!((restored.new, restored.changed, restored.unchanged), (0, 0, first.new));
}

#[test]
fn the_same_configuration_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.sqlite");
    let job = jobs().into_iter().find(|job| job.id.job == 4).unwrap();
    for submit in [1, 2] {
        let mut store = Store::open(&path).unwrap();
        let mut job = job.clone();
        job.submit = Some(submit);
        assert_eq!(import(&mut store, &Rules::default(), &[job]).new, 1);
    }
    let store = Store::open(&path).unwrap();
    let repetitions: Vec<u32> =
        store.runs(None).unwrap().iter().map(|recorded| recorded.run.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
}

#[test]
fn mistakes_in_rules_have_a_place() {
    for (text, message) in [
        (
            "[[rule]]\npattern = '('\napplication = 'a'",
            "rules.toml:2:11: the pattern is wrong: unclosed group",
        ),
        ("[[rule]]\npattern = 'a'", "rules.toml:2:11: the rule does not say which application it is"),
        ("[[rule]]\npattern = 'a'\napplication = ' '", "rules.toml:3:15: the application has no name"),
        ("[[rule]]\npatern = 'a'", "rules.toml:2:1: unknown field `patern`"),
        ("[[rule]]\npattern = 'a'\napplication = 'a'\nscale = 'x'", "rules.toml:4:9: "),
    ] {
        let error = Rules::parse("rules.toml", text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn a_guess_names_what_recurs_and_is_a_rule() {
    let mut guesser = Guesser::default();
    let template = jobs().into_iter().find(|job| job.id.job == 4).unwrap();
    for name in ["lulesh_s30_i100", "lulesh_s40_i100", "lulesh_s50_i200", "once_1", "plain", "plain"] {
        let mut job = template.clone();
        job.name = Some(name.into());
        guesser.look(&job);
    }
    let guesses = guesser.guesses();
    assert_eq!(guesses.len(), 1, "{guesses:?}");
    assert_eq!((guesses[0].application.as_str(), guesses[0].jobs), ("lulesh", 3));
    assert!(Rules::parse("guess.toml", &guesses[0].to_toml()).is_ok());
}

#[test]
fn a_history_of_the_first_format_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.sqlite");
    drop(Store::open(&path).unwrap());
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(
        "DROP TABLE submitted_runs; DROP TABLE submissions; DROP INDEX one_origin; \
         ALTER TABLE runs DROP COLUMN origin; PRAGMA user_version = 1",
    )
    .unwrap();
    drop(old);
    let mut store = Store::open(&path).unwrap();
    assert!(import(&mut store, &Rules::default(), &jobs()).new > 10);
}

#[test]
fn an_array_that_looked_like_one_job_is_its_tasks_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("h.sqlite")).unwrap();
    let tasks: Vec<AccountedJob> = jobs().into_iter().filter(|job| job.id.job == 8).collect();
    assert_eq!(tasks.len(), 4);
    // what accounting shows in the first seconds: the last task under the array's own number
    let mut early = tasks[3].clone();
    early.id.part = harp_slurm::Part::Whole;
    assert_eq!(import(&mut store, &Rules::default(), &[early]).new, 1);
    assert_eq!(import(&mut store, &Rules::default(), &tasks).new, 4);
    assert_eq!(store.runs(None).unwrap().len(), 4);
}
