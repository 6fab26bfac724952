//! `harp import`: jobs of a cluster's accounting become runs of a history.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use harp_core::Run;
use harp_history::import::{Guess, Guesser, Imported, Importer, Rules, read_beside};
use harp_history::{HistoryError, Store};
use harp_measure::slurm::{self, AccountingQuery};
use harp_report::text::{plural, printable};
use harp_report::{Cell, Column, Quantity, Table};
use harp_slurm::{AccountedJob, AccountingError, FIELDS, Reading, read_accounting};
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::arguments::{Import, ImportSlurm};
use crate::failure::{Exit, Failure};
use crate::terminal::Terminal;

/// Guesses and applications shown on the terminal; all are in the JSON.
const MOST_SHOWN: usize = 5;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    history: Option<String>,
    read: &'a Reading,
    imported: &'a Imported,
    guesses: &'a [Guess],
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<&'a [Listed]>,
}

/// A run with the job it was.
#[derive(Serialize)]
struct Listed {
    job: String,
    #[serde(flatten)]
    run: Run,
}

/// Carries out an import.
pub fn import(command: &Import, terminal: &Terminal) -> Result<(), Failure> {
    let Import::Slurm(arguments) = command;
    let rules = match &arguments.rules {
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
            Rules::parse(&file.display().to_string(), &text)
                .map_err(|error| Failure::bad_input(error.to_string()))?
        }
        None => Rules::default(),
    };
    let mut store = match arguments.dry_run {
        true if arguments.history.exists() => Some(Store::open_for_reading(&arguments.history)?),
        true => None,
        false => {
            make_folder(&arguments.history)?;
            Some(Store::open(&arguments.history)?)
        }
    };
    let importer = match &mut store {
        Some(store) if arguments.dry_run => Importer::looking(store, &rules),
        Some(store) => Importer::new(store, &rules)?,
        None => Importer::without_store(&rules),
    };
    let mut taker =
        Taker { importer, guesser: Guesser::default(), runs: arguments.runs.then(Vec::new), failed: None };
    let reading = match &arguments.file {
        Some(file) => {
            if rules.need_scripts() {
                terminal.say(
                    "note: a saved file holds no job scripts, so rules with from = \"script\" fit nothing",
                );
            }
            from_file(file, arguments, &mut |job| taker.take(&job, None))?
        }
        None => from_slurm(arguments, rules.need_scripts(), &mut taker)?,
    };
    let Taker { importer, guesser, runs, failed } = taker;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let imported = importer.finish()?;
    let guesses = guesser.guesses();
    let history = (!arguments.dry_run).then(|| arguments.history.display().to_string());
    if terminal.json {
        let runs = runs.as_deref();
        terminal.print_json(&Answer {
            history,
            read: &reading,
            imported: &imported,
            guesses: &guesses,
            runs,
        })?;
    } else {
        tell(&imported, history.as_deref(), runs.as_deref(), terminal)?;
        tell_guesses(&guesses, &imported, arguments.rules.is_some(), terminal);
    }
    tell_skipped(&reading, arguments, terminal)
}

/// Takes jobs one by one; the first refusal of the store is kept until the reading ends.
struct Taker<'a> {
    importer: Importer<'a>,
    guesser: Guesser,
    runs: Option<Vec<Listed>>,
    failed: Option<HistoryError>,
}

impl Taker<'_> {
    fn take(&mut self, job: &AccountedJob, script: Option<&str>) {
        if self.failed.is_some() {
            return;
        }
        self.guesser.look(job);
        match (self.importer.add(job, script), &mut self.runs) {
            (Ok(Some(run)), Some(runs)) => runs.push(Listed { job: job.id.to_string(), run }),
            (Ok(_), _) => {}
            (Err(error), _) => self.failed = Some(error),
        }
    }
}

fn make_folder(history: &Path) -> Result<(), Failure> {
    let Some(folder) = history.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))
}

fn from_file(
    file: &Path,
    arguments: &ImportSlurm,
    visit: &mut dyn FnMut(AccountedJob),
) -> Result<Reading, Failure> {
    let zone = match &arguments.time_zone {
        Some(name) => TimeZone::get(name).map_err(|error| {
            Failure::bad_input(format!("there is no time zone `{name}`: {error}"))
                .hint("use one such as Europe/Berlin or UTC")
        })?,
        None => TimeZone::system(),
    };
    let name = file.display().to_string();
    let source: Box<dyn Read + Send> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(file).map_err(|error| Failure::file("read", file, &error))?)
    };
    Ok(read_beside(&name, source, &zone, visit)?)
}

