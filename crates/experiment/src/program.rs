//! The program of an experiment: what to call, what it needs around it, how it is judged, and what
//! it says about itself. Nothing here runs it.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;

use crate::Template;

/// What is run, once for each configuration and repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The command.
    pub command: Command,
    /// Where it runs, and where its files are; relative to the experiment file.
    pub directory: PathBuf,
    /// Shell lines run once before the sweep, in `directory`.
    pub setup: Vec<Template>,
    /// Shell lines run after each run, in the run's directory.
    pub after: Vec<Template>,
    /// Variables added to the environment.
    pub environment: Vec<(String, Template)>,
    /// Files put into the run's directory.
    pub inputs: Vec<Input<Template>>,
    /// Files filled into the run's directory.
    pub templates: Vec<TemplateFile<Template>>,
    /// Whether each run gets a directory of its own.
    pub own_directory: bool,
    /// The program's version, if given: a different version is a different application.
    pub version: Option<String>,
    /// Whether it is many processes, started by the launcher of where it runs.
    pub mpi: bool,
    /// Modules a job loads before it runs.
    pub modules: Vec<String>,
    /// How success is judged.
    pub success: SuccessRule<Template>,
}

/// How the program is called.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Words handed to the program as they are, without a shell.
    Words(Vec<Template>),
    /// A line for `sh -c`.
    Shell(Template),
}

/// How an input file comes into the run's directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Placing {
    /// A symbolic link: nothing is copied.
    #[default]
    Link,
    /// A copy, for programs that change their input.
    Copy,
}

/// A file the program needs. `P` is a template in the experiment and a path once rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct Input<P = PathBuf> {
    /// The file: as written relative to `directory`; rendered, a full path.
    pub source: P,
    /// Where it goes: as written relative to the run's directory; rendered, a full path. Without it,
    /// the name of the source.
    pub target: P,
    /// Linked or copied.
    pub placing: Placing,
}

/// A configuration file with placeholders. `P` as in [`Input`].
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateFile<P = PathBuf> {
    /// The file with `{name}` placeholders.
    pub source: P,
    /// Where the filled file goes.
    pub target: P,
    /// Parameters that have to appear in it.
    pub must_contain: Vec<String>,
}

/// When a run counts as completed: all that is asked for must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct SuccessRule<P = PathBuf> {
    /// The exit code that means success.
    pub exit_code: i32,
    /// A pattern that must occur in standard output or standard error.
    pub output: Option<Pattern>,
    /// Files that must exist afterwards.
    pub files: Vec<P>,
}

/// How one figure is taken from what a run leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricRule<P = PathBuf> {
    /// The figure's name.
    pub name: String,
    /// Where it stands.
    pub from: Source<P>,
    /// How it is found there.
    pub extraction: Extraction,
    /// Which of several occurrences counts.
    pub take: Take,
}

/// Where a figure stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source<P = PathBuf> {
    /// What the program wrote to standard output.
    Stdout,
    /// What it wrote to standard error.
    Stderr,
    /// A file it left.
    File(P),
}

/// How a figure is found in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Extraction {
    /// The group `value` of a pattern.
    Pattern(Pattern),
    /// A path into a JSON text.
    Json(JsonPath),
    /// The column of that name in a table separated by commas.
    Csv(String),
}

/// Which of several occurrences counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Take {
    /// The first.
    First,
    /// The last.
    #[default]
    Last,
    /// Their mean.
    Mean,
    /// The middle one, or the mean of the two in the middle.
    Median,
    /// Their sum.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// How many there are; they need not be numbers.
    Count,
}

/// A regular expression, equal to another if written the same.
#[derive(Clone)]
pub struct Pattern(pub(crate) regex::Regex);

impl Deref for Pattern {
    type Target = regex::Regex;

    fn deref(&self) -> &regex::Regex {
        &self.0
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Pattern({:?})", self.0.as_str())
    }
}

/// A path into a JSON text such as `training.epochs[0].seconds`; `[*]` is every element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath(pub Vec<JsonStep>);

/// One step of a [`JsonPath`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonStep {
    /// The field of that name.
    Field(String),
    /// The element at that index, from 0.
    Index(usize),
    /// Every element.
    Every,
}

impl FromStr for JsonPath {
    type Err = String;

    fn from_str(text: &str) -> Result<JsonPath, String> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
            if name.is_empty() && (rest.is_empty() || !steps.is_empty()) {
                return Err("a name is missing".to_owned());
            }
            if !name.is_empty() {
                steps.push(JsonStep::Field(name.to_owned()));
            }
            while !rest.is_empty() {
                let (index, after) = rest
                    .strip_prefix('[')
                    .and_then(|inner| inner.split_once(']'))
                    .ok_or("`[` is never closed")?;
                steps.push(match index {
                    "*" => JsonStep::Every,
                    number => JsonStep::Index(
                        number
                            .parse()
                            .map_err(|_| format!("`[{number}]` is not an index such as [0] or [*]"))?,
                    ),
                });
                rest = after;
            }
        }
        Ok(JsonPath(steps))
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                JsonStep::Field(name) if number == 0 => write!(formatter, "{name}")?,
                JsonStep::Field(name) => write!(formatter, ".{name}")?,
                JsonStep::Index(index) => write!(formatter, "[{index}]")?,
                JsonStep::Every => write!(formatter, "[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_paths_are_read_as_written() {
        for text in ["a", "training.loss", "a[0].b[12][*].c", "[0].a"] {
            assert_eq!(text.parse::<JsonPath>().unwrap().to_string(), text);
        }
        for bad in ["", "a..b", "a[", "a[x]", ".a", "a.", "a.[0]", "a[0]b"] {
            assert!(bad.parse::<JsonPath>().is_err(), "{bad}");
        }
    }
}
