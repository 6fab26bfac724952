//! Files with mistakes, and what is said about them.

use harp_core::{Bytes, Money, Policy, Scale, Seconds, Target, Value};
use proptest::prelude::*;

use crate::samples::{FULL, SMALL, said, sound};
use crate::{Command, Domain, Kind, Method, Parallel, Range, Severity, Spacing, parse};

#[test]
fn the_small_file_is_enough() {
    let experiment = sound(SMALL);
    assert_eq!(experiment.name, "euler");
    assert_eq!(experiment.application(), "euler");
    assert_eq!(experiment.scales(), [Scale::Sd, Scale::Fs]);
    assert!(!experiment.program.own_directory);
    assert_eq!(experiment.learn.targets, [Target::Walltime, Target::PeakMemory]);
    assert!(said(SMALL).is_empty());
}

#[test]
fn the_full_file_is_read_wholly() {
    let experiment = sound(FULL);
    assert_eq!(said(FULL), Vec::<String>::new());
    assert_eq!(experiment.application(), "euler@2.1");
    assert!(matches!(&experiment.program.command, Command::Words(words) if words.len() == 4));
    assert!(experiment.program.own_directory);
    let terms = &experiment.parameters[0];
    assert_eq!((terms.name.as_str(), terms.kind), ("terms", Kind::Integer));
    assert_eq!(
        terms.values[&Scale::Sd],
        Domain::Range(Range {
            from: 100.0,
            to: 10_000.0,
            spacing: Spacing::Geometric,
            integer: true,
            count: Some(5)
        })
    );
    assert_eq!(terms.values[&Scale::Fs], Domain::Levels(vec![Value::Integer(100_000)]));
    let digits = experiment.parameters.iter().find(|one| one.name == "digits").unwrap();
    assert_eq!(digits.values[&Scale::Test], Domain::Levels(vec![10.into(), 20.into(), 30.into()]));
    assert_eq!(experiment.resources[&Scale::Sd].memory, [Bytes(1 << 30), Bytes(2 << 30)]);
    assert_eq!(experiment.resources[&Scale::Fs].cores, [2]);
    let (sd, fs, test) =
        (&experiment.designs[&Scale::Sd], &experiment.designs[&Scale::Fs], &experiment.designs[&Scale::Test]);
    assert_eq!(
        (sd.method, sd.runs, sd.budget.time, sd.repetitions),
        (Method::LatinHypercube, Some(12), None, 3)
    );
    assert_eq!((fs.method, fs.runs, fs.budget.time), (Method::Sobol, None, Some(Seconds(3600.0))));
    assert_eq!((fs.timeout, test.timeout), (Some(Seconds(600.0)), Some(Seconds(60.0))));
    assert_eq!((test.method, test.repetitions, fs.budget.cost), (Method::Grid, 1, None::<Money>));
    assert_eq!(experiment.schedule.parallel, Parallel::Auto);
    assert_eq!(experiment.learn.policy, Policy::Cost);
    assert_eq!(experiment.constraints.len(), 3);
}

#[test]
fn everything_wrong_is_told_at_once_with_place_and_way_out() {
    let text = r#"name = "my euler"
[program]
comand = "./euler"
command = "./euler {trems} | tee {n"
[parameters.terms]
type = "integr"
sd = [1, "two"]
[parameters.n]
sd = [1.5]
fs = { from = 5, to = 1 }
[design]
method = "sobal"
timeout = "soon"
[learn]
targets = ["waltime"]
interval = 90
"#;
    assert_eq!(
        said(text),
        [
            "error: harp.toml:1:8: the name \"my euler\" cannot be used for files\n  hint: use letters, digits, `-`, `_` and `.`",
            "error: harp.toml:3:1: there is no key `comand` in [program]\n  hint: did you mean `command`?",
            "error: harp.toml:4:34: `{` opens a placeholder that is never closed\n  hint: braces of your own are written {{ and }}",
            "error: harp.toml:6:8: `type` cannot be \"integr\"\n  hint: did you mean \"integer\"?",
            "error: harp.toml:8:13: the program is never given the parameter `n`\n  hint: write {n} in the command, or  option = \"--n\"",
            "error: harp.toml:10:15: the range ends below its beginning\n  hint: exchange `from` and `to`",
            "error: harp.toml:12:10: `method` cannot be \"sobal\"\n  hint: did you mean \"sobol\"?",
            "error: harp.toml:13:11: `timeout` is a time such as \"90s\", \"10m\", \"1h30m\" or a number of seconds, not the text \"soon\"\n  hint: such as  timeout = \"60s\"",
            "error: harp.toml:15:12: there is no metric `waltime`\n  hint: did you mean \"walltime\"?",
            "error: harp.toml:16:12: `interval` is a number between 0 and 1, not 90\n  hint: such as  interval = 0.9",
        ]
    );
}

