//! What can go wrong with a trace as a whole. A single bad line is no error: see [`crate::Skipped`].

use thiserror::Error;

/// A trace that could not be read, or does not say enough for what is asked of it.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file or stream could not be read.
    #[error("{name}: could not be read: {source}")]
    Read {
        /// The file, or `<stdin>`.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is nothing in it.
    #[error(
        "{name}:1: the file is empty\n  hint: give a job trace: SWF, `sacct --parsable2` or `--json` output, or CSV"
    )]
    Empty {
        /// The file.
        name: String,
    },
    /// It holds bytes no trace has.
    #[error(
        "{name}:{line}: byte {offset} is not text, so this is no job trace\n  hint: give a text file (or one compressed with gzip): SWF, `sacct` output, or CSV"
    )]
    Binary {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// The byte, from 0.
        offset: u64,
    },
    /// The kind could not be told from the content.
    #[error(
        "{name}:{line}: not a known kind of trace: `{sample}`\n  hint: name the kind with --format swf|sacct|sacct-json|csv|jsonl"
    )]
    UnknownFormat {
        /// The file.
        name: String,
        /// The first line that holds something.
        line: u64,
        /// How it begins.
        sample: String,
    },
    /// Not one line could be used.
    #[error(
        "{name}:{line}: none of {lines} lines is a job of format {format}; the first: {reason}\n  hint: name the kind with --format, or mend the lines"
    )]
    NoJobs {
        /// The file.
        name: String,
        /// The first line refused (1 where there is none).
        line: u64,
        /// How many lines there are.
        lines: u64,
        /// The format it was read as.
        format: &'static str,
        /// Why the first was refused.
        reason: String,
    },
    /// The header of a table lacks a column that is needed, or the column map names one that is not there.
    #[error("{name}:{line}: {reason}\n  hint: {hint}")]
    Columns {
        /// The file.
        name: String,
        /// The header's line.
        line: u64,
        /// What is missing.
        reason: String,
        /// How to give it.
        hint: String,
    },
    /// The trace does not say how large the machine is.
    #[error(
        "{name}:1: the trace has no MaxProcs header, so the machine's size is not known\n  hint: give it with --procs N (the largest job here asks for {largest} processors, line {line})"
    )]
    NoMachine {
        /// The file.
        name: String,
        /// The largest job's processors.
        largest: u32,
        /// The largest job's line.
        line: u64,
    },
    /// A job asks for more than there is.
    #[error(
        "{name}:{line}: job {job} asks for {processors} processors, the machine has {machine}\n  hint: give the machine's real size with --procs N, or leave out such jobs ({count} of them) with --drop-oversized"
    )]
    Oversized {
        /// The file.
        name: String,
        /// The first such job's line.
        line: u64,
        /// Its number.
        job: u64,
        /// Its processors.
        processors: u32,
        /// The machine's processors.
        machine: u32,
        /// How many such jobs there are.
        count: u64,
    },
    /// A result could not be written.
    #[error("could not be written: {0}")]
    Write(#[from] std::io::Error),
}
