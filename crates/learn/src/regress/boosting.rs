//! Gradient-boosted trees on the logarithm of the target (Friedman, Annals of Statistics 2001), with
//! weights, histograms of up to 64 bins a column, and a sample of the rows for each tree. Trees
//! cannot go beyond what was measured, but find steps that no law has.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::tree::{Node, Tree};
use super::{Fitted, Regressor, Training};

const ROUNDS: usize = 250;
const RATE: f64 = 0.06;
const DEPTH: usize = 4;
/// Share of the rows each tree sees.
const SAMPLE: f64 = 0.75;
/// Leaf values are shrunk as if this many average rows of value 0 were in the leaf.
const SHRINKAGE: f64 = 1.0;
/// Fewest rows of a leaf.
const FEWEST: usize = 2;
const BINS: usize = 64;
const FEWEST_CONFIGURATIONS: usize = 8;
const MOST_TREES: usize = 5000;
/// Residuals closer to a quantile than this count as this far from it.
const NEAR: f64 = 0.05;

/// Fits a [`Boosted`].
pub(crate) struct BoostingRegression;

/// ln T = base + Σ tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Boosted {
    pub base: f64,
    pub trees: Vec<Tree>,
    /// Share of the squared error each column took away.
    pub importances: Vec<f64>,
}

impl Regressor for BoostingRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let logarithms: Vec<f64> = training.targets.iter().map(|target| target.ln()).collect();
        Boosted::fit(training, &logarithms).map(Fitted::Boosted)
    }
}

/// Columns as bins, with the thresholds between them.
struct Bins {
    /// For each column the upper ends of all bins but the last.
    thresholds: Vec<Vec<f64>>,
    /// For each column the bin of each row.
    columns: Vec<Vec<u8>>,
}

/// Weight, weighted sum of residuals and number of rows.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: f64,
    residual: f64,
    rows: usize,
}

impl Boosted {
    /// Fits trees to the given logarithms.
    pub(super) fn fit(training: &Training<'_>, logarithms: &[f64]) -> Result<Boosted, String> {
        if training.configurations < FEWEST_CONFIGURATIONS {
            return Err(format!(
                "{} configurations are too few, it needs {FEWEST_CONFIGURATIONS}",
                training.configurations
            ));
        }
        let count = logarithms.len();
        let total: f64 = training.weights.iter().sum();
        let weights: Vec<f64> = training.weights.iter().map(|weight| weight * count as f64 / total).collect();
        let penalty = training.penalty;
        let mut pairs: Vec<(f64, f64)> = logarithms.iter().copied().zip(weights.iter().copied()).collect();
        let base = penalty.centre(&mut pairs);
        let bins = Bins::of(training.inputs);
        let mut residuals: Vec<f64> = logarithms.iter().map(|y| y - base).collect();
        let mut random = Pcg64::seed_from_u64(training.seed);
        let mut importances = vec![0.0; bins.columns.len()];
        let mut trees = Vec::new();
        for _ in 0..ROUNDS {
            let threshold = (SAMPLE * f64::from(u32::MAX)) as u32;
            let mut rows: Vec<usize> = (0..count).filter(|_| random.next_u32() < threshold).collect();
            if rows.len() < 2 * FEWEST {
                rows = (0..count).collect();
            }
            // Other losses than squares count residuals by where they lie now.
            let counted: Vec<f64> = residuals
                .iter()
                .zip(&weights)
                .map(|(&residual, weight)| weight * penalty.weight(residual, NEAR))
                .collect();
            let tree = bins.tree(&rows, &residuals, &counted, &mut importances);
            for (row, residual) in residuals.iter_mut().enumerate() {
                *residual -= tree.predict(&training.inputs[row]);
            }
            trees.push(tree);
        }
        let sum: f64 = importances.iter().sum();
        if sum > 0.0 {
            importances.iter_mut().for_each(|importance| *importance /= sum);
        }
        let boosted = Boosted { base, trees, importances };
        boosted.check(training.inputs.first().map_or(0, Vec::len))?;
        Ok(boosted)
    }

    /// ln T.
    pub(super) fn logarithm(&self, row: &[f64]) -> f64 {
        self.base + self.trees.iter().map(|tree| tree.predict(row)).sum::<f64>()
    }

    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        self.logarithm(row).min(700.0).exp()
    }

    pub(super) fn parameters(&self) -> usize {
        self.trees.iter().map(|tree| tree.nodes.len()).sum()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let shares = self.importances.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share));
        if !self.base.is_finite()
            || self.trees.len() > MOST_TREES
            || self.importances.len() != width
            || !shares
        {
            return Err("the boosted trees do not fit the features".to_owned());
        }
        self.trees.iter().try_for_each(|tree| tree.check(width))
    }

    /// The columns that took most of the error away.
    pub(crate) fn describe(&self, name: impl Fn(usize) -> String) -> String {
        let mut order: Vec<usize> = (0..self.importances.len()).collect();
        order.sort_by(|&a, &b| self.importances[b].total_cmp(&self.importances[a]).then(a.cmp(&b)));
        let texts: Vec<String> = order
            .iter()
            .filter(|&&column| self.importances[column] >= 0.005)
            .map(|&column| format!("{} {:.0} %", name(column), 100.0 * self.importances[column]))
            .collect();
        format!("importances: {}", texts.join(", "))
    }
}

