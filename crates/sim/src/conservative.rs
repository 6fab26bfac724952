//! Conservative backfilling: every waiting job has a reservation, made at its submission at the
//! earliest time that delays no reservation made before.
//!
//! When a job ends before it was expected to, each waiting job in queue order gives its reservation
//! back and takes the earliest one possible; its own old place is still free then, so none moves back
//! (A. W. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001). Only when an estimate was too short are
//! reservations remade, in the order of their starts, and may then be later than promised.

use crate::engine::{Engine, NEVER};
use crate::profile::Profile;
use crate::queue::Waiting;

/// The reservations.
#[derive(Debug)]
pub(crate) struct Plan {
    machine: u32,
    profile: Profile,
    starts: Vec<i64>,
    ended_early: bool,
    overran: bool,
    /// When the next reservation begins.
    next_start: Option<i64>,
}

impl Plan {
    pub(crate) fn new(machine: u32, jobs: usize) -> Self {
        Plan {
            machine,
            profile: Profile::new(0, machine),
            starts: vec![NEVER; jobs],
            ended_early: false,
            overran: false,
            next_start: None,
        }
    }

    /// When the next reservation begins.
    pub(crate) fn next_start(&self) -> Option<i64> {
        self.next_start
    }

    /// A running job ended, maybe before it was expected to.
    pub(crate) fn ended(&mut self, now: i64, expected_end: i64, processors: u32) {
        if expected_end > now {
            self.profile.change(now, expected_end, i64::from(processors));
            self.ended_early = true;
        }
    }

    /// A running job is still there though it was expected to be gone.
    pub(crate) fn overran(&mut self) {
        self.overran = true;
    }

    fn reserve(&mut self, waiting: &Waiting) -> i64 {
        let start = self.profile.earliest(waiting.processors, waiting.estimate);
        self.profile.change(start, start + waiting.estimate, -i64::from(waiting.processors));
        self.starts[waiting.index as usize] = start;
        start
    }

    fn give_back(&mut self, waiting: &Waiting) {
        let start = self.starts[waiting.index as usize];
        self.profile.change(start, start + waiting.estimate, i64::from(waiting.processors));
    }
}

impl Engine<'_> {
    pub(crate) fn pass_with_plan(&mut self) {
        let Some(mut plan) = self.plan.take() else { return };
        plan.profile.advance(self.now);
        let waiting: Vec<Waiting> = self.queue.iter().copied().collect();
        let is_new = |waiting: &&Waiting| plan.starts[waiting.index as usize] == NEVER;
        let (new, old): (Vec<&Waiting>, Vec<&Waiting>) = waiting.iter().partition(is_new);
        if plan.overran {
            self.remake(&mut plan, old);
        } else if plan.ended_early {
            for waiting in old {
                plan.give_back(waiting);
                plan.reserve(waiting);
            }
        }
        (plan.overran, plan.ended_early) = (false, false);
        for waiting in new {
            let start = plan.reserve(waiting);
            if start > self.now {
                self.promise(waiting.index, start);
            }
        }
        plan.next_start = None;
        for waiting in &waiting {
            let start = plan.starts[waiting.index as usize];
            if start > self.now {
                plan.next_start = Some(plan.next_start.map_or(start, |next| next.min(start)));
                continue;
            }
            let overtakes = plan.next_start.is_some();
            self.queue.remove(waiting);
            self.start(*waiting, overtakes);
        }
        self.longest_queue = self.longest_queue.max(self.queue.len());
        self.plan = Some(plan);
    }

    /// Plans anew around the running jobs, keeping the order of the reservations.
    fn remake(&mut self, plan: &mut Plan, mut old: Vec<&Waiting>) {
        plan.profile = Profile::new(self.now, plan.machine);
        for job in self.running.iter() {
            plan.profile.change(self.now, job.expected_end, -i64::from(job.processors));
        }
        old.sort_by_key(|waiting| plan.starts[waiting.index as usize]);
        for waiting in old {
            plan.reserve(waiting);
        }
    }
}
