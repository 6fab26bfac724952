//! Runs that harp did not make: jobs of a cluster's accounting, put into the store once each.

mod beside;
mod guess;
mod rules;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Configuration, Host, Metrics, Parameters, Run, Timestamp};
use harp_slurm::{AccountedJob, Ended};
use serde::Serialize;

pub use beside::read_beside;
pub use guess::{Guess, Guesser};
pub use rules::{RuleError, Rules};

use crate::{HistoryError, Store};
use write::{Added, Batch};

/// The application of jobs without a name.
const UNNAMED: &str = "unnamed";

/// What became of the jobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Imported {
    /// Jobs looked at.
    pub jobs: u64,
    /// Runs that are in the history now and were not before.
    pub new: u64,
    /// Runs that were there and of which accounting says something else now.
    pub changed: u64,
    /// Runs that were there as they are.
    pub unchanged: u64,
    /// Runs that no rule of this import speaks of and that one of an earlier one did: they stay as they are.
    pub kept: u64,
    /// Jobs that wait or run.
    pub unfinished: u64,
    /// Jobs that were taken away before they began.
    pub never_started: u64,
    /// Jobs that harp submitted: their runs are in the history they were submitted from.
    pub own: u64,
    /// Jobs that a rule recognised.
    pub recognised: u64,
    /// Jobs left out: no rule recognises them, and their name is that of an application of a rule.
    pub left_out: u64,
    /// Heterogeneous jobs, whose components are one run.
    pub heterogeneous: u64,
    /// Runs by how they ended.
    pub outcomes: BTreeMap<String, u64>,
    /// Runs of which accounting knows no memory.
    pub without_memory: u64,
    /// Runs by application, the ones with most first.
    pub applications: Vec<(String, u64)>,
}

/// Puts jobs into a store, by rules.
pub struct Importer<'a> {
    batch: Option<Batch<'a>>,
    rules: &'a Rules,
    taken: BTreeSet<String>,
    imported: Imported,
    applications: BTreeMap<String, u64>,
    host: Host,
}

impl<'a> Importer<'a> {
    /// Begins. What was added is durable only once [`Importer::finish`] returns, or earlier; calling it
    /// again with the same jobs does no harm.
    pub fn new(store: &'a mut Store, rules: &'a Rules) -> Result<Importer<'a>, HistoryError> {
        Ok(Importer { batch: Some(Batch::begin(store)?), ..Importer::without_store(rules) })
    }

    /// One that keeps nothing, to see what would become of the jobs beside what is in a store.
    pub fn looking(store: &'a mut Store, rules: &'a Rules) -> Importer<'a> {
        Importer { batch: Some(Batch::look(store)), ..Importer::without_store(rules) }
    }

    /// One that keeps nothing where there is no store yet.
    pub fn without_store(rules: &'a Rules) -> Importer<'a> {
        Importer {
            batch: None,
            rules,
            taken: rules.applications(),
            imported: Imported::default(),
            applications: BTreeMap::new(),
            host: Host::default(),
        }
    }

    /// Takes a job, and gives the run it was, if it was one; `script` is its job script where that is
    /// known.
    pub fn add(&mut self, job: &AccountedJob, script: Option<&str>) -> Result<Option<Run>, HistoryError> {
        self.imported.jobs += 1;
        if let (Some(batch), Some(name)) = (&self.batch, &job.name)
            && batch.knows_submission(name)?
        {
            self.imported.own += 1;
            return Ok(None);
        }
        let outcome = match job.ended() {
            Ended::Run(outcome) => outcome,
            Ended::NotYet => {
                self.imported.unfinished += 1;
                return Ok(None);
            }
            Ended::NeverStarted => {
                self.imported.never_started += 1;
                return Ok(None);
            }
        };
        let name = job.name.as_deref().unwrap_or(UNNAMED);
        let recovered = self.rules.recover(job, script);
        let recognised = recovered.is_some();
        let (application, parameters, scale) = match recovered {
            Some(recovered) => {
                self.imported.recognised += 1;
                (recovered.application, recovered.parameters, recovered.scale)
            }
            // harp's job of another folder: a batch of runs, which are in the history there
            None if harp_slurm::batch_of_job_name(name).is_some() => {
                self.imported.own += 1;
                return Ok(None);
            }
            // A job no rule speaks of is kept under its own name; what its parameters were is not known.
            None if !self.taken.contains(name) => {
                (name.to_owned(), Parameters::default(), harp_core::Scale::Fs)
            }
            None => {
                self.imported.left_out += 1;
                return Ok(None);
            }
        };
        let cluster = job.cluster.as_deref().unwrap_or("");
        if self.host.name != cluster {
            self.host = Host { name: cluster.to_owned(), ..Host::default() };
        }
        let usage = job.usage();
        let kind = outcome.name();
        let without_memory = usage.peak_memory.is_none();
        let run = Run {
            application,
            configuration: Configuration { scale, parameters, allocation: job.allocation() },
            repetition: 0,
            host: self.host.name.clone(),
            started: Timestamp(job.start.unwrap_or_default().saturating_mul(1000)),
            outcome,
            usage,
            metrics: metrics(job),
        };
        let added = match &mut self.batch {
            Some(batch) => {
                if let Some(earlier) = job.earlier_origin() {
                    batch.forget(&earlier)?;
                }
                batch.add(&job.origin(), &run, &self.host, recognised)?
            }
            None => Added::New,
        };
        match added {
            Added::New => self.imported.new += 1,
            Added::Changed => self.imported.changed += 1,
            Added::Unchanged => self.imported.unchanged += 1,
            Added::Kept => {
                self.imported.kept += 1;
                return Ok(None);
            }
        }
        self.imported.heterogeneous += u64::from(job.components > 1);
        self.imported.without_memory += u64::from(without_memory);
        count(&mut self.imported.outcomes, kind);
        count(&mut self.applications, &run.application);
        Ok(Some(run))
    }

    /// Ends: everything is on disk when it returns.
    pub fn finish(self) -> Result<Imported, HistoryError> {
        let Importer { batch, mut imported, applications, .. } = self;
        batch.map_or(Ok(()), Batch::commit)?;
        imported.applications = applications.into_iter().collect();
        imported.applications.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
        Ok(imported)
    }
}

/// Adds one, without making the name again where it is known.
fn count(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

/// What accounting knows beside the usage: seconds and bytes.
fn metrics(job: &AccountedJob) -> Metrics {
    let wait = job.submit.zip(job.start).map(|(submit, start)| (start - submit) as f64);
    [
        ("requested_time", job.limit.seconds().map(|limit| limit.0)),
        ("queue_wait", wait.filter(|wait| *wait >= 0.0)),
        ("total_memory", job.total_memory.map(|memory| memory.as_f64())),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

#[cfg(test)]
mod tests;
