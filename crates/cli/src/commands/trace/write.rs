//! `harp trace convert`, `anonymise` and `generate`: traces written, job by job.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use harp_trace::generate::GenerateOptions;
use harp_trace::{ConvertOptions, Format, Header, Skipped, TraceError, TraceWriter};
use serde::Serialize;

use super::reading;
use crate::arguments::{TraceConvert, TraceGenerate, TraceOutput};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// What was written: the answer with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    output: &'a Path,
    format: Format,
    jobs: u64,
    skipped: Skipped,
}

/// Writes a trace in another format, or without identities.
pub fn convert(arguments: &TraceConvert, anonymise: bool, terminal: &Terminal) -> Result<(), Failure> {
    let format = format_of(&arguments.output)?;
    let file = &arguments.file;
    let source: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).map_err(|error| Failure::file("read", file, &error))?)
    };
    let options = reading::options(&arguments.reading);
    let name = if file.as_os_str() == "-" { "<stdin>".to_owned() } else { file.display().to_string() };
    let read = with_destination(&arguments.output, terminal, |destination| {
        harp_trace::convert(&name, source, &options, destination, ConvertOptions { format, anonymise })
    })?;
    reading::tell_skipped(&read, terminal);
    tell(&arguments.output, format, read.jobs, read.skipped.clone(), terminal)?;
    reading::require_all(&arguments.reading, &read)
}

/// Makes up a trace.
pub fn generate(arguments: &TraceGenerate, terminal: &Terminal) -> Result<(), Failure> {
    let format = format_of(&arguments.output)?;
    let options = GenerateOptions {
        jobs: arguments.jobs,
        processors: arguments.procs,
        users: arguments.users,
        load: Some(arguments.load),
        seed: arguments.seed,
    };
    let header = Header {
        max_processors: Some(arguments.procs),
        comments: vec![
            " Version: 2.2".to_owned(),
            format!(
                " Note: made up by `harp trace generate --jobs {} --procs {} --users {} --load {} --seed {}`",
                arguments.jobs, arguments.procs, arguments.users, arguments.load, arguments.seed
            ),
            format!(" MaxJobs: {}", arguments.jobs),
            format!(" MaxProcs: {}", arguments.procs),
        ],
        ..Header::default()
    };
    with_destination(&arguments.output, terminal, |destination| {
        let mut writer = TraceWriter::new(destination, format, &header)?;
        harp_trace::generate::jobs(&options).try_for_each(|job| writer.write(&job))?;
        writer.finish().map(|_| ())
    })?;
    tell(&arguments.output, format, arguments.jobs as u64, Skipped::default(), terminal)
}

/// The format asked for, else the one the file's name tells, else SWF.
fn format_of(output: &TraceOutput) -> Result<Format, Failure> {
    if let Some(format) = output.to {
        return Ok(format);
    }
    let Some(file) = &output.output else { return Ok(Format::Swf) };
    let name = file.to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    match plain.rsplit('.').next() {
        Some("swf") => Ok(Format::Swf),
        Some("csv") => Ok(Format::Csv),
        Some("jsonl" | "ndjson") => Ok(Format::JsonLines),
        _ => Err(Failure::bad_input(format!("{}: the name does not tell the format", file.display()))
            .hint("name it with --to swf|csv|jsonl")),
    }
}

/// Gives `write` the file or standard output to write to. A file appears under its name only when it is
/// whole, so a trace may be converted in its own place.
fn with_destination<T>(
    output: &TraceOutput,
    terminal: &Terminal,
    write: impl FnOnce(&mut dyn Write) -> Result<T, TraceError>,
) -> Result<T, Failure> {
    let Some(file) = &output.output else {
        if terminal.json {
            return Err(Failure::bad_input("with --json the trace needs a file of its own")
                .hint("name it with --output FILE"));
        }
        return match write(&mut BufWriter::new(io::stdout().lock())) {
            Err(TraceError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                std::process::exit(0)
            }
            result => Ok(result?),
        };
    };
    let beside = beside(file);
    let result = write_file(file, &beside, write);
    if result.is_err() {
        // nothing but the error matters if it cannot be removed
        let _ = fs::remove_file(&beside);
    }
    result
}

fn beside(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.{}.new", std::process::id()))
}

fn write_file<T>(
    file: &Path,
    beside: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, TraceError>,
) -> Result<T, Failure> {
    let failed = |error: io::Error| Failure::file("write", file, &error);
    let mut plain = BufWriter::new(File::create(beside).map_err(failed)?);
    let told = |error: TraceError| match error {
        TraceError::Write(error) => failed(error),
        other => other.into(),
    };
    let result = if file.extension().is_some_and(|extension| extension == "gz") {
        let mut compressed = GzEncoder::new(&mut plain, Compression::default());
        let result = write(&mut compressed).map_err(told)?;
        compressed.finish().map_err(failed)?;
        result
    } else {
        write(&mut plain).map_err(told)?
    };
    plain.flush().map_err(failed)?;
    fs::rename(beside, file).map_err(failed)?;
    Ok(result)
}

fn tell(
    output: &TraceOutput,
    format: Format,
    jobs: u64,
    skipped: Skipped,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let Some(file) = &output.output else { return Ok(()) };
    if terminal.json {
        return terminal.print_json(&Written { output: file, format, jobs, skipped });
    }
    terminal.say(&format!("wrote {} ({jobs} jobs, {})", file.display(), format.name()));
    Ok(())
}
