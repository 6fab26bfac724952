//! `harp generate`: runs what is missing of an experiment and records what it used.

mod adaptive;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use harp_core::{Allocation, ConfigurationKey, Host, Run, Scale, Seconds};
use harp_experiment::PlannedRun;
use harp_history::Store;
use harp_measure::{MemoryMethod, Pressure, Recorder, Spent, Stop, Summary, Sweep, SweepEnd, SweepError};
use harp_report::text::plural;
use serde::Serialize;

use crate::arguments::Generate;
use crate::drift;
use crate::failure::{Exit, Failure};
use crate::failures::{self, FailedRun};
use crate::fingerprint;
use crate::on_slurm::OnSlurm;
use crate::progress::Progress;
use crate::project::Project;
use crate::sweep::{self, Knowledge};
use crate::terminal::Terminal;

/// The share of a sweep in which something may wait for a processor unremarked. An idle machine has
/// next to none; housekeeping now and then is normal.
const BUSY: f64 = 0.15;

/// What came of it; documented in the reference.
#[derive(Debug, Default, Serialize)]
pub struct Done {
    /// Runs that completed now.
    pub completed: usize,
    /// Runs that were recorded now but did not complete.
    pub failed: usize,
    /// Runs left out because a budget was used up.
    pub over_budget: usize,
    /// Runs that had an outcome before.
    pub already_done: usize,
    /// Every run asked for that has not completed by now, from this call or an earlier one.
    pub failures: Vec<FailedRun>,
}

/// Runs what is missing.
pub fn generate(arguments: &Generate, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    if arguments.adaptive.adaptive {
        return adaptive::adaptive(&project, arguments, terminal);
    }
    let on_slurm = OnSlurm::if_asked(&arguments.slurm, &project, terminal)?;
    if let (true, Some(on_slurm)) = (arguments.dry_run, &on_slurm) {
        return on_slurm.show(&project, arguments).map(|()| ExitCode::SUCCESS);
    }
    if arguments.dry_run {
        return super::plan::show(&project, &arguments.scale, terminal).map(|()| ExitCode::SUCCESS);
    }
    let mut session = Session::open(&project, on_slurm, terminal)?;
    let done = session.run(&arguments.scale, arguments.retry_failed)?;
    if terminal.json {
        terminal.print_json(&done)?;
    } else {
        terminal.say(&done.in_words());
        done.tell_failures(terminal);
    }
    let at_limit = arguments.strict && done.failures.iter().any(|run| run.at_limit);
    Ok(exit_code(done.has_failed() && !arguments.allow_failed || at_limit))
}

/// The code of a sweep: nothing that failed may look as if all were well.
pub fn exit_code(some_failed: bool) -> ExitCode {
    if some_failed { ExitCode::from(Exit::SomeSkipped as u8) } else { ExitCode::SUCCESS }
}

impl Done {
    fn in_words(&self) -> String {
        let mut text = format!("{} completed", plural(self.completed, "run"));
        for (count, what) in [
            (self.failed, "did not"),
            (self.over_budget, "left out: the budget is used up"),
            (self.already_done, "had been done before"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        text
    }

    /// Whether some run asked for has failed; one ended at a limit is a lower bound and not lost.
    pub fn has_failed(&self) -> bool {
        self.failures.iter().any(|run| !run.at_limit)
    }

    /// Says which runs have not completed and why, where there are any.
    pub fn tell_failures(&self, terminal: &Terminal) {
        if self.failures.is_empty() {
            return;
        }
        terminal.say_even_if_quiet(&failures::in_words(&self.failures));
        terminal.say(if self.has_failed() {
            "  hint: --retry-failed runs them again"
        } else {
            "  hint: they are learned from as lower bounds; with a larger limit, --retry-failed runs them again"
        });
    }
}

/// What tells a run from the others: its configuration and repetition.
type RunKey = (ConfigurationKey, u32);

/// An experiment that this process alone runs, from its setup to its last run.
pub struct Session<'a> {
    project: &'a Project,
    terminal: &'a Terminal,
    store: Store,
    host: Host,
    stop: Stop,
    is_set_up: bool,
    /// Where runs are made, if not here.
    on_slurm: Option<OnSlurm<'a>>,
    /// Held as long as the session is.
    _lock: File,
}

impl<'a> Session<'a> {
    /// Takes the experiment for this process; without a cluster its runs are made here.
    pub fn open(
        project: &'a Project,
        on_slurm: Option<OnSlurm<'a>>,
        terminal: &'a Terminal,
    ) -> Result<Session<'a>, Failure> {
        let lock = project.lock()?;
        Ok(Session {
            store: project.open_history()?,
            host: harp_measure::host(),
            stop: Stop::on_signals(),
            is_set_up: false,
            on_slurm,
            project,
            terminal,
            _lock: lock,
        })
    }

