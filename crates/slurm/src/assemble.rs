//! From rows to jobs: a job's row, the rows of its steps behind it, the components of a heterogeneous
//! job beside each other.

use harp_core::{Bytes, Seconds};
use jiff::tz::TimeZone;

use crate::columns::{Columns, Field};
use crate::identifier::{JobId, Part, Step};
use crate::job::{AccountedJob, ExitCode};
use crate::memory::{StepMemory, job_memory};
use crate::state::{State, StateKind};
use crate::{Cells, MemoryRequest, TimeLimit, Tres, point, size, span};

/// Puts rows together; a job is given out once a row shows that no more belongs to it.
pub(crate) struct Assembler<'a> {
    columns: Columns,
    zone: &'a TimeZone,
    job: Option<AccountedJob>,
    steps: Vec<StepMemory>,
    components: Components,
}

/// Puts the components of heterogeneous jobs together.
#[derive(Default)]
pub(crate) struct Components {
    /// The first component, waiting for the others.
    leader: Option<AccountedJob>,
}

impl Components {
    /// Takes a job; gives out what is complete.
    pub(crate) fn push(&mut self, job: AccountedJob, visit: &mut dyn FnMut(AccountedJob)) {
        match (&mut self.leader, job.id.part) {
            (Some(leader), Part::Component(_))
                if leader.id.job == job.id.job && leader.submit == job.submit =>
            {
                join(leader, job);
            }
            (_, part) => {
                self.finish(visit);
                match part {
                    Part::Component(_) => self.leader = Some(job),
                    _ => visit(job),
                }
            }
        }
    }

    /// Gives out what is left.
    pub(crate) fn finish(&mut self, visit: &mut dyn FnMut(AccountedJob)) {
        if let Some(leader) = self.leader.take() {
            visit(leader);
        }
    }
}

