//! The values a feature takes and who takes which. A sweep has few levels of a feature and many runs,
//! so whatever depends on one feature alone is found once for two levels, not for two runs.

/// A feature's values.
pub(super) struct Levels {
    /// Different ones, rising.
    pub values: Vec<f64>,
    /// Index of each row's value.
    pub of_row: Vec<usize>,
}

impl Levels {
    pub(super) fn of(rows: &[&[f64]], column: usize) -> Levels {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let level = |value: f64| values.partition_point(|known| *known < value);
        let of_row = rows.iter().map(|row| level(row[column])).collect();
        Levels { values, of_row }
    }

    /// exp(−½ ((a − b)/width)²) for all pairs of levels, those of one `a` together.
    pub(super) fn bells(&self, width: f64) -> Vec<f64> {
        let bell = |a: f64, b: f64| (-0.5 * ((a - b) / width).powi(2)).exp();
        self.values.iter().flat_map(|&a| self.values.iter().map(move |&b| bell(a, b))).collect()
    }

    /// Of a table with an entry for each pair of levels, the part of a row's level.
    pub(super) fn part<'a>(&self, table: &'a [f64], row: usize) -> &'a [f64] {
        let count = self.values.len();
        &table[self.of_row[row] * count..][..count]
    }

    /// The same to be written to.
    pub(super) fn part_mut<'a>(&self, table: &'a mut [f64], row: usize) -> &'a mut [f64] {
        let count = self.values.len();
        &mut table[self.of_row[row] * count..][..count]
    }
}