    /// Runs that count as done are not made again, whatever has become of the program since.
    fn warn_if_of_another_program(&self, done: usize) -> Result<(), Failure> {
        let recorded = self.store.runs(Some(&self.project.experiment.application()))?;
        if done > 0 && drift::is_of_another_program(self.project, &recorded) {
            self.terminal.say(&format!(
                "warning: the program or its command has changed since {} that count as done and are not made \
                 again; give it a new `version` under [program] to measure it as it is now",
                plural(done, "run")
            ));
        }
        Ok(())
    }

    /// Runs what is missing of some scales; of all without any.
    ///
    /// A budget is kept with what is known when runs are planned, and more is known once they have
    /// run: so it plans again until nothing is left that it can pay for.
    pub fn run(&mut self, scales: &[Scale], retry_failed: bool) -> Result<Done, Failure> {
        let mut done = Done::default();
        let mut tried = BTreeSet::new();
        let mut asked_for = BTreeSet::new();
        for round in 0.. {
            let mut knowledge = Knowledge::of(self.project)?;
            let (mut missing, planned) = self.missing(scales, retry_failed, &knowledge)?;
            if round == 0 {
                done.already_done = planned.len() - missing.len();
                self.warn_if_of_another_program(done.already_done)?;
            }
            asked_for.extend(planned);
            missing.retain(|run| tried.insert((run.configuration.key(), run.repetition)));
            let collecting = round == 0 && self.is_in_queue()?;
            if missing.is_empty() && !collecting {
                break;
            }
            self.set_up()?;
            let pressure = if self.on_slurm.is_some() { None } else { Pressure::watch() };
            if let Some(on_slurm) = &self.on_slurm {
                on_slurm.agree(self.project, &missing, &knowledge, &self.store)?;
            }
            let summary = self.sweep(self.project, missing, &mut knowledge)?;
            self.warn_if_busy(pressure);
            done.completed += summary.completed;
            done.failed += summary.failed;
            done.over_budget = summary.over_budget;
            match summary.end {
                SweepEnd::Done => {}
                SweepEnd::Stopped => {
                    return Err(Failure::bad_input(format!("stopped; {} left", plural(summary.left, "run")))
                        .exit(Exit::Interrupted)
                        .hint("the same command goes on where it was"));
                }
                SweepEnd::TotalTimeout => {
                    let left = plural(summary.left, "run");
                    self.terminal.say(&format!("the total time is over; {left} left"));
                    break;
                }
            }
        }
        done.failures = self.failures(&asked_for)?;
        Ok(done)
    }

    /// Whether jobs of this experiment are in the queue. Only the cluster can collect them, and run here
    /// at the same time they would be run twice.
    fn is_in_queue(&self) -> Result<bool, Failure> {
        let open = self.store.open_submissions(&self.project.experiment.application())?;
        if !open.is_empty() && self.on_slurm.is_none() {
            return Err(Failure::bad_input("runs of this experiment are in the queue of Slurm")
                .hint("`harp generate --on slurm` waits for them and records them"));
        }
        Ok(!open.is_empty())
    }

    fn warn_if_busy(&self, pressure: Option<Pressure>) {
        let share = pressure.and_then(|pressure| pressure.share());
        if let Some(share) = share.filter(|share| *share > BUSY) {
            self.terminal.say(&format!(
                "warning: during {} of the sweep something waited for a processor: this machine is busy, or \
                 runs have more threads than cores; times are longer and less steady than they could be",
                harp_report::text::share(share)
            ));
        }
    }

    /// The runs among some that have an outcome and did not complete.
    fn failures(&self, asked_for: &BTreeSet<RunKey>) -> Result<Vec<FailedRun>, Failure> {
        let recorded = self.store.runs(Some(&self.project.experiment.application()))?;
        let is_meant = |run: &Run| {
            !run.outcome.is_completed() && asked_for.contains(&(run.configuration.key(), run.repetition))
        };
        let runs = recorded.iter().map(|recorded| &recorded.run).filter(|run| is_meant(run));
        Ok(runs.map(|run| FailedRun::of(self.project, run)).collect())
    }

