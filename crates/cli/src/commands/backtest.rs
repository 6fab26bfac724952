//! `harp backtest`: would predictions have been right?

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use harp_core::{Dataset, Scale, Target, Value};
use harp_history::{Recorded, SweepColumns};
use harp_learn::{Backtest, BothWays, BuildOptions, JudgedCase, Kept, LearnError};
use harp_report::text::{number, plural};
use harp_report::{Cell, Column, Quantity, Table};
use serde::Serialize;

use super::build::{build_options, recorded_runs, without_test_cases};
use crate::arguments::{self, Judged};
use crate::components;
use crate::drift;
use crate::failure::{Exit, Failure};
use crate::machines::Machines;
use crate::project::Project;
use crate::terminal::Terminal;

/// The answer; documented in docs/json.md.
#[derive(Serialize)]
struct Answer<'a> {
    target: String,
    #[serde(flatten)]
    backtest: &'a Backtest,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a [JudgedCase]>,
    compared: Option<Compared>,
}

/// One model of the whole beside the formula of components, on the same runs.
#[derive(Serialize)]
struct Compared {
    formula: String,
    kept: Kept,
    basic: Short,
    custom: Short,
}

/// The scores that decide.
#[derive(Serialize)]
struct Short {
    mape: f64,
    upp: f64,
    up_mape: Option<f64>,
    request_upp: f64,
    reserved_ratio: f64,
}

impl Short {
    fn of(backtest: &Backtest) -> Short {
        Short {
            mape: backtest.scores.mape,
            upp: backtest.scores.upp,
            up_mape: backtest.scores.up_mape,
            request_upp: backtest.request.upp,
            reserved_ratio: backtest.request.reserved_ratio,
        }
    }
}

/// Learns from some runs and judges on the others.
pub fn backtest(arguments: &arguments::Backtest, terminal: &Terminal) -> Result<(), Failure> {
    let (mut both, mut said) = (None, Vec::new());
    let started = Instant::now();
    let (dataset, name, options) = match &arguments.csv {
        Some(file) => {
            let (dataset, skipped) = sweep(file, arguments)?;
            said = skipped;
            let name = arguments.target.clone().unwrap_or_default();
            (dataset, name, arguments.settings.over(BuildOptions::default()))
        }
        None => {
            let project = Project::load(&arguments.file, terminal)?;
            let mut recorded = recorded_runs(&project)?;
            if let Some(since) = arguments.since {
                since.keep(&mut recorded, |recorded| recorded.run.started)?;
            }
            recorded.sort_by_key(|recorded| recorded.run.started);
            said.extend(drift::of_two_programs(&recorded));
            let dataset = history(&project, &recorded, arguments)?;
            let name = dataset.target.to_string();
            let options = build_options(&project, &arguments.settings);
            if arguments.by == Judged::Scale {
                let (runs, _) = without_test_cases(&project, &recorded);
                both = components::both_ways(&project, &runs, &dataset, &Machines::default(), &options)?;
            }
            (dataset, name, options)
        }
    };
    let (mut backtest, compared) = match both {
        Some(both) => compare(both, &dataset, &options, started.elapsed().as_secs_f64()),
        None => harp_learn::backtest(&dataset, &options, || started.elapsed().as_secs_f64())
            .map(|backtest| (backtest, None)),
    }
    .map_err(|error| with_way_out(error, arguments, &dataset))?;
    backtest.warnings.splice(0..0, said);
    if terminal.json {
        let judged = arguments.cases.then_some(backtest.judged.as_slice());
        return terminal.print_json(&Answer { target: name, backtest: &backtest, judged, compared });
    }
    for warning in &backtest.warnings {
        terminal.say(&format!("warning: {warning}"));
    }
    terminal.print(&format!("{name}: {}\n", what_was_done(&backtest)))?;
    terminal.print_table(&scores(&backtest, Quantity::of(&dataset.target)))?;
    if arguments.cases {
        terminal.print("")?;
        terminal.print_table(&judged(&backtest, Quantity::of(&dataset.target)))?;
    }
    if let Some(compared) = &compared {
        terminal.print("")?;
        terminal.print_table(&compared_table(compared))?;
    }
    if !backtest.not_used.is_empty() {
        let each = backtest.not_used.iter().map(|not| format!("{} ({})", not.feature, not.reason));
        terminal.print_text(&format!("Not used: {}.", each.collect::<Vec<_>>().join(", ")))?;
    }
    terminal.print_text(&backtest.model.explanation)?;
    if let Some(growth) = crate::views::growth(&backtest.model.growth) {
        terminal.print_text(&growth)?;
    }
    match &backtest.model.formula {
        Some(formula) => terminal.print_text(&crate::views::in_short(formula)),
        None => Ok(()),
    }
}

