//! Gradient-boosted regression trees for the logarithm of a time, under the asymmetric (pinball) loss.
//!
//! J. H. Friedman, "Greedy function approximation: a gradient boosting machine", The Annals of
//! Statistics 29(5), 2001; R. Koenker, G. Bassett, "Regression quantiles", Econometrica 46(1), 1978. A
//! level above ½ makes under-estimation the dearer error. No randomness: the same rows give the same
//! trees, bit for bit.

/// How trees are grown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostOptions {
    /// The level of the loss: an under-estimate costs `level`, an over-estimate `1 − level` per unit.
    pub level: f64,
    /// How many trees.
    pub trees: usize,
    /// How deep they are.
    pub depth: usize,
    /// How much of a tree's advice is taken.
    pub rate: f64,
    /// The fewest rows of a leaf.
    pub smallest_leaf: usize,
}

impl Default for BoostOptions {
    fn default() -> Self {
        BoostOptions { level: 0.5, trees: 120, depth: 5, rate: 0.1, smallest_leaf: 20 }
    }
}

/// Most values a feature is told apart by.
const BINS: usize = 64;

#[derive(Debug, Clone, Copy)]
enum Node {
    Split { feature: usize, threshold: f64, left: usize },
    Leaf { value: f64 },
}

/// A trained ensemble.
#[derive(Debug, Clone)]
pub struct Boosted {
    base: f64,
    rate: f64,
    trees: Vec<Vec<Node>>,
}

/// The rows in the form the trees are grown from: the bin of each row's value, feature by feature.
struct Binned {
    edges: Vec<Vec<f64>>,
    bins: Vec<Vec<u8>>,
}

impl Boosted {
    /// Trains on rows of features and a target each. `None` of no rows.
    pub fn train<const N: usize>(rows: &[[f64; N]], targets: &[f64], options: &BoostOptions) -> Option<Self> {
        if rows.is_empty() || rows.len() != targets.len() {
            return None;
        }
        let binned = bin(rows);
        let base = level_of(&mut targets.to_vec(), options.level);
        let mut predictions = vec![base; rows.len()];
        let mut trees = Vec::with_capacity(options.trees);
        for _ in 0..options.trees {
            let residuals: Vec<f64> = targets.iter().zip(&predictions).map(|(y, p)| y - p).collect();
            let level = options.level;
            let gradients: Vec<f64> =
                residuals.iter().map(|&residual| if residual > 0.0 { level } else { level - 1.0 }).collect();
            let grower = Grower {
                binned: &binned,
                residuals: &residuals,
                gradients: &gradients,
                options,
                nodes: Vec::new(),
            };
            let tree = grower.grow();
            for (prediction, row) in predictions.iter_mut().zip(rows) {
                *prediction += options.rate * value_of(&tree, row);
            }
            trees.push(tree);
        }
        Some(Boosted { base, rate: options.rate, trees })
    }

    /// The prediction for one row.
    pub fn predict(&self, row: &[f64]) -> f64 {
        self.base + self.rate * self.trees.iter().map(|tree| value_of(tree, row)).sum::<f64>()
    }
}

fn value_of(tree: &[Node], row: &[f64]) -> f64 {
    let mut place = 0;
    loop {
        match tree[place] {
            Node::Leaf { value } => return value,
            Node::Split { feature, threshold, left } => {
                place = left + usize::from(row[feature] > threshold);
            }
        }
    }
}

/// Sorts each feature's values into bins of about equal size; equal values share a bin.
fn bin<const N: usize>(rows: &[[f64; N]]) -> Binned {
    let mut edges = Vec::with_capacity(N);
    let mut bins = Vec::with_capacity(N);
    for feature in 0..N {
        let mut values: Vec<f64> = rows.iter().map(|row| row[feature]).collect();
        values.sort_unstable_by(f64::total_cmp);
        let mut cuts: Vec<f64> = (1..BINS).map(|cut| values[cut * (values.len() - 1) / BINS]).collect();
        cuts.dedup();
        bins.push(rows.iter().map(|row| cuts.partition_point(|&edge| edge < row[feature]) as u8).collect());
        edges.push(cuts);
    }
    Binned { edges, bins }
}

/// The value below which the share `level` of the values lies.
fn level_of(values: &mut [f64], level: f64) -> f64 {
    let place = ((values.len() - 1) as f64 * level).round() as usize;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Grows one tree on the signs of the residuals, the negative gradient of the pinball loss.
struct Grower<'a> {
    binned: &'a Binned,
    residuals: &'a [f64],
    gradients: &'a [f64],
    options: &'a BoostOptions,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    rows: f64,
    gradient: f64,
}

