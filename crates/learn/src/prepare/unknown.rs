//! Runs of which a number is not known: its cell is empty, or negative where all others are positive. What
//! stands in for it may be far from the truth, and among a few full-scale runs such a guess does more harm than
//! the run does good. Where they are few, they are left out; where they are many, that a number is missing may
//! mean something.

use harp_core::Value;

use super::number_of;
use crate::table::{LeftOut, Table, TableRow, Unknown};

/// Fewest rows among which some can be few, and the largest share of them, of all columns together.
const FEWEST: usize = 20;
const LARGEST_SHARE: f64 = 0.1;
/// The same of negative numbers, and of the full-scale runs: most of these must stay.
const NEGATIVE_SHARE: f64 = 0.05;
const SHARE_OF_FULL_SCALE: f64 = 0.25;

/// The table without them.
pub(crate) fn without_unknown(mut table: Table) -> Table {
    if table.rows.len() < FEWEST {
        return table;
    }
    let mut out = vec![false; table.rows.len()];
    for column in 0..table.columns.len() {
        let texts = |row: &TableRow| matches!(row.cells[column], Some(Value::Text(_) | Value::Boolean(_)));
        if table.rows.iter().any(texts) {
            continue;
        }
        let numbers = || table.rows.iter().filter_map(|row| row.cells[column].as_ref().and_then(number_of));
        let others_are_positive = !numbers().any(|number| number == 0.0);
        for (why, share) in [(Unknown::Empty, LARGEST_SHARE), (Unknown::Negative, NEGATIVE_SHARE)] {
            let found: Vec<bool> = table.rows.iter().map(|row| is_unknown(row, column, why)).collect();
            let of_column = found.iter().filter(|found| **found).count();
            let together: Vec<bool> = out.iter().zip(&found).map(|(out, found)| *out || *found).collect();
            let few = of_column as f64 <= share * table.rows.len() as f64 && are_few(&table, &together);
            let rows = out.iter().zip(&found).filter(|(out, found)| **found && !**out).count();
            if few && rows > 0 && (why == Unknown::Empty || others_are_positive) {
                table.left_out.push(LeftOut { column, why, rows });
                out = together;
            }
        }
    }
    let known: Vec<(usize, Unknown)> =
        table.left_out.iter().map(|left_out| (left_out.column, left_out.why)).collect();
    let is_known = |row: &TableRow| !known.iter().any(|&(column, why)| is_unknown(row, column, why));
    table.lower_bounds.retain(is_known);
    table.keeping(is_known)
}

fn is_unknown(row: &TableRow, column: usize, why: Unknown) -> bool {
    let number = row.cells[column].as_ref().and_then(number_of);
    match why {
        Unknown::Empty => number.is_none(),
        Unknown::Negative => number.is_some_and(|number| number < 0.0),
    }
}

/// Whether rows are few of all, and of the full-scale ones.
fn are_few(table: &Table, rows: &[bool]) -> bool {
    let full_scale = || table.rows.iter().zip(rows).filter(|(row, _)| row.full_scale);
    let of = |count: usize, share: f64, all: usize| count as f64 <= share * all as f64;
    let chosen = rows.iter().filter(|row| **row).count();
    let large = full_scale().filter(|(_, chosen)| **chosen).count();
    of(chosen, LARGEST_SHARE, rows.len()) && of(large, SHARE_OF_FULL_SCALE, full_scale().count())
}
