//! Runs one program with everything it starts, and measures it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use harp_core::{Bytes, Outcome, Seconds, Usage};
use rustix::process::{Pid, Signal};
use rustix::thread::CpuSet;

use crate::cgroup::Group;
use crate::energy::EnergyMeter;
use crate::gpu::GpuWatch;
use crate::mark;
use crate::memory::{MemoryMeter, Peak};
use crate::processes::{self, Processes};
use crate::procfs;
use crate::sampler::Sampler;
use crate::system::{self, Preparation, Report};
use crate::transfers::TransferMeter;
use crate::used::Used;
use crate::wait::ExitWatch;
use crate::{ExecuteError, MemoryMethod, Program, Stop, Task};

/// How long a program that was asked to end may take before it is made to.
const GRACE: Duration = Duration::from_secs(2);
/// The same when a person is waiting.
const GRACE_WHEN_STOPPED: Duration = Duration::from_millis(300);
/// The stop flag is looked at least this often.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Programs shorter than this are not sampled beyond their start.
const BEFORE_SAMPLING: Duration = Duration::from_millis(2);

/// The same where a scheduler measures, too: there many programs are started in one moment.
const BEFORE_GENTLE_SAMPLING: Duration = Duration::from_millis(50);

/// How a program ended and what it used.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How it ended. [`Outcome::Completed`] means no more than exit code 0.
    pub outcome: Outcome,
    /// What it used with everything it started.
    pub usage: Usage,
}

/// Runs a program to its end or to its limits, and measures it with every process it starts. When
/// this returns, nothing of it is left running.
pub fn execute(task: &Task, stop: &Stop) -> Result<Measured, ExecuteError> {
    if stop.is_requested() {
        return Err(ExecuteError::Stopped);
    }
    processes::take_charge();
    match start(task)? {
        Ok(running) => running.finish(stop),
        Err(reason) => Ok(Measured { outcome: Outcome::NotStarted { reason }, usage: Usage::default() }),
    }
}

/// A program that was started.
struct Running<'task> {
    task: &'task Task,
    root: Pid,
    watch: ExitWatch,
    started: Duration,
    processes: Processes,
    memory: MemoryMeter,
    transfers: TransferMeter,
    energy: Option<EnergyMeter>,
    gpus: Option<GpuWatch>,
    /// Bytes the child wrote on harp's behalf before it became the program.
    overhead_written: u64,
}

/// Why harp ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// It did not: the program ended by itself.
    ByItself,
    /// At its time limit.
    Time,
    /// At its memory limit.
    Memory,
    /// Because it was asked to stop.
    Stop,
}

/// Starts the program; the inner error says why it cannot be started.
fn start(task: &Task) -> Result<Result<Running<'_>, String>, ExecuteError> {
    let mut command = match &task.program {
        Program::Direct(words) => {
            let Some((program, arguments)) = words.split_first() else {
                return Ok(Err("the command is empty".to_owned()));
            };
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        Program::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            command
        }
    };
    let mark = mark::next();
    command
        .envs(&task.environment)
        .env(mark::VARIABLE, &mark)
        .current_dir(&task.directory)
        .stdin(Stdio::null())
        .stdout(output(task.stdout.as_ref())?)
        .stderr(output(task.stderr.as_ref())?);
    let cores = match pinning(&task.cores) {
        Ok(cores) => cores,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut group = match task.memory_method {
        MemoryMethod::Best => Group::create(&mark, task.memory_limit),
        MemoryMethod::Sampling | MemoryMethod::GentleSampling => None,
    };
    let entrance = group.as_ref().and_then(Group::entrance);
    let (mut reports, report) = io::pipe().map_err(ExecuteError::system("make a pipe"))?;
    system::prepare(&mut command, Preparation { cores, group: entrance, report: OwnedFd::from(report) });
    let energy = EnergyMeter::start();
    // A list of names costs little; without it, the first sample looks at each of them.
    let others = match task.memory_method {
        MemoryMethod::GentleSampling => procfs::processes(),
        MemoryMethod::Best | MemoryMethod::Sampling => Vec::new(),
    };
    let before = system::monotonic();
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ok(Err(not_started(task, &error))),
    };
    // The child's end of the pipe is closed by exec, this one with the command: reading cannot hang.
    drop(command);
    let mut bytes = [0; Report::LENGTH];
    let report = reports.read_exact(&mut bytes).ok().map(|()| Report::decode(&bytes));
    // A child that was killed before it could report was killed by its group's memory limit.
    let entered = report.is_none_or(|report| report.entered);
    if !entered {
        group = None;
    }
    let overhead_written = Report::LENGTH as u64 + u64::from(group.is_some());
    let root = Pid::from_child(&child);
    Ok(Ok(Running {
        task,
        root,
        watch: watch(child)?,
        started: report.map_or(before, |report| report.clock),
        processes: Processes::of(root, &mark, others),
        memory: match task.memory_method {
            MemoryMethod::GentleSampling => MemoryMeter::new(group, task.memory_limit).gently(),
            _ => MemoryMeter::new(group, task.memory_limit),
        },
        transfers: TransferMeter::new(),
        energy,
        gpus: GpuWatch::start(root.as_raw_pid()),
        overhead_written,
    }))
}

