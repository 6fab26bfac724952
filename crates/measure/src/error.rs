//! What can keep a program from being measured, as opposed to how a measured program ends.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why there is no measurement. A program that cannot be started is not among these: that is an
/// outcome ([`harp_core::Outcome::NotStarted`]) and worth recording.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// The stop flag was set; the program was ended and its use means nothing.
    #[error("stopped before the program ended")]
    Stopped,
    /// A file for the program's output could not be made.
    #[error("cannot write the program's output to {}: {source}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system refused something a measurement needs.
    #[error("cannot {action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl ExecuteError {
    /// For `map_err`: a refused system call with what it was for.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| ExecuteError::System { action, source: source.into() }
    }
}
