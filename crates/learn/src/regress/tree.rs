//! A regression tree (CART: Breiman, Friedman, Olshen, Stone 1984), with weights.
//!
//! Each split takes the column and threshold that lower the weighted squared error most; ties go to
//! the earlier column and the lower threshold, so that the tree does not depend on row order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Fitted, Regressor, Training};

/// Deeper than any tree that hundreds of rows need; bounds time and recursion.
const DEEPEST: usize = 32;

/// Fits a [`Tree`].
pub(crate) struct DecisionTree;

/// Nodes in the order they were made: children come after their parent, the root is first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Tree {
    pub nodes: Vec<Node>,
}

/// A question or an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Node {
    /// Rows whose column is at most the threshold go to `low`, others to `high`.
    Split { column: usize, threshold: f64, low: usize, high: usize },
    /// The weighted mean of the rows that came here.
    Leaf { value: f64 },
}

impl Regressor for DecisionTree {
    fn standardised(&self) -> bool {
        true
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let mut nodes = Vec::new();
        let rows: Vec<usize> = (0..training.inputs.len()).collect();
        if rows.is_empty() {
            return Err("there are no rows".to_owned());
        }
        let mut waiting = vec![(rows, 0, None)];
        while let Some((rows, depth, parent)) = waiting.pop() {
            let index = nodes.len();
            if let Some((parent, is_high)) = parent
                && let Some(Node::Split { low, high, .. }) = nodes.get_mut(parent)
            {
                *(if is_high { high } else { low }) = index;
            }
            let split = if depth < DEEPEST { best_split(training, &rows) } else { None };
            match split {
                None => nodes.push(Node::Leaf { value: weighted_mean(training, &rows) }),
                Some((column, threshold)) => {
                    nodes.push(Node::Split { column, threshold, low: 0, high: 0 });
                    let (low, high): (Vec<usize>, Vec<usize>) =
                        rows.into_iter().partition(|&row| training.inputs[row][column] <= threshold);
                    waiting.push((high, depth + 1, Some((index, true))));
                    waiting.push((low, depth + 1, Some((index, false))));
                }
            }
        }
        Ok(Fitted::Tree(Tree { nodes }))
    }
}

fn weighted_mean(training: &Training<'_>, rows: &[usize]) -> f64 {
    let total: f64 = rows.iter().map(|&row| training.weights[row]).sum();
    rows.iter().map(|&row| training.weights[row] * training.targets[row]).sum::<f64>() / total
}

/// The column and threshold with the greatest fall in squared error; `None` if nothing falls.
fn best_split(training: &Training<'_>, rows: &[usize]) -> Option<(usize, f64)> {
    let first = training.targets[*rows.first()?];
    if rows.len() < 2 || rows.iter().all(|&row| training.targets[row] == first) {
        return None;
    }
    // Relative to the mean, so that sums do not cancel when targets are large and close together.
    let centre = weighted_mean(training, rows);
    let total: f64 = rows.iter().map(|&row| training.weights[row]).sum();
    let mut best: Option<(f64, usize, f64)> = None;
    let mut order = rows.to_vec();
    for column in 0..training.inputs[rows[0]].len() {
        let value = |row: usize| training.inputs[row][column];
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
        let (mut weight, mut sum) = (0.0, 0.0);
        for pair in order.windows(2) {
            weight += training.weights[pair[0]];
            sum += training.weights[pair[0]] * (training.targets[pair[0]] - centre);
            if value(pair[0]) == value(pair[1]) {
                continue;
            }
            // Between-group sum of squares; the group sums are opposite because of the centre.
            let gain = sum * sum * (1.0 / weight + 1.0 / (total - weight));
            let middle = value(pair[0]) / 2.0 + value(pair[1]) / 2.0;
            // Neighbouring floats may have no float between them.
            let threshold = if middle < value(pair[1]) { middle } else { value(pair[0]) };
            if gain > best.map_or(0.0, |(highest, _, _)| highest * (1.0 + 1e-12)) {
                best = Some((gain, column, threshold));
            }
        }
    }
    best.map(|(_, column, threshold)| (column, threshold))
}

