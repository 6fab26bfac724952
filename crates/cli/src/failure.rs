//! What ends a command early: an exit code, a message, a way out. The codes are in docs/exit-codes.md.

use std::fmt;

use harp_experiment::{Diagnostic, Severity};
use harp_history::HistoryError;
use harp_learn::{LearnError, ModelFileError};
use harp_measure::slurm::SlurmError;
use harp_slurm::AccountingError;
use harp_trace::TraceError;
use serde::Serialize;

/// The documented exit codes. 0 is success; 1 is a bug in harp (a panic) and never returned on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Wrong usage or bad input.
    BadInput = 2,
    /// Not enough runs to say anything.
    NotEnoughEvidence = 3,
    /// Nothing meets the limits.
    NoPlanFits = 4,
    /// The case lies too far outside what was measured.
    OutsideRange = 5,
    /// A scheduler did not answer, or not to us.
    Unreachable = 6,
    /// Some of the input could not be used.
    SomeSkipped = 7,
    /// Stopped from outside, as a shell reports Ctrl-C.
    Interrupted = 130,
}

/// Why a command ended early.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What happened, where. May hold several lines; each of them is complete.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The mistakes of a file one by one, where it was a file's.
    mistakes: Vec<Mistake>,
}

/// One mistake as a program reads it.
#[derive(Debug, Clone, Serialize)]
struct Mistake {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// Where in a file.
#[derive(Debug, Clone, Serialize)]
struct Place {
    file: String,
    line: usize,
    column: usize,
}

/// What `--json` prints instead of a result; documented in docs/json.md.
#[derive(Serialize)]
struct Reported<'a> {
    #[serde(flatten)]
    first: Mistake,
    code: u8,
    /// All of them, where there are several.
    #[serde(skip_serializing_if = "<[Mistake]>::is_empty")]
    all: &'a [Mistake],
}

impl Failure {
    /// Wrong usage or bad input.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Failure { exit: Exit::BadInput, message: message.into(), hint: None, mistakes: Vec::new() }
    }

    /// The mistakes found in an experiment file.
    pub fn of_diagnostics(diagnostics: &[Diagnostic]) -> Self {
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let mistakes = errors.map(|diagnostic| Mistake {
            message: diagnostic.message.clone(),
            place: Some(Place {
                file: diagnostic.file.clone(),
                line: diagnostic.position.line,
                column: diagnostic.position.column,
            }),
            fix: diagnostic.hint.clone(),
        });
        Failure { mistakes: mistakes.collect(), ..Failure::bad_input(lines.join("\n")) }
    }

    /// The failure as `--json` prints it.
    pub fn to_json(&self) -> serde_json::Value {
        let first = self.mistakes.first().cloned().unwrap_or_else(|| Mistake {
            message: self.message.strip_prefix("error: ").unwrap_or(&self.message).to_owned(),
            place: None,
            fix: self.hint.clone(),
        });
        let all = if self.mistakes.len() > 1 { self.mistakes.as_slice() } else { &[] };
        serde_json::json!({ "error": Reported { first, code: self.exit as u8, all } })
    }

    /// The same failure with another exit code.
    pub fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The same failure with a way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A file that could not be read or written.
    pub fn file(action: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Failure::bad_input(format!("cannot {action} {}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Diagnostics with a place already begin with their severity.
        let prefix = if self.message.starts_with("error: ") { "" } else { "error: " };
        write!(formatter, "{prefix}{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
        Failure::bad_input(error.to_string())
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        let exit = match error {
            LearnError::NotEnoughEvidence { .. } | LearnError::NoCandidate { .. } => Exit::NotEnoughEvidence,
            _ => Exit::BadInput,
        };
        Failure::bad_input(error.to_string()).exit(exit)
    }
}

impl From<ModelFileError> for Failure {
    fn from(error: ModelFileError) -> Self {
        Failure::bad_input(error.to_string()).hint("`harp build` writes a new model file")
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        // the way out, where there is one, is a part of the message
        Failure::bad_input(error.to_string())
    }
}

impl From<SlurmError> for Failure {
    fn from(error: SlurmError) -> Self {
        // Slurm answered: who it was asked about does not exist.
        if let SlurmError::Failed { said, .. } = &error
            && said.to_lowercase().contains("invalid user")
        {
            return Failure::bad_input(error.to_string()).hint("give a name that the cluster knows");
        }
        let hint = match (&error, std::env::var("SLURM_CONF")) {
            (SlurmError::Unreachable { .. }, Ok(file)) => format!("{} (it is {file})", error.hint()),
            _ => error.hint().to_owned(),
        };
        Failure::bad_input(error.to_string()).exit(Exit::Unreachable).hint(hint)
    }
}

impl From<AccountingError> for Failure {
    fn from(error: AccountingError) -> Self {
        Failure::bad_input(error.to_string())
            .hint("give what `sacct --parsable2 --format=ALL` (with its header) or `sacct --json` printed")
    }
}
