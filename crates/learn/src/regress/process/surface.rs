//! Surfaces of every two features: Σ over runs of a weight times Σ over pairs of features of the product of
//! their bells (an additive Gaussian process of second order; Duvenaud, Nickisch and Rasmussen 2011).

use serde::{Deserialize, Serialize};

use super::levels::Levels;

/// All surfaces together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Surfaces {
    /// For each feature, the width of its bells.
    widths: Vec<f64>,
    /// For each feature, its levels.
    levels: Vec<Vec<f64>>,
    /// For each feature, the level of each run.
    of_run: Vec<Vec<usize>>,
    /// Of each run.
    weights: Vec<f64>,
}

impl Surfaces {
    pub(super) fn of(levels: &[Levels], widths: Vec<f64>, weights: Vec<f64>) -> Surfaces {
        Surfaces {
            widths,
            levels: levels.iter().map(|levels| levels.values.clone()).collect(),
            of_run: levels.iter().map(|levels| levels.of_row.clone()).collect(),
            weights,
        }
    }

    pub(super) fn value(&self, place: &[f64]) -> f64 {
        let mut pairs = Pairs::none(self.weights.len());
        for (((levels, of_run), width), x) in
            self.levels.iter().zip(&self.of_run).zip(&self.widths).zip(place)
        {
            let bell = |level: &f64| (-0.5 * ((x - level) / width).powi(2)).exp();
            let bells: Vec<f64> = levels.iter().map(bell).collect();
            pairs.add(&bells, of_run);
        }
        self.weights.iter().enumerate().map(|(run, weight)| weight * pairs.of(run)).sum()
    }

    pub(super) fn check(&self, width: usize) -> bool {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let known = |(of_run, levels): (&Vec<usize>, &Vec<f64>)| {
            of_run.len() == self.weights.len() && of_run.iter().all(|&level| level < levels.len())
        };
        self.widths.len() == width
            && self.levels.len() == width
            && self.of_run.len() == width
            && self.widths.iter().all(|&width| width > 0.0 && width.is_finite())
            && self.levels.iter().all(|levels| finite(levels))
            && self.of_run.iter().zip(&self.levels).all(known)
            && finite(&self.weights)
    }
}

/// Sums over features, and over pairs of them, of what is added one feature at a time.
pub(super) struct Pairs {
    pub sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Pairs {
    pub(super) fn none(count: usize) -> Pairs {
        Pairs { sums: vec![0.0; count], squares: vec![0.0; count] }
    }

    /// Adds a feature: a value for each level, and the level of each.
    pub(super) fn add(&mut self, of_level: &[f64], levels: &[usize]) {
        for ((sum, square), &level) in self.sums.iter_mut().zip(&mut self.squares).zip(levels) {
            let value = of_level[level];
            *sum += value;
            *square += value * value;
        }
    }

    /// The sum of the products of all pairs: half of what the square of the sum has beyond the squares.
    pub(super) fn of(&self, index: usize) -> f64 {
        0.5 * (self.sums[index] * self.sums[index] - self.squares[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_pairs_are_summed() {
        let rows: Vec<Vec<f64>> =
            (0..9).map(|i| vec![f64::from(i % 3), f64::from(i / 3), f64::from(i * i)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let levels: Vec<Levels> = (0..3).map(|column| Levels::of(&rows, column)).collect();
        let widths = vec![0.5, 2.0, 30.0];
        let weights: Vec<f64> = (0..9).map(|i| f64::from(i) - 3.5).collect();
        let surfaces = Surfaces::of(&levels, widths.clone(), weights.clone());
        assert!(surfaces.check(3) && !surfaces.check(2));
        let place = [0.3, 1.7, 20.0];
        let bell = |row: &[f64], j: usize| (-0.5 * ((place[j] - row[j]) / widths[j]).powi(2)).exp();
        let slow: f64 = rows
            .iter()
            .zip(&weights)
            .map(|(row, w)| {
                let [a, b, c] = [bell(row, 0), bell(row, 1), bell(row, 2)];
                w * (a * b + a * c + b * c)
            })
            .sum();
        assert!((surfaces.value(&place) - slow).abs() < 1e-12);
    }
}
