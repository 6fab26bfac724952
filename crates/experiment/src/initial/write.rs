//! Writing the first file.

use std::path::Path;

use harp_core::Value;

use super::guess::{Found, Guess, Word, guess, is_count, is_interpreter};
use crate::check::RESOURCES;
use crate::words;

/// A first experiment file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// The text of the file, with comments.
    pub toml_text: String,
    /// What could not be guessed.
    pub warnings: Vec<String>,
    /// What a person has to write before anything can run.
    pub to_fill_in: Vec<String>,
}

/// Numbers below this are not taken for a size: there is little room to scale them down.
const SMALLEST_SIZE: f64 = 20.0;

/// Writes an experiment file from a command as typed. `exists` says whether a word names a file.
pub fn init_from_command(arguments: &[String], exists: &dyn Fn(&Path) -> bool) -> Initial {
    let example: Vec<String> = ["./my-program", "--size", "1000"].map(str::to_owned).to_vec();
    let mut warnings = Vec::new();
    let given = arguments.first().is_some_and(|program| !program.is_empty());
    if !given {
        warnings.push("no command was given; the file holds an example to change".to_owned());
    }
    let guess = guess(if given { arguments } else { &example }, exists);
    let sized: Vec<&Found> = guess.found.iter().filter(|found| is_size(found)).collect();
    let files: Vec<&Found> = guess.found.iter().filter(|found| found.file).collect();
    if sized.is_empty() && files.is_empty() {
        warnings.push(
            "nothing in the command looks like a size; add a parameter with small values under sd and the real one under fs"
                .to_owned(),
        );
    }
    let mut text = head(&guess);
    for found in guess.found.iter().filter(|found| !is_resource(found)) {
        text.push_str(&parameter(found));
    }
    text.push_str(&allocation(&guess));
    text.push_str(&tail(sized.len()));
    let to_fill_in = files.iter().map(|found| {
        format!("[parameters.{}]: name smaller files under `sd` and `fs`, to learn from", found.name)
    });
    Initial { to_fill_in: to_fill_in.collect(), toml_text: text, warnings }
}

fn is_resource(found: &Found) -> bool {
    RESOURCES.contains(&found.name.as_str()) && is_count(&found.value)
}

fn is_size(found: &Found) -> bool {
    let number = found.value.as_number().unwrap_or(0.0);
    !is_resource(found) && (SMALLEST_SIZE..1e15).contains(&number)
}

/// A text in TOML's quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// A line with a remark beside it, the remarks below each other.
fn line(text: &str, beside: &str) -> String {
    let width = 38 + text.len() - text.trim_start().len();
    format!("{text:<width$} # {}\n", remark(beside))
}

