//! Designs of whole experiments.

use std::collections::BTreeSet;

use harp_core::{Allocation, Configuration, Money, Scale, Seconds, Value};
use proptest::prelude::*;

use super::Surroundings;
use crate::samples::{FULL, sound};

const HEAD: &str = "name = 'a'\n";
const PROGRAM: &str = "[program]\ncommand = './a {n} {m}'\n";

fn chosen(text: &str) -> Vec<Configuration> {
    sound(text).configurations(Scale::Sd, &Surroundings::default()).unwrap()
}

fn refused(text: &str) -> String {
    sound(text).configurations(Scale::Sd, &Surroundings::default()).unwrap_err().to_string()
}

fn numbers(configurations: &[Configuration], name: &str) -> Vec<f64> {
    configurations.iter().map(|one| one.parameters.get(name).unwrap().as_number().unwrap()).collect()
}

#[test]
fn a_grid_has_every_combination_the_constraints_leave() {
    let text = format!(
        "{HEAD}constraints = ['n % cores == 0']\n{PROGRAM}[parameters.n]\nsd = [1, 2, 3]\n[parameters.m]\nsd = ['a', 'b']\n\
         [parameters.square]\nexpression = 'n * n'\n[allocation]\ncores = [1, 2]\n"
    );
    let all = chosen(&text);
    let written: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(
        written,
        [
            "m=a n=1 square=1 on 1 core",
            "m=b n=1 square=1 on 1 core",
            "m=a n=2 square=4 on 1 core",
            "m=a n=2 square=4 on 2 cores",
            "m=b n=2 square=4 on 1 core",
            "m=b n=2 square=4 on 2 cores",
            "m=a n=3 square=9 on 1 core",
            "m=b n=3 square=9 on 1 core",
        ]
    );
    let some = chosen(&format!("{text}[design]\nruns = 3\n"));
    assert_eq!(some.len(), 3);
    assert!(some.iter().all(|one| all.contains(one)));
}

#[test]
fn sizes_of_files_are_parameters() {
    let text = "name = 'sort'\nconstraints = ['data_bytes > 1']\n[program]\ncommand = './sort {data} {data_bytes} {k}'\n\
                directory = 'work'\n[parameters.data]\ntype = 'file'\nvalues = ['a', 'bb', 'ccc']\n\
                [parameters.k]\nexpression = 'data_bytes * 2'\n";
    let experiment = sound(text);
    let known = Surroundings {
        file_size: &|path| path.to_str()?.strip_prefix("work/").map(|name| name.len() as u64),
        ..Surroundings::default()
    };
    let found = experiment.configurations(Scale::Sd, &known).unwrap();
    assert_eq!(numbers(&found, "data_bytes"), [2.0, 3.0]);
    assert_eq!(numbers(&found, "k"), [4.0, 6.0]);
    let missing = experiment.configurations(Scale::Sd, &Surroundings::default()).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "error: harp.toml:6:13: the file `work/a` does not exist\n  hint: paths are relative to `directory`"
    );
}

#[test]
fn a_named_case_gets_the_features_of_a_run() {
    let text = "name = 'a'\nconstraints = ['n % threads == 0']\n[program]\ncommand = './a {n} {threads} {data}'\n\
                [parameters.n]\nsd = [2]\n[parameters.data]\ntype = 'file'\nvalues = ['x']\n\
                [parameters.cells]\nexpression = 'n * n * threads + data_bytes'\n[allocation]\nthreads = [1, 2]\n";
    let experiment = sound(text);
    let known = Surroundings { file_size: &|_| Some(5), ..Surroundings::default() };
    let case = |n: i64, threads| {
        let parameters = [("n", Value::Integer(n)), ("data", Value::from("x"))].into_iter().collect();
        let allocation = Allocation { threads, ..Allocation::default() };
        experiment.complete(Scale::Test, parameters, allocation, &known)
    };
    let even = case(4, Some(2)).unwrap();
    assert_eq!(even.parameters.to_string(), "cells=37 data=x data_bytes=5 n=4");
    assert!(experiment.admits(&even).unwrap());
    assert!(!experiment.admits(&case(5, Some(2)).unwrap()).unwrap());
    let error = case(4, None).unwrap_err();
    assert_eq!(error.message, "computing `cells` with data=x data_bytes=5 n=4: `threads` has no value");
}

#[test]
fn nobody_waits_for_a_plan_nobody_can_run() {
    let text = "name = 'a'\n[program]\ncommand = './a {n}'\n[parameters.n]\nsd = { from = 1, to = 1000, count = 1000 }\n\
                [design]\nmethod = 'grid'\nrepetitions = 4000000000\n";
    let error = sound(text).plan(&[Scale::Sd], &Surroundings::default()).unwrap_err();
    assert_eq!(error.message, "there are 4000000000000 runs at scale `sd`");
}

