//! Judges whether a run succeeded, and takes its figures from what it left.

use std::io;
use std::path::Path;

use harp_core::{Metrics, Outcome, median};
use harp_experiment::{Extraction, MetricError, MetricRule, Rendered, Source, SuccessRule, Take};

use super::text::{PIECE, Pieces};

/// A JSON text is one thing and cannot be cut; beyond this size it must be one value a line.
const LARGEST_JSON: usize = 32 << 20;

/// Where a run's output is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output<'a> {
    /// Standard output.
    pub stdout: &'a Path,
    /// Standard error.
    pub stderr: &'a Path,
}

/// How a run ended in the experiment's own terms.
pub(crate) fn judge(outcome: Outcome, rule: &SuccessRule, output: Output<'_>) -> io::Result<Outcome> {
    let exit_code = match outcome {
        Outcome::Completed => 0,
        Outcome::Failed { exit_code } => exit_code,
        other => return Ok(other),
    };
    if !rule.accepts(exit_code) {
        return Ok(Outcome::Failed { exit_code });
    }
    if let Some(pattern) = &rule.output {
        let occurs = |path| -> io::Result<bool> {
            let mut pieces = Pieces::of_file(path, PIECE)?;
            while let Some(piece) = pieces.next_piece()? {
                if pattern.is_match(&piece) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        if !occurs(output.stdout)? && !occurs(output.stderr)? {
            let reason = format!("`{}` does not occur in its output", pattern.as_str());
            return Ok(Outcome::Rejected { reason });
        }
    }
    let missing = rule.files.iter().find(|file| !file.exists());
    Ok(missing.map_or(Outcome::Completed, |file| Outcome::Rejected {
        reason: format!("the file {} does not exist", file.display()),
    }))
}

/// The figures that can be taken, and why the others cannot.
pub(crate) fn metrics(rendered: &Rendered, output: Output<'_>) -> (Metrics, Vec<String>) {
    let mut metrics = Metrics::new();
    let mut warnings = Vec::new();
    for rule in &rendered.metrics {
        let path = match &rule.from {
            Source::Stdout => output.stdout,
            Source::Stderr => output.stderr,
            Source::File(path) => path,
        };
        let size = match rule.extraction {
            Extraction::Json(_) => LARGEST_JSON,
            Extraction::Pattern(_) | Extraction::Csv(_) => PIECE,
        };
        match take(rule, path, size) {
            Ok(Ok(figure)) => {
                metrics.insert(rule.name.clone(), figure);
            }
            Ok(Err(error)) => warnings.push(error.to_string()),
            Err(error) => {
                warnings.push(format!("metric `{}`: cannot read {}: {error}", rule.name, path.display()));
            }
        }
    }
    (metrics, warnings)
}

/// Takes a figure piece by piece, as if the text had been one.
fn take(rule: &MetricRule, path: &Path, size: usize) -> io::Result<Result<f64, MetricError>> {
    let mut pieces = Pieces::of_file(path, size)?;
    let Some(first) = pieces.next_piece()? else { return Ok(rule.value("")) };
    let Some(mut piece) = pieces.next_piece()? else { return Ok(rule.value(&first)) };
    let heading = heading(rule, &first);
    let mut gathered = Gathered::new(rule);
    gathered.add(&first);
    loop {
        gathered.add(&format!("{heading}{piece}"));
        match pieces.next_piece()? {
            Some(next) => piece = next,
            None => return Ok(gathered.result()),
        }
    }
}

/// The line with the names of the columns, which every piece of a table needs.
fn heading(rule: &MetricRule, first: &str) -> String {
    let Extraction::Csv(column) = &rule.extraction else { return String::new() };
    let counting = MetricRule { take: Take::Count, ..rule.clone() };
    // Of the same line twice, the second is a row if the first is a heading.
    let is_heading = |line: &&str| {
        line.contains(column.as_str())
            && counting.value(&format!("{line}\n{line}\n")).is_ok_and(|count| count > 0.0)
    };
    first.lines().find(is_heading).map(|line| format!("{line}\n")).unwrap_or_default()
}

/// The figure of the pieces so far.
struct Gathered<'a> {
    rule: &'a MetricRule,
    /// For a mean: the sum; for a median: whether all could be read; otherwise the figure.
    value: Option<Result<f64, MetricError>>,
    count: f64,
    /// For a median: all of them.
    numbers: Vec<f64>,
}

impl<'a> Gathered<'a> {
    fn new(rule: &'a MetricRule) -> Self {
        Self { rule, value: None, count: 0.0, numbers: Vec::new() }
    }

    fn add(&mut self, piece: &str) {
        let with = |take| MetricRule { take, ..self.rule.clone() }.value(piece);
        let found = match self.rule.take {
            Take::Mean => {
                self.count += with(Take::Count).unwrap_or(0.0);
                with(Take::Sum)
            }
            Take::Median => self.rule.numbers(piece).map(|numbers| {
                self.numbers.extend(numbers);
                0.0
            }),
            _ => self.rule.value(piece),
        };
        self.value = match (self.value.take(), found) {
            (before @ Some(_), Err(MetricError::Absent { .. })) => before,
            (None, Err(MetricError::Absent { .. })) => None,
            (None, found) => Some(found),
            (Some(before), found) => Some(self.combine(before, found)),
        };
    }

    fn combine(
        &self,
        before: Result<f64, MetricError>,
        found: Result<f64, MetricError>,
    ) -> Result<f64, MetricError> {
        match self.rule.take {
            Take::First => before,
            Take::Last => found,
            Take::Mean | Take::Median | Take::Sum | Take::Count => Ok(before? + found?),
            Take::Max => Ok(before?.max(found?)),
            Take::Min => Ok(before?.min(found?)),
        }
    }

    fn result(mut self) -> Result<f64, MetricError> {
        match (self.value, self.rule.take) {
            (Some(sum), Take::Mean) => Ok(sum? / self.count),
            (Some(read), Take::Median) => read.map(|none| median(&mut self.numbers).unwrap_or(none)),
            (Some(value), _) => value,
            // The rule itself has the words for what is absent.
            (None, _) => self.rule.value(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ALL: [Take; 8] =
        [Take::First, Take::Last, Take::Mean, Take::Median, Take::Sum, Take::Max, Take::Min, Take::Count];

    fn rule(extraction: Extraction, take: Take) -> MetricRule {
        MetricRule { name: "figure".into(), from: Source::Stdout, extraction, take }
    }

    fn written(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    /// In pieces or in one, the figure is the same.
    fn agree(extraction: &Extraction, text: &str) {
        let file = written(text);
        for take_which in ALL {
            let rule = rule(extraction.clone(), take_which);
            let whole = rule.value(text);
            let pieced = take(&rule, file.path(), 64).unwrap();
            match (&whole, &pieced) {
                (Ok(whole), Ok(pieced)) => {
                    assert!((whole - pieced).abs() < 1e-9, "{take_which:?}: {whole} and {pieced}");
                }
                _ => assert_eq!(whole, pieced, "{take_which:?}"),
            }
        }
    }

    #[test]
    fn a_table_in_pieces_keeps_its_heading() {
        let rows: String = (0..200).map(|number| format!("{number},{}\n", number * 3 % 17)).collect();
        let text = format!("# the step and its seconds\nstep,seconds\n{rows}");
        agree(&Extraction::Csv("seconds".into()), &text);
        agree(&Extraction::Csv("absent".into()), &text);
    }

    #[test]
    fn one_json_value_a_line_may_be_of_any_length() {
        let text: String =
            (0..200).map(|number| format!("{{\"loss\": {}}}\n", 1.0 / f64::from(number + 1))).collect();
        agree(&Extraction::Json("loss".parse().unwrap()), &text);
    }

    #[test]
    fn exit_code_output_and_files_decide() {
        let directory = tempfile::tempdir().unwrap();
        let (stdout, stderr) = (directory.path().join("out"), directory.path().join("err"));
        fs::write(&stdout, "all converged\n").unwrap();
        fs::write(&stderr, "").unwrap();
        let output = Output { stdout: &stdout, stderr: &stderr };
        let rule = |exit_code, file: &str| SuccessRule {
            exit_code,
            output: None,
            files: vec![directory.path().join(file)],
        };
        let judged = |outcome, rule| judge(outcome, &rule, output).unwrap();
        assert_eq!(judged(Outcome::Completed, rule(0, "out")), Outcome::Completed);
        assert_eq!(judged(Outcome::Completed, rule(3, "out")), Outcome::Failed { exit_code: 0 });
        assert_eq!(judged(Outcome::Failed { exit_code: 3 }, rule(3, "out")), Outcome::Completed);
        assert!(matches!(judged(Outcome::Completed, rule(0, "absent")), Outcome::Rejected { .. }));
        let killed = Outcome::Signalled { signal: 9 };
        assert_eq!(judged(killed.clone(), rule(0, "absent")), killed);
    }
}
