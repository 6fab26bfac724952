//! The values a feature takes and who takes which. A sweep has few levels of a feature and many runs,
//! so whatever depends on one feature alone is found once for two levels, not for two runs.

/// A feature's values.
pub(super) struct Levels {
    /// Different ones, rising.
    pub values: Vec<f64>,
    /// Index of each row's value.
    pub of_row: Vec<u32>,
}

impl Levels {
    pub(super) fn of(rows: &[&[f64]], column: usize) -> Levels {
        let mut values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let level = |value: f64| values.partition_point(|known| *known < value) as u32;
        let of_row = rows.iter().map(|row| level(row[column])).collect();
        Levels { values, of_row }
    }

    /// exp(−½ ((a − b)/width)²) for all pairs of levels, those of one `a` together.
    pub(super) fn bells(&self, width: f64) -> Vec<f64> {
        let narrow = width.recip();
        self.values.iter().flat_map(|&a| self.values.iter().map(move |&b| bell((a - b) * narrow))).collect()
    }

    /// Of a table with an entry for each pair of levels, the part of a row's level.
    pub(super) fn part<'a>(&self, table: &'a [f64], row: usize) -> &'a [f64] {
        let count = self.values.len();
        &table[self.of_row[row] as usize * count..][..count]
    }

    /// The same to be written to.
    pub(super) fn part_mut<'a>(&self, table: &'a mut [f64], row: usize) -> &'a mut [f64] {
        let count = self.values.len();
        &mut table[self.of_row[row] as usize * count..][..count]
    }
}

/// Beyond this many widths nothing is left of a bell.
const EDGE: f64 = 9.4;
/// The exponent is divided by 2 to this, and the result squared as often.
const SQUARINGS: usize = 6;

/// exp(−½ x²) without a branch or a call, so that the compiler takes several at a time: the series of the
/// exponential for a 64th of the exponent, squared six times. Off by less than 1e-11.
pub(super) fn bell(x: f64) -> f64 {
    let x = x.abs().min(EDGE);
    let y = -0.5 * x * x / f64::from(1u32 << SQUARINGS);
    let mut power = 1.0;
    for divisor in [6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        power = 1.0 + y * power * (1.0 / divisor);
    }
    for _ in 0..SQUARINGS {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_is_an_exponential() {
        for step in -2000..=2000 {
            let x = f64::from(step) * 0.01;
            let off = (bell(x) - (-0.5 * x * x).exp()).abs();
            assert!(off < 1e-11, "at {x} off by {off}");
        }
    }
}
