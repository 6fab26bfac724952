//! What the words of a command line are likely to be.

use std::path::Path;

use harp_core::Value;

use crate::check::RESOURCES;
use crate::template::is_name;

/// A word of the command: text with at most one value in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    /// Stays as it is.
    Fixed(String),
    /// A value behind a beginning such as `--size=` or `-n` (or nothing).
    Value { before: String, name: String },
}

/// A value found in a command line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) file: bool,
    /// How it was written, for comments.
    pub(super) written: String,
}

/// A command line understood as well as it can be.
#[derive(Debug, Default)]
pub(super) struct Guess {
    pub(super) words: Vec<Word>,
    pub(super) found: Vec<Found>,
    /// Options without a value, which could be parameters too.
    pub(super) flags: Vec<String>,
}

/// Programs whose first argument is the program proper.
const INTERPRETERS: [&str; 9] =
    ["python", "python3", "Rscript", "julia", "perl", "ruby", "node", "bash", "sh"];

/// Whether a word names a program that runs another file.
pub(crate) fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    INTERPRETERS.contains(&name)
}

pub(super) fn guess(arguments: &[String], exists: &dyn Fn(&Path) -> bool) -> Guess {
    let mut guess = Guess::default();
    let mut rest = arguments.iter().map(String::as_str).peekable();
    if let Some(program) = rest.next() {
        guess.words.push(Word::Fixed(program.to_owned()));
        // The script belongs to the program, not to its parameters.
        if is_interpreter(program)
            && let Some(script) = rest.next_if(|word| !word.starts_with('-'))
        {
            guess.words.push(Word::Fixed(script.to_owned()));
        }
    }
    while let Some(word) = rest.next() {
        let is_file = |text: &str| exists(Path::new(text));
        if let Some((option, value)) = word.split_once('=').filter(|(option, _)| is_key(option)) {
            let file = is_file(value);
            guess.add(&format!("{option}="), option, value, file, word);
        } else if let Some((option, number)) = attached_number(word) {
            guess.add(option, option, number, false, word);
        } else if is_option(word) {
            match rest.next_if(|next| !is_option(next)) {
                Some(value) => {
                    guess.words.push(Word::Fixed(word.to_owned()));
                    guess.add("", word, value, is_file(value), &format!("{word} {value}"));
                }
                None => {
                    guess.flags.push(word.to_owned());
                    guess.words.push(Word::Fixed(word.to_owned()));
                }
            }
        } else if is_file(word) {
            guess.add("", "input", word, true, word);
        } else if number(word).is_some() {
            guess.add("", "n", word, false, word);
        } else {
            guess.words.push(Word::Fixed(word.to_owned()));
        }
    }
    guess
}

impl Guess {
    fn add(&mut self, before: &str, wish: &str, text: &str, file: bool, written: &str) {
        let value = if file { None } else { number(text) };
        let value = value.unwrap_or_else(|| Value::Text(text.to_owned()));
        if text.is_empty() {
            self.words.push(Word::Fixed(before.to_owned()));
            return;
        }
        let name = self.free_name(wish, &value);
        self.words.push(Word::Value { before: before.to_owned(), name: name.clone() });
        self.found.push(Found { name, value, file, written: written.to_owned() });
    }

    /// A name that can be used, close to the one wished for.
    fn free_name(&self, wish: &str, value: &Value) -> String {
        let wish = wish.trim_start_matches('-');
        let plain: String = wish.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = plain.trim_matches('_').to_owned();
        if !is_name(&name) {
            name = format!("p_{name}").trim_end_matches('_').to_owned();
        }
        // A count of cores or threads is a resource; anything else by that name is not.
        let resource = ["cores", "threads", "nodes", "gpus"].contains(&name.as_str()) && is_count(value);
        let taken = |name: &str| self.found.iter().any(|found| found.name == name);
        if resource && !taken(&name) {
            return name;
        }
        let reserved = ["and", "or", "not", "true", "false", "run_directory", "experiment_directory"];
        if RESOURCES.contains(&name.as_str()) || reserved.contains(&name.as_str()) || name.ends_with("_bytes")
        {
            name.push_str("_value");
        }
        if !taken(&name) {
            return name;
        }
        (2..).map(|count| format!("{name}_{count}")).find(|name| !taken(name)).unwrap_or(name)
    }
}

/// Whether a value is a resource's count.
pub(super) fn is_count(value: &Value) -> bool {
    matches!(value, Value::Integer(1..=1_000_000))
}

/// A number that comes out as it went in; `007` is a text.
fn number(text: &str) -> Option<Value> {
    match Value::from_text(text) {
        Value::Integer(number) if number.to_string() == text => Some(Value::Integer(number)),
        Value::Real(number) if text.contains(['.', 'e', 'E']) => Some(Value::Real(number)),
        _ => None,
    }
}

/// `--size`, `-n`; not `-5`, `-`, `--`.
fn is_option(word: &str) -> bool {
    word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic()) && word.starts_with('-')
}

/// What may stand before `=`: an option or a bare name.
fn is_key(text: &str) -> bool {
    is_option(text) || is_name(text)
}

/// `-n100` as `-n` and `100`.
fn attached_number(word: &str) -> Option<(&str, &str)> {
    let mut characters = word.char_indices();
    let (dash, letter) = (characters.next()?.1, characters.next()?.1);
    let (split, _) = characters.next()?;
    let (option, value) = word.split_at(split);
    (dash == '-' && letter.is_ascii_alphabetic() && number(value).is_some() && !value.starts_with('-'))
        .then_some((option, value))
}