impl<'a> Assembler<'a> {
    pub(crate) fn new(columns: Columns, zone: &'a TimeZone) -> Assembler<'a> {
        Assembler { columns, zone, job: None, steps: Vec::new(), components: Components::default() }
    }

    /// Takes a row; `Ok(true)` when it was a step.
    pub(crate) fn row(
        &mut self,
        line: u64,
        cells: &Cells<'_>,
        visit: &mut dyn FnMut(AccountedJob),
    ) -> Result<bool, String> {
        let text = self.columns.cell(cells, Field::JobId).ok_or("the job id is missing")?;
        let id = JobId::parse(text).ok_or_else(|| match text.ends_with('+') {
            true => format!("the job id `{text}` is cut off"),
            false => format!("`{text}` is not a job id"),
        })?;
        if let Some(step) = id.step {
            let Some(job) = self.job.as_mut().filter(|job| id.belongs_to(&job.id)) else {
                return Err(format!("step {text} does not follow its job"));
            };
            self.steps.push(take_step(&self.columns, self.zone, cells, step, job));
            return Ok(true);
        }
        self.close_job(visit);
        self.job = Some(self.take_job(line, cells, id)?);
        Ok(false)
    }

    /// Gives out what is left.
    pub(crate) fn finish(&mut self, visit: &mut dyn FnMut(AccountedJob)) {
        self.close_job(visit);
        self.components.finish(visit);
    }

    fn close_job(&mut self, visit: &mut dyn FnMut(AccountedJob)) {
        let Some(mut job) = self.job.take() else { return };
        let memory = job_memory(&self.steps, job.nodes.unwrap_or(1).max(1));
        self.steps.clear();
        job.peak_memory = memory.per_node.map(Bytes);
        job.total_memory = memory.total.map(Bytes);
        self.components.push(job, visit);
    }

    fn take_job(&self, line: u64, cells: &Cells<'_>, id: JobId) -> Result<AccountedJob, String> {
        let cell = |field: Field| self.columns.cell(cells, field);
        let owned = |field: Field| cell(field).map(str::to_owned);
        let time = |field: Field| cell(field).and_then(|text| point(text, self.zone));
        let state = State::parse(cell(Field::State).ok_or("the state is missing")?);
        if state.kind == StateKind::Unknown {
            return Err(format!("`{}` is not a state of a job", cell(Field::State).unwrap_or("")));
        }
        let given = cell(Field::AllocTres).map(Tres::parse).unwrap_or_default();
        let asked = cell(Field::ReqTres).map(Tres::parse).unwrap_or_default();
        let whole = |field: Field| cell(field).and_then(|text| text.parse::<u64>().ok());
        let (start, end) = (time(Field::Start), time(Field::End));
        let elapsed = cell(Field::ElapsedRaw).or_else(|| cell(Field::Elapsed)).and_then(span);
        let between = || Some(Seconds((end? - start?) as f64)).filter(|span| span.0 >= 0.0);
        Ok(AccountedJob {
            line,
            id,
            cluster: owned(Field::Cluster),
            user: owned(Field::User),
            account: owned(Field::Account),
            partition: owned(Field::Partition),
            name: owned(Field::JobName),
            comment: owned(Field::Comment),
            submit_line: owned(Field::SubmitLine),
            work_directory: owned(Field::WorkDirectory),
            state,
            exit: cell(Field::ExitCode).and_then(ExitCode::parse),
            derived_exit: cell(Field::DerivedExitCode).and_then(ExitCode::parse),
            submit: time(Field::Submit),
            start,
            end,
            elapsed: elapsed.or_else(between),
            limit: cell(Field::Timelimit).map_or(TimeLimit::Unknown, TimeLimit::parse),
            nodes: given.nodes.or_else(|| whole(Field::Nodes)).or(asked.nodes),
            cpus: given
                .cpus
                .or_else(|| whole(Field::Cpus))
                .or(asked.cpus)
                .or_else(|| whole(Field::RequestedCpus)),
            memory: given.memory,
            requested_memory: cell(Field::RequestedMemory).and_then(MemoryRequest::parse),
            gpus: given.gpus.or(asked.gpus),
            gpu_kind: given.gpu_kind.or(asked.gpu_kind).map(str::to_owned),
            user_time: cell(Field::UserCpu).and_then(span).filter(|time| time.0 > 0.0),
            system_time: cell(Field::SystemCpu).and_then(span),
            peak_memory: None,
            total_memory: None,
            gpu_memory: None,
            gpu_utilisation: None,
            energy: energy(cell(Field::Energy)),
            steps: 0,
            open_steps: 0,
            step_out_of_memory: false,
            components: 1,
        })
    }
}

/// Joules; 0 is printed where nothing measures them.
fn energy(text: Option<&str>) -> Option<f64> {
    text?.parse().ok().filter(|joules: &f64| joules.is_finite() && *joules > 0.0)
}

fn take_step(
    columns: &Columns,
    zone: &TimeZone,
    cells: &Cells<'_>,
    step: Step,
    job: &mut AccountedJob,
) -> StepMemory {
    let cell = |field: Field| columns.cell(cells, field);
    let whole = |field: Field| cell(field).and_then(|text| text.parse::<u64>().ok());
    // A process always has some memory: 0 means that nobody looked in time.
    let memory = |text: Option<&str>| text.and_then(size).map(|size| size.0).filter(|&size| size > 0);
    let used = cell(Field::UsageTotal).map(Tres::parse_usage).unwrap_or_default();
    let mean = cell(Field::UsageMean).map(Tres::parse_usage).unwrap_or_default();
    let time = |field: Field| cell(field).and_then(|text| point(text, zone));
    job.steps += 1;
    let state = cell(Field::State).map(|text| State::parse(text).kind);
    job.open_steps += u32::from(state == Some(StateKind::Unfinished));
    // What is said of the extern step is not about the program.
    job.step_out_of_memory |= step != Step::Extern && state == Some(StateKind::OutOfMemory);
    // A script may go on after a step that failed, and Slurm does not always say so in DerivedExitCode.
    let failed = cell(Field::ExitCode).and_then(ExitCode::parse).filter(|exit| *exit != ExitCode::default());
    if matches!(step, Step::Number(_)) && job.derived_exit.is_none_or(|exit| exit == ExitCode::default()) {
        job.derived_exit = failed.or(job.derived_exit);
    }
    job.gpu_memory = job.gpu_memory.max(used.gpu_memory);
    let busy = mean.gpu_utilisation.map(|percent| (percent / 100.0).clamp(0.0, 1.0));
    job.gpu_utilisation = match (job.gpu_utilisation, busy) {
        (Some(known), Some(busy)) => Some(known.max(busy)),
        (known, busy) => known.or(busy),
    };
    StepMemory {
        largest_task: memory(cell(Field::MaxRss)),
        mean_task: memory(cell(Field::AveRss)),
        all_tasks: used.memory.map(|memory| memory.0).filter(|&memory| memory > 0),
        tasks: whole(Field::Tasks),
        nodes: whole(Field::Nodes)
            .or_else(|| cell(Field::AllocTres).and_then(|text| Tres::parse(text).nodes)),
        hosts: job.nodes.filter(|&nodes| nodes > 1).and_then(|_| cell(Field::NodeList).map(str::to_owned)),
        start: time(Field::Start),
        end: time(Field::End),
    }
}

/// Adds a component of a heterogeneous job to its first: what they had adds up, they ran together.
fn join(leader: &mut AccountedJob, other: AccountedJob) {
    let add = |left: Option<u64>, right: Option<u64>| match (left, right) {
        (Some(left), Some(right)) => left.checked_add(right),
        _ => None,
    };
    let add_bytes = |left: Option<Bytes>, right: Option<Bytes>| {
        add(left.map(|bytes| bytes.0), right.map(|bytes| bytes.0)).map(Bytes)
    };
    let either = |left: Option<Seconds>, right: Option<Seconds>| match (left, right) {
        (Some(left), Some(right)) => Some(left + right),
        (left, right) => left.or(right),
    };
    leader.gpus = match (leader.gpus, other.gpus) {
        (Some(left), Some(right)) => left.checked_add(right),
        (left, right) => left.or(right),
    };
    leader.nodes = add(leader.nodes, other.nodes);
    leader.cpus = add(leader.cpus, other.cpus);
    leader.memory = add_bytes(leader.memory, other.memory);
    leader.requested_memory = None;
    leader.total_memory = add_bytes(leader.total_memory, other.total_memory);
    leader.peak_memory = leader.peak_memory.max(other.peak_memory);
    leader.user_time = either(leader.user_time, other.user_time);
    leader.system_time = either(leader.system_time, other.system_time);
    leader.steps += other.steps;
    leader.step_out_of_memory |= other.step_out_of_memory;
    leader.components += 1;
}
