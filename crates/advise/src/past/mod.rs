//! What a person's past jobs say about what they ask for: per recurring job the request beside the use,
//! the lines to change, what that saves, and how likely the job would then be killed.
//!
//! Nothing is predicted for a job that was never run: a request is an order statistic of what such jobs
//! needed, with room on top, and its risk is the share of future jobs that exceed it if they are like
//! the past ones. Jobs killed at a limit count as needing more than it.

mod job;
mod need;
mod recur;

use harp_core::Money;
use harp_site::{Placement, Site};
use serde::Serialize;

pub use job::{PastEnd, PastJob};
pub use need::{Need, Spread};
use recur::recurring;

use job::Shape;

/// How careful the advice is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Care {
    /// Jobs of a kind before anything is said about it.
    pub least_jobs: usize,
    /// The accepted probability of exceeding a request.
    pub risk: f64,
    /// Room on top of what was needed.
    pub headroom: f64,
    /// A request is changed only if it shrinks to at most this share; what is too small always is.
    pub worthwhile: f64,
}

impl Default for Care {
    fn default() -> Self {
        Care { least_jobs: 5, risk: 0.05, headroom: 0.2, worthwhile: 0.8 }
    }
}

/// A line of a job script and what to put in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The line as such jobs have it now; none where they leave it to the cluster.
    pub before: Option<String>,
    /// The line to write.
    pub after: String,
    /// Why.
    pub why: String,
}

/// What is said about one recurring job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// Its name, with `#` for numbers that change.
    pub name: String,
    /// The partition.
    pub partition: Option<String>,
    /// What such jobs have.
    pub allocation: harp_core::Allocation,
    /// How many there were.
    pub jobs: usize,
    /// How many of them completed.
    pub completed: usize,
    /// How many were killed for time.
    pub timed_out: usize,
    /// How many were killed for memory.
    pub out_of_memory: usize,
    /// Walltime, in seconds.
    pub time: Option<Need>,
    /// Memory on a node, in bytes.
    pub memory: Option<Need>,
    /// Cores in use, all nodes together.
    pub cores: Option<Need>,
    /// Share of the GPUs in use, between 0 and 1.
    pub gpu_utilisation: Option<Spread>,
    /// What to change.
    pub changes: Vec<Change>,
    /// Core-hours used by these jobs.
    pub core_hours: f64,
    /// Core-hours of jobs that were killed at a limit.
    pub core_hours_lost: f64,
    /// Core-hours that would not have been taken from others.
    pub core_hours_saved: f64,
    /// Core-hours that were reserved by the time asked for and not used.
    pub core_hours_reserved: f64,
    /// What these jobs cost, where the site's prices are known.
    pub cost: Option<Money>,
    /// What would not have been charged.
    pub saved: Option<Money>,
    /// Probability at most that such a job is killed with what is advised.
    pub risk: Option<f64>,
    /// The same with what is asked for now.
    pub risk_now: f64,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Says what is to be said about past jobs, the most wasteful first.
pub fn advise_on_past(jobs: &[PastJob], site: Option<&Site>, care: &Care) -> Vec<Advice> {
    let mut found: Vec<Advice> = recurring(jobs)
        .into_iter()
        .filter(|(_, jobs)| jobs.len() >= care.least_jobs.max(1))
        .map(|(shape, jobs)| advise_on(shape, &jobs, site, care))
        .collect();
    let worth = |advice: &Advice| advice.core_hours_saved + advice.core_hours_lost;
    found.sort_by(|left, right| {
        let by_worth = worth(right).total_cmp(&worth(left));
        by_worth.then(right.core_hours.total_cmp(&left.core_hours)).then_with(|| left.name.cmp(&right.name))
    });
    found
}

