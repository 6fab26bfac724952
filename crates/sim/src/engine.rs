//! The discrete-event simulation of one machine.
//!
//! **The rule for an instant.** Time moves from instant to instant; an instant is a second in which a
//! job ends or is submitted (under conservative backfilling also one in which a reservation begins). At
//! each instant, in this order:
//! 1. all jobs that end now release their processors (and estimators learn from them),
//! 2. all jobs submitted now join the queue,
//! 3. running jobs whose estimate has run out get a new one,
//! 4. one scheduling pass starts jobs.
//!
//! A job of no length that starts in a pass ends in the same second; the second then has another
//! instant. Nothing here reads a clock, a file or a random number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::conservative::Plan;
use crate::pass::Settled;
use crate::queue::{Queue, Waiting};
use crate::running::{Occupied, Running};
use crate::{Backfill, Estimator, Policy, Schedule, SimJob, Workload};

/// A promise that was never made.
pub(crate) const NEVER: i64 = i64::MIN;

/// The state of a simulation.
pub(crate) struct Engine<'a> {
    pub(crate) jobs: &'a [SimJob],
    pub(crate) policy: Policy,
    estimator: &'a mut dyn Estimator,
    pub(crate) now: i64,
    pub(crate) free: u32,
    /// Waiting jobs in queue order.
    pub(crate) queue: Queue,
    /// Waiting jobs by estimate, where backfilling tries the shortest first.
    pub(crate) shortest: Option<Queue>,
    pub(crate) running: Running,
    ends: BinaryHeap<Reverse<(i64, u32)>>,
    pub(crate) estimates: Vec<i64>,
    pub(crate) starts: Vec<i64>,
    pub(crate) backfilled: Vec<bool>,
    /// First promised start of each job that had to wait for a reservation.
    pub(crate) promises: Vec<i64>,
    /// Jobs that came in this instant.
    pub(crate) arrived: Vec<u32>,
    /// What the last pass found, while it still holds.
    pub(crate) settled: Option<Settled>,
    /// Reservations of all waiting jobs (conservative backfilling).
    pub(crate) plan: Option<Plan>,
    pub(crate) longest_queue: usize,
    demand: u64,
    lost: u128,
}

/// Runs a workload under a policy. Estimates are asked of `estimator` in the order of submission.
pub fn simulate(workload: &Workload, policy: Policy, estimator: &mut dyn Estimator) -> Schedule {
    let count = workload.jobs.len();
    let mut engine = Engine {
        jobs: &workload.jobs,
        policy,
        estimator,
        now: 0,
        free: workload.processors,
        queue: Queue::default(),
        shortest: (policy.backfill == Backfill::EasySjbf).then(Queue::default),
        running: Running::default(),
        ends: BinaryHeap::new(),
        estimates: vec![0; count],
        starts: vec![NEVER; count],
        backfilled: vec![false; count],
        promises: vec![NEVER; count],
        arrived: Vec::new(),
        settled: None,
        plan: (policy.backfill == Backfill::Conservative).then(|| Plan::new(workload.processors, count)),
        longest_queue: 0,
        demand: 0,
        lost: 0,
    };
    engine.run();
    let Engine { starts, backfilled, promises, lost, longest_queue, .. } = engine;
    Schedule { starts, backfilled, promises, lost_processor_seconds: lost as f64, longest_queue }
}

impl Engine<'_> {
    fn run(&mut self) {
        let mut next = 0;
        loop {
            let end = self.ends.peek().map(|Reverse((time, _))| *time);
            let submit = self.jobs.get(next).map(|job| job.submit);
            let reservation = self.plan.as_ref().and_then(Plan::next_start);
            let Some(instant) = [end, submit, reservation].into_iter().flatten().min() else { return };
            let idle_though_wanted = u64::from(self.free).min(self.demand);
            self.lost += u128::from(idle_though_wanted) * (instant - self.now).unsigned_abs() as u128;
            self.now = instant;
            self.release();
            next = self.admit(next);
            self.correct();
            self.pass();
            self.arrived.clear();
        }
    }

    /// Jobs that end now give their processors back.
    fn release(&mut self) {
        while let Some(&Reverse((time, index))) = self.ends.peek() {
            if time > self.now {
                return;
            }
            self.ends.pop();
            let place = index as usize;
            let job = &self.jobs[place];
            let expected_end = self.starts[place] + self.estimates[place];
            self.running.remove(expected_end, index);
            self.free += job.processors;
            self.settled = None;
            if let Some(plan) = &mut self.plan {
                plan.ended(self.now, expected_end, job.processors);
            }
            self.estimator.ended(job, self.now);
        }
    }

    /// Jobs submitted now join the queue. Returns the next one to come.
    fn admit(&mut self, mut next: usize) -> usize {
        while let Some(job) = self.jobs.get(next).filter(|job| job.submit <= self.now) {
            let estimate = self.estimator.estimate(job, self.now).min(job.request).max(1);
            self.estimates[next] = estimate;
            let score = self.policy.order.score(estimate, job.processors, job.submit, self.now);
            let waiting = Waiting { score, index: next as u32, processors: job.processors, estimate };
            self.queue.insert(waiting);
            if let Some(shortest) = &mut self.shortest {
                shortest.insert(Waiting { score: estimate as f64, ..waiting });
            }
            self.demand += u64::from(job.processors);
            self.arrived.push(next as u32);
            next += 1;
        }
        next
    }

    /// Running jobs that have used up their estimate get a new one.
    fn correct(&mut self) {
        while let Some(job) = self.running.first().filter(|job| job.expected_end <= self.now) {
            let place = job.index as usize;
            let elapsed = self.now - self.starts[place];
            let previous = self.estimates[place];
            let proposed = self.estimator.correct(&self.jobs[place], elapsed, previous);
            let estimate = proposed.min(self.jobs[place].request).max(elapsed + 1);
            self.estimates[place] = estimate;
            self.running.remove(job.expected_end, job.index);
            self.running.insert(Occupied { expected_end: self.starts[place] + estimate, ..job });
            self.settled = None;
            if let Some(plan) = &mut self.plan {
                plan.overran();
            }
        }
    }

    /// Starts a job that has been taken out of the queue.
    pub(crate) fn start(&mut self, waiting: Waiting, overtakes: bool) {
        let place = waiting.index as usize;
        self.free -= waiting.processors;
        self.demand -= u64::from(waiting.processors);
        self.starts[place] = self.now;
        self.backfilled[place] = overtakes;
        self.ends.push(Reverse((self.now + self.jobs[place].run, waiting.index)));
        self.running.insert(Occupied {
            expected_end: self.now + waiting.estimate,
            index: waiting.index,
            processors: waiting.processors,
        });
    }

    /// Keeps the first promise made to a job.
    pub(crate) fn promise(&mut self, index: u32, start: i64) {
        let promise = &mut self.promises[index as usize];
        if *promise == NEVER {
            *promise = start;
        }
    }
}
