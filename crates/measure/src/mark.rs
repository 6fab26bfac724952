//! The mark by which processes and control groups are known to belong to a run, and to which harp.
//!
//! A mark names the process that made it so that no other can be taken for it: its number, when it
//! started, and the namespace in which the number holds. So what a killed harp left behind is told
//! from what another one is running.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::procfs::{self, ProcessId};

/// The environment variable that carries the mark.
pub(crate) const VARIABLE: &str = "HARP_RUN";

/// Who made a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Maker {
    process: ProcessId,
    started: u64,
    namespace: u64,
}

impl Maker {
    fn this_process() -> Self {
        static OWN: OnceLock<Maker> = OnceLock::new();
        *OWN.get_or_init(|| {
            let process = rustix::process::getpid().as_raw_pid();
            let started = procfs::identity(process).map_or(0, |identity| identity.started);
            let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino());
            Maker { process, started, namespace }
        })
    }

    fn of(mark: &str) -> Option<Self> {
        let mut parts = mark.split('-');
        let mut next = || parts.next()?.parse::<u64>().ok();
        let (process, started, namespace) = (next()?, next()?, next()?);
        Some(Maker { process: ProcessId::try_from(process).ok()?, started, namespace })
    }

    fn is_gone(self) -> bool {
        self.namespace == Self::this_process().namespace
            && procfs::identity(self.process).is_none_or(|identity| identity.started != self.started)
    }
}

/// A mark no other run has.
pub(crate) fn next() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Maker { process, started, namespace } = Maker::this_process();
    format!("{process}-{started}-{namespace}-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whether the process that made a mark is no more. What is no mark is not stale.
pub(crate) fn is_stale(mark: &str) -> bool {
    Maker::of(mark).is_some_and(Maker::is_gone)
}

/// Ends what a killed harp left running: its programs died with it, but not what they had started.
pub(crate) fn end_stale_processes() {
    for process in procfs::processes() {
        if procfs::variable(process, VARIABLE).is_some_and(|mark| is_stale(&mark))
            && let Some(process) = Pid::from_raw(process)
        {
            // It may have ended just now.
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_stale_when_its_maker_is_gone() {
        let mark = next();
        assert_ne!(mark, next());
        assert!(!is_stale(&mark));
        let own = Maker::this_process();
        assert_eq!(Maker::of(&mark), Some(own));
        let Maker { process, started, namespace } = own;
        assert!(is_stale(&format!("{process}-{}-{namespace}-0", started + 1)), "the number was used anew");
        assert!(is_stale(&format!("999999999-1-{namespace}-0")));
        assert!(!is_stale(&format!("999999999-1-{}-0", namespace + 1)), "another namespace is not ours");
        assert!(!is_stale("something else"));
    }
}
