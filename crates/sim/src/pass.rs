//! One scheduling pass: start the head while it fits, then let others overtake as the policy allows.

use crate::engine::Engine;
use crate::queue::{Gap, Queue, Waiting};
use crate::{Backfill, Order};

/// What a pass found out about a blocked head. It holds until a job ends or gets a new estimate: until
/// then a job that could not overtake cannot later either, so only new jobs need be looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settled {
    head: u32,
    /// Jobs that end by then may overtake.
    latest_end: i64,
    /// Jobs no larger than this may overtake whatever their length.
    extra: u32,
}

impl Engine<'_> {
    pub(crate) fn pass(&mut self) {
        let order = self.policy.order;
        if order.changes_with_time() {
            let (jobs, now) = (self.jobs, self.now);
            self.queue.rescore(|waiting| {
                order.score(waiting.estimate, waiting.processors, jobs[waiting.index as usize].submit, now)
            });
        }
        if self.plan.is_some() {
            self.pass_with_plan();
            return;
        }
        if self.only_newcomers_matter() {
            self.longest_queue = self.longest_queue.max(self.queue.len());
            self.try_newcomers();
            return;
        }
        let Some(head) = self.start_heads() else {
            self.settled = None;
            return;
        };
        self.longest_queue = self.longest_queue.max(self.queue.len());
        let shadow = self.running.shadow(head.processors, self.free, self.now);
        self.promise(head.index, shadow.time);
        let (latest_end, extra) = match self.policy.backfill {
            Backfill::None | Backfill::Conservative => (i64::MIN, 0),
            Backfill::Easy | Backfill::EasySjbf => (shadow.time, shadow.extra),
            Backfill::Relaxed { relax } => (self.relaxed_limit(head.index, relax), 0),
            Backfill::AdaptiveRelaxed { relax, shape } => {
                let pressure = self.queue.len() as f64 / self.longest_queue as f64;
                (self.relaxed_limit(head.index, relax * shape.factor(pressure)), 0)
            }
        };
        let mut settled = Settled { head: head.index, latest_end, extra };
        if self.policy.backfill != Backfill::None {
            self.overtake(&mut settled);
        }
        self.settled = Some(settled);
    }

    /// Starts the head while it fits; gives the head that does not.
    fn start_heads(&mut self) -> Option<Waiting> {
        loop {
            let head = *self.queue.first()?;
            if head.processors > self.free {
                return Some(head);
            }
            self.queue.remove_first();
            if let Some(shortest) = &mut self.shortest {
                shortest.remove(&Waiting { score: head.estimate as f64, ..head });
            }
            self.start(head, false);
        }
    }

    /// The last second at which an overtaking job may end: `end < EST + relax × (EST − submit)` with the
    /// head's first promise EST.
    fn relaxed_limit(&self, head: u32, relax: f64) -> i64 {
        let promise = self.promises[head as usize];
        let slack = relax * (promise - self.jobs[head as usize].submit) as f64;
        (promise as f64 + slack).ceil() as i64 - 1
    }

    /// Lets jobs behind the head start, in the policy's order.
    fn overtake(&mut self, settled: &mut Settled) {
        let by_length = self.shortest.is_some();
        let mut cursor = if by_length { Default::default() } else { Queue::second_place() };
        while self.free > 0 {
            let gap = self.gap(settled);
            let queue = self.shortest.as_ref().unwrap_or(&self.queue);
            let Some(found) = queue.next_admitted(&mut cursor, gap) else { break };
            match &mut self.shortest {
                Some(shortest) => {
                    shortest.remove_at(cursor);
                    let job = &self.jobs[found.index as usize];
                    let score =
                        self.policy.order.score(found.estimate, found.processors, job.submit, self.now);
                    self.queue.remove(&Waiting { score, ..found });
                }
                None => self.queue.remove_at(cursor),
            }
            self.start_overtaking(found, settled);
        }
    }

    fn gap(&self, settled: &Settled) -> Gap {
        Gap { free: self.free, extra: settled.extra, longest: settled.latest_end.saturating_sub(self.now) }
    }

    fn start_overtaking(&mut self, found: Waiting, settled: &mut Settled) {
        if found.estimate > settled.latest_end.saturating_sub(self.now) {
            settled.extra -= found.processors;
        }
        self.start(found, true);
    }

    /// Whether nothing has changed since the last pass but that jobs came.
    fn only_newcomers_matter(&self) -> bool {
        let steady = !self.policy.order.changes_with_time()
            && !matches!(self.policy.backfill, Backfill::AdaptiveRelaxed { .. });
        steady
            && self.settled.is_some_and(|settled| {
                self.policy.order == Order::Fcfs
                    || self.queue.first().is_some_and(|head| head.index == settled.head)
            })
    }

    /// The pass where only new jobs can start.
    fn try_newcomers(&mut self) {
        let Some(mut settled) = self.settled else { return };
        if self.policy.backfill == Backfill::None {
            return;
        }
        let mut newcomers: Vec<Waiting> = self
            .arrived
            .iter()
            .map(|&index| {
                let job = &self.jobs[index as usize];
                let estimate = self.estimates[index as usize];
                let score = self.policy.order.score(estimate, job.processors, job.submit, self.now);
                Waiting { score, index, processors: job.processors, estimate }
            })
            .collect();
        let by_length = self.shortest.is_some();
        newcomers.sort_by(|a, b| {
            let key = |waiting: &Waiting| if by_length { waiting.estimate as f64 } else { waiting.score };
            key(a).total_cmp(&key(b)).then(a.index.cmp(&b.index))
        });
        for newcomer in newcomers {
            if !self.gap(&settled).admits(newcomer.processors, newcomer.estimate) {
                continue;
            }
            self.queue.remove(&newcomer);
            if let Some(shortest) = &mut self.shortest {
                shortest.remove(&Waiting { score: newcomer.estimate as f64, ..newcomer });
            }
            self.start_overtaking(newcomer, &mut settled);
        }
        self.settled = Some(settled);
    }
}
