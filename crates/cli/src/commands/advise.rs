//! `harp advise`: what past jobs say about what they ask for.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use harp_advise::{Advice, Care, PastEnd, PastJob, advise_on_past};
use harp_core::{Allocation, Money, Outcome, Seconds};
use harp_history::import::read_beside;
use harp_measure::slurm::{self, AccountingQuery, BatchId};
use harp_report::text::{plural, printable, share};
use harp_report::{Cell, Column, Quantity, Table};
use harp_site::Site;
use harp_slurm::{AccountedJob, ClusterFacts, Ended, FIELDS, Reading, read_accounting};
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::arguments::Advise;
use crate::failure::Failure;
use crate::programs;
use crate::terminal::Terminal;

/// Recurring jobs shown on the terminal; all are in the JSON.
const MOST_SHOWN: usize = 10;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    since_seconds: f64,
    jobs: usize,
    own_jobs: usize,
    recurring: &'a [Advice],
    core_hours: f64,
    core_hours_saved: f64,
    core_hours_lost: f64,
    saved: Option<f64>,
    money_unit: Option<&'a str>,
    notes: &'a [String],
}

/// Asks accounting once and says what to change.
pub fn advise(arguments: &Advise, terminal: &Terminal) -> Result<(), Failure> {
    let (mut jobs, mut own_jobs) = (Vec::new(), 0);
    // What harp submits it asks for itself, and no such name comes again.
    let mut visit = |job: AccountedJob| match is_own(&job) {
        true => own_jobs += 1,
        false => jobs.extend(past(job)),
    };
    let reading = match &arguments.file {
        Some(file) => from_file(file, &mut visit)?,
        None => from_slurm(arguments, &mut visit)?,
    };
    let site = site(arguments)?;
    let care = Care { risk: arguments.risk, least_jobs: arguments.least, ..Care::default() };
    let recurring = advise_on_past(&jobs, site.as_ref(), &care);
    let sum = |of: fn(&Advice) -> f64| recurring.iter().map(of).fold(0.0, |sum, one| sum + one);
    let answer = Answer {
        since_seconds: arguments.since.0,
        jobs: jobs.len(),
        own_jobs,
        recurring: &recurring,
        core_hours: sum(|advice| advice.core_hours),
        core_hours_saved: sum(|advice| advice.core_hours_saved),
        core_hours_lost: sum(|advice| advice.core_hours_lost),
        saved: recurring.iter().try_fold(0.0, |sum, advice| Some(sum + advice.saved?.0)),
        money_unit: site.as_ref().map(|site| site.unit.as_str()),
        notes: &reading.notes,
    };
    if terminal.json {
        return terminal.print_json(&answer);
    }
    tell(&answer, arguments, terminal)
}

fn from_file(file: &Path, visit: &mut dyn FnMut(AccountedJob)) -> Result<Reading, Failure> {
    let source: Box<dyn Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).map_err(|error| Failure::file("read", file, &error))?)
    };
    Ok(read_beside(&file.display().to_string(), source, &TimeZone::system(), visit)?)
}

fn from_slurm(arguments: &Advise, visit: &mut dyn FnMut(AccountedJob)) -> Result<Reading, Failure> {
    let since = Duration::try_from_secs_f64(arguments.since.0)
        .map_err(|_| Failure::bad_input("--since is too long ago"))?;
    let query = AccountingQuery { since, user: arguments.user.clone() };
    let read = |source: &mut dyn Read| read_accounting("sacct", source, &TimeZone::UTC, visit);
    let reading = slurm::accounting(&query, &FIELDS, read)??;
    if reading.jobs == 0 {
        slurm::check_shown(&query)?;
    }
    Ok(reading)
}

/// The site prices are from; where Slurm does not describe itself there are none.
fn site(arguments: &Advise) -> Result<Option<Site>, Failure> {
    if let Some(name) = &arguments.site {
        return super::find_site(name).map(Some);
    }
    if arguments.file.is_some() {
        return Ok(None);
    }
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let described = slurm::describe_cluster().ok();
    Ok(described.and_then(|text| Site::discover(&ClusterFacts::parse(&text), &today).ok()))
}

/// Whether harp submitted a job.
fn is_own(job: &AccountedJob) -> bool {
    job.name.as_deref().and_then(BatchId::of_job_name).is_some()
}