/// A text for a comment: on one line.
fn remark(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn head(guess: &Guess) -> String {
    let words: Vec<String> = guess
        .words
        .iter()
        .map(|word| match word {
            Word::Fixed(text) => text.replace('{', "{{").replace('}', "}}"),
            Word::Value { before, name } => {
                format!("{}{{{name}}}", before.replace('{', "{{").replace('}', "}}"))
            }
        })
        .collect();
    let joined = words.join(" ");
    // Written as one line where taking it apart again gives the same words.
    let plain = words::split(&joined).is_ok_and(|split| split.words == words && split.special.is_none());
    let command = if plain {
        quoted(&joined)
    } else {
        format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
    };
    [
        "# An experiment for harp: run the program small, learn, predict the full-size run.\n".to_owned(),
        line(
            &format!("name = {}", quoted(&experiment_name(guess))),
            "runs of the same name are learned from together",
        ),
        format!("\n[program]\ncommand = {command}\n"),
        line("# setup = \"make\"", "once before the sweep"),
        line("# environment = { OMP_NUM_THREADS = \"2\" }", "added to each run's environment"),
        line("# inputs = [\"data.txt\"]", "files each run needs in a directory of its own"),
        line("\n# [program.success]", "besides exit code 0"),
        line("# output = \"converged\"", "what a good run prints"),
        line("\n# [metrics.step_seconds]", "a figure the program prints"),
        "# pattern = 'step took (?<value>[0-9.]+) s'\n".to_owned(),
        flags(guess),
    ]
    .concat()
}

fn flags(guess: &Guess) -> String {
    if guess.flags.is_empty() {
        return String::new();
    }
    let written: Vec<String> = guess.flags.iter().map(|flag| remark(flag)).collect();
    format!(
        "\n# {} stays as it is. To vary such a switch, take it out of the command and write\n\
         # [parameters.switch]\n# values = [true, false]\n# option = \"--switch\"\n",
        written.join(", ")
    )
}

fn experiment_name(guess: &Guess) -> String {
    let fixed: Vec<&str> = guess
        .words
        .iter()
        .map_while(|word| match word {
            Word::Fixed(text) => Some(text.as_str()),
            Word::Value { .. } => None,
        })
        .collect();
    let program = match fixed.as_slice() {
        [first, script, ..] if is_interpreter(first) && !script.starts_with('-') => script,
        [first, ..] => first,
        [] => "",
    };
    let stem = Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let plain: String =
        stem.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let trimmed = plain.trim_matches(['.', '-']);
    if trimmed.is_empty() { "experiment".to_owned() } else { trimmed.to_owned() }
}

fn parameter(found: &Found) -> String {
    let Found { name, value, file, written } = found;
    let heading = line(&format!("\n[parameters.{name}]"), &format!("from `{written}`"));
    if *file {
        return heading + &file_values(name, &value.to_string());
    }
    let kind = match value {
        Value::Integer(_) => "integer",
        Value::Real(_) => "real",
        Value::Boolean(_) | Value::Text(_) => "text",
    };
    let size = value.as_number().filter(|_| is_size(found));
    let values = match (size, value) {
        (Some(size), Value::Integer(number)) => {
            let (from, to) = ((size / 50.0).ceil() as i64, (size / 5.0).ceil() as i64);
            let half = (size / 2.0).ceil() as i64;
            sized(&from.to_string(), &to.to_string(), &half.to_string(), &number.to_string())
        }
        (Some(size), _) => sized(&real(size / 50.0), &real(size / 5.0), &real(size / 2.0), &real(size)),
        (None, Value::Text(text)) => line(&format!("values = [{}]", quoted(text)), "add others to compare"),
        (None, Value::Real(number)) => line(&format!("values = [{}]", real(*number)), KEPT),
        (None, other) => line(&format!("values = [{other}]"), KEPT),
    };
    format!("{heading}type = \"{kind}\"\n{values}")
}

/// A file as it was given is what is to be predicted; which smaller ones there are only a person knows.
/// Empty lists are reported with their place, so that nothing runs before they are filled.
fn file_values(name: &str, path: &str) -> String {
    let given = quoted(path);
    [
        line("type = \"file\"", &format!("its size, {name}_bytes, is learned from")),
        "# FILL IN: smaller files for sd and fs, so that harp sees how time grows with their size.\n"
            .to_owned(),
        format!(
            "# If all runs take the same file, write  values = [{}]  instead of the three lines.\n",
            remark(&given)
        ),
        line("sd = []", "FILL IN: small ones of several sizes, [\"small-1\", \"small-2\", …]"),
        line("fs = []", "FILL IN: one or two larger ones"),
        line(&format!("test = [{given}]"), "as given: predicted, then run to see whether it was right"),
    ]
    .concat()
}

const KEPT: &str = "kept as it is; add others to vary it";

/// A real number as TOML writes it.
fn real(number: f64) -> String {
    format!("{number:?}")
}

fn sized(from: &str, to: &str, half: &str, given: &str) -> String {
    [
        "# scaled down: quick runs to learn from\n".to_owned(),
        format!("sd = {{ from = {from}, to = {to}, count = 5, spacing = \"geometric\" }}\n"),
        line(&format!("fs = [{half}]"), "full scale: a few larger runs, here half of what was given"),
        line(&format!("test = [{given}]"), "as given: predicted, then run to see whether it was right"),
    ]
    .concat()
}

fn allocation(guess: &Guess) -> String {
    let mut text =
        String::from("\n[allocation]                         # what each run gets; lists are varied\n");
    let mut any = false;
    for found in guess.found.iter().filter(|found| is_resource(found)) {
        any = true;
        let values = match (&found.value, found.name.as_str()) {
            (Value::Integer(count), "cores" | "threads") => {
                let mut steps: Vec<i64> = std::iter::successors(Some(1), |step| Some(step * 2))
                    .take_while(|step| step < count)
                    .collect();
                steps.push(*count);
                format!("{steps:?}")
            }
            (other, _) => other.to_string(),
        };
        text.push_str(&format!("{} = {values}\n", found.name));
    }
    if !any {
        text.push_str("# cores = [1, 2]\n");
    }
    text.push_str("# memory = \"4G\"\n");
    text
}

fn tail(sizes: usize) -> String {
    let method = if sizes > 2 {
        line("method = \"latin-hypercube\"", "much varies: a sample of the combinations") + "runs = 20\n"
    } else {
        line("# method = \"latin-hypercube\"", "instead of every combination") + "# runs = 20\n"
    };
    [
        "\n[design]\n".to_owned(),
        method,
        line("repetitions = 2", "each combination twice: how much do times vary?"),
        line("seed = 1", "the same seed gives the same sweep"),
        line("# timeout = \"10m\"", "for each run"),
        line("# total_timeout = \"1h\"", "for the whole sweep"),
        "\n[learn]\ntargets = [\"walltime\", \"peak_memory\"]\n".to_owned(),
    ]
    .concat()
}
