//! Adds up the memory of several processes without counting shared pages twice.
//!
//! After a fork, parent and child see the same pages; the sum of their resident sets counts them
//! twice. The kernel can say how many are shared (`smaps_rollup`), but walks every page for it. So
//! it is asked only when the answer could make a new peak and a small budget of processor time
//! allows it. In between, what was found shared is carried over, and what a new process already had
//! when first seen is taken as shared. The result is then a lower bound: pages that stopped being
//! shared since are missed until the next look.

use std::collections::HashMap;
use std::time::Duration;

use crate::procfs::{self, ProcessId, Resident, Shares};
use crate::system;

/// Processor time that may always be spent on asking, so that short runs are seen too.
const CREDIT: Duration = Duration::from_millis(50);
/// Of elapsed time, the share that may be spent beyond that.
const BUDGET: u32 = 100;
/// After asking, so many times as long as it took must pass, and this part of the time so far: else
/// the credit is gone in a moment and nothing is left for the plateau that follows.
const REST: u32 = 10;
const REST_PART: u32 = 3;

/// Doubt of less than one part in this many is let be.
const TOLERANCE: u64 = 100;

/// What is known of one process.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Of its anonymous memory, what others were counted for.
    elsewhere: u64,
    /// Its share of shared memory.
    shared_share: u64,
    /// Whether it was never asked about.
    guessed: bool,
}

/// Where the answers come from.
pub(crate) trait Source {
    /// How a process shares its pages: dear.
    fn shares(&self, process: ProcessId) -> Option<Shares>;
    /// What a process holds: cheap.
    fn resident(&self, process: ProcessId) -> Option<Resident>;
    /// Processor time of this thread.
    fn clock(&self) -> Duration;
}

/// The kernel of this machine.
pub(crate) struct Kernel;

impl Source for Kernel {
    fn shares(&self, process: ProcessId) -> Option<Shares> {
        procfs::shares(process)
    }

    fn resident(&self, process: ProcessId) -> Option<Resident> {
        procfs::resident(process)
    }

    fn clock(&self) -> Duration {
        system::processor_time()
    }
}

/// Running knowledge of who shares how much.
#[derive(Default)]
pub(crate) struct Sharing {
    known: HashMap<ProcessId, Known>,
    spent: Duration,
    resting_until: Duration,
}

impl Sharing {
    /// The memory of the processes together, each page counted once as far as known.
    ///
    /// `peak` is the largest result so far, `elapsed` the time since the run began.
    pub(crate) fn total(
        &mut self,
        processes: &[(ProcessId, Resident)],
        peak: u64,
        elapsed: Duration,
        source: &impl Source,
    ) -> u64 {
        if let [(process, resident)] = processes {
            self.known.clear();
            self.known.insert(*process, Known { elsewhere: 0, shared_share: 0, guessed: false });
            return resident.anonymous + resident.shared + resident.file;
        }
        self.known.retain(|known, _| processes.iter().any(|(process, _)| process == known));
        let upper: u64 = processes.iter().map(|(_, resident)| resident.anonymous + resident.shared).sum();
        let files = processes.iter().map(|(_, resident)| resident.file).max().unwrap_or(0);
        let carried = self.carried(processes);
        let doubt = upper.saturating_sub(carried);
        let matters = doubt > carried / TOLERANCE && upper + files > peak;
        if !matters || elapsed < self.resting_until || self.spent > CREDIT + elapsed / BUDGET {
            return carried + files;
        }
        let before = source.clock();
        let answer = self.ask(processes, source);
        let cost = source.clock().saturating_sub(before);
        self.spent += cost;
        self.resting_until = elapsed + (cost * REST).max(elapsed / REST_PART);
        match answer {
            Some(answer) => {
                self.known.extend(answer);
                self.carried(processes) + files
            }
            None => carried + files,
        }
    }

    /// Processor time spent on asking the kernel.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// Asks about the processes that were never asked about, or about all if there are none.
    ///
    /// Shares only add up if they are of one moment. When a process gave up memory while others
    /// were asked about, these have its share already: then there is no answer.
    fn ask(
        &self,
        processes: &[(ProcessId, Resident)],
        source: &impl Source,
    ) -> Option<Vec<(ProcessId, Known)>> {
        let is_new =
            |(process, _): &&(ProcessId, Resident)| self.known.get(process).is_none_or(|known| known.guessed);
        let only_new = processes.iter().any(|one| is_new(&one));
        let mut answer = Vec::new();
        for (process, _) in processes.iter().filter(|one| !only_new || is_new(one)) {
            let shares = source.shares(*process)?;
            // What a newcomer shares is still counted in full for the others; once all are asked
            // about, every one counts its share.
            let counted = if only_new { shares.alone } else { shares.anonymous_share };
            let known = Known {
                elsewhere: shares.anonymous.saturating_sub(counted),
                shared_share: if only_new { 0 } else { shares.shared_share },
                guessed: false,
            };
            answer.push((*process, known));
        }
        let all_kept = processes.iter().all(|(process, before)| {
            let held = |resident: &Resident| resident.anonymous + resident.shared;
            let kept = held(before) - held(before) / TOLERANCE;
            source.resident(*process).is_some_and(|now| held(&now) >= kept)
        });
        all_kept.then_some(answer)
    }