#[test]
fn a_latin_hypercube_takes_every_slice_once() {
    let text = format!(
        "{HEAD}{PROGRAM}[parameters.n]\nsd = {{ from = 1, to = 1000 }}\n[parameters.m]\nsd = {{ from = 0.0, to = 1.0 }}\n\
         [design]\nmethod = 'latin-hypercube'\nruns = 20\nseed = 5\n"
    );
    let found = chosen(&text);
    assert_eq!(found.len(), 20);
    for (name, slice) in [("n", 50.0), ("m", 0.05)] {
        let offset = f64::from(u8::from(name == "n"));
        let slices: BTreeSet<u64> =
            numbers(&found, name).iter().map(|number| ((number - offset) / slice) as u64).collect();
        assert_eq!(slices.len(), 20, "{name}");
    }
}

#[test]
fn draws_find_all_there_is_and_say_so_when_there_is_nothing() {
    for method in ["random", "latin-hypercube", "sobol"] {
        let few = format!(
            "{HEAD}constraints = ['n * m == 36']\n{PROGRAM}[parameters.n]\nsd = {{ from = 1, to = 100 }}\n\
             [parameters.m]\nsd = {{ from = 1, to = 100 }}\n[design]\nmethod = '{method}'\nruns = 9\n"
        );
        let found = chosen(&few);
        assert_eq!(found.len(), 9, "{method}");
        assert!(found.iter().all(|one| one.parameters.get("n") != Some(&Value::Integer(5))));
        let more = sound(&few.replace("runs = 9", "runs = 20"));
        let plan = more.plan(&[Scale::Sd], &Surroundings::default()).unwrap();
        assert_eq!(plan.notes, ["sd: 9 combinations, fewer than the 20 asked for"]);
        assert_eq!(
            refused(&few.replace("== 36", "== -1")),
            "error: harp.toml:2:16: no combination at scale `sd` satisfies the constraints; `n * m == -1` excludes most\n  \
             hint: widen the values or loosen the constraint"
        );
    }
}

#[test]
fn what_has_no_value_is_an_error_with_a_place() {
    let text = format!("{HEAD}{PROGRAM}[parameters.n]\nsd = [0]\n[parameters.m]\nexpression = '1 / n'\n");
    assert!(refused(&text).starts_with("error: harp.toml:6:13: computing `m` with n=0: division by zero"));
    let text = format!(
        "{HEAD}{PROGRAM}[parameters.n]\nsd = [3]\n[parameters.m]\ntype = 'integer'\nexpression = 'n / 2'\n"
    );
    assert!(refused(&text).contains("computing `m` with n=3: 1.5 is not whole"));
    let text = format!(
        "{HEAD}{PROGRAM}[parameters.n]\nsd = {{ from = 1, to = 1000, step = 1 }}\n\
         [parameters.m]\nsd = {{ from = 1, to = 1000, step = 1 }}\n[design]\nmethod = 'grid'\n"
    );
    assert!(
        refused(&text).starts_with("error: harp.toml:9:10: the grid at scale `sd` has 1000000 combinations")
    );
}

#[test]
fn budgets_are_kept() {
    let text = |method: &str| {
        format!(
            "{HEAD}{PROGRAM}[parameters.n]\nsd = {{ from = 1, to = 100, count = 100 }}\n[parameters.m]\nsd = [1, 2, 3]\n\
             [design]\nmethod = '{method}'\nrepetitions = 2\nbudget_time = 1000\nbudget_cost = 5.0\n"
        )
    };
    let time = |one: &Configuration| one.parameters.get("n").unwrap().as_number().unwrap();
    let known = Surroundings {
        expected_time: &|one| Some(Seconds(time(one))),
        expected_cost: &|_| Some(Money(0.01)),
        ..Surroundings::default()
    };
    for method in ["grid", "random", "latin-hypercube", "sobol"] {
        let experiment = sound(&text(method));
        let found = experiment.configurations(Scale::Sd, &known).unwrap();
        let total: f64 = found.iter().map(|one| 2.0 * time(one)).sum();
        assert!((700.0..=1000.0).contains(&total), "{method}: {total}");
        let poor = Surroundings { expected_time: &|_| Some(Seconds(501.0)), ..known };
        let error = experiment.configurations(Scale::Sd, &poor).unwrap_err();
        assert!(error.message.contains("does not pay for a single run"), "{error}");
        let unknown = experiment.configurations(Scale::Sd, &Surroundings::default()).unwrap_err();
        assert!(unknown.message.contains("nothing is known of how long"), "{unknown}");
        let with_timeout = sound(&text(method).replace("budget_cost = 5.0", "timeout = 50"));
        let found = with_timeout.configurations(Scale::Sd, &Surroundings::default()).unwrap();
        assert_eq!(found.len(), 10, "{method}");
    }
}