fn advise_on(shape: Shape, jobs: &[&PastJob], site: Option<&Site>, care: &Care) -> Advice {
    let ended = |end: PastEnd| jobs.iter().filter(|job| job.end == end).count();
    let time = Need::of(
        jobs,
        care,
        PastEnd::TimedOut,
        |job| job.requested_time.map(|time| time.0),
        |job| job.elapsed.map(|time| time.0),
    );
    let memory = Need::of(
        jobs,
        care,
        PastEnd::OutOfMemory,
        |job| job.memory_limit.map(|memory| memory.as_f64()),
        |job| job.peak_memory.map(|memory| memory.as_f64()),
    );
    let cores = Need::of(jobs, care, PastEnd::Other, |job| job.cores().map(f64::from), PastJob::cores_used);
    let gpu_utilisation = Spread::of(jobs.iter().filter_map(|job| job.gpu_utilisation));
    let mut notes = Vec::new();
    let mut after = shape.allocation.clone();
    let mut changes = Vec::new();
    changes.extend(time.as_ref().and_then(|need| job::time_change(need, care)));
    if let Some(need) = &memory
        && let Some((change, memory)) = job::memory_change(need, care)
    {
        after.memory = Some(memory);
        changes.push(change);
    } else if memory.is_none() {
        notes.push("accounting has no memory figures of these jobs".to_owned());
    }
    if let Some(need) = &cores
        && let Some((change, cores)) = job::core_change(need, &shape, care)
    {
        after.cores = Some(cores);
        changes.push(change);
    }
    if let (Some(spread), Some(gpus)) = (&gpu_utilisation, shape.allocation.gpus)
        && spread.largest <= 0.0
    {
        changes.push(Change {
            before: Some(format!("#SBATCH --gpus-per-node={gpus}")),
            after: "# no GPU".to_owned(),
            why: "no GPU was ever used".to_owned(),
        });
        after.gpus = None;
    }
    let hours = |cores: Option<u32>| -> f64 {
        let nodes = f64::from(shape.allocation.node_count());
        jobs.iter().filter_map(|job| Some(job.elapsed?.hours() * nodes * f64::from(cores?))).sum()
    };
    let lost = jobs.iter().filter(|job| matches!(job.end, PastEnd::TimedOut | PastEnd::OutOfMemory));
    let core_hours_of = |job: &&PastJob| Some(job.elapsed?.hours() * f64::from(job.cores()?));
    let reserved = jobs.iter().filter_map(|job| {
        let left = (job.requested_time?.0 - job.elapsed?.0).max(0.0) / 3600.0;
        Some(left * f64::from(job.cores()?))
    });
    let price = |allocation: &harp_core::Allocation| -> Option<Money> {
        let site = site?;
        let place = place(site, &shape)?;
        jobs.iter().filter_map(|job| job.elapsed).map(|time| site.price(allocation, &place, time).ok()).sum()
    };
    let (cost, cost_after) = (price(&shape.allocation), price(&after));
    let risks = [&time, &memory].map(|need| need.as_ref().map(|need| need.risk));
    let risk = risks.iter().flatten().copied().reduce(|left, right| left + right).map(|risk| risk.min(1.0));
    let killed = ended(PastEnd::TimedOut) + ended(PastEnd::OutOfMemory);
    Advice {
        jobs: jobs.len(),
        completed: ended(PastEnd::Completed),
        timed_out: ended(PastEnd::TimedOut),
        out_of_memory: ended(PastEnd::OutOfMemory),
        core_hours: hours(shape.allocation.cores),
        // the sum of nothing is minus zero
        core_hours_lost: lost.filter_map(core_hours_of).sum::<f64>() + 0.0,
        core_hours_saved: (hours(shape.allocation.cores) - hours(after.cores)).max(0.0),
        core_hours_reserved: reserved.sum::<f64>() + 0.0,
        saved: cost.zip(cost_after).map(|(before, after)| Money((before.0 - after.0).max(0.0))),
        cost,
        risk,
        risk_now: killed as f64 / jobs.len().max(1) as f64,
        name: shape.name,
        partition: shape.partition,
        allocation: shape.allocation,
        time,
        memory,
        cores,
        gpu_utilisation,
        changes,
        notes,
    }
}

/// Where such jobs ran, as far as the site's profile tells.
fn place(site: &Site, shape: &Shape) -> Option<Placement> {
    let admitted = site.admit(&shape.allocation, None).placements;
    let there = admitted.iter().find(|place| shape.partition.is_some() && place.partition == shape.partition);
    there.or(admitted.first()).cloned()
}

#[cfg(test)]
mod tests;
