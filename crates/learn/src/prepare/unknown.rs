//! Runs of which a number is not known: its cell is empty, or negative where all others are positive. What
//! stands in for it may be far from the truth, and among a few full-scale runs such a guess does more harm than
//! the run does good. Where they are few, they are left out; where they are many, that a number is missing may
//! mean something.

use std::collections::HashMap;

use harp_core::Value;

use super::number_of;
use crate::table::{LeftOut, Table, TableRow, Unknown};

/// Fewest rows among which some can be few, and the largest share of them.
const FEWEST: usize = 20;
const EMPTY_SHARE: f64 = 0.1;
const NEGATIVE_SHARE: f64 = 0.05;

/// The table without them.
pub(crate) fn without_unknown(mut table: Table) -> Table {
    let rows = table.rows.len();
    if rows < FEWEST {
        return table;
    }
    let mut out = vec![false; rows];
    for column in 0..table.columns.len() {
        let texts = |row: &TableRow| matches!(row.cells[column], Some(Value::Text(_) | Value::Boolean(_)));
        if table.rows.iter().any(texts) {
            continue;
        }
        let cells = || table.rows.iter().map(|row| row.cells[column].as_ref().and_then(number_of));
        let indices = |which: &dyn Fn(Option<f64>) -> bool| -> Vec<usize> {
            cells().enumerate().filter(|(_, cell)| which(*cell)).map(|(row, _)| row).collect()
        };
        let negative = |cell: Option<f64>| cell.is_some_and(|value| value < 0.0);
        let positive = cells().flatten().filter(|value| *value > 0.0).count();
        let found = [
            (Unknown::Empty, indices(&|cell| cell.is_none()), EMPTY_SHARE),
            (Unknown::Negative, indices(&negative), NEGATIVE_SHARE),
        ];
        for (why, found, share) in found {
            let others = why == Unknown::Empty || positive + found.len() == cells().flatten().count();
            if !found.is_empty() && found.len() as f64 <= share * rows as f64 && others {
                found.iter().for_each(|&row| out[row] = true);
                let column = table.columns[column].name.clone();
                table.left_out.push(LeftOut { column, why, rows: found.len() });
            }
        }
    }
    if !out.contains(&true) {
        return table;
    }
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut out = out.into_iter();
    table.rows.retain_mut(|row| {
        let keep = out.next() == Some(false);
        if keep {
            let next = numbers.len();
            row.group = *numbers.entry(row.group).or_insert(next);
        }
        keep
    });
    table.renumbered(numbers.len())
}
