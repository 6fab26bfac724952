//! Taking out of a trace what could tell who ran what: people, projects, programs, queues and dates
//! become numbers in order of appearance; sizes and times stay.

use std::collections::HashMap;

use crate::{Header, Job};

/// Renumbers a trace job by job, in one pass.
#[derive(Debug, Default)]
pub struct Anonymiser {
    jobs: Renumbering,
    users: Renumbering,
    groups: Renumbering,
    executables: Renumbering,
    queues: Renumbering,
    partitions: Renumbering,
    first_submit: Option<i64>,
}

#[derive(Debug, Default)]
struct Renumbering(HashMap<u64, u64>);

impl Renumbering {
    fn number(&mut self, old: Option<u64>) -> Option<u64> {
        let next = self.0.len() as u64 + 1;
        old.map(|old| *self.0.entry(old).or_insert(next))
    }
}

impl Anonymiser {
    /// The job without its identity. Times count from the submission of the first job given here.
    pub fn job(&mut self, job: &Job) -> Job {
        let first = *self.first_submit.get_or_insert(job.submit);
        let next = self.jobs.0.len() as u64 + 1;
        self.jobs.0.insert(job.number, next);
        Job {
            number: next,
            submit: job.submit - first,
            user: self.users.number(job.user),
            group: self.groups.number(job.group),
            executable: self.executables.number(job.executable),
            queue: self.queues.number(job.queue),
            partition: self.partitions.number(job.partition),
            preceding_job: job.preceding_job.and_then(|job| self.jobs.0.get(&job).copied()),
            ..*job
        }
    }

    /// The header without comments, dates and places: only the machine's size is kept.
    pub fn header(header: &Header) -> Header {
        Header { max_processors: header.max_processors, max_nodes: header.max_nodes, ..Header::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_go_and_relations_stay() {
        let mut anonymiser = Anonymiser::default();
        let mut next = |number, submit, user, preceding_job| {
            anonymiser.job(&Job { number, submit, user, preceding_job, run: Some(5), ..Job::default() })
        };
        let first = next(700, 1_000_000, Some(4242), None);
        let second = next(900, 1_000_050, Some(17), Some(700));
        let third = next(901, 1_000_060, Some(4242), Some(3));
        assert_eq!((first.number, first.submit, first.user, first.run), (1, 0, Some(1), Some(5)));
        assert_eq!(
            (second.number, second.submit, second.user, second.preceding_job),
            (2, 50, Some(2), Some(1))
        );
        assert_eq!((third.user, third.preceding_job), (Some(1), None));
        let header =
            Header { max_processors: Some(4), comments: vec!["Computer: ours".into()], ..Header::default() };
        assert_eq!(Anonymiser::header(&header), Header { max_processors: Some(4), ..Header::default() });
    }
}