/// Watches a child; one that cannot be watched is not left running.
fn watch(mut child: Child) -> Result<ExitWatch, ExecuteError> {
    ExitWatch::new(Pid::from_child(&child)).map_err(|source| {
        let _ = child.kill();
        let _ = child.wait();
        ExecuteError::System { action: "watch the program", source }
    })
}

fn output(path: Option<&PathBuf>) -> Result<Stdio, ExecuteError> {
    let Some(path) = path else { return Ok(Stdio::null()) };
    let file = File::create(path).map_err(|source| ExecuteError::Output { path: path.clone(), source })?;
    Ok(file.into())
}

fn pinning(cores: &[usize]) -> Result<Option<CpuSet>, String> {
    if cores.is_empty() {
        return Ok(None);
    }
    let mut set = CpuSet::new();
    for &core in cores {
        if core >= CpuSet::MAX_CPU {
            return Err(format!("there is no processor {core} to pin it to"));
        }
        set.set(core);
    }
    Ok(Some(set))
}

fn not_started(task: &Task, error: &io::Error) -> String {
    let program = match &task.program {
        Program::Direct(words) => words.first().map_or("", String::as_str),
        Program::Shell(_) => "/bin/sh",
    };
    if task.directory.is_dir() {
        format!("{program}: {error}")
    } else {
        format!("{program}: there is no directory {} to run it in", task.directory.display())
    }
}

/// When a program started and how long it may take.
#[derive(Clone, Copy)]
struct Clock {
    started: Duration,
    limit: Option<Seconds>,
}

/// Waits until the program ends, its time is over, or the stop flag is set.
fn wait_for_end(watch: &ExitWatch, clock: Clock, stop: &Stop) -> io::Result<(Ended, Duration)> {
    let limit = clock.limit.and_then(|limit| Duration::try_from_secs_f64(limit.0).ok());
    loop {
        let elapsed = system::monotonic().saturating_sub(clock.started);
        let left = limit.map_or(LONGEST_WAIT, |limit| limit.saturating_sub(elapsed).min(LONGEST_WAIT));
        let has_ended = watch.wait(left)?;
        let elapsed = system::monotonic().saturating_sub(clock.started);
        if has_ended {
            return Ok((Ended::ByItself, elapsed));
        }
        if limit.is_some_and(|limit| elapsed >= limit) {
            return Ok((Ended::Time, elapsed));
        }
        if stop.is_requested() {
            return Ok((Ended::Stop, elapsed));
        }
    }
}