/// A job that ran and is over, as advice takes it.
fn past(job: AccountedJob) -> Option<PastJob> {
    let Ended::Run(outcome) = job.ended() else { return None };
    let Allocation { nodes, cores, gpus, .. } = job.allocation();
    Some(PastJob {
        name: job.name.clone().unwrap_or_else(|| "unnamed".to_owned()),
        partition: job.partition.clone(),
        end: match outcome {
            Outcome::Completed => PastEnd::Completed,
            Outcome::TimedOut { .. } => PastEnd::TimedOut,
            Outcome::OutOfMemory { .. } => PastEnd::OutOfMemory,
            _ => PastEnd::Other,
        },
        requested_time: job.limit.seconds(),
        elapsed: job.elapsed,
        allocation: Allocation { nodes, cores, gpus, ..Allocation::default() },
        memory_limit: job.memory_limit(),
        peak_memory: job.usage().peak_memory,
        cpu_time: job.usage().cpu_time(),
        gpu_utilisation: job.gpu_utilisation,
    })
}

fn tell(answer: &Answer<'_>, arguments: &Advise, terminal: &Terminal) -> Result<(), Failure> {
    if answer.recurring.is_empty() {
        let text = format!(
            "{}, and no kind of job {} times or more: too few to advise on",
            looked_at(answer, arguments.since),
            arguments.least
        );
        return terminal.print_text(&text);
    }
    terminal.print_table(&table(answer))?;
    let mut text = String::new();
    for advice in answer.recurring.iter().take(MOST_SHOWN).filter(|advice| !advice.changes.is_empty()) {
        text.push_str(&format!("\n{}", printable(&advice.name)));
        text.push_str(
            &advice.partition.as_ref().map_or(String::new(), |name| format!(" in {}", printable(name))),
        );
        text.push('\n');
        for change in &advice.changes {
            let before = change.before.as_ref().map_or(String::new(), |line| format!("   (was {line})"));
            text.push_str(&format!("  {}{before}: {}\n", change.after, change.why));
        }
        text.push_str(&format!("  {}\n", worth(advice, answer.money_unit, arguments.risk)));
    }
    if answer.recurring.len() > MOST_SHOWN {
        text.push_str(&format!("\n{} more are in --json\n", answer.recurring.len() - MOST_SHOWN));
    }
    let total = format!(
        "\n{}; those that recur used {}, {} of them lost in killed jobs; {} can be saved",
        looked_at(answer, arguments.since),
        core_hours(answer.core_hours),
        Money(answer.core_hours_lost),
        Money(answer.core_hours_saved)
    );
    text.push_str(&total);
    if let (Some(saved), Some(unit)) = (answer.saved, answer.money_unit) {
        text.push_str(&format!(" ({})", harp_site::format_amount(unit, Money(saved))));
    }
    for note in answer.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    terminal.print_text(&text)
}

/// The jobs that were looked at.
fn looked_at(answer: &Answer<'_>, since: Seconds) -> String {
    let days = since.0 / 86_400.0;
    let time =
        if days >= 1.0 && days.fract() == 0.0 { plural(days as usize, "day") } else { since.to_string() };
    let own = match answer.own_jobs {
        0 => String::new(),
        own => format!(" ({} of harp's own left out)", plural(own, "job")),
    };
    format!("{} in the last {time}{own}", plural(answer.jobs, "finished job"))
}

/// Core-hours with as many digits as say something.
fn core_hours(hours: f64) -> String {
    harp_site::format_amount("core-hours", Money(hours))
}

/// What a change is worth and what it risks.
fn worth(advice: &Advice, unit: Option<&str>, accepted: f64) -> String {
    let mut parts = vec![format!("saves {}", core_hours(advice.core_hours_saved))];
    if let (Some(saved), Some(unit)) = (advice.saved, unit) {
        parts.push(harp_site::format_amount(unit, saved));
    }
    parts.push(format!("{} were asked for and not used", core_hours(advice.core_hours_reserved)));
    if let Some(risk) = advice.risk {
        parts.push(format!("risk of being killed at most {}, now {}", share(risk), share(advice.risk_now)));
        let needs = [&advice.time, &advice.memory];
        if needs.into_iter().flatten().any(|need| need.risk > accepted + 1e-9) {
            // With as many jobs as this the largest of them alone promises it.
            let enough = (1.0 / accepted).ceil() - 1.0;
            parts.push(format!(
                "so few jobs cannot promise {}: that takes {enough} that were not killed",
                share(accepted)
            ));
        }
    }
    parts.join("; ")
}