/// Where runs to judge on come from depends on what was asked.
fn with_way_out(error: LearnError, arguments: &arguments::Backtest, dataset: &Dataset) -> Failure {
    let is_nothing = matches!(error, LearnError::NothingToJudge { .. });
    let mut failure = Failure::from(error);
    if let (Some(_), Some(column)) = (&arguments.csv, &arguments.target) {
        let reason = failure.message.trim_start_matches(&format!("{}: ", dataset.target)).to_owned();
        failure.message = format!("{column}: {reason}");
    }
    if !is_nothing {
        return failure;
    }
    let to_judge = dataset.of_scale(Scale::Test).count();
    if to_judge > 0 && arguments.csv.is_some() {
        return failure.hint(format!(
            "none of the {to_judge} rows to be judged has a positive target of a run that finished"
        ));
    }
    match (&arguments.split, arguments.csv.is_none() && arguments.by == Judged::Scale) {
        (Some(column), _) => failure.hint(format!("mark some rows that finished as test in `{column}`")),
        (None, true) => failure.hint(
            "no test run has completed: allow them more (`harp history` says how they ended), or judge \
                          the latest runs with `--by time`",
        ),
        (None, false) => failure.hint("judge a larger share of the runs with --latest"),
    }
}

/// How many runs taught and judged.
fn what_was_done(backtest: &Backtest) -> String {
    let rows = &backtest.rows;
    let some = |count: usize, words: String| if count > 0 { words } else { String::new() };
    format!(
        "learned from {} and {}{}, judged on {} not seen{}, built in {}",
        plural(rows.sd, "scaled-down run"),
        plural(rows.fs, "full-scale run"),
        some(rows.killed, format!(" and, as lower bounds, {} killed at a limit", rows.killed)),
        plural(rows.test, "run"),
        some(rows.test_killed, format!(" ({} killed at a limit left out)", rows.test_killed)),
        harp_core::Seconds(backtest.seconds_to_build),
    )
}

/// Judges both ways on the same runs; the one that was kept answers.
fn compare(
    mut both: BothWays,
    dataset: &Dataset,
    options: &BuildOptions,
    seconds: f64,
) -> Result<(Backtest, Option<Compared>), LearnError> {
    harp_learn::explain_candidates(&mut both.basic, dataset, options)?;
    let basic = Backtest::of(&both.basic, dataset, seconds)?;
    let custom = both.custom.as_ref().map(|model| Backtest::of(model, dataset, seconds)).transpose()?;
    let (Some(found), Some(mut custom)) = (both.basic.comparison.as_deref(), custom) else {
        return Ok((basic, None));
    };
    let compared = Compared {
        formula: found.formula.clone(),
        kept: found.kept,
        basic: Short::of(&basic),
        custom: Short::of(&custom),
    };
    // Found out on runs that were learned from, without a look at those that are judged here.
    custom.model.explanation = format!("On runs held back in turn {}.", found.reason);
    Ok((if found.kept == Kept::Custom { custom } else { basic }, Some(compared)))
}

fn compared_table(compared: &Compared) -> Table {
    let mut table = Table::new([
        Column::left("on the same runs"),
        Column::right("MAPE"),
        Column::right("below the truth"),
        Column::right("by"),
        Column::right("killed at the request"),
        Column::right("reserved"),
    ]);
    let ways = [("one model of the whole", &compared.basic), (compared.formula.as_str(), &compared.custom)];
    for (name, short) in ways {
        let percent = |value: f64| Cell::number(format!("{} %", number(value)), value);
        table.push([
            Cell::text(name),
            percent(short.mape),
            percent(short.upp),
            short.up_mape.map_or_else(Cell::missing, percent),
            percent(short.request_upp),
            Cell::number(format!("{} ×", number(short.reserved_ratio)), short.reserved_ratio),
        ]);
    }
    table
}

/// The rows of a CSV file; without a column that splits them, the latest are judged.
/// Beside them, what is to be said of rows that could not be used.
fn sweep(file: &Path, arguments: &arguments::Backtest) -> Result<(Dataset, Vec<String>), Failure> {
    let source: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).map_err(|error| Failure::file("read", file, &error))?)
    };
    let columns = SweepColumns {
        target: arguments.target.clone().unwrap_or_default(),
        split: arguments.split.clone(),
        killed: arguments.killed.clone(),
        ignored: arguments.ignore.clone(),
    };
    let sweep = harp_history::read_sweep(&file.display().to_string(), source, &columns)?;
    let left_out = [(&sweep.without_target, "without a target"), (&sweep.failed, "of failed runs")];
    let left_out = left_out.into_iter().filter_map(|(lines, which)| {
        let first = lines.first()?;
        Some(format!("{} {which} left out, the first in line {first}", plural(lines.len(), "row")))
    });
    let mut left_out: Vec<String> = left_out.collect();
    left_out.extend(sweep.names_of_rows.iter().map(|column| {
        format!(
            "`{column}` is different in nearly every row, as time stamps and numbers of jobs are: not used, as with \
             `--ignore {column}`"
        )
    }));
    let dataset = sweep.dataset;
    if let Some(column) = split_not_named(&dataset).filter(|_| arguments.split.is_none()) {
        left_out.push(format!(
            "`{column}` holds sd, fs and test: `--split {column}` judges on those marked test"
        ));
    }
    let dataset = if arguments.split.is_some() { dataset } else { dataset.judging_latest(arguments.latest) };
    Ok((dataset, left_out))
}

