//! A guess at rules from how jobs are named: shown to the person, never applied.
//!
//! Names that differ only in their numbers are taken for one application run with different
//! parameters; a comment of `name=value` words names its parameters itself.

use std::collections::{BTreeMap, BTreeSet};

use harp_slurm::AccountedJob;
use serde::Serialize;

/// Shapes of names that are kept in mind; more would be no pattern of anything.
const MOST_SHAPES: usize = 10_000;

/// Different names kept of one shape, to tell how many values its numbers take.
const MOST_NAMES: usize = 50;

/// A rule that might be meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guess {
    /// The application.
    pub application: String,
    /// Where the pattern looks: `name` or `comment`.
    pub from: &'static str,
    /// The pattern.
    pub pattern: String,
    /// Jobs it would recognise.
    pub jobs: u64,
    /// One of the texts it fits.
    pub example: String,
}

impl Guess {
    /// The rule as it is written in a file of rules.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        format!(
            "[[rule]]  # {} jobs like {}\napplication = {}\nfrom = \"{}\"\npattern = '{}'\n",
            self.jobs,
            self.example.replace(char::is_control, " "),
            quoted(&self.application),
            self.from,
            self.pattern,
        )
    }
}

/// Collects what jobs are called.
#[derive(Debug, Default)]
pub struct Guesser {
    shapes: BTreeMap<(&'static str, String, String), Shape>,
}

#[derive(Debug)]
struct Shape {
    jobs: u64,
    texts: BTreeSet<String>,
    application: String,
}

impl Guesser {
    /// Looks at a job.
    pub fn look(&mut self, job: &AccountedJob) {
        let name = job.name.as_deref().unwrap_or("");
        if let Some(pattern) = job.comment.as_deref().and_then(named_values) {
            self.note("comment", pattern, job.comment.as_deref().unwrap_or(""), stem(name));
        } else if let Some(pattern) = numbered(name) {
            self.note("name", pattern, name, stem(name));
        }
    }

    fn note(&mut self, from: &'static str, pattern: String, text: &str, application: &str) {
        let key = (from, application.to_owned(), pattern);
        if self.shapes.len() >= MOST_SHAPES && !self.shapes.contains_key(&key) {
            return;
        }
        let shape = self.shapes.entry(key).or_insert_with(|| Shape {
            jobs: 0,
            texts: BTreeSet::new(),
            application: application.to_owned(),
        });
        shape.jobs += 1;
        if shape.texts.len() < MOST_NAMES && !shape.texts.contains(text) {
            shape.texts.insert(text.to_owned());
        }
    }

    /// Rules that would recognise jobs with at least two different texts, those with most jobs first.
    pub fn guesses(self) -> Vec<Guess> {
        let mut found: Vec<Guess> = self
            .shapes
            .into_iter()
            .filter(|(_, shape)| shape.texts.len() > 1 && !shape.application.is_empty())
            .filter_map(|((from, _, pattern), shape)| {
                let example = shape.texts.first()?.clone();
                Some(Guess { application: shape.application, from, pattern, jobs: shape.jobs, example })
            })
            .collect();
        found
            .sort_by(|left, right| right.jobs.cmp(&left.jobs).then_with(|| left.pattern.cmp(&right.pattern)));
        found
    }
}

/// What a name begins with before its first number and what leads up to it: `lulesh` of `lulesh_s30`.
fn stem(name: &str) -> &str {
    let Some(digit) = name.find(|c: char| c.is_ascii_digit()) else { return name };
    let before = &name[..digit];
    let head = match before.trim_end_matches(is_joint).rfind(is_joint) {
        // letters glued to the number name it, unless there is nothing else
        Some(joint) if !before.ends_with(is_joint) => &before[..joint],
        _ => before,
    };
    head.trim_end_matches(is_joint)
}

fn is_joint(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '=' | ' ' | '/' | ':')
}

/// The pattern of a name with numbers, each a group called by the letters before it.
fn numbered(name: &str) -> Option<String> {
    if name.len() > 200 || name.contains(|c: char| c.is_control() || c == '\'') {
        return None;
    }
    let mut pattern = String::from("^");
    let mut used = BTreeSet::new();
    let mut rest = name;
    while let Some(digit) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(digit);
        let length = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let fraction = number[length..].strip_prefix('.').map_or(0, |tail| {
            let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            if digits > 0 { digits + 1 } else { 0 }
        });
        let word = before.trim_end_matches(is_joint);
        let start = word.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |place| place + 1);
        let word = word.get(start..).filter(|word| !word.is_empty()).unwrap_or("value");
        let mut group = word.to_ascii_lowercase();
        while !used.insert(group.clone()) {
            group = format!("{word}_{}", used.len() + 1).to_ascii_lowercase();
        }
        let digits = if fraction > 0 { r"\d+\.\d+" } else { r"\d+" };
        pattern.push_str(&format!("{}(?<{group}>{digits})", regex::escape(before)));
        rest = &number[length + fraction..];
    }
    (!used.is_empty()).then(|| format!("{pattern}{}$", regex::escape(rest)))
}

/// The pattern of `n=20 method=fast`.
fn named_values(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut used = BTreeSet::new();
    let mut parts = Vec::new();
    for word in &words {
        let (name, value) = word.split_once('=')?;
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !starts || !plain || value.is_empty() || !used.insert(name) {
            return None;
        }
        parts.push(format!(r"{name}=(?<{name}>\S+)"));
    }
    (!parts.is_empty() && parts.len() <= 20).then(|| format!("^{}$", parts.join(r"\s+")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_patterns() {
        assert_eq!(numbered("lulesh_s30_i100").as_deref(), Some(r"^lulesh_s(?<s>\d+)_i(?<i>\d+)$"));
        assert_eq!(numbered("run-3.5").as_deref(), Some(r"^run\-(?<run>\d+\.\d+)$"));
        assert_eq!(numbered("a1a2").as_deref(), Some(r"^a(?<a>\d+)a(?<a_2>\d+)$"));
        assert_eq!(numbered("42").as_deref(), Some(r"^(?<value>\d+)$"));
        assert_eq!((numbered("plain"), numbered("it's1")), (None, None));
        assert_eq!(
            (stem("lulesh_s30"), stem("run-3"), stem("plain"), stem("s30"), stem("7")),
            ("lulesh", "run", "plain", "s", "")
        );
        assert_eq!(
            named_values("n=20 method=fast").as_deref(),
            Some(r"^n=(?<n>\S+)\s+method=(?<method>\S+)$")
        );
        assert_eq!((named_values("see n=20"), named_values("n=1 n=2"), named_values("")), (None, None, None));
    }

    proptest::proptest! {
        #[test]
        fn every_pattern_can_be_used_and_fits_its_name(name in "[a-zA-Z0-9_.=é+*()\\[ -]{0,30}") {
            let _ = stem(&name);
            if let Some(pattern) = numbered(&name) {
                let rule = format!("[[rule]]\napplication = \"a\"\npattern = '{pattern}'\n");
                proptest::prop_assert!(super::super::Rules::parse("r", &rule).is_ok(), "{}", rule);
                proptest::prop_assert!(regex::Regex::new(&pattern).unwrap().is_match(&name), "{} {}", pattern, name);
            }
        }
    }
}