#[test]
fn plans_go_scale_after_scale_and_warn_of_known_cases() {
    let text = "name = 'a'\n[program]\ncommand = './a {n}'\n[parameters.n]\nsd = [1, 2, 3]\nfs = [10, 20]\ntest = [20, 30]\n\
                [design]\nrepetitions = 2\n";
    let experiment = sound(text);
    let plan = experiment.plan(&experiment.scales(), &Surroundings::default()).unwrap();
    let scales: Vec<Scale> = plan.runs.iter().map(|run| run.configuration.scale).collect();
    assert_eq!(scales.len(), 14);
    assert!(scales.is_sorted());
    assert_eq!(plan.notes, ["test: 1 of 2 cases are also run at scale fs, so predicting them proves little"]);
    let reversed = experiment.plan(&[Scale::Test, Scale::Sd], &Surroundings::default()).unwrap();
    assert_eq!(reversed.runs[0].configuration.scale, Scale::Test);
    assert_eq!(plan, experiment.plan(&experiment.scales(), &Surroundings::default()).unwrap());
}

#[test]
fn scales_can_be_mixed() {
    let text = |order: &str| {
        format!(
            "name = 'a'\n[program]\ncommand = \"true {{n}}\"\n[parameters.n]\nsd = [1, 2, 3, 4, 5, 6, 7, 8]\nfs = [10, 20, 30, 40, 50, 60]\n[design]\nrepetitions = 2\norder = \"{order}\"\n[design.fs]\nrepetitions = 1\n"
        )
    };
    let scales = |order: &str| -> Vec<Scale> {
        let experiment = sound(&text(order));
        let plan = experiment.plan(&experiment.scales(), &Surroundings::default()).unwrap();
        plan.runs.iter().map(|run| run.configuration.scale).collect()
    };
    let changes = |scales: &[Scale]| scales.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let (apart, mixed) = (scales("by-scale"), scales("mixed"));
    assert_eq!((apart.len(), changes(&apart)), (22, 1));
    assert_eq!(mixed.len(), 22);
    assert!(changes(&mixed) > 3, "{mixed:?}");
    // All runs are there, and the first round has every configuration once.
    let count = |scales: &[Scale], scale: Scale| scales.iter().filter(|other| **other == scale).count();
    assert_eq!((count(&mixed, Scale::Sd), count(&mixed, Scale::Fs)), (16, 6));
    assert_eq!(count(&mixed[..14], Scale::Fs), 6);
}

#[test]
fn sweeps_stay_the_same_from_version_to_version() {
    let text = format!(
        "{HEAD}{PROGRAM}[parameters.n]\nsd = {{ from = 1, to = 1000, spacing = 'geometric' }}\n\
         [parameters.m]\nsd = ['a', 'b']\n[design]\nmethod = 'sobol'\nruns = 4\nseed = 1\n"
    );
    let written: Vec<String> = chosen(&text).iter().map(ToString::to_string).collect();
    // Written down on purpose: a change here makes every started sweep begin anew.
    assert_eq!(written, ["m=a n=649", "m=b n=20", "m=a n=3", "m=b n=115"]);
}

#[test]
fn the_full_file_can_be_planned() {
    let experiment = sound(FULL);
    let known = Surroundings {
        file_size: &|_| Some(1000),
        expected_time: &|_| Some(Seconds(10.0)),
        expected_cost: &|_| Some(Money(0.1)),
    };
    let plan = experiment.plan(&experiment.scales(), &known).unwrap();
    let count = |scale| plan.runs.iter().filter(|run| run.configuration.scale == scale).count();
    assert_eq!((count(Scale::Sd), count(Scale::Test)), (36, 4));
    assert_eq!(count(Scale::Fs), 3 * 96);
}

proptest! {
    #[test]
    fn every_design_keeps_its_promises(
        method in proptest::sample::select(vec!["grid", "random", "latin-hypercube", "sobol"]),
        runs in 1usize..30, seed in 0u32..1000, low in 1i64..50, width in 0i64..50, geometric: bool,
    ) {
        let spacing = if geometric { "geometric" } else { "linear" };
        let text = format!(
            "{HEAD}constraints = ['n % 2 == 0 or m > 0.5']\n{PROGRAM}\
             [parameters.n]\nsd = {{ from = {low}, to = {}, count = 6, spacing = '{spacing}' }}\n\
             [parameters.m]\ntype = 'real'\nsd = {{ from = 0, to = 1, count = 4 }}\n\
             [allocation]\ncores = [1, 2]\n[design]\nmethod = '{method}'\nruns = {runs}\nseed = {seed}\n",
            low + width,
        );
        let found = chosen(&text);
        prop_assert_eq!(&found, &chosen(&text));
        prop_assert!(!found.is_empty() && found.len() <= runs);
        prop_assert!(method == "grid" || found.len() == runs);
        let keys: BTreeSet<_> = found.iter().map(Configuration::key).collect();
        prop_assert_eq!(keys.len(), found.len());
        for (n, m) in numbers(&found, "n").into_iter().zip(numbers(&found, "m")) {
            prop_assert!(n >= low as f64 && n <= (low + width) as f64 && (0.0..=1.0).contains(&m));
            prop_assert!(n % 2.0 == 0.0 || m > 0.5);
        }
    }
}