impl Tree {
    /// What each column explains of the differences between the answers, largest first.
    pub(crate) fn describe(&self, name: impl Fn(usize) -> String) -> String {
        // Answers below each node and their mean, children before parents.
        let mut below = vec![(1.0, 0.0); self.nodes.len()];
        let mut explained: BTreeMap<usize, f64> = BTreeMap::new();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            below[index] = match *node {
                Node::Leaf { value } => (1.0, value),
                Node::Split { column, low, high, .. } => {
                    let ((few, left), (many, right)) = (below[low], below[high]);
                    let both = few + many;
                    *explained.entry(column).or_default() += few * many / both * (left - right).powi(2);
                    (both, (few * left + many * right) / both)
                }
            };
        }
        let total: f64 = explained.values().sum();
        let mut shares: Vec<(usize, f64)> =
            explained.into_iter().map(|(column, share)| (column, share / total)).collect();
        shares.retain(|(_, share)| *share >= 0.005);
        shares.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        let texts = shares.iter().map(|(column, share)| format!("{} {:.0} %", name(*column), 100.0 * share));
        format!("importances: {}", texts.collect::<Vec<_>>().join(", "))
    }

    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let mut index = 0;
        // Children come after their parent, so this ends.
        loop {
            match self.nodes.get(index) {
                Some(Node::Leaf { value }) => return *value,
                Some(Node::Split { column, threshold, low, high }) => {
                    let value = row.get(*column).copied().unwrap_or(f64::NAN);
                    let next = if value <= *threshold { *low } else { *high };
                    if next <= index {
                        return f64::NAN;
                    }
                    index = next;
                }
                None => return f64::NAN,
            }
        }
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        if self.nodes.is_empty() {
            return Err("the tree has no nodes".to_owned());
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let sound = match node {
                Node::Leaf { value } => value.is_finite(),
                Node::Split { column, threshold, low, high } => {
                    let child = |child: usize| child > index && child < self.nodes.len();
                    *column < width && threshold.is_finite() && child(*low) && child(*high)
                }
            };
            if !sound {
                return Err(format!("node {index} of the tree leads nowhere"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(inputs: &[Vec<f64>], targets: &[f64], weights: &[f64]) -> Tree {
        let training = Training::plain(inputs, targets, weights);
        match DecisionTree.fit(&training).unwrap() {
            Fitted::Tree(tree) => tree,
            other => panic!("{other:?}"),
        }
    }

    /// Tries every threshold of every column and computes both errors from scratch.
    fn slow_first_error(inputs: &[Vec<f64>], targets: &[f64], weights: &[f64]) -> f64 {
        let error = |rows: &[usize]| -> f64 {
            let total: f64 = rows.iter().map(|&r| weights[r]).sum();
            let mean = rows.iter().map(|&r| weights[r] * targets[r]).sum::<f64>() / total;
            rows.iter().map(|&r| weights[r] * (targets[r] - mean).powi(2)).sum()
        };
        let mut best = f64::INFINITY;
        for column in 0..inputs[0].len() {
            for row in inputs {
                let (low, high): (Vec<usize>, Vec<usize>) =
                    (0..inputs.len()).partition(|&r| inputs[r][column] <= row[column]);
                if !low.is_empty() && !high.is_empty() {
                    best = best.min(error(&low) + error(&high));
                }
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_first_split_is_the_best_one(
            rows in prop::collection::vec((0i32..6, 0i32..6, 0.0..10.0f64, 1.0..3.0f64), 3..25)
        ) {
            let inputs: Vec<Vec<f64>> = rows.iter().map(|r| vec![f64::from(r.0), f64::from(r.1)]).collect();
            let targets: Vec<f64> = rows.iter().map(|r| r.2).collect();
            let weights: Vec<f64> = rows.iter().map(|r| r.3).collect();
            let tree = fit(&inputs, &targets, &weights);
            if let Node::Split { column, threshold, .. } = tree.nodes[0] {
                let (low, high): (Vec<usize>, Vec<usize>) =
                    (0..inputs.len()).partition(|&r| inputs[r][column] <= threshold);
                let mut found = 0.0;
                for side in [low, high] {
                    let total: f64 = side.iter().map(|&r| weights[r]).sum();
                    let mean = side.iter().map(|&r| weights[r] * targets[r]).sum::<f64>() / total;
                    found += side.iter().map(|&r| weights[r] * (targets[r] - mean).powi(2)).sum::<f64>();
                }
                let slow = slow_first_error(&inputs, &targets, &weights);
                prop_assert!((found - slow).abs() < 1e-7 * (1.0 + slow), "{found} {slow}");
            }
            tree.check(2).unwrap();
        }

        /// With different inputs a full tree remembers every row.
        #[test]
        fn distinct_rows_are_remembered(targets in prop::collection::vec(0.1..100.0f64, 1..40)) {
            let inputs: Vec<Vec<f64>> = (0..targets.len()).map(|i| vec![i as f64]).collect();
            let tree = fit(&inputs, &targets, &vec![1.0; targets.len()]);
            for (row, target) in inputs.iter().zip(&targets) {
                prop_assert!((tree.predict(row) - target).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn cycles_and_strange_indices_are_refused() {
        let split = |column, low, high| Node::Split { column, threshold: 0.0, low, high };
        let leaf = Node::Leaf { value: 1.0 };
        assert!(Tree { nodes: vec![split(0, 0, 1), leaf.clone()] }.check(1).is_err());
        assert!(Tree { nodes: vec![split(0, 1, 9), leaf.clone()] }.check(1).is_err());
        assert!(Tree { nodes: vec![split(3, 1, 2), leaf.clone(), leaf.clone()] }.check(1).is_err());
        assert!(Tree { nodes: vec![] }.check(1).is_err());
        assert!(Tree { nodes: vec![split(0, 1, 2), leaf.clone(), leaf] }.check(1).is_ok());
    }
}
