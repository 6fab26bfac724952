//! Shares out the cores, memory and GPUs of this machine so that runs side by side do not disturb
//! each other.

use harp_core::{Allocation, Bytes};

use crate::{available_cores, gpu, procfs};

/// What there is and what of it is free.
#[derive(Debug, Clone)]
pub(super) struct Resources {
    /// All processors, one of each physical core first.
    cores: Vec<usize>,
    /// How many of them are on a physical core of their own.
    own_cores: usize,
    gpus: usize,
    /// At most so many runs at once.
    most: Option<usize>,
    free_cores: Vec<usize>,
    free_memory: u64,
    free_gpus: Vec<usize>,
    running: usize,
}

/// What one run holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Share {
    cores: Vec<usize>,
    memory: u64,
    gpus: Vec<usize>,
    /// Why it can never have what it asks for.
    refusal: Option<String>,
}

impl Share {
    /// The processors to stay on; none means all.
    pub(super) fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// The GPUs to use.
    pub(super) fn gpus(&self) -> &[usize] {
        &self.gpus
    }

    /// Why the run cannot be done on this machine.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

impl Resources {
    /// All of this machine, for at most so many runs side by side; `None` is as many as fit.
    pub(super) fn of_this_machine(most: Option<usize>) -> Self {
        let (cores, own_cores) = available_cores();
        let memory = procfs::total_memory().map_or(u64::MAX, |memory| memory.0);
        let gpus = gpu::probe().map_or(0, |probe| probe.describe().len());
        Self::new(cores, own_cores, memory, gpus, most)
    }

    fn new(cores: Vec<usize>, own_cores: usize, memory: u64, gpus: usize, most: Option<usize>) -> Self {
        Self {
            free_cores: cores.clone(),
            cores,
            own_cores,
            gpus,
            most,
            free_memory: memory,
            free_gpus: (0..gpus).collect(),
            running: 0,
        }
    }

    /// Whether there is never more than one run at a time.
    pub(super) fn runs_alone(&self) -> bool {
        self.most == Some(1)
    }

    /// A share for a run, or `None` while there is no room for it beside the others.
    pub(super) fn take(&mut self, allocation: &Allocation) -> Option<Share> {
        if let Some(reason) = self.refusal(allocation) {
            return Some(Share { refusal: Some(reason), ..Share::default() });
        }
        if self.most.is_some_and(|most| self.running >= most) {
            return None;
        }
        let wanted = self.wanted_cores(allocation);
        let cores = self.pick_cores(wanted)?;
        let gpus = allocation.gpus.unwrap_or(0) as usize;
        let Bytes(memory) = allocation.memory.unwrap_or_default();
        // A limit larger than the machine is no reason never to run.
        let has_room = memory <= self.free_memory || self.running == 0;
        if !has_room || gpus > self.free_gpus.len() {
            return None;
        }
        self.running += 1;
        self.free_cores.retain(|core| !cores.contains(core));
        let memory = memory.min(self.free_memory);
        self.free_memory -= memory;
        Some(Share { cores, memory, gpus: self.free_gpus.drain(..gpus).collect(), refusal: None })
    }

    /// Takes a share back.
    pub(super) fn give_back(&mut self, share: Share) {
        if share.refusal.is_some() {
            return;
        }
        self.running -= 1;
        self.free_memory += share.memory;
        self.free_cores.extend(share.cores);
        self.free_gpus.extend(share.gpus);
        self.free_gpus.sort_unstable();
    }

    /// As many free processors, each on a physical core of its own if that can be at all.
    fn pick_cores(&self, wanted: usize) -> Option<Vec<usize>> {
        let candidates = if wanted <= self.own_cores { &self.cores[..self.own_cores] } else { &self.cores };
        let free = candidates.iter().copied().filter(|core| self.free_cores.contains(core));
        let picked: Vec<usize> = free.take(wanted).collect();
        (picked.len() == wanted).then_some(picked)
    }

    /// A run that asks for no number of cores may use them all, or its part of them if a number of
    /// runs side by side was asked for; the only run at a time is not pinned.
    fn wanted_cores(&self, allocation: &Allocation) -> usize {
        match (allocation.cores, self.most) {
            (Some(cores), _) => cores as usize,
            (None, Some(1)) => 0,
            (None, Some(most)) => (self.own_cores / most).max(1),
            (None, None) => self.cores.len(),
        }
    }

