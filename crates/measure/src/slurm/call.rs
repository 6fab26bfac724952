//! Calling a client of Slurm: its answer as a stream, its complaints as an error, and an end to waiting.

use std::io::{ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::SlurmError;

/// More of a complaint than this says nothing new.
const LONGEST_COMPLAINT: u64 = 16 * 1024;

/// The whole answer as text.
pub(super) fn text(
    command: &'static str,
    arguments: &[&str],
    patience: Duration,
) -> Result<String, SlurmError> {
    let read = |answer: &mut dyn Read| {
        let mut bytes = Vec::new();
        answer.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    };
    stream(command, arguments, patience, read)?
        .map_err(|error| SlurmError::Failed { command, said: error.to_string() })
}

/// The whole answer of a client that hands its environment on to a job: nothing is added to it, and what
/// belongs to a job that harp itself may run in is taken away.
pub(super) fn submit(
    command: &'static str,
    arguments: &[&str],
    patience: Duration,
) -> Result<String, SlurmError> {
    let mut child = Command::new(command);
    let of_a_job = |name: &std::ffi::OsString| {
        name.to_str().is_some_and(|name| name.starts_with("SLURM_") && name != "SLURM_CONF")
    };
    std::env::vars_os().map(|(name, _)| name).filter(of_a_job).for_each(|name| {
        child.env_remove(name);
    });
    child.args(arguments);
    let read = |answer: &mut dyn Read| {
        let mut text = String::new();
        answer.read_to_string(&mut text).map(|_| text)
    };
    follow(command, child, patience, read)?
        .map_err(|error| SlurmError::Failed { command, said: error.to_string() })
}

/// Hands the answer to `read` while it comes.
pub(super) fn stream<T>(
    command: &'static str,
    arguments: &[&str],
    patience: Duration,
    read: impl FnOnce(&mut dyn Read) -> T,
) -> Result<T, SlurmError> {
    let mut child = Command::new(command);
    child.args(arguments).env("SLURM_TIME_FORMAT", "%s").env("LC_ALL", "C").env_remove("SACCT_FORMAT");
    follow(command, child, patience, read)
}

/// Starts a client and follows it to its end. One that is not done in time is ended.
fn follow<T>(
    command: &'static str,
    mut child: Command,
    patience: Duration,
    read: impl FnOnce(&mut dyn Read) -> T,
) -> Result<T, SlurmError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => SlurmError::Missing { command },
        _ => SlurmError::Failed { command, said: error.to_string() },
    };
    let mut child =
        child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let (answer, complaints) = (child.stdout.take(), child.stderr.take());
    let child = Arc::new(Mutex::new(child));
    let (done, is_done) = mpsc::channel::<()>();
    let watched = Arc::clone(&child);
    let watcher = thread::spawn(move || {
        let late = is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        if late {
            let _ = locked(&watched).kill();
        }
        late
    });
    let listener = thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(mut complaints) = complaints {
            let _ = complaints.by_ref().take(LONGEST_COMPLAINT).read_to_end(&mut said);
            // a client that cannot write its complaints would wait for ever
            let _ = std::io::copy(&mut complaints, &mut std::io::sink());
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    let mut answer: Box<dyn Read> = answer.map_or(Box::new(std::io::empty()), |answer| Box::new(answer));
    let result = read(&mut answer);
    // A reader that stopped early closes the pipe: the client must not wait for it.
    drop(answer);
    let said = listener.join().unwrap_or_default();
    let status = locked(&child).wait();
    let _ = done.send(());
    if watcher.join().unwrap_or(false) {
        return Err(SlurmError::TooSlow { command, patience });
    }
    match status {
        Ok(status) if status.success() => Ok(result),
        Ok(_) => Err(SlurmError::of_complaint(command, &said)),
        Err(error) => Err(failed(error)),
    }
}

fn locked(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_complaints_and_waiting_come_to_an_end() {
        let second = Duration::from_secs(30);
        assert_eq!(text("echo", &["hello"], second).unwrap(), "hello\n");
        let complained = text("sh", &["-c", "echo Connection refused >&2; exit 1"], second);
        assert!(matches!(complained, Err(SlurmError::Unreachable { .. })), "{complained:?}");
        assert!(matches!(text("no-such-client-of-slurm", &[], second), Err(SlurmError::Missing { .. })));
        let slow = text("sleep", &["60"], Duration::from_millis(50));
        assert!(matches!(slow, Err(SlurmError::TooSlow { .. })), "{slow:?}");
    }
}
