//! Runs that something else slowed down. The noise of a time is one-sided: a machine that does
//! nothing else never makes a program faster than it is, but a neighbour makes it slower now and
//! then. So where a configuration was repeated and one repetition took much longer than its like,
//! the slow one is the disturbed one.
//!
//! Disturbed runs neither teach nor judge; how many there were and how slow they were widens the
//! upper side of every prediction instead. A configuration always keeps its undisturbed repetitions,
//! so none is ever lost, whatever its scale. A repetition that is only mildly slower may be disturbed
//! or not: it is drawn in to where noise would still explain it (Winsor's way).

use crate::statistics::{mean, median};
use crate::table::{Disturbed, Table, TableRow};

/// Standard deviations of the difference of two repetitions beyond which the slower one is disturbed.
const FAR: f64 = 2.5;
/// Those beyond which it counts as only so slow.
const MILD: f64 = 1.2;
/// Slowdowns below this are noise.
const SMALLEST: f64 = 1.08;
/// With fewer repeated configurations than this the noise is hardly known, and only a slowdown of
/// `CLEAR` or more counts.
const FEWEST: usize = 4;
const CLEAR: f64 = 1.25;
/// If more of the runs than this are disturbed, they are not disturbed: the program swings.
const LARGEST_SHARE: f64 = 0.25;

/// The table with its disturbed runs set apart.
pub(crate) fn without_disturbed(mut table: Table) -> Table {
    let groups = repeated(&table);
    let Some((noise, limit)) = limits(&groups) else { return table };
    let mild = MILD * std::f64::consts::SQRT_2 * noise;
    let mut slowdowns: Vec<Option<f64>> = vec![None; table.rows.len()];
    let mut drawn_in: Vec<Option<f64>> = vec![None; table.rows.len()];
    for group in &groups {
        let mut sorted = group.clone();
        sorted.sort_by(|left, right| left.1.total_cmp(&right.1));
        // The lower middle: of two the faster, of three the second.
        let centre = sorted[(sorted.len() - 1) / 2].1;
        for &(row, logarithm) in group {
            if logarithm - centre > limit {
                slowdowns[row] = Some(logarithm - centre);
            } else if groups.len() >= FEWEST && logarithm - centre > mild {
                drawn_in[row] = Some((centre + mild).exp());
            }
        }
    }
    let count = slowdowns.iter().flatten().count();
    if count as f64 > LARGEST_SHARE * table.rows.len() as f64 {
        return table;
    }
    for (row, target) in table.rows.iter_mut().zip(drawn_in) {
        row.target = target.unwrap_or(row.target);
    }
    let rows: Vec<TableRow> = std::mem::take(&mut table.rows);
    for (row, slowdown) in rows.into_iter().zip(slowdowns) {
        match slowdown {
            Some(slowdown) => table.disturbed.push(Disturbed { row, slowdown }),
            None => table.rows.push(row),
        }
    }
    table
}

/// Rows and log targets of each configuration that was run more than once.
fn repeated(table: &Table) -> Vec<Vec<(usize, f64)>> {
    let mut groups: Vec<Vec<(usize, f64)>> = vec![Vec::new(); table.groups];
    for (index, row) in table.rows.iter().enumerate().filter(|(_, row)| row.repeats) {
        groups[row.group].push((index, row.target.ln()));
    }
    groups.retain(|group| group.len() >= 2);
    groups
}

/// The noise, and the difference of logarithms from which on a repetition is disturbed.
fn limits(groups: &[Vec<(usize, f64)>]) -> Option<(f64, f64)> {
    let mut deviations: Vec<f64> = Vec::new();
    for group in groups {
        let centre = mean(group.iter().map(|&(_, logarithm)| logarithm))?;
        // The mean of k takes 1/k of the variance with it.
        let unbiased = (group.len() as f64 / (group.len() - 1) as f64).sqrt();
        deviations.extend(group.iter().map(|&(_, logarithm)| unbiased * (logarithm - centre).abs()));
    }
    let noise = 1.4826 * median(&mut deviations)?;
    let smallest = if groups.len() < FEWEST { CLEAR } else { SMALLEST };
    Some((noise, (FAR * std::f64::consts::SQRT_2 * noise).max(smallest.ln())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};
    use proptest::prelude::*;

    fn table(targets: &[Vec<f64>]) -> Table {
        let rows = targets.iter().enumerate().flat_map(|(group, targets)| {
            targets.iter().map(move |&target| Row {
                cells: vec![Some(Value::Integer(group as i64))],
                observed: Observed::Exact(target),
                scale: if group % 3 == 0 { Scale::Fs } else { Scale::Sd },
                group: group as u64,
            })
        });
        let dataset =
            Dataset::new(Target::Walltime, vec![Column { name: "n".into() }], rows.collect()).unwrap();
        Table::of(&dataset).unwrap()
    }

    #[test]
    fn the_slow_twin_is_set_apart() {
        let mut targets: Vec<Vec<f64>> =
            (0..10).map(|i| vec![10.0 + f64::from(i), 10.1 + f64::from(i)]).collect();
        targets[4] = vec![20.0, 14.0];
        let table = without_disturbed(table(&targets));
        assert_eq!(table.disturbed.len(), 1);
        assert_eq!(table.disturbed[0].row.target, 20.0);
        assert!((table.disturbed[0].slowdown - (20.0f64 / 14.0).ln()).abs() < 1e-12);
    }

    proptest! {
        /// Whatever the times, every configuration keeps a run, and no run is lost.
        #[test]
        fn no_configuration_is_lost(targets in prop::collection::vec(prop::collection::vec(0.1..1e3f64, 1..5), 1..20)) {
            let before = table(&targets);
            let (runs, groups) = (before.rows.len(), before.groups);
            let after = without_disturbed(before);
            prop_assert_eq!(after.rows.len() + after.disturbed.len(), runs);
            prop_assert_eq!(after.groups_among(0..after.rows.len()), groups);
        }
    }
}