    /// The sum with what is known now.
    fn carried(&mut self, processes: &[(ProcessId, Resident)]) -> u64 {
        let mut anonymous = 0;
        let mut shared_shares = 0;
        let mut largest_shared = 0;
        for (process, resident) in processes {
            let guess = Known { elsewhere: resident.anonymous, shared_share: 0, guessed: true };
            let known = self.known.entry(*process).or_insert(guess);
            anonymous += resident.anonymous.saturating_sub(known.elsewhere);
            shared_shares += known.shared_share;
            largest_shared = largest_shared.max(resident.shared);
        }
        anonymous + largest_shared.max(shared_shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(anonymous: u64) -> Resident {
        Resident { anonymous, ..Resident::default() }
    }

    /// Answers prepared by a test; `None` where it must not be asked.
    struct Prepared {
        shares: Option<fn(ProcessId) -> Shares>,
        resident: Option<Resident>,
    }

    impl Source for Prepared {
        fn shares(&self, process: ProcessId) -> Option<Shares> {
            Some(self.shares.expect("this must not be asked")(process))
        }
        fn resident(&self, _: ProcessId) -> Option<Resident> {
            self.resident
        }
        fn clock(&self) -> Duration {
            Duration::ZERO
        }
    }

    const NEVER: Prepared = Prepared { shares: None, resident: None };
    const PLENTY: Option<Resident> = Some(Resident { anonymous: 1 << 40, file: 0, shared: 0, peak: 0 });

    /// Parent 1 and child 2 see 1000 common pages; the child has 50 of its own.
    const FORKED: Prepared = Prepared {
        shares: Some(|process| {
            let own = if process == 2 { 50 } else { 0 };
            Shares { anonymous: 1000 + own, anonymous_share: 500 + own, shared_share: 0, alone: own }
        }),
        resident: PLENTY,
    };

    fn total(sharing: &mut Sharing, processes: &[(ProcessId, Resident)], source: &Prepared) -> u64 {
        sharing.total(processes, 0, Duration::ZERO, source)
    }

    #[test]
    fn a_single_process_is_its_resident_set() {
        let one = Resident { anonymous: 100, file: 20, shared: 3, peak: 0 };
        assert_eq!(total(&mut Sharing::default(), &[(1, one)], &NEVER), 123);
    }

    #[test]
    fn forked_pages_count_once_and_own_pages_count_each() {
        let mut sharing = Sharing::default();
        assert_eq!(total(&mut sharing, &[(1, resident(1000))], &NEVER), 1000);
        let both = [(1, resident(1000)), (2, resident(1050))];
        // First only the newcomer is asked about, then both.
        assert_eq!(total(&mut sharing, &both, &FORKED), 1050);
        assert_eq!(total(&mut sharing, &both, &FORKED), 1050);
        // The child grows by 200; carried over without asking again because the budget is spent.
        sharing.spent = Duration::from_secs(1);
        let grown = [(1, resident(1000)), (2, resident(1250))];
        assert_eq!(total(&mut sharing, &grown, &NEVER), 1250);
    }

    #[test]
    fn answers_of_different_moments_are_not_added_up() {
        let mut sharing = Sharing::default();
        total(&mut sharing, &[(1, resident(1000))], &NEVER);
        let both = [(1, resident(1000)), (2, resident(1050))];
        // Everything seems to be the child's own, because the parent has let go meanwhile.
        let late = Prepared {
            shares: Some(|_| Shares { anonymous: 1050, alone: 1050, ..Shares::default() }),
            resident: None,
        };
        assert_eq!(total(&mut sharing, &both, &late), 1000);
    }

    #[test]
    fn a_newcomer_counts_nothing_before_it_was_looked_at_but_its_growth_does() {
        let mut sharing = Sharing::default();
        total(&mut sharing, &[(1, resident(1000))], &NEVER);
        sharing.spent = Duration::from_secs(1);
        assert_eq!(total(&mut sharing, &[(1, resident(1000)), (2, resident(1000))], &NEVER), 1000);
        assert_eq!(total(&mut sharing, &[(1, resident(1000)), (2, resident(1300))], &NEVER), 1300);
    }

    #[test]
    fn nothing_is_asked_when_it_could_not_make_a_new_peak() {
        let processes = [(1, resident(1000)), (2, resident(1050))];
        Sharing::default().total(&processes, 5000, Duration::ZERO, &NEVER);
    }

    #[test]
    fn shared_memory_counts_once() {
        let with = |shared| Resident { shared, ..Resident::default() };
        let source = Prepared {
            shares: Some(|_| Shares { shared_share: 400, ..Shares::default() }),
            resident: PLENTY,
        };
        let mut sharing = Sharing::default();
        for _ in 0..3 {
            assert_eq!(total(&mut sharing, &[(1, with(800)), (2, with(800))], &source), 800);
        }
    }
}