/// A column that holds nothing but names of scales.
fn split_not_named(dataset: &Dataset) -> Option<&str> {
    let is_scale = |cell: &Option<Value>| {
        cell.as_ref().is_some_and(|cell| cell.to_string().to_ascii_lowercase().parse::<Scale>().is_ok())
    };
    let holds_scales = |column: usize| {
        !dataset.rows.is_empty() && dataset.rows.iter().all(|row| row.cells.get(column).is_some_and(is_scale))
    };
    let column = (0..dataset.columns.len()).find(|&column| holds_scales(column))?;
    Some(&dataset.columns[column].name)
}

/// The runs of an experiment, split by scale or by time.
fn history(
    project: &Project,
    recorded: &[Recorded],
    arguments: &arguments::Backtest,
) -> Result<Dataset, Failure> {
    let target = match &arguments.target {
        Some(name) => {
            let Ok(target) = name.parse::<Target>();
            target
        }
        None => project.experiment.learn.targets.first().cloned().unwrap_or(Target::Walltime),
    };
    // By time a case may come again, as in life; by scale what is judged must not have been learned from.
    let runs = match arguments.by {
        Judged::Time => recorded.iter().map(|recorded| &recorded.run).collect(),
        Judged::Scale => without_test_cases(project, recorded).0,
    };
    let (dataset, _) = harp_history::dataset(runs, &target);
    if dataset.rows.is_empty() {
        return Err(no_run_has(&target));
    }
    if arguments.by == Judged::Time {
        return Ok(dataset.judging_latest(arguments.latest));
    }
    if dataset.of_scale(Scale::Test).next().is_none() {
        return Err(Failure::bad_input("there are no runs of scale test to judge on")
            .exit(Exit::NotEnoughEvidence)
            .hint(
                "`harp generate --scale test` makes them; `harp backtest --by time` judges the latest runs",
            ));
    }
    Ok(dataset)
}

/// The failure where a target was never measured.
pub fn no_run_has(target: &Target) -> Failure {
    Failure::bad_input(format!("no run has a `{target}`"))
        .hint("use walltime, peak_memory, cpu_time, or a metric of the experiment")
}

/// Every run judged on, features first.
fn judged(backtest: &Backtest, quantity: Quantity) -> Table {
    let names: BTreeSet<&String> = backtest.judged.iter().flat_map(|case| case.features.keys()).collect();
    let figures = ["predicted", "90 % interval", "request", "actual", "error"];
    let columns = names.iter().map(|name| Column::right(name.as_str()));
    let mut table = Table::new(columns.chain(figures.map(Column::right)));
    for case in &backtest.judged {
        let error = 100.0 * (case.estimate / case.actual - 1.0);
        let features = names.iter().map(|name| {
            case.features.get(*name).map_or_else(Cell::missing, |value| Cell::text(value.to_string()))
        });
        let amount = |value: f64| Cell::number(quantity.format(value), value);
        table.push(features.chain([
            amount(case.estimate),
            Cell::text(quantity.range(case.low, case.high)),
            amount(case.request),
            amount(case.actual),
            Cell::number(format!("{error:+.1} %"), error),
        ]));
    }
    table
}

/// Scores beside how sure they are.
fn scores(backtest: &Backtest, quantity: Quantity) -> Table {
    let mut table =
        Table::new([Column::left("score"), Column::right("value"), Column::right("90 % of resamples")]);
    let percent = |value: f64| format!("{} %", number(value));
    let times = |value: f64| format!("{} ×", number(value));
    let amount = |value: f64| quantity.format(value);
    let range = |(low, high): (f64, f64), show: &dyn Fn(f64) -> String| {
        Cell::text(format!("{} to {}", show(low), show(high)))
    };
    let intervals = &backtest.intervals;
    let mut row = |name: &str, value: String, range: Cell| {
        table.push([Cell::text(name), Cell::text(value), range]);
    };
    row("MAE", amount(backtest.scores.mae), range(intervals.mae, &amount));
    row("MAPE", percent(backtest.scores.mape), range(intervals.mape, &percent));
    row("median error", percent(backtest.scores.median_ape), range(intervals.median_ape, &percent));
    row("estimates below the truth", percent(backtest.scores.upp), range(intervals.upp, &percent));
    row("90 % intervals that hold", percent(backtest.coverage_90), range(intervals.coverage_90, &percent));
    row("80 % intervals that hold", percent(backtest.coverage_80), Cell::missing());
    row(
        &format!("killed at the request ({})", backtest.policy),
        percent(backtest.request.upp),
        range(intervals.request_upp, &percent),
    );
    row(
        "reserved until done, of the truth",
        times(backtest.request.reserved_ratio),
        range(intervals.request_reserved_ratio, &times),
    );
    row("used until done, of the truth", times(backtest.request.used_ratio), Cell::missing());
    table
}
