//! What a model without a formula goes by: permutation importances (Breiman, Machine Learning 2001). How much
//! its answers change when the values of a column are those of other rows.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// As many rows tell it.
const MOST_ROWS: usize = 256;
/// Columns with a smaller share are not told.
const SMALLEST: f64 = 0.005;

/// The share of each column in what changes, in words, largest first; `None` where nothing changes.
pub(crate) fn importances(
    inputs: &[Vec<f64>],
    predict: impl Fn(&[f64]) -> f64,
    name: impl Fn(usize) -> String,
) -> Option<String> {
    let mut random = Pcg64::seed_from_u64(0);
    let mut rows: Vec<&Vec<f64>> = inputs.iter().collect();
    rows.shuffle(&mut random);
    rows.truncate(MOST_ROWS);
    let said: Vec<f64> = rows.iter().map(|row| predict(row)).collect();
    let mut changes: Vec<(usize, f64)> = Vec::new();
    for column in 0..rows.first()?.len() {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.shuffle(&mut random);
        let change = rows.iter().zip(&values).zip(&said).map(|((row, &value), said)| {
            let mut changed = (*row).clone();
            changed[column] = value;
            (predict(&changed) - said).powi(2)
        });
        changes.push((column, change.sum()));
    }
    let total: f64 = changes.iter().map(|(_, change)| change).sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    changes.retain(|(_, change)| change / total >= SMALLEST);
    changes.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    let texts =
        changes.iter().map(|(column, change)| format!("{} {:.0} %", name(*column), 100.0 * change / total));
    Some(format!("importances: {}", texts.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_as_they_change_answers() {
        let inputs: Vec<Vec<f64>> =
            (0..400).map(|row| [row % 7, row % 5, row % 3].map(f64::from).to_vec()).collect();
        let name = |column: usize| ["a", "b", "c"][column].to_owned();
        let told = importances(&inputs, |row| row[1] + 0.1 * row[0], name).unwrap();
        assert_eq!(told, "importances: b 98 %, a 2 %");
        assert_eq!(importances(&inputs, |_| 1.0, name), None);
        assert_eq!(importances(&[], |_| 1.0, name), None);
    }
}
