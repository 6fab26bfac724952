//! Watches the GPUs in the background for the length of one run.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use harp_core::Bytes;

use super::{GpuProbe, GpuState, probe};
use crate::processes::descends_from;
use crate::procfs::ProcessId;

const INTERVAL: Duration = Duration::from_millis(500);

/// What a run used of the GPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct GpuUse {
    /// Largest memory at one moment, all GPUs together.
    pub peak_memory: Option<Bytes>,
    /// Mean utilisation of the GPUs it had memory on, while it had.
    pub utilisation: Option<f64>,
}

/// A thread that asks the GPUs now and then.
pub(crate) struct GpuWatch {
    stop: Sender<()>,
    thread: JoinHandle<Tally>,
}

impl GpuWatch {
    /// Starts watching for a run; `None`, at no cost, where there are no GPUs.
    pub(crate) fn start(root: ProcessId) -> Option<Self> {
        let probe: &'static dyn GpuProbe = probe()?;
        let (stop, stopped) = mpsc::channel();
        let watch = move || {
            let mut tally = Tally::default();
            loop {
                tally.add(&probe.states(), |process| descends_from(process, root));
                match stopped.recv_timeout(INTERVAL) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return tally,
                }
            }
        };
        let thread = thread::Builder::new().name("harp-gpu".into()).spawn(watch).ok()?;
        Some(Self { stop, thread })
    }

    /// Ends the watch.
    pub(crate) fn finish(self) -> GpuUse {
        drop(self.stop);
        self.thread.join().map(|tally| tally.result()).unwrap_or_default()
    }
}

#[derive(Default)]
struct Tally {
    peak: u64,
    utilisation_sum: f64,
    utilisation_count: u32,
}

impl Tally {
    fn add(&mut self, states: &[GpuState], belongs: impl Fn(ProcessId) -> bool) {
        let mut together = 0;
        for state in states {
            let ours = state.processes.iter().filter(|(process, _)| belongs(*process));
            let (count, memory) = ours.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + bytes));
            together += memory;
            if count > 0
                && let Some(utilisation) = state.utilisation
            {
                self.utilisation_sum += utilisation;
                self.utilisation_count += 1;
            }
        }
        self.peak = self.peak.max(together);
    }

    fn result(&self) -> GpuUse {
        let count = f64::from(self.utilisation_count);
        GpuUse {
            peak_memory: (self.peak > 0).then_some(Bytes(self.peak)),
            utilisation: (self.utilisation_count > 0).then(|| self.utilisation_sum / count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_run_itself_counts() {
        let state = |utilisation, processes: &[(ProcessId, u64)]| GpuState {
            utilisation: Some(utilisation),
            processes: processes.to_vec(),
        };
        let mut tally = Tally::default();
        let belongs = |process| process < 10;
        tally.add(&[state(1.0, &[(1, 100), (99, 5000)]), state(0.9, &[(99, 1)])], belongs);
        tally.add(&[state(0.5, &[(1, 200), (2, 50)]), state(0.5, &[(3, 30)])], belongs);
        let used = tally.result();
        assert_eq!(used.peak_memory, Some(Bytes(280)));
        assert_eq!(used.utilisation, Some(2.0 / 3.0));
        assert_eq!(Tally::default().result(), GpuUse::default());
    }
}
