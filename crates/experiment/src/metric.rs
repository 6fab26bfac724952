//! Taking figures from a program's output, and judging whether a run succeeded, from texts the
//! caller has read.

use harp_core::median;
use serde_json::Value as Json;
use thiserror::Error;

use crate::{Extraction, JsonPath, JsonStep, MetricRule, SuccessRule, Take};

/// Why a figure could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MetricError {
    /// It does not occur.
    #[error("metric `{name}`: {what} does not occur")]
    Absent {
        /// The metric.
        name: String,
        /// What was looked for.
        what: String,
    },
    /// What was found is not a number.
    #[error("metric `{name}`: `{text}` is not a number")]
    NotANumber {
        /// The metric.
        name: String,
        /// What was found.
        text: String,
    },
    /// The text is not JSON.
    #[error("metric `{name}`: not JSON: {reason}")]
    NotJson {
        /// The metric.
        name: String,
        /// What the parser says.
        reason: String,
    },
}

impl<P> MetricRule<P> {
    /// The figure in a text.
    pub fn value(&self, text: &str) -> Result<f64, MetricError> {
        let found = self.found(text)?;
        if self.take == Take::Count {
            return Ok(found.len() as f64);
        }
        let chosen = match self.take {
            Take::First => found.first().map(std::slice::from_ref),
            Take::Last => found.last().map(std::slice::from_ref),
            _ => Some(found.as_slice()),
        };
        let mut numbers = self.read(chosen.unwrap_or_default())?;
        let sum: f64 = numbers.iter().sum();
        Ok(match self.take {
            Take::Mean => sum / numbers.len() as f64,
            Take::Median => median(&mut numbers).unwrap_or(sum),
            Take::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Take::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Take::First | Take::Last | Take::Sum | Take::Count => sum,
        })
    }

    /// Every number in a text that the figure may be taken from, whichever it is; none is an error.
    pub fn numbers(&self, text: &str) -> Result<Vec<f64>, MetricError> {
        self.read(&self.found(text)?)
    }

    fn found(&self, text: &str) -> Result<Vec<String>, MetricError> {
        Ok(match &self.extraction {
            Extraction::Pattern(pattern) => pattern
                .captures_iter(text)
                .filter_map(|captures| captures.name("value").map(|value| value.as_str().to_owned()))
                .collect(),
            Extraction::Json(path) => self.json_values(path, text)?,
            Extraction::Csv(column) => csv_column(text, column),
        })
    }

    fn read(&self, texts: &[String]) -> Result<Vec<f64>, MetricError> {
        if texts.is_empty() {
            let what = match &self.extraction {
                Extraction::Pattern(pattern) => format!("the pattern `{}`", pattern.as_str()),
                Extraction::Json(path) => format!("`{path}`"),
                Extraction::Csv(column) => format!("a column `{column}` with values"),
            };
            return Err(MetricError::Absent { name: self.name.clone(), what });
        }
        texts.iter().map(|text| self.number(text)).collect()
    }

    fn number(&self, text: &str) -> Result<f64, MetricError> {
        // Fortran writes 1.5D+03 for 1.5e3.
        let usual = text.trim().replace(['D', 'd'], "e");
        usual.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| MetricError::NotANumber {
            name: self.name.clone(),
            text: text.chars().take(60).collect(),
        })
    }

    /// The values at a path; a text of several JSON values in a row (JSON lines) is taken as all of them.
    fn json_values(&self, path: &JsonPath, text: &str) -> Result<Vec<String>, MetricError> {
        let mut found = Vec::new();
        for document in serde_json::Deserializer::from_str(text).into_iter::<Json>() {
            let document = document.map_err(|error| MetricError::NotJson {
                name: self.name.clone(),
                reason: error.to_string(),
            })?;
            let mut reached = vec![&document];
            for step in &path.0 {
                reached = reached.into_iter().flat_map(|value| follow(value, step)).collect();
            }
            found.extend(reached.into_iter().filter(|value| !value.is_null()).map(|value| match value {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            }));
        }
        Ok(found)
    }
}

fn follow<'a>(value: &'a Json, step: &JsonStep) -> Vec<&'a Json> {
    match step {
        JsonStep::Field(name) => value.get(name).into_iter().collect(),
        JsonStep::Index(index) => value.get(index).into_iter().collect(),
        JsonStep::Every => value.as_array().map(|elements| elements.iter().collect()).unwrap_or_default(),
    }
}

/// The cells below the heading `column`. The heading may stand below other text; the separator is
/// whichever of comma, semicolon and tab the heading's line uses.
fn csv_column(text: &str, column: &str) -> Vec<String> {
    let mut lines = text.lines();
    let heading = lines.by_ref().find_map(|line| {
        [',', ';', '\t'].into_iter().find_map(|separator| {
            let cells = csv_cells(line, separator);
            let index = cells.iter().position(|cell| cell == column)?;
            Some((separator, index, cells.len()))
        })
    });
    let Some((separator, index, width)) = heading else { return Vec::new() };
    lines
        .map(|line| csv_cells(line, separator))
        .filter(|cells| cells.len() == width)
        .filter_map(|cells| cells.into_iter().nth(index))
        .filter(|cell| !cell.is_empty())
        .collect()
}

