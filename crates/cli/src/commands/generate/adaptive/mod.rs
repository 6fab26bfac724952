//! `harp generate --adaptive`: runs chosen one at a time, or a few at a time, each explained, within a
//! budget.

mod answer;
mod doubt;
mod goal;
mod known;
mod models;
mod perform;
mod together;
mod wanted;

use std::collections::BTreeSet;
use std::process::ExitCode;

use harp_core::{Configuration, Money, Seconds};
use harp_experiment::PlannedRun;

use super::{RunKey, Session, exit_code};
use crate::arguments::{Adaptive, Generate};
use crate::failure::{Exit, Failure};
use crate::failures::{self, FailedRun};
use crate::on_slurm::OnSlurm;
use crate::project::Project;
use crate::terminal::Terminal;
use answer::{Answer, Choice, Ended, price};
use doubt::Lowering;
use goal::Searching;
use known::{Allowed, Known};

/// Choices a dry run shows; the later ones rest on times nobody has measured.
const MOST_PLANNED: usize = 20;

/// What comes next.
enum Next {
    /// This run, for this reason.
    Run(PlannedRun, Box<Choice>),
    /// Nothing, for this reason.
    End(Ended, String),
}

/// What may still be spent; `None` is no limit.
#[derive(Clone, Copy)]
struct Left {
    time: Option<Seconds>,
    money: Option<Money>,
}

impl Left {
    fn of(settings: &Adaptive, known: &Known, planned: &[Choice]) -> Left {
        let (mut time, mut money) = known.spent();
        time += Seconds(planned.iter().filter_map(|choice| choice.expected_seconds).sum());
        money += Money(planned.iter().filter_map(|choice| choice.expected_cost).sum());
        Left {
            time: settings.budget.map(|budget| budget - time),
            money: settings.budget_cost.map(|budget| budget - money),
        }
    }

    /// A part of it.
    fn part(&self, part: f64) -> Left {
        Left {
            time: self.time.map(|time| Seconds(part * time.0)),
            money: self.money.map(|money| Money(part * money.0)),
        }
    }

    /// Whether a run can be paid for; one of which nothing is known can, as long as anything is left.
    fn pays_for(&self, known: &Known, run: &PlannedRun, seconds: Option<f64>) -> bool {
        let seconds = seconds.unwrap_or(0.0);
        let in_time = self.time.is_none_or(|left| left.0 > 0.0 && seconds <= left.0);
        let in_money = self.money.is_none_or(|left| {
            let cost = known.knowledge.price(&run.configuration.allocation, Seconds(seconds));
            left.0 > 0.0 && cost.is_some_and(|cost| cost <= left)
        });
        in_time && in_money
    }

    fn in_words(&self, runs: usize) -> String {
        let left = self.time.map_or(String::new(), |left| format!(" ({} left)", Seconds(left.0.max(0.0))));
        format!("the budget{left} does not pay for any of the {runs} configurations that are left")
    }
}

/// Chooses, runs and explains until there is a reason to stop.
pub(super) fn adaptive(
    project: &Project,
    arguments: &Generate,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let settings = &arguments.adaptive;
    let mut session = match arguments.dry_run {
        true => None,
        false => {
            let on_slurm = OnSlurm::if_asked(&arguments.slurm, project, terminal)?;
            Some(Session::open(project, on_slurm, terminal)?)
        }
    };
    if let Some(session) = &mut session {
        session.collect()?;
    }
    // Files that parameters name may be made by the setup.
    if let Some(session) = session.as_mut().filter(|_| !project.experiment.program.setup.is_empty()) {
        session.set_up()?;
    }
    let mut known = Known::of(project)?;
    let cases = match settings.goal {
        Some(_) => wanted::allocations_of_one_case(project, &known.knowledge, &settings.case)?,
        None => wanted::cases(project, &known.knowledge, &settings.case)?,
    };
    if !settings.case.is_empty() {
        wanted::within_reach(project, &cases, settings.goal.is_some())?;
    }
    let mut chooser = Chooser::new(project, settings, &cases);
    let mut choices: Vec<Choice> = Vec::new();
    let mut tried = BTreeSet::new();
    let (ended, reason) = match &mut session {
        None => plan(&mut chooser, &known, arguments, &mut choices)?,
        Some(session) => loop {
            let round =
                match together::choose(&mut chooser, &known, arguments, &mut tried, choices.len() + 1)? {
                    Ok(round) => round,
                    Err(end) => break end,
                };
            for (_, choice) in &round.chosen {
                terminal.say(&choice.in_words());
            }
            if choices.is_empty() {
                session.agree_to_choices(settings, together::how_many(arguments))?;
            }
            let (runs, chosen): (Vec<PlannedRun>, Vec<Choice>) = round.chosen.into_iter().unzip();
            session.perform(runs, round.limit, &mut known.knowledge)?;
            known = Known::of(project)?;
            for mut choice in chosen {
                choice.seconds = known.tell(&choice, terminal);
                choices.push(choice);
            }
        },
    };
    let ended = if arguments.dry_run { Ended::Planned } else { ended };
    let failures = failures(project, &known, &tried);
    let answer = chooser.answer(&known, choices, ended, reason, failures)?;
    tell(&answer, &chooser, &known, terminal)?;
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    if settings.goal.is_some() && answer.best.is_none() {
        let (none, hint) = match settings.max_time.is_some() || settings.max_cost.is_some() {
            true => ("no allocation that was run meets the limits", "raise --max-time or --max-cost"),
            false => ("no allocation was run to the end", "raise --budget"),
        };
        let none = format!("{none}; {}", answer.reason);
        return Err(Failure::bad_input(none).exit(Exit::NoPlanFits).hint(hint));
    }
    let failed = answer.failures.iter().any(|run| !run.at_limit || arguments.strict);
    Ok(exit_code(failed && !arguments.allow_failed))
}

