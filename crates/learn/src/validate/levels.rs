//! Folds for features with a few levels, such as a method or a number of nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::Table;

/// A feature with more levels than this at full scale, or twice as many at all, is not held out by its levels.
const MOST_LEVELS: usize = 6;
/// The most that errors count for which all full-scale runs of a level were held out: not all that will be asked
/// is of such levels.
const MOST_WEIGHT: f64 = 0.6;

/// Where some levels were run scaled down only, full-scale runs of these will be asked for all the same. The
/// full-scale groups of each other level are judged together then, by models that saw no full-scale run of that
/// level either; of the feature of which most is missing. They count the more, the more runs are of missing levels.
pub(super) fn level_folds(table: &Table, full_scale: &[bool]) -> Vec<(Vec<usize>, f64)> {
    let mut most: (f64, Vec<Vec<usize>>) = (0.0, Vec::new());
    for column in 0..table.columns.len() {
        let mut scaled_down: BTreeMap<String, usize> = BTreeMap::new();
        let mut levels: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for row in &table.rows {
            let Some(level) = row.cells[column].as_ref().map(ToString::to_string) else { continue };
            if full_scale[row.group] {
                levels.entry(level).or_default().insert(row.group);
            } else {
                *scaled_down.entry(level).or_default() += 1;
            }
        }
        let few = (2..=MOST_LEVELS).contains(&levels.len()) && scaled_down.len() <= 2 * MOST_LEVELS;
        let runs: usize = scaled_down.values().sum();
        let shared: Vec<usize> = levels.keys().filter_map(|level| scaled_down.get(level).copied()).collect();
        // A level of full-scale runs alone is a size.
        let known = shared.len() == levels.len();
        let missing = 1.0 - shared.iter().sum::<usize>() as f64 / runs.max(1) as f64;
        if few && known && missing > most.0 {
            most = (missing, levels.into_values().map(|groups| groups.into_iter().collect()).collect());
        }
    }
    let (missing, levels) = most;
    let weight = (missing / (1.0 - missing)).min(MOST_WEIGHT);
    levels.into_iter().map(|groups| (groups, weight)).collect()
}