/// A file made of the small one and some more lines; gives the message about it.
fn with(lines: &str) -> Vec<String> {
    said(&format!("{SMALL}{lines}\n"))
}

/// The small file with one part replaced.
fn instead(part: &str, other: &str) -> Vec<String> {
    assert!(SMALL.contains(part));
    said(&SMALL.replace(part, other))
}

#[test]
fn single_mistakes() {
    let mut wrong = Vec::new();
    for (found, expected) in [
        (
            instead("fs = [100000]", "[parameters.m]\nfs = [2]"),
            "6:13: the program is never given the parameter `m`",
        ),
        (
            instead("{terms}", "{trems} {terms}"),
            "3:20: there is no parameter `trems`\n  hint: did you mean `terms`?",
        ),
        (
            instead("{terms}", "{terms} {threads}"),
            "3:28: `threads` has no value at scale `sd`\n  hint: add  threads = 1  under [allocation]",
        ),
        (instead("./euler {terms}", "./euler {terms} 'x"), "3:28: the quote ' is never closed"),
        (instead("./euler {terms}", "./euler {terms} > out"), "3:28: `>` is handed to the program as it is"),
        (instead("\"./euler {terms}\"", "[]"), "3:11: the command is empty"),
        (instead("\"./euler {terms}\"", "3"), "3:11: `command` is a text or a list of texts, not 3"),
        (instead("command", "shell = true\ncommand"), ""),
        (with("[parameters.a-b]\nvalues = [1]\noption = '-x'"), "7:13: `a-b` cannot name a parameter"),
        (
            with("[parameters.cores]\nvalues = [1]\noption = '-x'"),
            "7:13: `cores` is a resource, not a parameter",
        ),
        (
            with("[parameters.x]\nexpression = 'terms +'"),
            "8:22: in the expression `terms +`: the expression ends too early",
        ),
        (
            with("[parameters.x]\nexpression = 'tems + 1'"),
            "8:15: there is no parameter `tems`\n  hint: did you mean `terms`?",
        ),
        (
            with("[parameters.x]\nexpression = 'y'\n[parameters.y]\nexpression = 'x'"),
            "7:13: computed in a circle: x, y",
        ),
        (
            with("[parameters.x]\nexpression = 'terms'\nvalues = [1]"),
            "9:10: `x` is computed and has values, too",
        ),
        (
            with("[parameters.x]\nexpression = 'terms > 3'\ntype = 'integer'"),
            "9:8: the expression `terms > 3` gives true or false",
        ),
        (with("constraints = ['terms']"), "7:16: the constraint `terms` gives a number, not true or false"),
        (
            with("constraints = ['terms == \"a\"']"),
            "7:23: in the constraint `terms == \"a\"`: `==` compares a number with a text",
        ),
        (
            with("name = 'x'"),
            "7:1: there is no key `name` in [parameters.<name>]\n  hint: `name` belongs to the top of the file, above the first table",
        ),
        (
            with("timeout = 3"),
            "7:1: there is no key `timeout` in [parameters.<name>]\n  hint: `timeout` belongs under [design]",
        ),
        (
            with("[parameters.x]\noption = '-x'\nsd = [1]"),
            "7:13: parameter `x` has no values for scale `fs`\n  hint: add  fs = [1]  under [parameters.x]",
        ),
        (with("[parameters.x]\noption = '-x'"), "7:13: parameter `x` has no values"),
        (with("[parameters.x]\noption = '-x'\nvalues = []"), "9:10: `values` has no values"),
        (
            with("[parameters.x]\noption = '-x'\nvalues = [1, 'a']"),
            "7:13: the values of `x` are of type integer and of type text",
        ),
        (
            with("[parameters.x]\noption = '-x'\nvalues = [1]\nsd = [2]"),
            "9:10: `x` has `values` for every scale and `sd`, too",
        ),
        (with("[parameters.x]\noption = '-x'\nvalues = [1, 1]"), "9:14: 1 occurs twice"),
        (
            with("[parameters.x]\noption = '-x'\ntype = 'text'\nvalues = [1]"),
            "10:11: `1` is not of type text\n  hint: write it in quotes",
        ),
        (
            with("[parameters.x]\noption = '-x'\nvalues = { from = 1, to = 5 }"),
            "9:10: a grid needs to know how many values `x` has",
        ),
        (
            with(
                "[parameters.x]\noption = '-x'\nvalues = { from = 0, to = 5, count = 2, spacing = 'geometric' }",
            ),
            "9:19: a geometric range begins above 0",
        ),
        (
            with("[parameters.x]\noption = '-x'\nvalues = { from = 0, to = 5, step = 0 }"),
            "9:37: the step gives no values or too many",
        ),
        (
            with("[parameters.x]\noption = '-x'\nvalues = { to = 5, count = 2 }"),
            "9:10: the range has no `from`",
        ),
        (with("[parameters]\nx = 3"), "8:1: `x` is a table of its own\n  hint: write  [parameters.x]"),
        (with("[metrics.m]"), "7:10: nothing says how to find the metric `m`"),
        (with("[metrics.m]\npattern = 'a(b'"), "8:11: not a regular expression: unclosed group"),
        (with("[metrics.m]\npattern = 'a(?<x>b)'"), "8:11: the pattern of `m` has no group called `value`"),
        (with("[metrics.m]\njson = 'a..b'"), "8:8: `a..b` is not a path into JSON: a name is missing"),
        (with("[metrics.m]\njson = 'a'\ncsv = 'b'"), "7:10: the metric `m` is found in more than one way"),
        (with("[metrics.walltime]\njson = 'a'"), "7:10: `walltime` cannot name a metric"),
        (with("[design]\nmethod = 'sobol'"), "8:10: nothing says how many runs there are at scale `fs`"),
        (
            with("[design.fs]\nseed = 3"),
            "8:1: there is no key `seed` in [design.<scale>]\n  hint: `seed` belongs under [design]",
        ),
        (with("[design]\nruns = 1000000000000"), "8:8: more than 100000 runs"),
        (with("[design]\nruns = 0"), "8:8: `runs` is a whole number from 1, not 0"),
        (with("[allocation]\ncores = 0"), "8:9: `cores` is a whole number from 1, or a list of them, not 0"),
        (
            with("[allocation]\nmemory = 'much'"),
            "8:10: `memory` is a size such as \"2G\", or a list of them, not the text \"much\"",
        ),
        (with("[allocation]\nthreads = [1, 2]"), "8:11: nothing tells the program how many threads to use"),
        (with("[program.success]\nexit_code = 256"), "8:13: an exit code is at most 255"),
        (said(""), "1:1: the experiment has no name"),
        (said("name = 'a'\n"), "2:1: the file has no program"),
        (said("name = 'a'\n[program]\n"), "2:2: the program has no command"),
        (said("name = 'a\n"), "1:10: not TOML"),
        (with("[learn]\ntargets = ['memory']"), "hint: did you mean \"peak_memory\"?"),
        (with("[learn]\ntargets = ['Runtime']"), "hint: did you mean \"walltime\"?"),
        (with("[learn.formulas]\nwalltime = 'terms * 2'"), "8:12: the formula `terms * 2` has no component"),
        (
            with("[metrics.m]\njson = 'a'\n[learn.formulas]\nwalltime = 'm ** 2'"),
            "10:12: `**` cannot stand in a formula",
        ),
        (
            with("[metrics.m]\njson = 'a'\n[learn.formulas]\ncpu_time = 'm'"),
            "10:1: `cpu_time` is not learned",
        ),
        (
            with("[metrics.m]\njson = 'a'\n[learn.formulas]\nwalltime = 'm +'"),
            "10:16: in the formula `m +`: the expression ends too early",
        ),
        (with("[learn.formulas]\nwalltime = 3"), "8:12: the formula of `walltime` is a text"),
        (said("program = 3\nname = 'a'\n"), "1:11: `program` is a table, not 3"),
    ] {
        let right = match expected {
            "" => found.is_empty(),
            _ => found.iter().any(|line| line.contains(expected)),
        };
        if !right {
            wrong.push(format!("{expected}\nnot in {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn one_mistake_is_told_once() {
    for found in [
        with("[parameters.x]\nexpression = 'terms +'"),
        with("[parameters.x]\noption = '-x'\nvalues = { to = 5, count = 2 }"),
        with("[parameters.x]\noption = '-x'\ntype = 'integr'\nvalues = [1]"),
        instead("\"./euler {terms}\"", "3"),
        said("name = 3\n[program]\ncommand = 'a'\n"),
        with("[metrics.m]\npattern = 3"),
        instead("sd = [100, 200]", "sd = [100, 200"),
        with("[parameters.x]\nexpression = 'y'\n[parameters.y]\nexpression = 'x'"),
    ] {
        assert_eq!(found.len(), 1, "{found:#?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = parse("harp.toml", &text);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused_with_an_error(
        start in 0usize..FULL.len(), length in 0usize..40,
        patch in prop_oneof![
            Just(String::new()), "[a-z{}\\[\\]=\"'.0-9\n -]{0,12}",
            proptest::sample::select(vec!["\"", "[", "{", "\n[", "99999999999999999999", "-1", "nan", "{{", "\u{0}", "é"])
                .prop_map(str::to_owned),
        ],
    ) {
        let end = (start + length).min(FULL.len());
        let text = format!("{}{patch}{}", &FULL[..start], &FULL[end..]);
        match parse("harp.toml", &text) {
            Ok(_) => {}
            Err(found) => prop_assert!(found.iter().any(|one| one.severity == Severity::Error)),
        }
    }
}
