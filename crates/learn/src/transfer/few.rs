//! Which few runs of the target to make first: spread as evenly as possible over what can be varied,
//! and cheap together.

use harp_core::{Dataset, Row, Scale as RunScale};

use super::similar::{Scale, distance, logarithms};
use crate::model::case_of;
use crate::statistics::median;

/// Indices of rows to learn from: at most `share` of them, costing at most `budget` of what all cost (by
/// the table's target, a time). Each next one is the farthest from those taken (Gonzalez, 1985). The first
/// is the cheapest at full scale, and every third after it is of full scale, too, as long as that is paid
/// for: scale is what small runs do not tell. Of the small ones the longer half is taken first, as the
/// shortest are mostly noise.
pub fn few_runs(table: &Dataset, share: f64, budget: f64) -> Vec<usize> {
    let learnable = |row: &Row| row.scale != RunScale::Test && row.observed.exact().is_some();
    let rows: Vec<usize> = (0..table.rows.len()).filter(|&row| learnable(&table.rows[row])).collect();
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let points: Vec<Vec<f64>> =
        rows.iter().map(|&row| logarithms(&case_of(&table.columns, &table.rows[row]), &names)).collect();
    let scale = Scale::of(&points);
    let points: Vec<Vec<f64>> = points.iter().map(|point| scale.standard(point)).collect();
    let cost = |place: usize| table.rows[rows[place]].observed.value();
    let total: f64 = (0..rows.len()).map(cost).sum();
    let full_scale = |place: &usize| table.rows[rows[*place]].scale == RunScale::Fs;
    let mut small: Vec<f64> = (0..rows.len()).filter(|place| !full_scale(place)).map(cost).collect();
    let middle = median(&mut small).unwrap_or(0.0);
    let most = (share * rows.len() as f64).floor() as usize;
    let mut taken: Vec<usize> = Vec::new();
    let mut spent = 0.0;
    let mut open: Vec<usize> = (0..rows.len()).collect();
    while taken.len() < most {
        open.retain(|place| spent + cost(*place) <= budget * total && !taken.contains(place));
        let nearest = |place: &usize| {
            taken.iter().map(|other| distance(&points[*place], &points[*other])).fold(f64::INFINITY, f64::min)
        };
        let large = open.iter().copied().filter(full_scale);
        let long = open.iter().copied().filter(|place| cost(*place) >= middle);
        let next = match taken.len() {
            0 => large.min_by(|a, b| cost(*a).total_cmp(&cost(*b))),
            count if count % 3 == 0 => large.max_by(|a, b| nearest(a).total_cmp(&nearest(b))),
            _ => None,
        };
        let next = next.or_else(|| long.max_by(|a, b| nearest(a).total_cmp(&nearest(b))));
        let next = next.or_else(|| open.iter().copied().max_by(|a, b| nearest(a).total_cmp(&nearest(b))));
        let Some(next) = next else { break };
        spent += cost(next);
        taken.push(next);
    }
    taken.iter().map(|&place| rows[place]).collect()
}