    fn refusal(&self, allocation: &Allocation) -> Option<String> {
        let (cores, gpus) = (allocation.cores.unwrap_or(0) as usize, allocation.gpus.unwrap_or(0) as usize);
        if allocation.node_count() > 1 {
            Some(format!("it asks for {} nodes, and this is one machine", allocation.node_count()))
        } else if cores > self.cores.len() {
            Some(format!("it asks for {cores} cores, and {} may be used here", self.cores.len()))
        } else if gpus > self.gpus {
            Some(format!("it asks for {gpus} GPUs, and there are {} here", self.gpus))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(cores: Option<u32>, memory: Option<u64>) -> Allocation {
        Allocation { cores, memory: memory.map(Bytes), ..Allocation::default() }
    }

    /// Four physical cores with two hardware threads each, 1000 bytes, one GPU.
    fn machine(most: Option<usize>) -> Resources {
        Resources::new(vec![0, 2, 4, 6, 1, 3, 5, 7], 4, 1000, 1, most)
    }

    #[test]
    fn runs_side_by_side_get_different_physical_cores() {
        let mut free = machine(None);
        let first = free.take(&asking(Some(3), None)).unwrap();
        assert_eq!(first.cores(), [0, 2, 4]);
        assert_eq!(free.take(&asking(Some(2), None)), None, "only hardware threads of used cores are left");
        let second = free.take(&asking(Some(1), None)).unwrap();
        assert_eq!(second.cores(), [6]);
        free.give_back(first);
        assert_eq!(free.take(&asking(Some(2), None)).unwrap().cores(), [0, 2]);
    }

    #[test]
    fn a_run_larger_than_the_physical_cores_uses_hardware_threads_and_waits_for_them() {
        let mut free = machine(None);
        let small = free.take(&asking(Some(1), None)).unwrap();
        assert_eq!(free.take(&asking(Some(8), None)), None);
        free.give_back(small);
        assert_eq!(free.take(&asking(Some(8), None)).unwrap().cores().len(), 8);
    }

    #[test]
    fn runs_that_say_nothing_get_their_part_or_everything() {
        assert_eq!(machine(Some(1)).take(&asking(None, None)).unwrap().cores(), [0; 0]);
        assert_eq!(machine(Some(2)).take(&asking(None, None)).unwrap().cores(), [0, 2]);
        assert_eq!(machine(Some(9)).take(&asking(None, None)).unwrap().cores(), [0]);
        assert_eq!(machine(None).take(&asking(None, None)).unwrap().cores().len(), 8);
    }

    #[test]
    fn memory_limits_must_fit_together() {
        let mut free = machine(None);
        let first = free.take(&asking(Some(1), Some(700))).unwrap();
        assert_eq!(free.take(&asking(Some(1), Some(400))), None);
        assert!(free.clone().take(&asking(Some(1), Some(300))).is_some());
        free.give_back(first);
        let larger_than_the_machine = free.take(&asking(Some(1), Some(5000))).unwrap();
        assert_eq!(larger_than_the_machine.refusal(), None);
        free.give_back(larger_than_the_machine);
        assert_eq!(free.free_memory, 1000);
    }

    #[test]
    fn no_more_runs_than_asked_for() {
        let mut free = machine(Some(2));
        assert!(free.take(&asking(Some(1), None)).is_some());
        assert!(free.take(&asking(Some(1), None)).is_some());
        assert!(free.take(&asking(Some(1), None)).is_none());
    }

    #[test]
    fn what_can_never_be_had_is_refused_at_once() {
        let mut free = machine(None);
        let nodes = Allocation { nodes: Some(2), ..Allocation::default() };
        let gpus = Allocation { gpus: Some(2), ..Allocation::default() };
        for (allocation, word) in [(nodes, "2 nodes"), (asking(Some(9), None), "9 cores"), (gpus, "2 GPUs")] {
            assert!(free.take(&allocation).unwrap().refusal().unwrap().contains(word));
        }
        assert_eq!(free.running, 0);
    }
}
