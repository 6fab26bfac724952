//! What the characterisation keeps of each job: forty bytes, so that ten million jobs fit easily.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::{Job, Verdict};

/// What is known of the machine beyond the trace's header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its processors (or nodes, if the trace counts nodes).
    pub processors: Option<u32>,
    /// Its GPUs; sizes then count GPUs.
    pub gpus: Option<u32>,
}

impl Machine {
    /// Reads `procs=N` or `gpus=N`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("`{text}` is not procs=N or gpus=N");
        let (key, value) = text.split_once('=').ok_or_else(expected)?;
        let size = value.trim().parse::<u32>().ok().filter(|&size| size > 0).ok_or_else(expected)?;
        match key.trim() {
            "procs" | "processors" | "nodes" => Ok(Machine { processors: Some(size), gpus: None }),
            "gpus" => Ok(Machine { processors: None, gpus: Some(size) }),
            _ => Err(expected()),
        }
    }
}

/// A job; −1 (or [`NOBODY`]) is missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) submit: i64,
    wait: i32,
    run: i32,
    request: i32,
    pub(crate) size: u32,
    pub(crate) gpus: u32,
    pub(crate) user: u32,
    pub(crate) verdict: Option<Verdict>,
}

/// The user of jobs that tell none.
pub(crate) const NOBODY: u32 = u32::MAX;

fn known(seconds: i32) -> Option<i64> {
    (seconds >= 0).then_some(i64::from(seconds))
}

fn packed(seconds: Option<i64>) -> i32 {
    seconds.map_or(-1, |seconds| i32::try_from(seconds).unwrap_or(i32::MAX))
}

impl Row {
    pub(crate) fn wait(&self) -> Option<i64> {
        known(self.wait)
    }

    pub(crate) fn run(&self) -> Option<i64> {
        known(self.run)
    }

    pub(crate) fn request(&self) -> Option<i64> {
        known(self.request)
    }

    /// Processor-seconds used; 0 where the run time is missing.
    pub(crate) fn area(&self) -> f64 {
        self.run().unwrap_or(0) as f64 * f64::from(self.size)
    }

    pub(crate) fn start(&self) -> Option<i64> {
        Some(self.submit + self.wait()?)
    }
}

/// A hash for numbers that are already spread or small: one multiplication (Knuth's golden ratio).
#[derive(Default)]
struct NumberHash(u64);

impl Hasher for NumberHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Takes in a trace job by job for the characterisation.
#[derive(Default)]
pub struct Collector {
    pub(crate) rows: Vec<Row>,
    users: HashMap<u64, u32, BuildHasherDefault<NumberHash>>,
    /// The trace's number of each user, by the small number given here.
    pub(crate) originals: Vec<u64>,
    last_user: Option<(u64, u32)>,
    pub(crate) jobs: u64,
    pub(crate) gpu_jobs: u64,
}

impl Collector {
    /// Takes in one job.
    pub fn add(&mut self, job: &Job) {
        self.jobs += 1;
        let gpus = job.gpus.unwrap_or(0);
        self.gpu_jobs += u64::from(gpus > 0);
        let user = job.user.map_or(NOBODY, |user| self.small_number(user));
        self.rows.push(Row {
            submit: job.submit,
            wait: packed(job.wait),
            run: packed(job.run),
            request: packed(job.requested_time.filter(|&request| request > 0)),
            size: job.processors().unwrap_or(0),
            gpus,
            user,
            verdict: job.status.verdict(),
        });
    }

    fn small_number(&mut self, user: u64) -> u32 {
        if let Some((last, number)) = self.last_user
            && last == user
        {
            return number;
        }
        let next = self.originals.len() as u32;
        let number = *self.users.entry(user).or_insert(next);
        if number == next {
            self.originals.push(user);
        }
        self.last_user = Some((user, number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_read() {
        assert_eq!(Machine::parse("procs=49152").unwrap().processors, Some(49_152));
        assert_eq!(Machine::parse("gpus = 8").unwrap().gpus, Some(8));
        for text in ["procs", "procs=0", "disks=4", "procs=x"] {
            assert!(Machine::parse(text).is_err());
        }
    }

    #[test]
    fn missing_stays_missing() {
        let mut collector = Collector::default();
        collector.add(&Job::default());
        let row = collector.rows[0];
        assert_eq!((row.wait(), row.run(), row.request(), row.user), (None, None, None, NOBODY));
        assert_eq!(row.area(), 0.0);
    }
}
