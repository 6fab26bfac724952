//! A batch that is in the queue or has left it: what its files, the queue and accounting say about it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use harp_core::{Interruption, Outcome};
use harp_experiment::PlannedRun;
use harp_slurm::{AccountedJob, Ended, Part, Queue};

use super::verdict::Standing;
use crate::slurm::batch::{Batch, BatchFolder, BatchRun, OpenBatch};
use crate::slurm::inside::InsideResult;

/// A job whose end accounting knows may leave its results this long after: file systems lag.
const FILES_LAG: Duration = Duration::from_secs(10);

/// Up to so many tasks of an array are asked for by their own numbers, which spares the database the others.
const FEW: usize = 300;

/// Accounting learns what a job's processes used up to this long after it learns of the job's end.
const STEPS_LAG: Duration = Duration::from_secs(5);

/// A job that lost its node or made room is put back into the queue within this time, where it is put back.
const RETURN_LAG: Duration = Duration::from_secs(20);

pub(super) struct Open {
    pub(super) batch: Batch,
    pub(super) folder: BatchFolder,
    /// Its job; `None` while nobody knows whether there is one.
    pub(super) job: Option<u64>,
    settled: BTreeSet<usize>,
    started: BTreeSet<(usize, usize)>,
    results: BTreeSet<(usize, usize)>,
    new_results: bool,
    /// Tasks that have left the queue, and when that was seen.
    gone: BTreeMap<usize, Instant>,
    accounted: BTreeMap<usize, AccountedJob>,
}

/// A run with everything that tells where it is.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) position: usize,
    pub(super) task: usize,
    pub(super) place: usize,
    pub(super) run: BatchRun,
}

impl Open {
    pub(super) fn of(opened: OpenBatch, state: &Path) -> Open {
        Open {
            folder: BatchFolder::of(state, &opened.batch.id),
            batch: opened.batch,
            job: opened.job,
            settled: opened.settled.into_iter().collect(),
            started: BTreeSet::new(),
            results: BTreeSet::new(),
            new_results: false,
            gone: BTreeMap::new(),
            accounted: BTreeMap::new(),
        }
    }

    /// The runs that are not settled.
    pub(super) fn unsettled(&self) -> impl Iterator<Item = Placed> {
        let placed = self.batch.positions().enumerate();
        placed
            .filter(|(position, _)| !self.settled.contains(position))
            .map(|(position, (task, place, run))| Placed { position, task, place, run: run.clone() })
    }

    /// Tasks with a run that is not settled.
    pub(super) fn tasks(&self) -> BTreeSet<usize> {
        self.unsettled().map(|placed| placed.task).collect()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled.len() >= self.batch.len()
    }

    pub(super) fn settle(&mut self, position: usize) {
        self.settled.insert(position);
    }

    pub(super) fn has(&self, run: &PlannedRun) -> bool {
        self.unsettled().any(|placed| {
            placed.run.repetition == run.repetition && placed.run.configuration == run.configuration
        })
    }

    /// Whether a run shares its task with no other.
    pub(super) fn is_alone(&self, task: usize) -> bool {
        self.batch.tasks.get(task).is_none_or(|runs| runs.len() == 1)
    }

