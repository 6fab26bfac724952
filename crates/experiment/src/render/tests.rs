//! What is executed for configurations of whole experiments.

use std::path::{Path, PathBuf};

use harp_core::{Configuration, Scale, Seconds};

use super::{Execute, FilledFile, Place, RenderError, Rendered};
use crate::samples::{FULL, SMALL, sound};
use crate::{Input, Placing, Source, Surroundings};

fn first(text: &str, scale: Scale) -> Configuration {
    let known = Surroundings {
        file_size: &|_| Some(10),
        expected_time: &|_| Some(Seconds(1.0)),
        expected_cost: &|_| Some(harp_core::Money(0.01)),
    };
    sound(text).configurations(scale, &known).unwrap().remove(0)
}

fn rendered(text: &str, configuration: &Configuration) -> Result<Rendered, RenderError> {
    let place =
        Place { experiment_directory: Path::new("/home/me/x"), run_directory: Path::new("/tmp/run 7") };
    sound(text).render(configuration, &place, &|path| {
        Some(format!("{} terms={{terms}} data={{data}} {{", path.display()))
    })
}

fn words(text: &str) -> Vec<String> {
    match rendered(text, &first(text, Scale::Sd)).unwrap().execute {
        Execute::Words(words) => words,
        Execute::Shell(line) => vec![line],
    }
}

#[test]
fn a_simple_command_runs_where_the_program_is() {
    let run = rendered(SMALL, &first(SMALL, Scale::Sd)).unwrap();
    assert_eq!(run.execute, Execute::Words(vec!["/home/me/x/euler".into(), "100".into()]));
    assert_eq!(run.directory, PathBuf::from("/home/me/x"));
    assert!(!run.own_directory && run.inputs.is_empty() && run.files.is_empty() && run.after.is_empty());
    assert!(run.success.accepts(0));
}

#[test]
fn everything_the_full_file_asks_for_is_rendered() {
    let mut configuration = first(FULL, Scale::Test);
    for (name, value) in [("terms", 200_000), ("digits", 10)] {
        configuration.parameters.set(name, value);
    }
    configuration.parameters.set("method", "limit");
    configuration.parameters.set("fast", true);
    configuration.parameters.set("tolerance", 0.001);
    configuration.parameters.set("data", "b.txt");
    configuration.allocation.threads = Some(2);
    let run = rendered(FULL, &configuration).unwrap();
    let Execute::Words(words) = &run.execute else { panic!("{run:?}") };
    assert_eq!(
        words,
        &["/home/me/x/euler", "limit", "--out", "/tmp/run 7", "--terms", "200000", "--fast", "10"]
            .map(str::to_owned)
    );
    assert_eq!(
        run.environment,
        [("OMP_NUM_THREADS", "2"), ("LEVEL", "3"), ("TOLERANCE", "0.001")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert_eq!(run.directory, PathBuf::from("/tmp/run 7"));
    assert!(run.own_directory);
    assert_eq!(
        run.inputs[1],
        Input {
            source: PathBuf::from("/home/me/x/b.txt"),
            target: PathBuf::from("/tmp/run 7/data.txt"),
            placing: Placing::Copy
        }
    );
    assert_eq!(
        run.files[1],
        FilledFile {
            path: PathBuf::from("/tmp/run 7/run.cfg"),
            content: "/home/me/x/run.tmpl terms=200000 data=/home/me/x/b.txt {".into()
        }
    );
    assert_eq!(run.after, ["/home/me/x/./collect.sh 200000"]);
    assert_eq!(run.timeout, Some(Seconds(60.0)));
    assert_eq!(run.success.files[1], PathBuf::from("/tmp/run 7/log_200000.txt"));
    assert_eq!(run.metrics[1].from, Source::File(PathBuf::from("/tmp/run 7/result.json")));
    let setup = sound(FULL).setup(Path::new("/home/me/x"));
    assert_eq!(setup.lines, ["make", "echo /home/me/x"]);
    assert_eq!(setup.directory, PathBuf::from("/home/me/x"));
}

#[test]
fn values_with_spaces_stay_one_word() {
    let text = "name = 'a'\n[program]\ncommand = 'tool --name=\"x {m}\" {m}'\n[parameters.m]\nsd = ['b c']\n";
    assert_eq!(words(text), ["tool", "--name=x b c", "b c"]);
    let shell = text.replace("[parameters.m]", "shell = true\n[parameters.m]");
    assert_eq!(words(&shell), ["tool --name=\"x b c\" 'b c'"]);
}

#[test]
fn options_take_the_form_they_are_written_in() {
    let text = "name = 'a'\n[program]\ncommand = ['tool']\n[parameters.a]\nvalues = 1\noption = '--a='\n\
                [parameters.b]\nvalues = false\noption = '-b'\n[parameters.c]\nvalues = 'x'\nargument = true\n\
                [parameters.d]\nvalues = 2.5\noption = '-d'\n";
    assert_eq!(words(text), ["tool", "--a=1", "-d", "2.5", "x"]);
}

#[test]
fn files_are_found_from_a_directory_of_its_own() {
    let text = "name = 'a'\n[program]\ncommand = 'tool {data}'\nown_directory = true\n\
                [parameters.data]\ntype = 'file'\nvalues = 'in/a.txt'\n";
    assert_eq!(words(text), ["tool", "/home/me/x/in/a.txt"]);
    let input = text.replace("own_directory = true", "inputs = ['{data}']");
    assert_eq!(words(&input), ["tool", "in/a.txt"]);
    let run = rendered(&input, &first(&input, Scale::Sd)).unwrap();
    assert_eq!(run.inputs[0].target, PathBuf::from("/tmp/run 7/in/a.txt"));
    let outside = input.replace("in/a.txt", "../a.txt");
    assert_eq!(words(&outside), ["tool", "/home/me/x/../a.txt"]);
    let run = rendered(&outside, &first(&outside, Scale::Sd)).unwrap();
    assert_eq!(run.inputs[0].target, PathBuf::from("/tmp/run 7/a.txt"));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let mut configuration = first(SMALL, Scale::Sd);
    configuration.parameters.0.clear();
    assert_eq!(rendered(SMALL, &configuration).unwrap_err().to_string(), "`{terms}` has no value in ");
    let text = "name = 'a'\n[program]\ncommand = 'tool'\n[parameters.n]\nvalues = 1\ntemplate = 'in.txt'\n";
    assert_eq!(
        rendered(text, &first(text, Scale::Sd)).unwrap_err(),
        RenderError::NotInTemplateFile { path: PathBuf::from("/home/me/x/in.txt"), name: "n".into() }
    );
}
