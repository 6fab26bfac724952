//! Folds for features with a few levels, such as a method or a number of nodes.

use harp_core::Value;

use crate::table::{Table, TableRow};

/// A feature with more levels than this at full scale, or twice as many at all, is not held out by its levels.
const MOST_LEVELS: usize = 6;
/// The most that errors count for which all full-scale runs of a level were held out: not all that will be asked
/// is of such levels.
const MOST_WEIGHT: f64 = 0.6;

/// Where some levels were run scaled down only, full-scale runs of these will be asked for all the same. The
/// full-scale groups of each other level are judged together then, by models that saw no full-scale run of that
/// level either; of the feature of which most is missing. They count the more, the more runs are of missing levels.
pub(super) fn level_folds(table: &Table, full_scale: &[bool]) -> Vec<(Vec<usize>, f64)> {
    let (large, small): (Vec<&TableRow>, Vec<&TableRow>) =
        table.rows.iter().partition(|row| full_scale[row.group]);
    let mut most: (f64, Vec<Level<'_>>) = (0.0, Vec::new());
    for column in 0..table.columns.len() {
        let Some(known) = levels(&large, column, MOST_LEVELS).filter(|known| known.len() > 1) else {
            continue;
        };
        let Some(all) = levels(&small, column, 2 * MOST_LEVELS) else { continue };
        let same = |level: &Level<'_>| all.iter().find(|other| other.value.compare(level.value).is_eq());
        let rows = |level: &Level<'_>| level.groups.len();
        // A level of full-scale runs alone is a size.
        let Some(shared) = known.iter().map(|level| same(level).map(rows)).sum::<Option<usize>>() else {
            continue;
        };
        let missing = 1.0 - shared as f64 / all.iter().map(rows).sum::<usize>() as f64;
        if missing > most.0 {
            most = (missing, known);
        }
    }
    let (missing, levels) = most;
    let weight = (missing / (1.0 - missing)).min(MOST_WEIGHT);
    let folds = levels.into_iter().map(|mut level| {
        level.groups.sort_unstable();
        level.groups.dedup();
        (level.groups, weight)
    });
    folds.collect()
}

/// Names the levels of a feature that were run scaled down only, of the feature of which most runs have such a level.
/// Numbers between those of full-scale runs, and smaller ones, are none; but none of a thing is another regime than
/// little of it.
pub(crate) fn small_only_warning(table: &Table) -> Option<String> {
    let (large, small): (Vec<&TableRow>, Vec<&TableRow>) = table.rows.iter().partition(|row| row.full_scale);
    let mut most: (usize, Option<String>) = (0, None);
    for (column, of) in table.columns.iter().enumerate() {
        let known = levels(&large, column, MOST_LEVELS).filter(|known| !known.is_empty());
        let (Some(known), Some(all)) = (known, levels(&small, column, 2 * MOST_LEVELS)) else { continue };
        let is_among = |levels: &[Level<'_>], value: &Value| {
            levels.iter().any(|level| level.value.compare(value).is_eq())
        };
        // A level of full-scale runs alone is a size.
        if !known.iter().all(|level| is_among(&all, level.value)) {
            continue;
        }
        let largest = known.iter().filter_map(|level| level.value.as_number()).fold(0.0, f64::max);
        let is_known = |value: &Value| {
            let number = value.as_number().filter(|number| *number != 0.0);
            is_among(&known, value) || number.is_some_and(|number| number < largest)
        };
        let mut missing: Vec<&Level<'_>> = all.iter().filter(|level| !is_known(level.value)).collect();
        let rows = missing.iter().map(|level| level.groups.len()).sum();
        if rows > most.0 {
            missing.sort_by(|left, right| left.value.compare(right.value));
            let names: Vec<String> = missing.iter().map(|level| level.value.to_string()).collect();
            let words = format!(
                "no full-scale run is known with `{}` {}: what is predicted there rests on small runs and on others",
                of.name,
                names.join(", ")
            );
            most = (rows, Some(words));
        }
    }
    most.1
}

/// A value of a feature, and the group of each row that has it.
struct Level<'a> {
    value: &'a Value,
    groups: Vec<usize>,
}

/// The levels of a column in the order of their first rows; `None` if there are more than so many.
fn levels<'a>(rows: &[&'a TableRow], column: usize, most: usize) -> Option<Vec<Level<'a>>> {
    let mut levels: Vec<Level<'_>> = Vec::new();
    for row in rows {
        let Some(value) = &row.cells[column] else { continue };
        let place =
            levels.iter().position(|level| level.value.compare(value).is_eq()).unwrap_or(levels.len());
        if place == most {
            return None;
        }
        if place == levels.len() {
            levels.push(Level { value, groups: Vec::new() });
        }
        levels[place].groups.push(row.group);
    }
    Some(levels)
}
