//! Dropping columns that say nothing new: constant ones, copies of another, and linear combinations
//! of others. Earlier columns are kept in favour of later ones.

/// Which columns stay, and why the others do not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reduction {
    /// Kept columns, rising.
    pub kept: Vec<usize>,
    /// Dropped columns with the reason.
    pub dropped: Vec<(usize, Reason)>,
}

/// Why a column was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    Constant,
    /// A multiple of another column, plus a constant.
    Duplicate(usize),
    /// A linear combination of these.
    Combination(Vec<usize>),
}

/// What is left of a column after the others explain it, below which it is taken as explained.
const EXPLAINED: f64 = 1e-6;

/// Decides by Gram-Schmidt on the centred columns. With more columns than configurations every
/// column is a combination of others by chance, so combinations are only looked for while at least
/// two configurations more than columns are left.
pub(crate) fn reduce(rows: &[Vec<f64>], columns: usize, configurations: usize) -> Reduction {
    let mut reduction = Reduction { kept: Vec::new(), dropped: Vec::new() };
    let mut directions: Vec<Vec<f64>> = Vec::new();
    let mut originals: Vec<Vec<f64>> = Vec::new();
    let mut independent: Vec<usize> = Vec::new();
    for column in 0..columns {
        let Some(unit) = centred_unit(rows, column) else {
            reduction.dropped.push((column, Reason::Constant));
            continue;
        };
        let copy = originals.iter().position(|other| 1.0 - dot(other, &unit).abs() < EXPLAINED * EXPLAINED);
        if let Some(copy) = copy {
            reduction.dropped.push((column, Reason::Duplicate(reduction.kept[copy])));
            continue;
        }
        if directions.len() + 2 < configurations {
            let mut rest = unit.clone();
            // Twice is enough (Kahan): rounding of the first pass is removed by the second.
            for _ in 0..2 {
                for direction in &directions {
                    let along = dot(direction, &rest);
                    rest.iter_mut().zip(direction).for_each(|(value, d)| *value -= along * d);
                }
            }
            let left = dot(&rest, &rest).sqrt();
            if left < EXPLAINED {
                let bases: Vec<&Vec<f64>> =
                    independent.iter().map(|&position| &originals[position]).collect();
                let coefficients = combination(&directions, &bases, &unit);
                let members = independent
                    .iter()
                    .zip(coefficients)
                    .filter(|(_, coefficient)| coefficient.abs() > 1e-3)
                    .map(|(&position, _)| reduction.kept[position])
                    .collect();
                reduction.dropped.push((column, Reason::Combination(members)));
                continue;
            }
            directions.push(rest.iter().map(|value| value / left).collect());
            independent.push(originals.len());
        }
        originals.push(unit);
        reduction.kept.push(column);
    }
    reduction
}

/// The column minus its mean, scaled to length 1; `None` if it does not vary.
fn centred_unit(rows: &[Vec<f64>], column: usize) -> Option<Vec<f64>> {
    let largest = rows.iter().map(|row| row[column].abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return None;
    }
    let scaled: Vec<f64> = rows.iter().map(|row| row[column] / largest).collect();
    let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
    let centred: Vec<f64> = scaled.iter().map(|value| value - mean).collect();
    let length = dot(&centred, &centred).sqrt();
    (length > 1e-12 * (rows.len() as f64).sqrt()).then(|| centred.iter().map(|v| v / length).collect())
}

/// Coefficients of `target` on `bases`, whose orthonormal directions are known: back-substitution in
/// the triangle of their products.
fn combination(directions: &[Vec<f64>], bases: &[&Vec<f64>], target: &[f64]) -> Vec<f64> {
    let size = directions.len();
    let mut coefficients = vec![0.0; size];
    for row in (0..size).rev() {
        let explained: f64 =
            (row + 1..size).map(|column| dot(&directions[row], bases[column]) * coefficients[column]).sum();
        let diagonal = dot(&directions[row], bases[row]);
        coefficients[row] = (dot(&directions[row], target) - explained) / diagonal;
    }
    coefficients
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_copies_and_combinations_are_named() {
        let rows: Vec<Vec<f64>> = (0..12)
            .map(|index| {
                let (a, b) = (f64::from(index % 4), f64::from(index / 4) * 3.0 + f64::from(index % 2));
                vec![7.0, a, 2.0 * a + 1.0, b, a - 3.0 * b + 2.0, f64::from(index * index)]
            })
            .collect();
        let reduction = reduce(&rows, 6, 12);
        assert_eq!(reduction.kept, [1, 3, 5]);
        assert_eq!(
            reduction.dropped,
            [(0, Reason::Constant), (2, Reason::Duplicate(1)), (4, Reason::Combination(vec![1, 3]))]
        );
    }

    #[test]
    fn many_columns_and_few_rows_stay() {
        let rows: Vec<Vec<f64>> = (0..5)
            .map(|row| (0..50).map(|column| f64::from((row * 7 + column * row * 3) % 11)).collect())
            .collect();
        let reduction = reduce(&rows, 50, 5);
        assert!(reduction.dropped.iter().all(|(_, reason)| !matches!(reason, Reason::Combination(_))));
    }
}
