//! The processes of one run: finding them, also those that were cut loose, and ending them all.
//!
//! A process belongs to a run when its parent does, when it is in the run's session, or when it
//! carries the run's mark in its environment. Processes that no longer have a parent become
//! children of this process, which is their subreaper. Nothing else is ever signalled or reaped.

use std::collections::{BTreeMap, HashSet};
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
};

use crate::mark;
use crate::procfs::{self, ProcessId, Resident};
use crate::system::{self, Reaped};

/// How long processes that were told to end at once may take; some wait for a dead file server.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a number is taken for the same process without looking again: numbers are used anew.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Once in a process: makes it the one that inherits the orphans of the programs it runs, and ends
/// what an earlier one left running when it was killed.
pub(crate) fn take_charge() {
    take_charge_once(true);
}

/// The same in a job of a scheduler, which itself ends what a job leaves behind.
pub(crate) fn take_charge_in_job() {
    take_charge_once(false);
}

fn take_charge_once(ends_stale: bool) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if ends_stale {
            mark::end_stale_processes();
        }
        // Refused only by kernels before 3.4; orphans are then found by session and mark alone.
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// The processes of one run, as last seen.
pub(crate) struct Processes {
    root: ProcessId,
    mark: String,
    members: BTreeMap<ProcessId, u64>,
    strangers: HashSet<ProcessId>,
    believed_since: Instant,
    newest: Option<u64>,
}

impl Processes {
    /// The processes that come from a freshly started child; not those that were there before it.
    pub(crate) fn of(root: Pid, mark: &str, before: Vec<ProcessId>) -> Self {
        let root = root.as_raw_pid();
        let started = procfs::identity(root).map_or(0, |identity| identity.started);
        Self {
            root,
            mark: mark.to_owned(),
            members: BTreeMap::from([(root, started)]),
            strangers: before.into_iter().filter(|&process| process != root).collect(),
            believed_since: Instant::now(),
            // While the root is the newest process there is, it has started none.
            newest: u64::try_from(root).ok(),
        }
    }

    /// All members as last seen, ended ones included until they are reaped.
    pub(crate) fn members(&self) -> impl Iterator<Item = ProcessId> {
        self.members.keys().copied()
    }

    /// The memory of the process that was started first, unless it has ended.
    pub(crate) fn root_resident(&self) -> Option<Resident> {
        procfs::resident(self.root)
    }

    /// The memory of every member that has not ended.
    pub(crate) fn residents(&mut self) -> Vec<(ProcessId, Resident)> {
        let mut residents = Vec::with_capacity(self.members.len());
        self.members.retain(|&process, _| match procfs::resident(process) {
            Some(resident) => {
                residents.push((process, resident));
                true
            }
            None => procfs::exists(process),
        });
        residents
    }

    /// Looks for new members; does little when no process was started anywhere.
    pub(crate) fn refresh(&mut self) {
        let newest = procfs::newest_process();
        if newest.is_some() && newest == self.newest {
            return;
        }
        self.newest = newest;
        self.look_everywhere();
    }

    fn look_everywhere(&mut self) {
        if self.believed_since.elapsed() > BELIEVED_FOR {
            self.strangers.clear();
            self.believed_since = Instant::now();
            self.members.retain(|&process, &mut started| is_still(process, started));
        }
        let own = getpid().as_raw_pid();
        let mut unknown: Vec<_> = procfs::processes()
            .into_iter()
            .filter(|process| !self.members.contains_key(process) && !self.strangers.contains(process))
            .filter_map(|process| Some((process, procfs::identity(process)?)))
            .collect();
        // Parents usually come first, but numbers wrap around: repeat until nothing is found.
        loop {
            let before = unknown.len();
            unknown.retain(|(process, identity)| {
                let member = identity.session == self.root
                    || self.members.contains_key(&identity.parent)
                    || (identity.parent == own
                        && procfs::variable(*process, mark::VARIABLE).as_deref() == Some(&*self.mark));
                if member {
                    self.members.insert(*process, identity.started);
                }
                !member
            });
            if unknown.len() == before {
                break;
            }
        }
        // A child of this very process may be between fork and exec, its mark not yet to be seen.
        let strangers = unknown.into_iter().filter(|(_, identity)| identity.parent != own);
        self.strangers.extend(strangers.map(|(process, _)| process));
    }

    /// Takes in processes known to belong to the run from elsewhere: its control group.
    pub(crate) fn adopt(&mut self, processes: impl IntoIterator<Item = ProcessId>) {
        for process in processes {
            if let Some(identity) = procfs::identity(process) {
                self.members.insert(process, identity.started);
            }
        }
    }

    /// Forgets a member that is gone.
    pub(crate) fn forget(&mut self, process: ProcessId) {
        self.members.remove(&process);
    }

    /// Sends every living member a signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.look_everywhere();
        self.members.retain(|&process, &mut started| {
            let identity = procfs::identity(process).filter(|identity| identity.started == started);
            let Some(identity) = identity else { return false };
            if !identity.ended
                && let Some(pid) = Pid::from_raw(process)
            {
                // It may have ended just now; then there is nothing to signal.
                let _ = kill_process(pid, signal);
            }
            true
        });
    }

    /// After the root was reaped: ends everything that is left, and hands each reaped process and
    /// what it transferred to `account`.
    pub(crate) fn end_all(
        &mut self,
        mut living: impl FnMut() -> Vec<ProcessId>,
        mut account: impl FnMut(Reaped, Option<procfs::Transferred>),
    ) {
        self.forget(self.root);
        let own = getpid().as_raw_pid();
        let started = Instant::now();
        while has_children() && started.elapsed() < PATIENCE {
            self.adopt(living());
            self.signal(Signal::KILL);
            if self.members.is_empty() {
                break;
            }
            let ended: Vec<ProcessId> = self
                .members()
                .filter(|&process| {
                    procfs::identity(process).is_some_and(|identity| identity.ended && identity.parent == own)
                })
                .collect();
            for &process in &ended {
                let transferred = procfs::transferred(process);
                if let Some(reaped) = Pid::from_raw(process).and_then(|pid| system::reap(pid).ok()) {
                    account(reaped, transferred);
                }
                self.forget(process);
            }
            if ended.is_empty() {
                thread::sleep(Duration::from_micros(200));
            }
        }
    }
}

/// Whether a number still belongs to the process that started at that time.
fn is_still(process: ProcessId, started: u64) -> bool {
    procfs::identity(process).is_some_and(|identity| identity.started == started)
}

/// Whether this process has any child at all, running or ended: as the subreaper it has one
/// whenever anything of a run is left.
pub(crate) fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, options).err() != Some(rustix::io::Errno::CHILD)
}

/// Whether a process comes from another one, by parents or by session.
pub(crate) fn descends_from(process: ProcessId, root: ProcessId) -> bool {
    let mut current = process;
    // A chain of parents is short; the bound guards against numbers used anew in between.
    for _ in 0..64 {
        if current == root {
            return true;
        }
        match procfs::identity(current) {
            Some(identity) if identity.session == root => return true,
            Some(identity) if identity.parent > 1 => current = identity.parent,
            _ => return false,
        }
    }
    false
}
