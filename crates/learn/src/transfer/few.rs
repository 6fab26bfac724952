//! Which few runs of the target to make: those that tell most of the cases to be predicted, and cheap
//! together.

use harp_core::{Dataset, Row, Scale};

use crate::next::{Doubt, Place};

/// A run may cost so many times what is left for each of the runs to come: full-scale runs tell most, and
/// one of them must not use up the money of all.
const ROOM: f64 = 2.5;
/// Noise of one run: as large as is common between repetitions of short ones.
const NOISE: f64 = 0.1;
/// So many are chosen by what they tell. Where more are wanted the law is known, and any others will do.
const CHOSEN: usize = 50;

/// Indices of rows to learn from: at most `share` of them, costing at most `budget` of what all cost (by
/// the table's target, a time). Each next one takes away most of the doubt about the table's test cases,
/// or about its full-scale runs if it has none.
pub fn few_runs(table: &Dataset, share: f64, budget: f64) -> Vec<usize> {
    let learnable = |row: &Row| row.scale != Scale::Test && row.observed.exact().is_some();
    let mut open: Vec<usize> = (0..table.rows.len()).filter(|&row| learnable(&table.rows[row])).collect();
    let most = (share * open.len() as f64).floor() as usize;
    let cost = |row: usize| table.rows[row].observed.value();
    let mut left = budget * open.iter().map(|&row| cost(row)).sum::<f64>();
    let place = |row: usize| -> Place { table.rows[row].cells.clone() };
    let of_scale = |scale: Scale| (0..table.rows.len()).filter(move |&row| table.rows[row].scale == scale);
    let mut cases: Vec<Place> = of_scale(Scale::Test).map(place).collect();
    if cases.is_empty() {
        cases = of_scale(Scale::Fs).map(place).collect();
    }
    if cases.is_empty() {
        cases = open.iter().map(|&row| place(row)).collect();
    }
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < most {
        open.retain(|&row| cost(row) <= left && !taken.contains(&row));
        let runs_left = (most - taken.len()) as f64;
        let next = if taken.len() < CHOSEN {
            let runs: Vec<Place> = taken.iter().map(|&row| place(row)).collect();
            let candidates: Vec<Place> = open.iter().map(|&row| place(row)).collect();
            let fits = |&row: &usize| if cost(row) <= ROOM * left / runs_left { 1.0 } else { f64::NAN };
            let fitting: Vec<f64> = open.iter().map(fits).collect();
            let gain = Doubt::new(&runs, &candidates, &cases, Some(NOISE)).best(&fitting);
            gain.map(|gain| open[gain.candidate])
        } else {
            let fitting = open.iter().copied().filter(|&row| cost(row) <= left / runs_left);
            fitting.max_by(|a, b| cost(*a).total_cmp(&cost(*b)))
        };
        let Some(next) = next else { break };
        left -= cost(next);
        taken.push(next);
    }
    taken
}
