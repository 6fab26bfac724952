//! Waiting for a child to end, with a time-out and without taking it off the process table.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};

/// Something that becomes readable the moment a child has ended.
pub(crate) enum ExitWatch {
    /// The kernel's own handle of a process, Linux 5.3 and later.
    Handle(OwnedFd),
    /// A pipe that a thread closes once the child has ended, for older kernels.
    Thread(PipeReader),
}

impl ExitWatch {
    /// Watches a child that has not been waited for.
    pub(crate) fn new(child: Pid) -> io::Result<Self> {
        match pidfd_open(child, PidfdFlags::empty()) {
            Ok(handle) => Ok(ExitWatch::Handle(handle)),
            Err(_) => Self::with_thread(child),
        }
    }

    fn with_thread(child: Pid) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        thread::Builder::new().name("harp-wait".into()).spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while waitid(WaitId::Pid(child), options).err() == Some(rustix::io::Errno::INTR) {}
            drop(writer);
        })?;
        Ok(ExitWatch::Thread(reader))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match self {
            ExitWatch::Handle(handle) => handle.as_fd(),
            ExitWatch::Thread(reader) => reader.as_fd(),
        }
    }

    /// Waits at most this long; whether the child has ended. A signal may cut the wait short.
    pub(crate) fn wait(&self, at_most: Duration) -> io::Result<bool> {
        let timeout = Timespec {
            tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: at_most.subsec_nanos().into(),
        };
        let descriptor = self.descriptor();
        let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
        match poll(&mut watched, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use super::*;

    fn both_kinds(child: Pid) -> [ExitWatch; 2] {
        [ExitWatch::new(child).unwrap(), ExitWatch::with_thread(child).unwrap()]
    }

    #[test]
    fn an_end_is_noticed_at_once_and_a_time_out_is_kept() {
        let mut child = Command::new("sleep").arg("0.2").spawn().unwrap();
        let started = Instant::now();
        let watches = both_kinds(Pid::from_child(&child));
        for watch in &watches {
            assert!(!watch.wait(Duration::from_millis(20)).unwrap());
        }
        assert!(started.elapsed() >= Duration::from_millis(40));
        for watch in &watches {
            assert!(watch.wait(Duration::from_secs(10)).unwrap());
        }
        assert!(started.elapsed() < Duration::from_secs(5));
        assert!(child.wait().unwrap().success(), "the watch must leave the child to be waited for");
    }
}
