//! Rules that say which application a job ran and with which parameters: a pattern with named groups
//! over the job's name, comment, command line, folder or script.
//!
//! ```toml
//! [[rule]]
//! application = "lulesh"
//! from = "name"
//! pattern = 'lulesh_s(?<size>\d+)_i(?<iterations>\d+)'
//! ```

use std::collections::BTreeSet;

use harp_core::{Parameters, Scale, Value};
use harp_slurm::AccountedJob;
use regex::Regex;
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

/// The group that names the application, where the rule does not.
const APPLICATION: &str = "application";

/// A mistake in a file of rules.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {message}\n  hint: {hint}")]
pub struct RuleError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

/// Checked rules, in their order; the first that fits a job holds.
#[derive(Debug, Clone, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    application: Option<String>,
    from: From,
    pattern: Regex,
    scale: Scale,
}

/// Where a rule looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum From {
    /// The job's name.
    #[default]
    Name,
    /// Its comment.
    Comment,
    /// The command line it was submitted with.
    SubmitLine,
    /// The folder it ran in.
    Directory,
    /// Its script.
    Script,
}

/// What a rule found out about a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recovered {
    pub application: String,
    pub parameters: Parameters,
    pub scale: Scale,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    #[serde(default, rename = "rule")]
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    application: Option<Spanned<String>>,
    #[serde(default)]
    from: From,
    pattern: Spanned<String>,
    scale: Option<Spanned<String>>,
}

impl Rules {
    /// Reads and checks a file of rules.
    pub fn parse(file: &str, text: &str) -> Result<Rules, RuleError> {
        let at = |offset: usize, message: String, hint: &str| {
            let before = text.get(..offset).unwrap_or("");
            RuleError {
                file: file.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before.rsplit('\n').next().unwrap_or("").chars().count() + 1,
                message,
                hint: hint.to_owned(),
            }
        };
        let written: WrittenFile = toml::from_str(text).map_err(|error| {
            let message = error.message().lines().next().unwrap_or("not a file of rules").to_owned();
            let hint = "write [[rule]] with application, from and pattern; see docs/import.md";
            at(error.span().map_or(0, |span| span.start), message, hint)
        })?;
        let mut rules = Vec::new();
        for rule in written.rules {
            let place = rule.pattern.span().start;
            let pattern = Regex::new(rule.pattern.get_ref()).map_err(|error| {
                let reason = error.to_string();
                let reason = reason.lines().last().unwrap_or("it cannot be read").trim();
                let message = format!("the pattern is wrong: {}", reason.trim_start_matches("error: "));
                at(place, message, "named groups are written (?<name>…); test it on a job's name")
            })?;
            let names_it = pattern.capture_names().flatten().any(|name| name == APPLICATION);
            let application = rule.application.map(|name| (name.span().start, name.into_inner()));
            match &application {
                Some((place, name)) if name.trim().is_empty() => {
                    return Err(at(
                        *place,
                        "the application has no name".to_owned(),
                        "write application = \"lulesh\"",
                    ));
                }
                None if !names_it => {
                    let hint = "add application = \"…\", or a group (?<application>…)";
                    return Err(at(place, "the rule does not say which application it is".to_owned(), hint));
                }
                _ => {}
            }
            let scale = match &rule.scale {
                None => Scale::Fs,
                Some(scale) => scale
                    .get_ref()
                    .parse()
                    .map_err(|error: String| at(scale.span().start, error, "use sd, fs or test"))?,
            };
            rules.push(Rule {
                application: application.map(|(_, name)| name),
                from: rule.from,
                pattern,
                scale,
            });
        }
        Ok(Rules(rules))
    }

    /// Whether some rule looks at the job's script.
    pub fn need_scripts(&self) -> bool {
        self.0.iter().any(|rule| rule.from == From::Script)
    }

    /// Names of applications that rules give.
    pub(super) fn applications(&self) -> BTreeSet<String> {
        self.0.iter().filter_map(|rule| rule.application.clone()).collect()
    }

    /// What the first rule that fits says about a job.
    pub(super) fn recover(&self, job: &AccountedJob, script: Option<&str>) -> Option<Recovered> {
        self.0.iter().find_map(|rule| {
            let text = match rule.from {
                From::Name => job.name.as_deref(),
                From::Comment => job.comment.as_deref(),
                From::SubmitLine => job.submit_line.as_deref(),
                From::Directory => job.work_directory.as_deref(),
                From::Script => script,
            }?;
            let found = rule.pattern.captures(text)?;
            let mut application = rule.application.clone();
            let mut parameters = Parameters::default();
            for name in rule.pattern.capture_names().flatten() {
                let Some(value) = found.name(name) else { continue };
                if name == APPLICATION && application.is_none() {
                    application = Some(value.as_str().to_owned());
                } else if name != APPLICATION {
                    parameters.0.insert(name.to_owned(), Value::from_text(value.as_str()));
                }
            }
            let application = application.filter(|name| !name.is_empty())?;
            Some(Recovered { application, parameters, scale: rule.scale })
        })
    }
}