impl Tally {
    fn gain(self) -> f64 {
        if self.rows > 0.0 { self.gradient * self.gradient / self.rows } else { 0.0 }
    }
}

impl Grower<'_> {
    fn grow(mut self) -> Vec<Node> {
        self.nodes.push(Node::Leaf { value: 0.0 });
        let mut rows: Vec<u32> = (0..self.residuals.len() as u32).collect();
        self.grow_at(0, &mut rows, 0);
        self.nodes
    }

    fn grow_at(&mut self, place: usize, rows: &mut [u32], depth: usize) {
        let split = if depth < self.options.depth { self.best_split(rows) } else { None };
        let Some((feature, cut)) = split else {
            let mut residuals: Vec<f64> = rows.iter().map(|&row| self.residuals[row as usize]).collect();
            self.nodes[place] = Node::Leaf { value: level_of(&mut residuals, self.options.level) };
            return;
        };
        let bins = &self.binned.bins[feature];
        rows.sort_by_key(|&row| usize::from(bins[row as usize]) > cut);
        let middle = rows.partition_point(|&row| usize::from(bins[row as usize]) <= cut);
        let left = self.nodes.len();
        self.nodes.extend([Node::Leaf { value: 0.0 }; 2]);
        self.nodes[place] = Node::Split { feature, threshold: self.binned.edges[feature][cut], left };
        let (below, above) = rows.split_at_mut(middle);
        self.grow_at(left, below, depth + 1);
        self.grow_at(left + 1, above, depth + 1);
    }

    /// The feature and the last bin of the left side that part the gradients best.
    fn best_split(&self, rows: &[u32]) -> Option<(usize, usize)> {
        let smallest = self.options.smallest_leaf as f64;
        let total = Tally {
            rows: rows.len() as f64,
            gradient: rows.iter().map(|&row| self.gradients[row as usize]).sum(),
        };
        let mut best = None;
        let mut best_gain = total.gain() + 1e-9;
        for (feature, bins) in self.binned.bins.iter().enumerate() {
            let mut tallies = [Tally::default(); BINS];
            for &row in rows {
                let tally = &mut tallies[usize::from(bins[row as usize])];
                tally.rows += 1.0;
                tally.gradient += self.gradients[row as usize];
            }
            let mut left = Tally::default();
            for (cut, tally) in tallies.iter().enumerate().take(self.binned.edges[feature].len()) {
                left.rows += tally.rows;
                left.gradient += tally.gradient;
                let right = Tally { rows: total.rows - left.rows, gradient: total.gradient - left.gradient };
                if left.rows < smallest || right.rows < smallest {
                    continue;
                }
                let gain = left.gain() + right.gain();
                if gain > best_gain {
                    best_gain = gain;
                    best = Some((feature, cut));
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_learned_and_levels_are_kept() {
        let rows: Vec<[f64; 2]> = (0..1000).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
        // 0 or 5 by the first feature, plus 0 … 99 hundredths that no feature tells
        let noise = |i: usize| ((i * 37) % 101) as f64 / 100.0;
        let targets: Vec<f64> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| 5.0 * f64::from(u8::from(row[0] > 4.5)) + noise(i))
            .collect();
        let share_below = |level: f64| {
            let options = BoostOptions { level, ..BoostOptions::default() };
            let model = Boosted::train(&rows, &targets, &options).unwrap();
            assert!((model.predict(&[1.0, 50.0]) - level).abs() < 0.25);
            assert!((model.predict(&[8.0, 50.0]) - 5.0 - level).abs() < 0.25);
            let under = rows.iter().zip(&targets).filter(|(row, y)| model.predict(*row) < **y).count();
            under as f64 / 1000.0
        };
        assert!((share_below(0.5) - 0.5).abs() < 0.08);
        assert!((share_below(0.9) - 0.1).abs() < 0.06);
    }

    #[test]
    fn nothing_to_learn_from_gives_no_model() {
        assert!(Boosted::train::<1>(&[], &[], &BoostOptions::default()).is_none());
        let model = Boosted::train(&[[1.0]], &[3.0], &BoostOptions::default()).unwrap();
        assert_eq!(model.predict(&[9.0]), 3.0);
    }
}
