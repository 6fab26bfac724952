//! Which settings of the learners are better, found out without a look at any test row: of the
//! full-scale rows a sweep gives for training some are held out in turn, and the rest teaches.
//!
//! Only the sweep with most full-scale rows of each name (`NAME.pP.csv`) is used. Held-out rows are
//! predicted from no full-scale rows, from 40 % and from 75 % of them: about 0, 10 and 19 % of the
//! full scale where the file gives 25 %.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;
use harp_core::{Dataset, Policy, Scale};
use harp_learn::{BuildOptions, ModelKind};

use crate::evaluate::{read, sweeps};
use crate::figures::Figures;

/// Shares of the full-scale rows that teach, in percent.
const SHARES: [usize; 3] = [0, 40, 75];
/// The same where scaled-down rows play full scale, of which there are more.
const SHARES_WITHIN: [usize; 3] = [0, 15, 30];
/// The same where all full-scale rows of one level of a feature are held out, of the others.
const SHARES_OF_OTHERS: [usize; 2] = [40, 100];
/// Draws of the rows that teach.
const DRAWS: usize = 12;
/// A feature with more different values than this at full scale has no levels.
const MOST_LEVELS: usize = 6;
/// Fewest full-scale rows that teach while those of a level are held out.
const FEWEST_OTHERS: usize = 4;

/// What is held out, and whether each kind of model is tried by itself.
#[derive(Default)]
pub struct Mode {
    pub kinds: bool,
    /// Large scaled-down rows play full scale.
    pub within: bool,
    /// All full-scale rows of one level of a feature at a time, such as of one method or one number of nodes.
    pub levels: bool,
}

/// Prints the errors on held-out full-scale rows, of the winner or of each kind of model by itself.
pub fn evaluate(directory: Option<&str>, mode: &Mode) -> Result<()> {
    let mut largest: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in sweeps(directory) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.split(".p").next().unwrap_or_default().to_owned();
        let full_scale = |file: &PathBuf| -> Result<usize> {
            Ok(read(file)?.rows.iter().filter(|row| row.scale == Scale::Fs).count())
        };
        let more = match largest.get(&name) {
            Some(known) => full_scale(&file)? > full_scale(known)?,
            None => full_scale(&file)? > 0,
        };
        if more {
            largest.insert(name, file);
        }
    }
    let wanted: Vec<Option<ModelKind>> = if mode.kinds {
        let alone = ModelKind::ALL.into_iter().filter(|kind| *kind != ModelKind::Ensemble);
        alone.map(Some).chain([None]).collect()
    } else {
        vec![None]
    };
    println!("{:16} {:>4} {:30} {}  winners", "sweep", "FS %", "models", Figures::HEADER);
    let mut totals: BTreeMap<(usize, usize), Vec<Figures>> = BTreeMap::new();
    for (name, file) in &largest {
        let mut dataset = read(file)?;
        if mode.within {
            dataset = larger_play_full_scale(&dataset);
        }
        let shares = match (mode.levels, mode.within) {
            (true, _) => &SHARES_OF_OTHERS[..],
            (_, true) => &SHARES_WITHIN,
            _ => &SHARES,
        };
        for &share in shares {
            let draws = if mode.levels { by_level(&dataset, share) } else { in_turn(&dataset, share) };
            for (index, kind) in wanted.iter().enumerate() {
                let options = BuildOptions {
                    policy: Policy::Cost,
                    models: kind.map_or_else(|| ModelKind::ALL.to_vec(), |kind| vec![kind]),
                    ..BuildOptions::default()
                };
                let mut figures = Vec::new();
                let mut winners = Vec::new();
                for dataset in &draws {
                    let Ok(model) = harp_learn::build(dataset, &options) else { continue };
                    winners.extend(model.winner().map(|winner| winner.model.to_string()));
                    let evaluation = model.evaluate(dataset, |row| row.scale == Scale::Test)?;
                    figures.extend(Figures::of(&evaluation));
                }
                if figures.is_empty() {
                    continue;
                }
                let mean = Figures::mean(&figures);
                totals.entry((share, index)).or_default().push(mean);
                winners.dedup();
                println!(
                    "{name:16} {share:4} {:30} {}  {}",
                    kind.map_or("all".to_owned(), |kind| kind.to_string()),
                    mean.columns(),
                    if kind.is_none() { winners.join(", ") } else { String::new() },
                );
            }
        }
    }
    println!("geometric means of MAPE, |ln| and reserved, means of UPP and coverage:");
    for ((share, index), all) in totals {
        println!(
            "{:16} {share:4} {:30} {}  of {}",
            "",
            wanted[index].map_or("all".to_owned(), |kind| kind.to_string()),
            Figures::geometric(&all).columns(),
            all.len(),
        );
    }
    Ok(())
}