fn from_slurm(
    arguments: &ImportSlurm,
    need_scripts: bool,
    taker: &mut Taker<'_>,
) -> Result<Reading, Failure> {
    let query =
        AccountingQuery { since: Duration::from_secs_f64(arguments.since.0), user: arguments.user.clone() };
    let mut kept = Vec::new();
    let read = |source: &mut dyn Read| -> Result<Reading, AccountingError> {
        let mut visit =
            |job: AccountedJob| if need_scripts { kept.push(job) } else { taker.take(&job, None) };
        read_accounting("sacct", source, &TimeZone::UTC, &mut visit)
    };
    let reading = slurm::accounting(&query, &FIELDS, read)??;
    if reading.jobs == 0 {
        slurm::check_shown(&query)?;
    }
    let ids: Vec<String> = kept.iter().map(|job| job.id.to_string()).collect();
    let scripts = if ids.is_empty() { BTreeMap::new() } else { slurm::scripts(&ids)? };
    for (job, id) in kept.iter().zip(&ids) {
        taker.take(job, scripts.get(id).map(String::as_str));
    }
    Ok(reading)
}

fn tell(
    imported: &Imported,
    history: Option<&str>,
    runs: Option<&[Listed]>,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if let Some(runs) = runs {
        terminal.print_table(&table(runs))?;
    }
    let count = |count: u64, noun: &str| plural(count as usize, noun);
    let mut text = match history {
        Some(history) => {
            format!("{} of {} into {history}", count(imported.new, "new run"), count(imported.jobs, "job"))
        }
        None => {
            format!("{} would be imported of {}", count(imported.new, "run"), count(imported.jobs, "job"))
        }
    };
    let others = [
        (imported.changed, "changed"),
        (imported.unchanged, "known already"),
        (imported.kept, "kept as the rules of an earlier import had them"),
        (imported.unfinished, "not finished"),
        (imported.never_started, "never started"),
        (imported.own, "submitted by harp, whose runs are in the history they were submitted from"),
        (imported.left_out, "left out, because no rule fits them and their name is an application of a rule"),
        (imported.without_memory, "without a figure for memory"),
    ];
    for (number, what) in others.iter().filter(|(number, _)| *number > 0) {
        text.push_str(&format!("; {number} {what}"));
    }
    text.push('\n');
    let outcomes: Vec<String> = imported
        .outcomes
        .iter()
        .map(|(name, number)| format!("{} {}", number, name.replace('_', " ")))
        .collect();
    if !outcomes.is_empty() {
        text.push_str(&format!("how they ended: {}\n", outcomes.join(", ")));
    }
    for (name, number) in imported.applications.iter().take(MOST_SHOWN) {
        text.push_str(&format!("  {}: {}\n", printable(name), count(*number, "run")));
    }
    if imported.applications.len() > MOST_SHOWN {
        let more = imported.applications.len() - MOST_SHOWN;
        text.push_str(&format!("  and {}\n", plural(more, "other name")));
    }
    terminal.print_text(&text)
}

fn table(runs: &[Listed]) -> Table {
    let mut table = Table::new([
        Column::left("job"),
        Column::left("application"),
        Column::left("configuration"),
        Column::left("outcome"),
        Column::right("walltime"),
        Column::right("peak memory"),
    ]);
    let cell = |quantity: Quantity, value: Option<f64>| {
        value.map_or_else(Cell::missing, |value| Cell::number(quantity.format(value), value))
    };
    for Listed { job, run } in runs {
        table.push([
            Cell::text(job.clone()),
            Cell::text(printable(&run.application)),
            Cell::text(run.configuration.to_string().trim().to_owned()),
            Cell::text(run.outcome.to_string()),
            cell(Quantity::Seconds, run.usage.walltime.map(|time| time.0)),
            cell(Quantity::Bytes, run.usage.peak_memory.map(|memory| memory.as_f64())),
        ]);
    }
    table
}

/// What rules might be meant; they are never applied by themselves.
fn tell_guesses(guesses: &[Guess], imported: &Imported, has_rules: bool, terminal: &Terminal) {
    if guesses.is_empty() || (has_rules && imported.recognised > 0) {
        return;
    }
    let rules: Vec<String> = guesses.iter().take(MOST_SHOWN).map(Guess::to_toml).collect();
    terminal.say(&format!(
        "hint: these rules might be meant; nothing was done with them. Put what is right into a file and give it with --rules FILE:\n\n{}",
        rules.join("\n")
    ));
}

fn tell_skipped(reading: &Reading, arguments: &ImportSlurm, terminal: &Terminal) -> Result<(), Failure> {
    for note in &reading.notes {
        terminal.say(&format!("note: {note}"));
    }
    let name = arguments.file.as_ref().map_or("sacct".to_owned(), |file| file.display().to_string());
    for bad in &reading.bad {
        terminal.say(&format!("{name}:{}: {}", bad.line, printable(&bad.reason)));
    }
    if reading.skipped == 0 {
        return Ok(());
    }
    let rows = plural(reading.skipped as usize, "row");
    terminal.say(&format!("warning: skipped {rows} of {} lines in {name}", reading.lines));
    if arguments.strict {
        return Err(Failure::bad_input(format!("{name}: {rows} could not be used")).exit(Exit::SomeSkipped));
    }
    Ok(())
}