/// The cells of a line; a cell in double quotes may hold the separator, and `""` is a quote in it.
fn csv_cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, cells.last_mut()) {
            ('"', Some(cell)) if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            ('"', _) => quoted = !quoted,
            (character, _) if character == separator && !quoted => cells.push(String::new()),
            (character, Some(cell)) => cell.push(character),
            (_, None) => {}
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

impl<P: std::fmt::Debug> SuccessRule<P> {
    /// Why a program that ended by itself did not succeed by its output or files; `None` if it did.
    /// The exit code is compared by [`SuccessRule::accepts`], because a wrong one is a failure of
    /// another kind.
    pub fn objection(&self, stdout: &str, stderr: &str, exists: &dyn Fn(&P) -> bool) -> Option<String> {
        if let Some(pattern) = &self.output
            && !pattern.is_match(stdout)
            && !pattern.is_match(stderr)
        {
            return Some(format!("`{}` does not occur in its output", pattern.as_str()));
        }
        let missing = self.files.iter().find(|file| !exists(file))?;
        Some(format!("the file {missing:?} does not exist"))
    }

    /// Whether the exit code means success.
    pub fn accepts(&self, exit_code: i32) -> bool {
        exit_code == self.exit_code
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::{Pattern, Source};

    fn rule(extraction: Extraction, take: Take) -> MetricRule {
        MetricRule { name: "m".into(), from: Source::Stdout, extraction, take }
    }

    fn pattern(text: &str) -> Extraction {
        Extraction::Pattern(Pattern(regex::Regex::new(text).unwrap()))
    }

    #[test]
    fn patterns_take_the_occurrence_asked_for() {
        let text = "epoch took 2\nepoch took 4.5D+00\nepoch took 1\n";
        for (take, expected) in [
            (Take::First, 2.0),
            (Take::Last, 1.0),
            (Take::Mean, 2.5),
            (Take::Sum, 7.5),
            (Take::Max, 4.5),
            (Take::Min, 1.0),
            (Take::Median, 2.0),
            (Take::Count, 3.0),
        ] {
            assert_eq!(rule(pattern(r"epoch took (?<value>\S+)"), take).value(text), Ok(expected));
        }
        let even = rule(pattern(r"(?<value>\d+)"), Take::Median).value("8 2 1 100");
        assert_eq!(even, Ok(5.0), "the mean of the two in the middle");
        let absent = rule(pattern("(?<value>x+)"), Take::Last).value(text).unwrap_err();
        assert_eq!(absent.to_string(), "metric `m`: the pattern `(?<value>x+)` does not occur");
        let text = rule(pattern("(?<value>took)"), Take::Last).value(text).unwrap_err();
        assert_eq!(text.to_string(), "metric `m`: `took` is not a number");
    }

    #[test]
    fn json_paths_reach_fields_elements_and_all_elements() {
        let text = r#"{"training": {"epochs": [{"s": 1.5}, {"s": 2.5}], "loss": "3e-1"}}"#;
        for (path, take, expected) in [
            ("training.loss", Take::Last, 0.3),
            ("training.epochs[1].s", Take::Last, 2.5),
            ("training.epochs[*].s", Take::Sum, 4.0),
        ] {
            let path = Extraction::Json(path.parse().unwrap());
            assert_eq!(rule(path, take).value(text), Ok(expected));
        }
        let lines = Extraction::Json("a".parse().unwrap());
        assert_eq!(rule(lines.clone(), Take::Mean).value("{\"a\":1}\n{\"a\":2}\n"), Ok(1.5));
        assert!(matches!(rule(lines, Take::Last).value("{"), Err(MetricError::NotJson { .. })));
    }

    #[test]
    fn columns_are_found_below_other_text_and_in_quotes() {
        let text = "hello\nstep,\"rate, mean\",x\n1,\"2.5\",a\n2,3.5,b\nbye\n";
        assert_eq!(rule(Extraction::Csv("rate, mean".into()), Take::Mean).value(text), Ok(3.0));
        assert_eq!(rule(Extraction::Csv("x".into()), Take::Count).value("y;x\n1;2\n"), Ok(1.0));
        assert!(rule(Extraction::Csv("none".into()), Take::Last).value(text).is_err());
    }

    #[test]
    fn success_needs_all_that_is_asked_for() {
        let success = SuccessRule {
            exit_code: 0,
            output: Some(Pattern(regex::Regex::new("converged").unwrap())),
            files: vec![PathBuf::from("result.dat")],
        };
        assert!(success.accepts(0) && !success.accepts(1));
        assert_eq!(success.objection("", "converged", &|_| true), None);
        assert_eq!(
            success.objection("no", "", &|_| true).unwrap(),
            "`converged` does not occur in its output"
        );
        assert_eq!(
            success.objection("converged", "", &|_| false).unwrap(),
            "the file \"result.dat\" does not exist"
        );
    }

    proptest! {
        #[test]
        fn any_output_is_read_without_a_panic(text in any::<String>()) {
            let _ = rule(Extraction::Csv("a".into()), Take::Last).value(&text);
            let _ = rule(Extraction::Json("a[0]".parse().unwrap()), Take::Max).value(&text);
            let _ = text.parse::<JsonPath>();
        }
    }
}
