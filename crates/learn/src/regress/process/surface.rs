//! Surfaces of every two features: Σ over runs of a weight times Σ over pairs of features of the product of
//! their bells (an additive Gaussian process of second order; Duvenaud, Nickisch and Rasmussen 2011).

use serde::{Deserialize, Serialize};

use super::levels::{Levels, bell};

/// All surfaces together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Surfaces {
    /// For each feature, the width of its bells.
    widths: Vec<f64>,
    /// For each feature, its levels.
    levels: Vec<Vec<f64>>,
    /// Run by run, for each feature where its level is among all of them in a row: what is read together stands
    /// together.
    of_runs: Vec<u32>,
    /// Of each run.
    weights: Vec<f64>,
}

impl Surfaces {
    pub(super) fn of(levels: &[Levels], widths: Vec<f64>, weights: Vec<f64>) -> Surfaces {
        let first = firsts(levels.iter().map(|levels| levels.values.len()));
        let of_run =
            |run: usize| levels.iter().zip(&first).map(move |(levels, first)| first + levels.of_row[run]);
        Surfaces {
            of_runs: (0..weights.len()).flat_map(of_run).collect(),
            levels: levels.iter().map(|levels| levels.values.clone()).collect(),
            widths,
            weights,
        }
    }

    pub(super) fn value(&self, place: &[f64]) -> f64 {
        let mut bells: Vec<f64> = Vec::with_capacity(self.levels.iter().map(Vec::len).sum());
        for ((levels, width), x) in self.levels.iter().zip(&self.widths).zip(place) {
            let narrow = width.recip();
            bells.extend(levels.iter().map(|level| bell((x - level) * narrow)));
        }
        let runs = self.of_runs.chunks_exact(self.levels.len().max(1)).zip(&self.weights);
        runs.map(|(places, weight)| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for &place in places {
                let value = bells[place as usize];
                sum += value;
                squares += value * value;
            }
            weight * products(sum, squares)
        })
        .sum()
    }

    pub(super) fn check(&self, width: usize) -> bool {
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let first = firsts(self.levels.iter().map(Vec::len));
        let known = |places: &[u32]| {
            let each = places.iter().zip(first.iter().zip(&self.levels));
            each.into_iter().all(|(place, (first, levels))| {
                place.checked_sub(*first).is_some_and(|level| (level as usize) < levels.len())
            })
        };
        self.widths.len() == width
            && self.levels.len() == width
            && self.of_runs.len() == width * self.weights.len()
            && self.widths.iter().all(|&width| width > 0.0 && width.is_finite())
            && self.levels.iter().all(|levels| finite(levels))
            && self.of_runs.chunks_exact(width.max(1)).all(known)
            && finite(&self.weights)
    }
}

/// Where each of several lists begins when they stand in a row.
fn firsts(counts: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut next = 0;
    counts
        .map(|count| {
            let first = next;
            next += count as u32;
            first
        })
        .collect()
}

/// The sum of the products of all pairs: half of what the square of the sum has beyond the squares.
fn products(sum: f64, squares: f64) -> f64 {
    0.5 * (sum * sum - squares)
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
    pub(super) fn add(&mut self, of_level: &[f64], levels: &[u32]) {
        for ((sum, square), &level) in self.sums.iter_mut().zip(&mut self.squares).zip(levels) {
            let value = of_level[level as usize];
            *sum += value;
            *square += value * value;
        }
    }

    /// The sum of the products of all pairs.
    pub(super) fn of(&self, index: usize) -> f64 {
        products(self.sums[index], self.squares[index])
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
        let single = |row: &[f64], j: usize| (-0.5 * ((place[j] - row[j]) / widths[j]).powi(2)).exp();
        let slow: f64 = rows
            .iter()
            .zip(&weights)
            .map(|(row, w)| {
                let [a, b, c] = [single(row, 0), single(row, 1), single(row, 2)];
                w * (a * b + a * c + b * c)
            })
            .sum();
        assert!((surfaces.value(&place) - slow).abs() < 1e-9);
    }
}
