//! Bytes read and written by a run whose final counts the kernel will not show.
//!
//! The counts of an ended process, with those of the children it waited for, are complete until it
//! is reaped, but recent kernels show them to root only. Others must look while processes still
//! run; what is transferred after the last look is missed, so the figure is a lower bound.

use rustix::process::geteuid;

use crate::processes::Processes;
use crate::procfs::{self, Transferred};

/// The counts as last seen.
pub(crate) struct TransferMeter {
    needed: bool,
    last: Transferred,
    samples: u32,
}

impl TransferMeter {
    /// A meter that looks only if the final counts may be hidden.
    pub(crate) fn new() -> Self {
        Self { needed: !geteuid().is_root(), last: Transferred::default(), samples: 0 }
    }

    /// Looks at all processes that run.
    pub(crate) fn sample(&mut self, processes: &mut Processes) {
        if !self.needed {
            return;
        }
        processes.refresh();
        let counts = processes.members().filter_map(procfs::transferred);
        let now = counts.fold(Transferred::default(), |sum, one| Transferred {
            read: sum.read + one.read,
            written: sum.written + one.written,
        });
        // A process that has ended is missing until its parent has waited for it.
        self.last =
            Transferred { read: self.last.read.max(now.read), written: self.last.written.max(now.written) };
        self.samples += 1;
    }

    /// What was seen; nothing if there was hardly a look.
    pub(crate) fn seen(&self) -> Option<Transferred> {
        (self.samples > 1).then_some(self.last)
    }
}