impl Bins {
    fn of(inputs: &[Vec<f64>]) -> Bins {
        let width = inputs.first().map_or(0, Vec::len);
        let mut bins = Bins { thresholds: Vec::new(), columns: Vec::new() };
        for column in 0..width {
            let mut values: Vec<f64> = inputs.iter().map(|row| row[column]).collect();
            values.sort_by(f64::total_cmp);
            let mut levels = values.clone();
            levels.dedup();
            let cut = |low: f64, high: f64| {
                let middle = low / 2.0 + high / 2.0;
                if middle < high { middle } else { low }
            };
            let thresholds: Vec<f64> = if levels.len() <= BINS {
                levels.windows(2).map(|pair| cut(pair[0], pair[1])).collect()
            } else {
                let mut thresholds: Vec<f64> =
                    (1..BINS).map(|bin| values[bin * values.len() / BINS]).collect();
                thresholds.dedup();
                thresholds
            };
            let bin = |row: &Vec<f64>| thresholds.partition_point(|&t| t < row[column]) as u8;
            bins.columns.push(inputs.iter().map(bin).collect());
            bins.thresholds.push(thresholds);
        }
        bins
    }

    /// One tree on some rows, grown level by level.
    fn tree(&self, rows: &[usize], residuals: &[f64], weights: &[f64], importances: &mut [f64]) -> Tree {
        let mut nodes = Vec::new();
        let mut waiting = vec![(rows.to_vec(), 0, None::<(usize, bool)>)];
        while let Some((rows, depth, parent)) = waiting.pop() {
            let index = nodes.len();
            if let Some((parent, is_high)) = parent
                && let Some(Node::Split { low, high, .. }) = nodes.get_mut(parent)
            {
                *(if is_high { high } else { low }) = index;
            }
            let mut all = Sum::default();
            rows.iter().for_each(|&row| all.add(weights[row], residuals[row]));
            let split = if depth < DEPTH { self.split(&rows, residuals, weights, all) } else { None };
            match split {
                None => nodes.push(Node::Leaf { value: RATE * all.value() }),
                Some((column, bin, gain)) => {
                    importances[column] += gain;
                    let threshold = self.thresholds[column][bin];
                    nodes.push(Node::Split { column, threshold, low: 0, high: 0 });
                    let (low, high): (Vec<usize>, Vec<usize>) =
                        rows.into_iter().partition(|&row| usize::from(self.columns[column][row]) <= bin);
                    waiting.push((high, depth + 1, Some((index, true))));
                    waiting.push((low, depth + 1, Some((index, false))));
                }
            }
        }
        Tree { nodes }
    }

    /// The column and bin whose split gains most, and the gain.
    fn split(
        &self,
        rows: &[usize],
        residuals: &[f64],
        weights: &[f64],
        all: Sum,
    ) -> Option<(usize, usize, f64)> {
        if rows.len() < 2 * FEWEST {
            return None;
        }
        let mut best: Option<(usize, usize, f64)> = None;
        let mut histogram = [Sum::default(); BINS];
        for (column, bins) in self.columns.iter().enumerate() {
            let cuts = self.thresholds[column].len();
            histogram[..=cuts].fill(Sum::default());
            rows.iter().for_each(|&row| histogram[usize::from(bins[row])].add(weights[row], residuals[row]));
            let mut low = Sum::default();
            for (bin, sum) in histogram[..cuts].iter().enumerate() {
                low.weight += sum.weight;
                low.residual += sum.residual;
                low.rows += sum.rows;
                let high = Sum {
                    weight: all.weight - low.weight,
                    residual: all.residual - low.residual,
                    rows: all.rows - low.rows,
                };
                if sum.rows == 0 || low.rows < FEWEST || high.rows < FEWEST {
                    continue;
                }
                let gain = low.gain() + high.gain() - all.gain();
                if gain > best.map_or(1e-12, |(_, _, highest)| highest * (1.0 + 1e-9)) {
                    best = Some((column, bin, gain));
                }
            }
        }
        best
    }
}

impl Sum {
    fn add(&mut self, weight: f64, residual: f64) {
        self.weight += weight;
        self.residual += weight * residual;
        self.rows += 1;
    }

    fn value(self) -> f64 {
        self.residual / (self.weight + SHRINKAGE)
    }

    fn gain(self) -> f64 {
        self.residual * self.residual / (self.weight + SHRINKAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_and_named() {
        let inputs: Vec<Vec<f64>> = (0..120).map(|i| vec![f64::from(i % 12), f64::from(i / 12)]).collect();
        let law = |row: &[f64]| if row[0] > 6.0 { 20.0 } else { 2.0 + 0.1 * row[1] };
        let targets: Vec<f64> = inputs.iter().map(|row| law(row)).collect();
        let weights = vec![1.0; 120];
        let training = Training {
            inputs: &inputs,
            targets: &targets,
            weights: &weights,
            roles: &[],
            configurations: 120,
            seed: 3,
            penalty: super::super::Penalty::Squares,
            law: None,
        };
        let Fitted::Boosted(found) = BoostingRegression.fit(&training).unwrap() else { panic!() };
        for row in [[2.0, 3.0], [9.0, 5.0]] {
            assert!((found.predict(&row) / law(&row) - 1.0).abs() < 0.03, "{row:?}");
        }
        let text = found.describe(|column| ["a", "b"][column].into());
        assert!(text.starts_with("importances: a "), "{text}");
    }
}
