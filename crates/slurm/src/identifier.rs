//! Job ids: `12`, `12_3` (a task of an array), `12_[4-9%2]` (tasks that have not begun), `12+1` (a part
//! of a heterogeneous job), each with a step behind a dot.

/// Which job or step a row is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JobId {
    /// The job's number; of an array or heterogeneous job the common one.
    pub job: u64,
    /// Which part of it.
    pub part: Part,
    /// The step; `None` is the job itself.
    pub step: Option<Step>,
}

/// A part of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// One task of an array.
    Task(u64),
    /// Tasks of an array that are still one row because none has begun.
    WaitingTasks,
    /// One component of a heterogeneous job, the first of which is 0.
    Component(u64),
}

/// A step of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// The job script.
    Batch,
    /// What was started from outside, and what prologs left.
    Extern,
    /// A shell started by `salloc`.
    Interactive,
    /// A call of `srun`, in order.
    Number(u64),
}

impl JobId {
    /// Reads an id. `None` when it is not one, or was cut off (`1234567_1+`).
    pub fn parse(text: &str) -> Option<JobId> {
        let text = text.trim();
        let (job, step) = match text.split_once('.') {
            Some((job, step)) => (job, Some(Step::parse(step)?)),
            None => (text, None),
        };
        let digits = job.find(|c: char| !c.is_ascii_digit()).unwrap_or(job.len());
        let (number, part) = job.split_at(digits);
        let part = match part.as_bytes().first() {
            None => Part::Whole,
            Some(b'_') if part[1..].starts_with('[') => part.ends_with(']').then_some(Part::WaitingTasks)?,
            Some(b'_') => Part::Task(whole(&part[1..])?),
            Some(b'+') => Part::Component(whole(&part[1..])?),
            Some(_) => return None,
        };
        Some(JobId { job: whole(number)?, part, step })
    }

    /// Whether a row of this id is a step of that job.
    pub fn belongs_to(&self, job: &JobId) -> bool {
        (self.job, self.part) == (job.job, job.part)
    }
}

/// A number written in digits alone: `+5` is none.
fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl Step {
    fn parse(text: &str) -> Option<Step> {
        Some(match text {
            "batch" => Step::Batch,
            "extern" => Step::Extern,
            "interactive" => Step::Interactive,
            // a step of a heterogeneous job may carry its component: `0+1`
            number => Step::Number(whole(number.split('+').next()?)?),
        })
    }
}

impl std::fmt::Display for JobId {
    /// The job without its step.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.part {
            Part::Whole => write!(formatter, "{}", self.job),
            Part::Task(task) => write!(formatter, "{}_{task}", self.job),
            Part::WaitingTasks => write!(formatter, "{}_[]", self.job),
            Part::Component(component) => write!(formatter, "{}+{component}", self.job),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_read() {
        for (text, part, step) in [
            ("12", Part::Whole, None),
            ("12_3", Part::Task(3), None),
            ("12_[11,16%1]", Part::WaitingTasks, None),
            ("12+0.batch", Part::Component(0), Some(Step::Batch)),
            ("12_3.extern", Part::Task(3), Some(Step::Extern)),
            ("12.0", Part::Whole, Some(Step::Number(0))),
            ("12.interactive", Part::Whole, Some(Step::Interactive)),
        ] {
            assert_eq!(JobId::parse(text), Some(JobId { job: 12, part, step }), "{text}");
        }
        for bad in
            ["", "x", "12_", "12+", "12_1+", "12.", "12.ba+", "_3", "12_[1-", "１２", "12_+3", ".batch"]
        {
            assert_eq!(JobId::parse(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_an_id_or_none(text in "[0-9_+\\[\\].a-z%é]{0,20}") {
            if let Some(id) = JobId::parse(&text) {
                let _ = id.to_string();
            }
        }
    }
}