impl Running<'_> {
    fn finish(mut self, stop: &Stop) -> Result<Measured, ExecuteError> {
        let (ended, walltime) = match self.watch_over(stop) {
            Ok(result) => result,
            Err(source) => {
                self.terminate(Duration::ZERO);
                let _ = self.clean_up();
                return Err(ExecuteError::System { action: "wait for the program", source });
            }
        };
        let used = self.clean_up().map_err(ExecuteError::system("collect the ended program"))?;
        if ended == Ended::Stop {
            return Err(ExecuteError::Stopped);
        }
        Ok(self.conclude(ended, walltime, used))
    }

    /// Waits for the end, sampling and keeping the limits; why it ended and after how long.
    fn watch_over(&mut self, stop: &Stop) -> io::Result<(Ended, Duration)> {
        let gentle = self.task.memory_method == MemoryMethod::GentleSampling;
        if !gentle {
            self.memory.first_sample(&mut self.processes);
        }
        // Most short programs end before sampling is worth a thread.
        let unwatched = if gentle { BEFORE_GENTLE_SAMPLING } else { BEFORE_SAMPLING };
        let limit = self.task.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit.0).ok());
        if self.watch.wait(limit.map_or(unwatched, |limit| limit.min(unwatched)))? {
            return Ok((Ended::ByItself, self.elapsed()));
        }
        // Before the thread is there, which may take a while on a busy machine.
        let elapsed = self.elapsed();
        self.memory.sample(&mut self.processes, elapsed);
        let clock = Clock { started: self.started, limit: self.task.time_limit };
        let (watch, sampler) = (
            &self.watch,
            Sampler {
                processes: &mut self.processes,
                memory: &mut self.memory,
                transfers: &mut self.transfers,
                energy: self.energy.as_mut(),
                started: self.started,
            },
        );
        let (ended, elapsed) = thread::scope(|scope| {
            let (still_running, has_ended) = mpsc::channel();
            let sampler = thread::Builder::new()
                .name("harp-sample".into())
                .spawn_scoped(scope, move || sampler.run(&has_ended))?;
            let waited = wait_for_end(watch, clock, stop);
            drop(still_running);
            let exceeded = sampler.join().unwrap_or(false);
            waited.map(|(ended, elapsed)| (if exceeded { Ended::Memory } else { ended }, elapsed))
        })?;
        match ended {
            Ended::ByItself | Ended::Memory => {}
            Ended::Time => self.terminate(GRACE),
            Ended::Stop => self.terminate(GRACE_WHEN_STOPPED),
        }
        Ok((ended, elapsed))
    }

    fn elapsed(&self) -> Duration {
        system::monotonic().saturating_sub(self.started)
    }

    /// Asks the whole tree to end, and makes it after the grace.
    fn terminate(&mut self, grace: Duration) {
        self.processes.adopt(self.memory.processes());
        if !grace.is_zero() {
            self.processes.signal(Signal::TERM);
            let asked = system::monotonic();
            loop {
                let waited = system::monotonic().saturating_sub(asked);
                match self.watch.wait(grace.saturating_sub(waited)) {
                    Ok(true) => return,
                    Ok(false) if waited < grace => {}
                    _ => break,
                }
            }
        }
        self.processes.adopt(self.memory.processes());
        self.processes.signal(Signal::KILL);
    }

    /// Collects the root and ends and collects everything else.
    fn clean_up(&mut self) -> io::Result<Used> {
        // A process that cannot be ended by force waits for the kernel; then so must we.
        while !self.watch.wait(Duration::from_secs(1))? {}
        let transferred = procfs::transferred(self.root.as_raw_pid()).or(self.transfers.seen());
        let mut used = Used::new(system::reap(self.root)?, transferred, self.overhead_written);
        if processes::has_children() {
            // What the program left running is measured before it is ended.
            let elapsed = self.elapsed();
            self.memory.sample(&mut self.processes, elapsed);
        }
        let memory = &self.memory;
        self.processes.end_all(|| memory.processes(), |reaped, transferred| used.add(reaped, transferred));
        Ok(used)
    }

    fn conclude(self, ended: Ended, walltime: Duration, used: Used) -> Measured {
        let peak = self.memory.finish(used.largest_resident, system::own_largest_resident());
        let gpus = self.gpus.map(GpuWatch::finish).unwrap_or_default();
        let seconds = |duration: Duration| Some(Seconds(duration.as_secs_f64()));
        let (peak_memory, peak_memory_source) = peak.memory.unzip();
        Measured {
            outcome: outcome(self.task, ended, peak, used.status),
            usage: Usage {
                walltime: seconds(walltime),
                user_time: seconds(used.user),
                system_time: seconds(used.system),
                peak_memory,
                peak_memory_source,
                read: used.transferred.map(|transferred| Bytes(transferred.read)),
                written: used.transferred.map(|transferred| Bytes(transferred.written)),
                voluntary_switches: Some(used.voluntary_switches),
                involuntary_switches: Some(used.involuntary_switches),
                peak_gpu_memory: gpus.peak_memory,
                gpu_utilisation: gpus.utilisation,
                energy_joules: self.energy.map(EnergyMeter::finish),
                filled: Vec::new(),
            },
        }
    }
}

fn outcome(task: &Task, ended: Ended, peak: Peak, status: ExitStatus) -> Outcome {
    match (ended, task.time_limit) {
        (Ended::Time, Some(limit)) => return Outcome::TimedOut { limit },
        _ if ended == Ended::Memory || peak.exceeded => {
            return Outcome::OutOfMemory { limit: task.memory_limit };
        }
        _ => {}
    }
    match (status.code(), status.signal()) {
        (Some(0), _) => Outcome::Completed,
        (Some(exit_code), _) => Outcome::Failed { exit_code },
        (None, signal) => Outcome::Signalled { signal: signal.unwrap_or(0) },
    }
}
