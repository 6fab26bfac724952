//! Samples a running program beside the thread that waits for its end, so that the end is noticed
//! at once however long a sample takes.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use rustix::process::Signal;

use crate::energy::EnergyMeter;
use crate::memory::MemoryMeter;
use crate::processes::Processes;
use crate::system;
use crate::transfers::TransferMeter;

/// What is sampled.
pub(crate) struct Sampler<'run> {
    /// The processes of the run.
    pub processes: &'run mut Processes,
    /// Their memory.
    pub memory: &'run mut MemoryMeter,
    /// What they transfer.
    pub transfers: &'run mut TransferMeter,
    /// The energy of the machine.
    pub energy: Option<&'run mut EnergyMeter>,
    /// When the program was started, on the monotonic clock.
    pub started: Duration,
}

impl Sampler<'_> {
    /// Samples until the other side of the channel is dropped, or until the program was ended for
    /// its memory; whether it was.
    pub(crate) fn run(mut self, ended: &Receiver<()>) -> bool {
        loop {
            let elapsed = system::monotonic().saturating_sub(self.started);
            let pause = self.memory.sample(self.processes, elapsed);
            if self.memory.is_exceeded() {
                self.processes.adopt(self.memory.processes());
                self.processes.signal(Signal::KILL);
                return true;
            }
            self.transfers.sample(self.processes);
            if let Some(energy) = &mut self.energy {
                energy.tick();
            }
            if ended.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return false;
            }
        }
    }
}
