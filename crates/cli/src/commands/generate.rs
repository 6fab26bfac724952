//! `harp generate`: runs what is missing of an experiment and records what it used.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::path::Path;

use harp_core::{Allocation, Host, Run, Scale, Seconds};
use harp_experiment::PlannedRun;
use harp_history::Store;
use harp_measure::{MemoryMethod, Recorder, Spent, Stop, Summary, Sweep, SweepEnd, SweepError};
use serde::Serialize;

use crate::arguments::Generate;
use crate::failure::{Exit, Failure};
use crate::progress::Progress;
use crate::project::Project;
use crate::sweep::{self, Knowledge};
use crate::terminal::Terminal;

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
}

/// Runs what is missing.
pub fn generate(arguments: &Generate, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    if arguments.dry_run {
        return super::plan::show(&project, &arguments.scale, terminal);
    }
    let mut session = Session::open(&project, terminal)?;
    let done = session.run(&arguments.scale, arguments.retry_failed)?;
    if terminal.json {
        terminal.print_json(&done)?;
    } else {
        terminal.say(&done.in_words());
    }
    if arguments.strict && done.failed > 0 {
        return Err(Failure::bad_input(format!("{} runs failed", done.failed)).exit(Exit::SomeSkipped));
    }
    Ok(())
}

impl Done {
    fn in_words(&self) -> String {
        let mut text = format!("{} runs completed", self.completed);
        for (count, what) in [
            (self.failed, "did not (`harp history` says why, --retry-failed runs them again)"),
            (self.over_budget, "left out: the budget is used up"),
            (self.already_done, "had been done before"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        text
    }
}

/// An experiment that this process alone runs, from its setup to its last run.
pub struct Session<'a> {
    project: &'a Project,
    terminal: &'a Terminal,
    store: Store,
    host: Host,
    stop: Stop,
    is_set_up: bool,
    /// Held as long as the session is.
    _lock: File,
}

impl<'a> Session<'a> {
    /// Takes the experiment for this process.
    pub fn open(project: &'a Project, terminal: &'a Terminal) -> Result<Session<'a>, Failure> {
        let lock = project.lock()?;
        Ok(Session {
            store: project.open_history()?,
            host: harp_measure::host(),
            stop: Stop::on_signals(),
            is_set_up: false,
            project,
            terminal,
            _lock: lock,
        })
    }

    /// Runs what is missing of some scales; of all without any.
    ///
    /// A budget is kept with what is known when runs are planned, and more is known once they have
    /// run: so it plans again until nothing is left that it can pay for.
    pub fn run(&mut self, scales: &[Scale], retry_failed: bool) -> Result<Done, Failure> {
        let mut done = Done::default();
        let mut tried = BTreeSet::new();
        for round in 0.. {
            let mut knowledge = Knowledge::of(self.project)?;
            let (mut missing, planned) = self.missing(scales, retry_failed, &knowledge)?;
            if round == 0 {
                done.already_done = planned - missing.len();
            }
            missing.retain(|run| tried.insert((run.configuration.key(), run.repetition)));
            if missing.is_empty() {
                break;
            }
            self.set_up()?;
            let summary = self.sweep(missing, &mut knowledge)?;
            done.completed += summary.completed;
            done.failed += summary.failed;
            done.over_budget = summary.over_budget;
            match summary.end {
                SweepEnd::Done => {}
                SweepEnd::Stopped => {
                    return Err(Failure::bad_input(format!("stopped; {} runs are left", summary.left))
                        .exit(Exit::Interrupted)
                        .hint("the same command goes on where it was"));
                }
                SweepEnd::TotalTimeout => {
                    self.terminal.say(&format!("the total time is over; {} runs are left", summary.left));
                    break;
                }
            }
        }
        Ok(done)
    }

    /// The runs still to be done, and how many are planned. Files that a file parameter names may be
    /// made by the setup, so it comes before planning where they are not there yet.
    fn missing(
        &mut self,
        scales: &[Scale],
        retry_failed: bool,
        knowledge: &Knowledge,
    ) -> Result<(Vec<PlannedRun>, usize), Failure> {
        let plan = match sweep::planned(self.project, scales, knowledge) {
            Err(_) if !self.is_set_up && !self.project.experiment.program.setup.is_empty() => {
                self.set_up()?;
                sweep::planned(self.project, scales, knowledge)?
            }
            plan => plan?,
        };
        let planned = plan.runs.len();
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
        self.project.check_files(self.terminal)
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

    fn sweep(&mut self, runs: Vec<PlannedRun>, knowledge: &mut Knowledge) -> Result<Summary, Failure> {
        let state = self.project.state();
        let site = knowledge.clone();
        let price = |allocation: &Allocation, time: Seconds| site.price(allocation, time);
        let spent = knowledge.spent().clone();
        let sweep = Sweep { spent, price: Some(&price), ..self.sweep_of(&state, runs.clone()) };
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
        SweepError::Record(_) | SweepError::File { .. } => {
            failure.hint("make room or give access; the same command goes on where it was")
        }
        _ => failure,
    }
}
