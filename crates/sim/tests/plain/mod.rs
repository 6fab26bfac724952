//! A plain simulator for comparison: no index, no shortcut, every list sorted again at every instant.
//! It is written from the definitions and shares nothing with the engine but the order's formulas.

#![allow(dead_code, clippy::unwrap_used)]

use harp_sim::{Backfill, Policy, SimJob};

/// What the plain simulator found.
pub struct Plain {
    pub starts: Vec<i64>,
    pub promises: Vec<Option<i64>>,
}

#[derive(Clone, Copy)]
struct Run {
    index: usize,
    end: i64,
    expected: i64,
    processors: u32,
}

/// Simulates with the given estimates, which must not be shorter than the run times.
pub fn simulate(jobs: &[SimJob], machine: u32, policy: Policy, estimates: &[i64]) -> Plain {
    let mut starts = vec![None; jobs.len()];
    let mut promises: Vec<Option<i64>> = vec![None; jobs.len()];
    let mut planned: Vec<Option<i64>> = vec![None; jobs.len()];
    let mut running: Vec<Run> = Vec::new();
    let mut queue: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut longest_queue = 0;
    loop {
        let reservations = queue.iter().filter_map(|&index| planned[index]);
        let times =
            running.iter().map(|run| run.end).chain(jobs.get(next).map(|job| job.submit)).chain(reservations);
        let Some(now) = times.min() else { break };
        let early = running.iter().any(|run| run.end == now && run.expected > now);
        running.retain(|run| run.end > now);
        while next < jobs.len() && jobs[next].submit == now {
            queue.push(next);
            next += 1;
        }
        let score = |index: usize| {
            policy.order.score(estimates[index], jobs[index].processors, jobs[index].submit, now)
        };
        queue.sort_by(|&a, &b| score(a).total_cmp(&score(b)).then(a.cmp(&b)));
        let begin = |index: usize, running: &mut Vec<Run>, starts: &mut Vec<Option<i64>>| {
            starts[index] = Some(now);
            let (end, expected) = (now + jobs[index].run, now + estimates[index]);
            running.push(Run { index, end, expected, processors: jobs[index].processors });
        };
        if policy.backfill == Backfill::Conservative {
            conservative(jobs, machine, estimates, now, early, &queue, &running, &mut planned, &mut promises);
            for &index in &queue {
                if planned[index] == Some(now) {
                    begin(index, &mut running, &mut starts);
                }
            }
            queue.retain(|&index| starts[index].is_none());
            continue;
        }
        let free = |running: &[Run]| machine - running.iter().map(|run| run.processors).sum::<u32>();
        while let Some(&head) = queue.first() {
            if jobs[head].processors > free(&running) {
                break;
            }
            queue.remove(0);
            begin(head, &mut running, &mut starts);
        }
        let Some(&head) = queue.first() else { continue };
        longest_queue = longest_queue.max(queue.len());
        let reserved = |running: &[Run]| {
            let mut ends: Vec<i64> = running.iter().map(|run| run.expected).collect();
            ends.sort_unstable();
            ends.into_iter().find(|&time| free_at(machine, running, time) >= jobs[head].processors).unwrap()
        };
        let promise = *promises[head].get_or_insert(reserved(&running));
        if policy.backfill == Backfill::None {
            continue;
        }
        let mut candidates: Vec<usize> = queue[1..].to_vec();
        if policy.backfill == Backfill::EasySjbf {
            candidates.sort_by_key(|&index| (estimates[index], index));
        }
        let length = queue.len() as f64;
        for index in candidates {
            let job = &jobs[index];
            if job.processors > free(&running) {
                continue;
            }
            let relaxed = |relax: f64| {
                ((now + estimates[index]) as f64)
                    < promise as f64 + relax * (promise - jobs[head].submit) as f64
            };
            let allowed = match policy.backfill {
                Backfill::Relaxed { relax } => relaxed(relax),
                Backfill::AdaptiveRelaxed { relax, shape } => {
                    relaxed(relax * shape.factor(length / longest_queue as f64))
                }
                // by definition: with the job started, the head can still start when it could
                _ => {
                    let before = reserved(&running);
                    let mut with = running.clone();
                    let expected = now + estimates[index];
                    with.push(Run { index, end: 0, expected, processors: job.processors });
                    free_at(machine, &with, before) >= jobs[head].processors
                }
            };
            if allowed {
                begin(index, &mut running, &mut starts);
                queue.retain(|&other| other != index);
            }
        }
    }
    Plain { starts: starts.into_iter().map(Option::unwrap).collect(), promises }
}

fn free_at(machine: u32, running: &[Run], time: i64) -> u32 {
    machine - running.iter().filter(|run| run.expected > time).map(|run| run.processors).sum::<u32>()
}

#[allow(clippy::too_many_arguments)]
fn conservative(
    jobs: &[SimJob],
    machine: u32,
    estimates: &[i64],
    now: i64,
    early: bool,
    queue: &[usize],
    running: &[Run],
    planned: &mut [Option<i64>],
    promises: &mut [Option<i64>],
) {
    let earliest = |index: usize, planned: &[Option<i64>]| {
        let used = |time: i64| {
            let by_running: u32 =
                running.iter().filter(|run| run.expected > time).map(|run| run.processors).sum();
            let by_planned: u32 = queue
                .iter()
                .filter(|&&other| other != index)
                .filter(|&&other| {
                    planned[other].is_some_and(|start| start <= time && time < start + estimates[other])
                })
                .map(|&other| jobs[other].processors)
                .sum();
            by_running + by_planned
        };
        let fits = |start: i64| {
            (start..start + estimates[index]).all(|time| used(time) + jobs[index].processors <= machine)
        };
        (now..).find(|&start| fits(start)).unwrap()
    };
    for &index in queue {
        if planned[index].is_some() && early {
            planned[index] = Some(earliest(index, planned));
        }
    }
    for &index in queue {
        if planned[index].is_none() {
            let start = earliest(index, planned);
            planned[index] = Some(start);
            promises[index] = (start > now).then_some(start);
        }
    }
}
