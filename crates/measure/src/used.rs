//! Adds up what the kernel counted for the processes of a run.

use std::process::ExitStatus;
use std::time::Duration;

use harp_core::Bytes;

use crate::procfs::Transferred;
use crate::system::Reaped;

/// What the kernel counted, added up over the processes of a run.
pub(crate) struct Used {
    /// How the first process ended.
    pub status: ExitStatus,
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// The kernel's peak of the largest process.
    pub largest_resident: Bytes,
    /// Times a process waited by itself.
    pub voluntary_switches: u64,
    /// Times a process was made to wait.
    pub involuntary_switches: u64,
    /// Bytes read and written, if they are shown.
    pub transferred: Option<Transferred>,
}

impl Used {
    /// Starts with the process that was started first; `overhead_written` is what it wrote on harp's
    /// behalf before it became the program.
    pub(crate) fn new(root: Reaped, transferred: Option<Transferred>, overhead_written: u64) -> Self {
        Self {
            status: root.status,
            user: root.user,
            system: root.system,
            largest_resident: root.largest_resident,
            voluntary_switches: root.voluntary_switches,
            involuntary_switches: root.involuntary_switches,
            transferred: transferred.map(|counted| Transferred {
                written: counted.written.saturating_sub(overhead_written),
                ..counted
            }),
        }
    }

    /// Adds a process that had lost its parent.
    pub(crate) fn add(&mut self, orphan: Reaped, transferred: Option<Transferred>) {
        self.user += orphan.user;
        self.system += orphan.system;
        self.largest_resident = self.largest_resident.max(orphan.largest_resident);
        self.voluntary_switches += orphan.voluntary_switches;
        self.involuntary_switches += orphan.involuntary_switches;
        if let (Some(sum), Some(more)) = (&mut self.transferred, transferred) {
            sum.read += more.read;
            sum.written += more.written;
        }
    }
}
