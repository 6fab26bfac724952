//! How the target grows, in one line: the exponent of each number near the largest runs, whatever the model.

use harp_core::Value;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::prepare::number_of;
use crate::table::{Table, TableRow};
use crate::{Feature, Measured, TargetModel};

/// The share of the runs, those that took most, at which it is found, and most of these.
const SHARE: f64 = 0.1;
const MOST_ROWS: usize = 48;
/// Where there are many features, fewer runs: so many predictions in all, but of no fewer runs than this.
const PREDICTIONS: usize = 4800;
const FEWEST_ROWS: usize = 6;
/// Up and down by this factor.
const STEP: f64 = 1.5;
/// Numbers with a smaller exponent hardly matter.
const HARDLY: f64 = 0.05;

/// More names of these are only counted.
const MOST_NAMES: usize = 6;

/// How the target grows with a number where the runs are largest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// The number.
    pub feature: String,
    /// By how many percent the target grows when the number grows by one.
    pub exponent: f64,
}

/// The mean exponent of every number that is used and never negative, where it is not 0.
pub(crate) fn growth_of(model: &TargetModel, table: &Table) -> Vec<Growth> {
    let mut rows: Vec<usize> = (0..table.rows.len()).collect();
    rows.sort_by(|&left, &right| {
        table.rows[right].target.total_cmp(&table.rows[left].target).then(left.cmp(&right))
    });
    let share = (SHARE * rows.len() as f64).ceil() as usize;
    let affordable = PREDICTIONS / (2 * model.features.len().max(1));
    rows.truncate(share.max(FEWEST_ROWS).min(affordable.clamp(FEWEST_ROWS, MOST_ROWS)));
    let numbers: Vec<(usize, &Feature)> = model
        .features
        .iter()
        .enumerate()
        .filter(|(_, feature)| {
            let positive = matches!(feature.measured, Measured::Numbers { smallest, .. } if smallest >= 0.0);
            positive && feature.dropped.is_none()
        })
        .collect();
    let growth = numbers.into_par_iter().filter_map(|(column, feature)| {
        let of_rows = rows.iter().filter_map(|&row| exponent(model, &table.rows[row], column));
        let exponents: Vec<f64> = of_rows.collect();
        let exponent = exponents.iter().sum::<f64>() / exponents.len() as f64;
        exponent.is_finite().then(|| Growth { feature: feature.name.clone(), exponent })
    });
    growth.collect()
}

fn exponent(model: &TargetModel, row: &TableRow, column: usize) -> Option<f64> {
    let value = row.cells[column].as_ref().and_then(number_of).filter(|value| *value > 0.0)?;
    let logarithm = |value: f64| {
        let value = Value::Real(value);
        let mut cells: Vec<Option<&Value>> = row.cells.iter().map(Option::as_ref).collect();
        cells[column] = Some(&value);
        model.centre(&cells).0.ln()
    };
    Some((logarithm(value * STEP) - logarithm(value / STEP)) / (2.0 * STEP.ln()))
}

/// `n^2.98 / threads^0.87, hardly with batch`: the steepest first; `None` of nothing.
pub fn growth_in_words(growth: &[Growth]) -> Option<String> {
    let mut sorted: Vec<&Growth> = growth.iter().collect();
    sorted.sort_by(|left, right| {
        right.exponent.total_cmp(&left.exponent).then(left.feature.cmp(&right.feature))
    });
    let (told, hardly): (Vec<&Growth>, Vec<&Growth>) =
        sorted.into_iter().partition(|growth| growth.exponent.abs() >= HARDLY);
    let mut text = String::new();
    for growth in &told {
        text.push_str(match (text.is_empty(), growth.exponent < 0.0) {
            (true, false) => "",
            (true, true) => "1 / ",
            (false, false) => " · ",
            (false, true) => " / ",
        });
        text.push_str(&format!("{}^{:.2}", growth.feature, growth.exponent.abs()));
    }
    let mut names: Vec<String> = hardly.iter().map(|growth| growth.feature.clone()).collect();
    if names.len() > MOST_NAMES {
        let others = names.split_off(MOST_NAMES - 1).len();
        names.push(format!("{others} others"));
    }
    match (text.is_empty(), names.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("like {text}")),
        (false, false) => Some(format!("like {text}, hardly with {}", names.join(", "))),
        (true, false) => Some(format!("hardly with {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(feature: &str, exponent: f64) -> Growth {
        Growth { feature: feature.to_owned(), exponent }
    }

    #[test]
    fn exponents_are_told_as_a_product() {
        let all = [growth("batch", 0.01), growth("threads", -0.873), growth("n", 2.98), growth("steps", 1.0)];
        assert_eq!(
            growth_in_words(&all).unwrap(),
            "like n^2.98 · steps^1.00 / threads^0.87, hardly with batch"
        );
        assert_eq!(growth_in_words(&all[1..2]).unwrap(), "like 1 / threads^0.87");
        assert_eq!(growth_in_words(&all[..1]).unwrap(), "hardly with batch");
        assert_eq!(growth_in_words(&[]), None);
        let many: Vec<Growth> = (0..9).map(|index| growth(&format!("x{index}"), 0.0)).collect();
        assert_eq!(growth_in_words(&many).unwrap(), "hardly with x0, x1, x2, x3, x4, 4 others");
    }
}