/// The choices that would be made, each as if those before it had been made as expected.
fn plan(
    chooser: &mut Chooser<'_>,
    known: &Known,
    arguments: &Generate,
    choices: &mut Vec<Choice>,
) -> Result<(Ended, String), Failure> {
    let mut tried = BTreeSet::new();
    while choices.len() < MOST_PLANNED {
        let left = Left::of(&arguments.adaptive, known, choices);
        let allowed = Allowed {
            scales: &arguments.scale,
            retry_failed: arguments.retry_failed,
            time: left.time,
            tried: &tried,
        };
        let (run, mut choice) = match chooser.next(known, choices, &allowed, left)? {
            Next::Run(run, choice) => (run, *choice),
            Next::End(ended, reason) => return Ok((ended, reason)),
        };
        choice.number = choices.len() + 1;
        tried.insert((run.configuration.key(), run.repetition));
        choices.push(choice);
    }
    Ok((Ended::Planned, format!("the first {MOST_PLANNED} choices are shown")))
}

/// The runs of this call that did not complete.
fn failures(project: &Project, known: &Known, tried: &BTreeSet<RunKey>) -> Vec<FailedRun> {
    let runs = known.recorded.iter().map(|recorded| &recorded.run);
    runs.filter(|run| {
        !run.outcome.is_completed() && tried.contains(&(run.configuration.key(), run.repetition))
    })
    .map(|run| FailedRun::ended(project, run, known.ending(run)))
    .collect()
}

/// The two ways to choose.
enum Chooser<'a> {
    Lowering { project: &'a Project, cases: &'a [Configuration], lowering: Lowering<'a> },
    Searching { cases: &'a [Configuration], searching: Searching<'a> },
}

impl<'a> Chooser<'a> {
    fn new(project: &'a Project, settings: &'a Adaptive, cases: &'a [Configuration]) -> Chooser<'a> {
        match settings.goal {
            None => Chooser::Lowering { project, cases, lowering: Lowering::new(project, settings, cases) },
            Some(goal) => Chooser::Searching { cases, searching: Searching::new(settings, goal, cases) },
        }
    }

    fn next(
        &mut self,
        known: &Known,
        planned: &[Choice],
        allowed: &Allowed<'_>,
        left: Left,
    ) -> Result<Next, Failure> {
        match self {
            Chooser::Lowering { project, cases, lowering } => {
                let candidates = known.candidates(project, cases, allowed)?;
                lowering.next(known, planned, &candidates, left)
            }
            Chooser::Searching { searching, .. } => Ok(searching.next(known, allowed, left)),
        }
    }

    fn answer(
        &mut self,
        known: &Known,
        choices: Vec<Choice>,
        ended: Ended,
        reason: String,
        failures: Vec<FailedRun>,
    ) -> Result<Answer, Failure> {
        let (cases, width, best) = match self {
            Chooser::Lowering { cases, lowering, .. } => (cases.len(), lowering.width()?, None),
            Chooser::Searching { cases, searching } => (cases.len(), None, searching.best(known)),
        };
        let (spent, money) = known.spent();
        let is_started = |choice: &&Choice| known.has_started(choice);
        Ok(Answer {
            runs: choices.iter().filter(is_started).count(),
            choices,
            ended,
            reason,
            spent_seconds: spent.0,
            spent_cost: money.0,
            money_unit: known.knowledge.site().unit.clone(),
            cases,
            width: width.map(|width| width.ratio()),
            best,
            failures,
        })
    }
}

fn tell(answer: &Answer, chooser: &Chooser<'_>, known: &Known, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.json {
        return terminal.print_json(answer);
    }
    let mut lines = Vec::new();
    if answer.ended == Ended::Planned {
        lines.extend(answer.choices.iter().map(Choice::in_words));
    }
    lines.push(format!("stopped: {}", answer.reason));
    match (chooser, &answer.best) {
        (Chooser::Searching { searching, .. }, Some(best)) => lines.push(searching.in_words(known, best)),
        (Chooser::Lowering { lowering, .. }, _) => {
            if let Some(width) = lowering.width()? {
                lines.push(format!(
                    "the widest interval of {} is {}",
                    harp_report::text::plural(answer.cases, "target case"),
                    lowering.range(width)
                ));
            }
        }
        _ => {}
    }
    let count = match answer.ended {
        Ended::Planned => format!("{} planned", harp_report::text::plural(answer.choices.len(), "run")),
        _ => format!("{} in this call", harp_report::text::plural(answer.runs, "run")),
    };
    lines.push(format!(
        "{count}; run time of all runs to learn from {}, {}",
        Seconds(answer.spent_seconds),
        price(&answer.money_unit, answer.spent_cost),
    ));
    if !answer.failures.is_empty() {
        terminal.say_even_if_quiet(&failures::in_words(&answer.failures));
    }
    terminal.print_text(&lines.join("\n"))
}