fn table(answer: &Answer<'_>) -> Table {
    let mut table = Table::new([
        Column::left("job"),
        Column::right("jobs"),
        Column::right("killed"),
        Column::right("time asked").key("time_asked_s"),
        Column::right("median").key("time_median_s"),
        Column::right("90 %").key("time_90_s"),
        Column::right("memory asked").key("memory_asked_bytes"),
        Column::right("90 %").key("memory_90_bytes"),
        Column::right("cores").key("cores"),
        Column::right("busy").key("cores_busy"),
        Column::right("GPU busy").key("gpu_busy"),
    ]);
    let cell = |quantity: Quantity, value: Option<f64>| {
        value.map_or_else(Cell::missing, |value| Cell::number(quantity.format(value), value))
    };
    let plain = |value: Option<f64>| {
        value.map_or_else(Cell::missing, |value| Cell::number(format!("{value:.1}"), value))
    };
    for advice in answer.recurring.iter().take(MOST_SHOWN) {
        let time = advice.time.as_ref();
        let memory = advice.memory.as_ref();
        table.push([
            Cell::text(printable(&advice.name)),
            Cell::from(advice.jobs),
            Cell::from(advice.timed_out + advice.out_of_memory),
            cell(Quantity::Seconds, time.and_then(|need| need.asked)),
            cell(Quantity::Seconds, time.map(|need| need.used.median)),
            cell(Quantity::Seconds, time.map(|need| need.used.most)),
            cell(Quantity::Bytes, memory.and_then(|need| need.asked)),
            cell(Quantity::Bytes, memory.map(|need| need.used.most)),
            advice.allocation.cores.map_or_else(Cell::missing, |cores| Cell::from(cores as usize)),
            plain(advice.cores.as_ref().map(|need| need.used.most)),
            advice
                .gpu_utilisation
                .map_or_else(Cell::missing, |spread| Cell::number(share(spread.most), spread.most)),
        ]);
    }
    table.without_empty_columns()
}

/// Whether this machine has Slurm's accounting client: then `harp` alone means `harp advise`.
pub fn is_possible() -> bool {
    programs::is_on_path("sacct")
}

/// What `harp` alone asks.
pub fn usual() -> Advise {
    Advise {
        since: Seconds(30.0 * 86_400.0),
        user: None,
        file: None,
        site: None,
        risk: 0.05,
        least: Care::default().least_jobs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many jobs of a name, each of a minute.
    fn jobs(name: &str, count: usize) -> Vec<PastJob> {
        let mut text =
            "JobID|State|ExitCode|ElapsedRaw|Timelimit|NNodes|AllocCPUS|ReqMem|MaxRSS|JobName\n".to_owned();
        for number in 1..=count {
            text.push_str(&format!("{number}|COMPLETED|0:0|60|01:00:00|1|2|1G||{name}\n"));
            text.push_str(&format!("{number}.batch|COMPLETED|0:0|60||1|2||100M|batch\n"));
        }
        let mut found = Vec::new();
        let mut visit = |job: AccountedJob| {
            if !is_own(&job) {
                found.extend(past(job));
            }
        };
        read_accounting("t", text.as_bytes(), &TimeZone::UTC, &mut visit).unwrap();
        found
    }

    #[test]
    fn what_harp_submitted_itself_is_not_advised_on() {
        assert_eq!(jobs("harp-0123456789abcdef", 6).len(), 0);
        assert_eq!(jobs("harp-heat-0123456789abcdef", 6).len(), 0);
        // a person's own job may be named after harp
        assert_eq!(jobs("harp-study", 6).len(), 6);
    }

    #[test]
    fn jobs_too_few_for_the_risk_are_said_to_be() {
        let told = |count: usize, risk: f64| {
            let care = Care { risk, ..Care::default() };
            let advice = advise_on_past(&jobs("heat", count), None, &care);
            worth(&advice[0], None, risk)
        };
        let few = told(6, 0.05);
        assert!(
            few.ends_with("so few jobs cannot promise 5.0 %: that takes 19 that were not killed"),
            "{few}"
        );
        for enough in [told(6, 0.2), told(19, 0.05)] {
            assert!(!enough.contains("so few"), "{enough}");
        }
    }
}