    /// The runs still to be done, and all that are planned. Files that a file parameter names may be
    /// made by the setup, so it comes before planning where they are not there yet.
    fn missing(
        &mut self,
        scales: &[Scale],
        retry_failed: bool,
        knowledge: &Knowledge,
    ) -> Result<(Vec<PlannedRun>, Vec<RunKey>), Failure> {
        let plan = match sweep::planned(self.project, scales, knowledge) {
            Err(_) if !self.is_set_up && !self.project.experiment.program.setup.is_empty() => {
                self.set_up()?;
                sweep::planned(self.project, scales, knowledge)?
            }
            plan => plan?,
        };
        let planned = plan.runs.iter().map(|run| (run.configuration.key(), run.repetition)).collect();
        let outcomes = self.store.outcomes(&self.project.experiment.application())?;
        Ok((sweep::remaining(plan.runs, &outcomes, retry_failed), planned))
    }

    /// Runs the experiment's setup, once a session.
    fn set_up(&mut self) -> Result<(), Failure> {
        if self.is_set_up {
            return Ok(());
        }
        self.is_set_up = true;
        let state = self.project.state();
        let sweep = self.sweep_of(&state, Vec::new());
        let finished = sweep.set_up(&mut SayLines(self.terminal), &self.stop).map_err(failure)?;
        if !finished {
            return Err(Failure::bad_input("stopped during the setup").exit(Exit::Interrupted));
        }
        self.project.check_files(true, self.terminal)
    }

    fn sweep_of<'s>(&self, state: &'s Path, runs: Vec<PlannedRun>) -> Sweep<'s>
    where
        'a: 's,
    {
        Sweep {
            experiment: &self.project.experiment,
            experiment_directory: &self.project.directory,
            state_directory: state,
            runs,
            spent: Spent::new(),
            price: None,
            memory_method: MemoryMethod::Best,
            is_set_up: true,
        }
    }

    /// Makes and records some runs of the experiment as a project has it, here or on the cluster.
    fn sweep(
        &mut self,
        project: &Project,
        runs: Vec<PlannedRun>,
        knowledge: &mut Knowledge,
    ) -> Result<Summary, Failure> {
        let state = project.state();
        let site = knowledge.clone();
        let price = |allocation: &Allocation, time: Seconds| site.price(allocation, time);
        let spent = knowledge.spent().clone();
        let experiment = &project.experiment;
        let sweep = Sweep { experiment, spent, price: Some(&price), ..self.sweep_of(&state, runs.clone()) };
        self.store.set_program(Some(fingerprint::of(project)));
        if let Some(on_slurm) = &self.on_slurm {
            let mut progress = Progress::new(self.terminal, knowledge, &runs, state.join("running.json"));
            let (store, stop) = (&mut self.store, &self.stop);
            let summary = on_slurm.sweep(project, runs, &site, store, &mut progress, stop);
            progress.finish();
            return summary;
        }
        let mut progress = Progress::new(self.terminal, knowledge, &runs, state.join("running.json"));
        let mut keeper = Keeper { store: &mut self.store, host: &self.host };
        let summary = sweep.run(&mut keeper, &mut progress, &self.stop);
        progress.finish();
        summary.map_err(failure)
    }
}

/// Puts every finished run into the history.
struct Keeper<'a> {
    store: &'a mut Store,
    host: &'a Host,
}

impl Recorder for Keeper<'_> {
    fn record(&mut self, run: &Run) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(self.store.record(run, self.host)?)
    }
}

/// Says which line of the setup is running.
struct SayLines<'a>(&'a Terminal);

impl harp_measure::Observer for SayLines<'_> {
    fn setting_up(&mut self, line: &str) {
        self.0.say(&format!("setting up: {line}"));
    }
}

fn failure(error: SweepError) -> Failure {
    let failure = Failure::bad_input(error.to_string());
    match error {
        SweepError::Setup { log, .. } => {
            // The line that failed is the last that wrote anything.
            let written =
                (0..).map(|number| log.join(format!("{number}.stderr"))).take_while(|file| file.exists());
            match written.last().and_then(|file| failures::last_line(&file)) {
                Some(line) => failure.hint(format!("its last line on stderr is: {line}")),
                None => failure,
            }
        }
        SweepError::Record(_) | SweepError::File { .. } => {
            failure.hint("make room or give access; the same command goes on where it was")
        }
        _ => failure,
    }
}