/// The scaled-down rows alone, of which those large in what the target grows with most play full scale.
fn larger_play_full_scale(dataset: &Dataset) -> Dataset {
    let mut within = dataset.clone();
    within.rows.retain(|row| row.scale == Scale::Sd);
    let targets: Vec<f64> = within.rows.iter().filter_map(|row| row.observed.exact()).collect();
    let ranks = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|value| values.iter().filter(|other| *other < value).count() as f64).collect()
    };
    let correlation = |left: &[f64], right: &[f64]| {
        let centre = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (l, r) = (centre(left), centre(right));
        let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| -> f64 {
            a.iter().zip(b).map(|(x, y)| (x - ma) * (y - mb)).sum()
        };
        product(left, l, right, r)
            / (product(left, l, left, l) * product(right, r, right, r)).sqrt().max(1e-300)
    };
    let numbers = |column: usize| -> Option<Vec<f64>> {
        within.rows.iter().map(|row| row.cells[column].as_ref().and_then(|cell| cell.as_number())).collect()
    };
    let grown = ranks(&targets);
    let sizes = (0..within.columns.len()).filter_map(numbers);
    let sizes = sizes.max_by(|left, right| {
        correlation(&ranks(left), &grown).total_cmp(&correlation(&ranks(right), &grown))
    });
    let Some(sizes) = sizes else { return within };
    let mut sorted = sizes.clone();
    sorted.sort_by(f64::total_cmp);
    let limit = sorted[sorted.len() * 3 / 5];
    let limit = if sizes.iter().any(|size| *size < limit) { limit } else { sorted[sorted.len() - 1] };
    for (row, size) in within.rows.iter_mut().zip(sizes) {
        row.scale = if size >= limit { Scale::Fs } else { Scale::Sd };
    }
    within
}

/// Draws in which a share of the full-scale rows teaches.
fn in_turn(dataset: &Dataset, share: usize) -> Vec<Dataset> {
    let full_scale = full_scale(dataset);
    let draws = if share == 0 { 1 } else { DRAWS };
    let taught = full_scale.len() * share / 100;
    (0..draws).map(|draw| held_out(dataset, &full_scale, &spread(&full_scale, draw)[..taught])).collect()
}

/// For each feature with a few levels at full scale, all of them known from scaled-down rows, and each of these
/// levels: its full-scale rows held out, and a share of the others teaching.
fn by_level(dataset: &Dataset, share: usize) -> Vec<Dataset> {
    let full_scale = full_scale(dataset);
    let mut draws = Vec::new();
    for column in 0..dataset.columns.len() {
        let level = |row: usize| dataset.rows[row].cells[column].as_ref().map(ToString::to_string);
        let scaled_down = (0..dataset.rows.len()).filter(|&row| dataset.rows[row].scale == Scale::Sd);
        let known: BTreeSet<_> = scaled_down.map(level).collect();
        let levels: BTreeSet<_> = full_scale.iter().map(|&row| level(row)).collect();
        if !(2..=MOST_LEVELS).contains(&levels.len()) || !levels.is_subset(&known) {
            continue;
        }
        for held in levels {
            let (asked, others): (Vec<usize>, Vec<usize>) =
                full_scale.iter().partition(|&&row| level(row) == held);
            let taught = (others.len() * share / 100).max(FEWEST_OTHERS);
            if taught <= others.len() {
                draws.push(held_out(dataset, &asked, &spread(&others, draws.len())[..taught]));
            }
        }
    }
    draws
}

fn full_scale(dataset: &Dataset) -> Vec<usize> {
    (0..dataset.rows.len()).filter(|&row| dataset.rows[row].scale == Scale::Fs).collect()
}

/// Rows in an order spread by the golden ratio: every draw begins with other ones, each about as often.
fn spread(rows: &[usize], draw: usize) -> Vec<usize> {
    let place =
        |index: usize| ((index + 1) as f64 * 0.618_033_988_749_895 + draw as f64 / DRAWS as f64).fract();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|left, right| place(*left).total_cmp(&place(*right)));
    order.into_iter().map(|index| rows[index]).collect()
}

/// The sweep without its test rows: some full-scale rows teach, the others of those asked are in the test rows'
/// place, and the rest of the full-scale rows is left out.
fn held_out(dataset: &Dataset, asked: &[usize], taught: &[usize]) -> Dataset {
    let mut index = 0..;
    let mut held_out = dataset.clone();
    held_out.rows.retain_mut(|row| {
        let index = index.next().unwrap_or_default();
        row.scale = match row.scale {
            Scale::Sd => Scale::Sd,
            Scale::Fs if taught.contains(&index) => Scale::Fs,
            Scale::Fs if asked.contains(&index) => Scale::Test,
            _ => return false,
        };
        true
    });
    held_out
}