    /// Reads the folder; gives the runs that have begun since.
    pub(super) fn look(&mut self) -> Vec<PlannedRun> {
        let mut begun = Vec::new();
        let Ok(entries) = fs::read_dir(&self.folder.0) else { return begun };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some((task, place, kind)) = name.to_str().and_then(parse) else { continue };
            match kind {
                "started" if self.started.insert((task, place)) => {
                    let run = self.batch.tasks.get(task).and_then(|runs| runs.get(place));
                    begun.extend(run.map(BatchRun::planned));
                }
                "result" => self.new_results |= self.results.insert((task, place)),
                _ => {}
            }
        }
        begun
    }

    /// Whether results have come since this was asked last.
    pub(super) fn has_new_results(&mut self) -> bool {
        std::mem::take(&mut self.new_results)
    }

    /// Whether every run that is not settled has left its result.
    pub(super) fn has_all_results(&self) -> bool {
        let mut unsettled =
            self.batch.positions().enumerate().filter(|(position, _)| !self.settled.contains(position));
        unsettled.all(|(_, (task, place, _))| self.results.contains(&(task, place)))
    }

    /// Whether some task of the batch has left a trace.
    pub(super) fn has_traces(&self) -> bool {
        !self.started.is_empty() || !self.results.is_empty()
    }

    pub(super) fn started(&self, task: usize, place: usize) -> bool {
        self.started.contains(&(task, place)) || self.results.contains(&(task, place))
    }

    /// Whether a run of a task began after the one at a place.
    pub(super) fn started_after(&self, task: usize, place: usize) -> bool {
        self.started.iter().chain(&self.results).any(|(other, later)| *other == task && *later > place)
    }

    pub(super) fn task_started(&self, task: usize) -> bool {
        self.started.iter().chain(&self.results).any(|(started, _)| *started == task)
    }

    /// What a run left; one that cannot be read is not there yet.
    pub(super) fn result(&self, placed: &Placed) -> Option<InsideResult> {
        if !self.results.contains(&(placed.task, placed.place)) {
            return None;
        }
        serde_json::from_slice(&fs::read(self.folder.result(placed.task, placed.place)).ok()?).ok()
    }

    /// Takes note of the queue; whether a task has left it since the last time.
    pub(super) fn note_queue(&mut self, queue: &Queue) -> bool {
        let Some(job) = self.job else { return false };
        let now = Instant::now();
        let mut news = false;
        for task in self.tasks() {
            if queue.holds(job, task as u64) {
                self.gone.remove(&task);
                self.accounted.remove(&task);
            } else {
                self.gone.entry(task).or_insert_with(|| {
                    news = true;
                    now
                });
            }
        }
        news
    }

    /// The tasks that have left the queue and are not settled, as accounting is asked for them: a few by
    /// themselves, many as the whole job.
    pub(super) fn gone(&self) -> Vec<String> {
        let Some(job) = self.job else { return Vec::new() };
        let gone: Vec<usize> = self.tasks().into_iter().filter(|task| self.gone.contains_key(task)).collect();
        match gone.len() {
            0..=FEW => gone.iter().map(|task| format!("{job}_{task}")).collect(),
            _ => vec![job.to_string()],
        }
    }

    /// Whether a task that is not settled is still in it.
    pub(super) fn is_in_queue(&self) -> bool {
        self.tasks().iter().any(|task| !self.gone.contains_key(task))
    }

    /// Nothing is known about who has left the queue.
    pub(super) fn forget_gone(&mut self) {
        self.gone.clear();
    }

    /// Takes note of accounting: of a task that ran several times, the last. Slurm gives numbers a second
    /// time, at the latest when a controller has lost its memory: the name tells whose job it is.
    pub(super) fn note_accounting(&mut self, jobs: &[AccountedJob]) {
        let name = self.batch.job_name();
        let is_own = |job: &&AccountedJob| {
            Some(job.id.job) == self.job && job.name.as_ref().is_none_or(|known| *known == name)
        };
        for job in jobs.iter().filter(is_own) {
            // The number of the whole array stands for its last task for a while: which that is nobody says.
            let Part::Task(task) = job.id.part else { continue };
            let Ok(task) = usize::try_from(task) else { continue };
            let when = |job: &AccountedJob| (job.submit, job.start);
            if self.accounted.get(&task).is_none_or(|known| when(known) <= when(job)) {
                self.accounted.insert(task, job.clone());
            }
        }
    }

    /// How a task stands.
    pub(super) fn standing(&self, task: usize, accounting: bool, patience: Duration) -> Standing<'_> {
        let Some(gone) = self.gone.get(&task) else { return Standing::Open };
        if !accounting {
            return if gone.elapsed() < FILES_LAG.min(patience) {
                Standing::Open
            } else {
                Standing::Unaccounted
            };
        }
        let lost = gone.elapsed() >= patience;
        let Some(job) = self.accounted.get(&task) else {
            return if lost { Standing::Lost } else { Standing::Open };
        };
        match job.ended() {
            // A task that goes back into the queue will be there again in a moment.
            Ended::NotYet | Ended::Run(Outcome::Interrupted { cause: Interruption::Requeued }) => {
                if lost {
                    Standing::Lost
                } else {
                    Standing::Open
                }
            }
            // For a moment it is over, and then it waits again: it must not be submitted beside itself.
            Ended::Run(Outcome::Interrupted {
                cause: Interruption::NodeFailure | Interruption::Preempted,
            }) if gone.elapsed() < RETURN_LAG.min(patience) => Standing::Open,
            Ended::Run(outcome) => {
                let runs = self.batch.tasks.get(task).map_or(0, Vec::len);
                let complete = (0..runs).all(|place| self.results.contains(&(task, place)));
                // A task that ended by itself has left what its run said, whatever that was.
                let by_itself = outcome.is_completed() || matches!(outcome, Outcome::Failed { .. });
                let may_come = by_itself && !complete;
                if (may_come && gone.elapsed() < FILES_LAG.min(patience))
                    || (!job.has_usage() && gone.elapsed() < STEPS_LAG.min(patience))
                {
                    Standing::Open
                } else {
                    Standing::Accounted(job)
                }
            }
            Ended::NeverStarted => Standing::Accounted(job),
        }
    }
}

/// Task, place and kind of `3-0.result`.
fn parse(name: &str) -> Option<(usize, usize, &str)> {
    let (numbers, kind) = name.split_once('.')?;
    let (task, place) = numbers.split_once('-')?;
    Some((task.parse().ok()?, place.parse().ok()?, kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::batch::BatchId;
    use harp_slurm::read_accounting;

    fn accounted(rows: &str) -> Vec<AccountedJob> {
        let text = format!("JobID|State|ExitCode|Submit|Start|End|ElapsedRaw|JobName\n{rows}");
        let mut jobs = Vec::new();
        read_accounting("t", text.as_bytes(), &jiff::tz::TimeZone::UTC, &mut |job| jobs.push(job)).unwrap();
        jobs
    }

    #[test]
    fn a_number_that_was_given_twice_does_not_mix_up_two_jobs() {
        let run = BatchRun {
            configuration: harp_core::Configuration {
                scale: harp_core::Scale::Sd,
                parameters: harp_core::Parameters::default(),
                allocation: harp_core::Allocation::default(),
            },
            repetition: 0,
            returned: 0,
        };
        let batch = Batch {
            id: BatchId("0123456789abcdef".to_owned()),
            experiment: "heat".to_owned(),
            created: harp_core::Timestamp(0),
            request: harp_slurm::JobRequest::default(),
            tasks: vec![vec![run]],
        };
        let state = tempfile::tempdir().unwrap();
        let mut open = Open::of(OpenBatch { batch, job: Some(7), settled: Vec::new() }, state.path());
        let time = "2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:09|9";
        open.note_accounting(&accounted(&format!("7_0|CANCELLED|0:0|{time}|harp-heat-fedcba9876543210\n")));
        assert!(open.accounted.is_empty(), "it is another's");
        open.note_accounting(&accounted(&format!("7_0|COMPLETED|0:0|{time}|harp-heat-0123456789abcdef\n")));
        assert!(open.accounted.contains_key(&0));
    }
}
