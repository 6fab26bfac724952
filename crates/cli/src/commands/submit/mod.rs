//! `harp submit`: chooses an allocation for a case, shows its price, submits it, waits, and records what
//! happened; with `--retry`, again by what ended it.

mod attempts;
mod case;

use std::process::ExitCode;

use harp_advise::{Attempt, Caps, Ended, Next, TimeGrowth, next_attempt};
use harp_core::{Bytes, Money, Outcome, Reexecution};
use harp_measure::Stop;
use serde::Serialize;

use crate::arguments::{Growth, Submit};
use crate::cases;
use crate::commands::generate::exit_code;
use crate::commands::recommend;
use crate::failure::{Exit, Failure};
use crate::fingerprint;
use crate::freshness::warn_if_stale;
use crate::machines::Machine;
use crate::on_slurm::{Cluster, ask};
use crate::project::{self, Project};
use crate::terminal::Terminal;

use attempts::{Made, made_before};
use case::Case;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer {
    site: String,
    partition: Option<String>,
    script: Option<String>,
    expected_cost: Option<f64>,
    highest_cost: Option<f64>,
    money_unit: String,
    attempts: Vec<Made>,
    total_cost: Option<f64>,
    outcome: Option<Outcome>,
    why_no_more: Option<String>,
}

/// Submits a case and sees it through.
pub fn submit(arguments: &Submit, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let choosing = &arguments.choosing;
    let project = Project::load(&choosing.file, terminal)?;
    let model = project::read_model(&project.model_file())?;
    warn_if_stale(&project, &project.model_file(), &model.application, terminal);
    let cluster = Cluster::connect(&arguments.jobs, project.experiment.learn.site.as_deref())?;
    let values = cases::features(&choosing.case)?;
    let site = cluster.site_for_jobs();
    let machine = Machine::find(&project, &model, Some(&site), choosing.node_type.as_deref())?;
    let (limits, extrapolate) = (choosing.limits(), choosing.extrapolate);
    let advised = recommend::advise_on(&machine, &project, &model, &site, &values, limits, extrapolate)?;
    let plan = advised.plan().ok_or_else(|| Failure::bad_input("no plan was chosen"))?;
    let mut case = Case::of(&project, &cluster, &values, plan)?;

    let caps = Caps {
        retries: arguments.retry,
        time: smaller(arguments.cap_time, case.longest()),
        memory: smaller(arguments.cap_memory, case.most_memory()),
        cost: choosing.max_cost,
    };
    let planned = Attempt { time: plan.time.request, memory: case.planned_memory() };
    let first = caps.hold(planned);
    if first != planned {
        let planned = format!("{} for {}", case.asked_in_words(&planned), planned.time);
        terminal.say(&format!(
            "warning: the caps allow less than the plan, which is {planned}: it may be killed"
        ));
    }
    let highest = case.price(&first);
    let words = format!(
        "{} with {} for {}: expected {}, at most {}{}",
        project.experiment.name,
        case.asked_in_words(&first),
        first.time,
        site.format_price(plan.price.expected_use),
        highest.map_or("an unknown price".to_owned(), |price| site.format_price(price)),
        if arguments.retry > 0 {
            format!(" an attempt, {} at most", arguments.retry + 1)
        } else {
            String::new()
        },
    );
    let mut answer = Answer {
        site: site.name.clone(),
        partition: case.partition(),
        script: None,
        expected_cost: Some(plan.price.expected_use.0),
        highest_cost: highest.map(|price| price.0),
        money_unit: site.unit.clone(),
        attempts: Vec::new(),
        total_cost: None,
        outcome: None,
        why_no_more: None,
    };
    if arguments.dry_run {
        let script = case.script(&first);
        if terminal.json {
            answer.script = Some(script);
            return terminal.print_json(&answer).map(|()| ExitCode::SUCCESS);
        }
        terminal.say(&words);
        return terminal.print(&script).map(|()| ExitCode::SUCCESS);
    }
    let lock = project.lock()?;
    let mut store = project.open_history()?;
    store.set_program(Some(fingerprint::of(&project)));
    case.settle_repetition(&store)?;
    if !case.is_in_queue() {
        ask(&words, arguments.jobs.yes, terminal)?;
    }
    let prediction = recommend::walltime(&machine, &model, case.configuration())?;
    let growth = match arguments.grow {
        Growth::Model => TimeGrowth::Quantile(&prediction.distribution),
        Growth::Double => TimeGrowth::Times(Reexecution::default()),
    };
    let stop = Stop::on_signals();
    let mut attempt = first;
    loop {
        // one that was in the queue when harp was killed asks for what it asked for then
        attempt = case.in_queue_asks().unwrap_or(attempt);
        let outcome = case.run(&attempt, &mut store, &stop, terminal)?;
        answer.attempts = made_before(&store, &case, attempt.memory)?;
        let spent: Option<Money> = answer.attempts.iter().map(|made| made.cost.map(Money)).sum();
        answer.total_cost = spent.map(|spent| spent.0);
        let made = u32::try_from(answer.attempts.len()).unwrap_or(u32::MAX);
        let peak_memory = answer.attempts.last().and_then(|made| made.peak_memory).map(Bytes);
        let ended = Ended { asked: &attempt, outcome: &outcome, peak_memory };
        let next = next_attempt(&ended, made, spent, &caps, growth, &|next| case.price(next));
        answer.outcome = Some(outcome);
        match next {
            Next::Done => break,
            Next::Stop(why) => {
                answer.why_no_more = Some(why);
                break;
            }
            Next::Again(next, why) => {
                terminal.say(&format!(
                    "{why}: submitting again with {} for {}",
                    case.asked_in_words(&next),
                    next.time
                ));
                attempt = next;
            }
        }
    }
    drop(lock);
    tell(&answer, terminal)?;
    Ok(exit_code(!answer.outcome.as_ref().is_some_and(Outcome::is_completed)))
}

fn tell(answer: &Answer, terminal: &Terminal) -> Result<(), Failure> {
    if terminal.json {
        return terminal.print_json(answer);
    }
    let mut text = String::new();
    for (number, made) in answer.attempts.iter().enumerate() {
        text.push_str(&format!("attempt {}: {}\n", number + 1, made.in_words(&answer.money_unit)));
    }
    if let (Some(total), true) = (answer.total_cost, answer.attempts.len() > 1) {
        let total = harp_site::format_amount(&answer.money_unit, Money(total));
        text.push_str(&format!("all attempts together: {total}\n"));
    }
    if let Some(why) = &answer.why_no_more {
        text.push_str(&format!("not tried again: {why}\n"));
    }
    terminal.print_text(text.trim_end())
}

fn smaller<T: PartialOrd>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(if left < right { left } else { right }),
        (left, right) => left.or(right),
    }
}

/// Stopped while a job is in the queue.
fn interrupted() -> Failure {
    Failure::bad_input("stopped; the job goes on")
        .exit(Exit::Interrupted)
        .hint("the same command waits for it and records it")
}
