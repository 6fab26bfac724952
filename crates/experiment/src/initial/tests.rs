//! First files are right as they are written.

use std::path::Path;

use harp_core::{Scale, Value};
use proptest::prelude::*;

use super::init_from_command;
use crate::samples::{said, sound};
use crate::schema::tests::assert_fits;
use crate::{Domain, Execute, Experiment, Kind, Place, Surroundings};

fn initial(line: &str) -> (String, Experiment) {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let text = filled_in(&words);
    assert_eq!(said(&text), Vec::<String>::new(), "{text}");
    assert_fits(&text);
    let experiment = sound(&text);
    (text, experiment)
}

/// The file for a command whose words that end with `.dat` are files, with other files filled in.
fn filled_in(words: &[String]) -> String {
    let is_file = |path: &Path| path.extension().is_some_and(|end| end == "dat");
    init_from_command(words, &is_file)
        .toml_text
        .replace("\nsd = []", "\nsd = ['s']")
        .replace("\nfs = []", "\nfs = ['f']")
}

#[test]
fn a_file_waits_for_smaller_ones_at_a_place_that_is_named() {
    let words: Vec<String> = ["./app", "--size", "100", "--in", "data.bin"].map(str::to_owned).to_vec();
    let initial = init_from_command(&words, &|path| path == Path::new("data.bin"));
    let text = initial.toml_text;
    assert_eq!(initial.warnings, Vec::<String>::new());
    assert_eq!(
        initial.to_fill_in,
        ["[parameters.in]: name smaller files under `sd` and `fs`, to learn from"]
    );
    assert!(text.contains("test = [\"data.bin\"]"), "{text}");
    let line = |start: &str| text.lines().position(|line| line.starts_with(start)).unwrap() + 1;
    let reported = said(&text);
    assert_eq!(reported.len(), 2, "{reported:?}");
    for (reported, scale) in reported.iter().zip(["sd", "fs"]) {
        let place = format!("error: harp.toml:{}:6: `{scale}` has no values", line(&format!("{scale} = []")));
        assert!(reported.starts_with(&place), "{reported}");
    }
    let same = text
        .replace("sd = []", "")
        .replace("fs = []", "")
        .replace("test = [\"data.bin\"]", "values = ['data.bin']");
    assert_eq!(said(&same), Vec::<String>::new(), "{same}");
}

fn parameter(experiment: &Experiment, name: &str) -> (Kind, Vec<Value>) {
    let parameter = experiment.parameters.iter().find(|one| one.name == name).unwrap();
    match parameter.values.get(&Scale::Fs).or(parameter.values.get(&Scale::Sd)) {
        Some(Domain::Levels(levels)) => (parameter.kind, levels.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_files_and_texts_become_parameters() {
    let (text, experiment) =
        initial("./app --size 100000 input.dat --mode quick -k3 --tolerance=0.5 train --fast");
    assert!(text.contains("command = \"./app --size {size} {input} --mode {mode} -k{k} --tolerance={tolerance} train --fast\""), "{text}");
    assert_eq!(experiment.name, "app");
    assert_eq!(parameter(&experiment, "size"), (Kind::Integer, vec![Value::Integer(50_000)]));
    assert!(text.contains("test = [100000]"), "{text}");
    assert_eq!(parameter(&experiment, "input"), (Kind::File, vec!["f".into()]));
    assert!(text.contains("test = [\"input.dat\"]"), "{text}");
    assert_eq!(parameter(&experiment, "mode"), (Kind::Text, vec!["quick".into()]));
    assert_eq!(parameter(&experiment, "k"), (Kind::Integer, vec![Value::Integer(3)]));
    assert_eq!(parameter(&experiment, "tolerance"), (Kind::Real, vec![Value::Real(0.5)]));
    assert!(text.contains("sd = { from = 2000, to = 20000, count = 5, spacing = \"geometric\" }"));
    assert_eq!(experiment.scales(), Scale::ALL);
}

#[test]
fn threads_are_a_resource_and_scripts_give_the_name() {
    let (text, experiment) = initial("python3 train.py --threads 4 1000 2000 --memory 64");
    assert_eq!(experiment.name, "train");
    assert_eq!(experiment.resources[&Scale::Sd].threads, [1, 2, 4]);
    assert!(
        text.contains("command = \"python3 train.py --threads {threads} {n} {n_2} --memory {memory_value}\""),
        "{text}"
    );
    let (text, _) = initial("./a 100 200 300");
    assert!(text.contains("method = \"latin-hypercube\""), "{text}");
}

#[test]
fn odd_words_are_kept_as_they_are() {
    let words: Vec<String> =
        ["my tool", "a b", "{x}", "it's", "|", "--q=", "é\n"].map(str::to_owned).to_vec();
    let initial = init_from_command(&words, &|_| false);
    assert_eq!(said(&initial.toml_text), Vec::<String>::new(), "{}", initial.toml_text);
    assert_eq!(initial.warnings.len(), 1);
    let experiment = sound(&initial.toml_text);
    assert_eq!(rendered(&experiment), words);
    assert_eq!(experiment.name, "my-tool");
}

#[test]
fn without_a_command_there_is_an_example() {
    let initial = init_from_command(&[], &|_| false);
    assert_eq!(initial.warnings, ["no command was given; the file holds an example to change"]);
    assert_eq!(sound(&initial.toml_text).name, "my-program");
}

/// The words executed at the largest scale.
fn rendered(experiment: &Experiment) -> Vec<String> {
    let known = Surroundings { file_size: &|_| Some(1), ..Surroundings::default() };
    let scale = *experiment.scales().last().unwrap();
    let configurations = experiment.configurations(scale, &known).unwrap();
    // Resources are varied up to what was given, which comes last.
    let place = Place { experiment_directory: Path::new(""), run_directory: Path::new("") };
    match experiment.render(configurations.last().unwrap(), &place, &|_| None).unwrap().execute {
        Execute::Words(words) => words,
        Execute::Shell(line) => panic!("{line}"),
    }
}

proptest! {
    #[test]
    fn the_command_comes_back_whatever_it_was(
        words in proptest::collection::vec(
            prop_oneof![
                "-{0,2}[a-z]{1,8}", "-{1,2}[a-z]{1,4}=[0-9a-z.]{0,4}", "-?[0-9]{1,9}", "-[a-z][0-9]{1,3}",
                "[a-z]{1,5}\\.dat", "[ -~é\t]{1,8}",
                proptest::sample::select(vec!["--threads", "--cores", "--memory", "threads=3", "x_bytes=5", "and=2"])
                    .prop_map(str::to_owned),
            ],
            1..8,
        )
    ) {
        let words: Vec<String> = std::iter::once("tool".to_owned()).chain(words).collect();
        let text = filled_in(&words);
        prop_assert_eq!(said(&text), Vec::<String>::new(), "{}", text);
        assert_fits(&text);
        let experiment = sound(&text);
        let varied = experiment.designs.values().any(|design| design.runs.is_some());
        if !varied {
            let same = |given: &String, found: &String| {
                given == found
                    || given.rsplit('=').next().unwrap().parse::<f64>().is_ok_and(|number| {
                        found.rsplit('=').next().unwrap().parse() == Ok(number)
                    })
            };
            let found = rendered(&experiment);
            prop_assert_eq!(found.len(), words.len());
            prop_assert!(words.iter().zip(&found).all(|(given, found)| same(given, found)), "{:?}", found);
        }
    }
}
