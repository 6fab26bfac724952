//! How far the chosen models are off inside the measured range: what is known of their error before
//! the few full-scale runs are asked.

use rayon::prelude::*;

use super::fold::shuffle;
use super::{balanced, seed_of};
use crate::ensemble::{Said, together};
use crate::pipeline::Pipeline;
use crate::prepare::{Beyond, Prepared};
use crate::statistics::mean;
use crate::table::Table;
use crate::{BuildOptions, ModelKind};

/// Parts the scaled-down configurations are judged in.
const PARTS: usize = 10;
/// Fewest scaled-down configurations that tell anything.
const FEWEST: usize = 10;

/// The root mean square of ln(actual/predicted) over the scaled-down configurations, each judged by
/// models that learned from everything else; `None` with too few of them.
pub(crate) fn error_inside(
    table: &Table,
    members: &[(ModelKind, f64)],
    options: &BuildOptions,
) -> Option<f64> {
    let mut groups: Vec<usize> = (0..table.groups).collect();
    let mut full_scale = vec![false; table.groups];
    table.rows.iter().filter(|row| row.full_scale).for_each(|row| full_scale[row.group] = true);
    groups.retain(|&group| !full_scale[group]);
    if groups.len() < FEWEST {
        return None;
    }
    shuffle(&mut groups, options.seed);
    let mut part = vec![PARTS; table.groups];
    groups.iter().enumerate().for_each(|(place, &group)| part[group] = place % PARTS);
    let squares = (0..PARTS).into_par_iter().map(|judged| {
        let (judged_rows, rest): (Vec<usize>, Vec<usize>) =
            (0..table.rows.len()).partition(|&row| part[table.rows[row].group] == judged);
        let prepared = Prepared::with_lower_bounds(table, &balanced(table, &rest), options.remove_outliers);
        let fit = |(model, weight): &(ModelKind, f64)| {
            let seed = seed_of(options.seed, *model, judged);
            Some((*weight, Pipeline::fit(*model, &prepared, options, seed).ok()?))
        };
        let fitted: Vec<(f64, Pipeline)> = members.iter().filter_map(fit).collect();
        let square = |&row: &usize| {
            let cells: Vec<_> = table.rows[row].cells.iter().map(Option::as_ref).collect();
            let mut spans: f64 = 0.0;
            let said: Vec<Said> = fitted
                .iter()
                .map(|(weight, pipeline)| {
                    let (value, beyond) = pipeline.predict(&cells);
                    spans = beyond.spans;
                    Said { weight: *weight, value, extrapolates: pipeline.fitted.extrapolates() }
                })
                .collect();
            if said.is_empty() {
                return None;
            }
            let ratio = table.rows[row].target / together(&said, spans > 0.0);
            Some((ratio.ln() / Beyond::stretch(spans)).powi(2))
        };
        judged_rows.iter().filter_map(square).collect::<Vec<f64>>()
    });
    let squares: Vec<f64> = squares.flatten_iter().collect();
    mean(squares.into_iter()).map(f64::sqrt).filter(|error| error.is_finite())
}
