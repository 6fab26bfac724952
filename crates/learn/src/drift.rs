//! Whether runs began to behave differently at some moment.
//!
//! Two questions. Newer runs against what a model said of them, where each has its own spread: a
//! two-sided cumulative sum (Page, Biometrika 1954), which also says since when. All runs against a
//! model that learned from all of them, where nothing says when something happened: Pettitt's rank test
//! for one change (Applied Statistics 1979).

use serde::{Deserialize, Serialize};

use crate::statistics::median;

/// How far a run must be off before it counts, and how much must come together, in standard deviations:
/// the usual choice, one false alarm in some 465 runs (Hawkins and Olwell 1998).
const SLACK: f64 = 0.5;
const ALARM: f64 = 5.0;
/// One run alone is an accident, however far it is off.
const FARTHEST: f64 = 4.0;
/// A spread below this is luck.
const SMALLEST_SPREAD: f64 = 0.03;
/// Fewest runs that make a change.
const FEWEST: usize = 3;
/// A smaller change is of no use to anybody.
const SMALLEST_RATIO: f64 = 1.1;
/// Most that chance may explain of a change found by ranks.
const LARGEST_PROBABILITY: f64 = 0.01;

/// What has most likely changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The program: its command or the files it names are others.
    Program,
    /// The machine: the runs were made on one the others were not.
    Machine,
    /// Nothing harp records.
    Unknown,
}

/// Newer runs that disagree with a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Index of the first of them.
    pub first: usize,
    /// What they took, divided by what the model says: the median.
    pub ratio: f64,
}

/// A moment at which runs began to take longer or shorter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first run after it.
    pub first: usize,
    /// How many times longer runs take after it: the ratio of the medians.
    pub ratio: f64,
    /// The probability that chance makes a change as large.
    pub probability: f64,
}

/// Whether runs in the order of time have come to disagree with predictions: for each, ln(truth/estimate)
/// and the standard deviation the prediction gives it.
pub fn shift(runs: &[(f64, f64)]) -> Option<Shift> {
    let scores: Vec<f64> = runs
        .iter()
        .map(|(residual, spread)| (residual / spread.max(SMALLEST_SPREAD)).clamp(-FARTHEST, FARTHEST))
        .collect();
    [1.0, -1.0].into_iter().find_map(|sign| {
        let (mut sum, mut first, mut alarm) = (0.0f64, 0, None);
        for (index, score) in scores.iter().enumerate() {
            sum += sign * score - SLACK;
            if sum <= 0.0 {
                (sum, first) = (0.0, index + 1);
                // What has come back is no longer of interest.
                alarm = None;
            }
            if sum > ALARM {
                alarm = Some(first);
            }
        }
        let first = alarm.filter(|&first| runs.len() - first >= FEWEST)?;
        let mut residuals: Vec<f64> = runs[first..].iter().map(|run| run.0).collect();
        let ratio = median(&mut residuals)?.exp();
        let score = median(&mut scores[first..].to_vec())?;
        (ratio.max(1.0 / ratio) >= SMALLEST_RATIO && sign * score >= 1.0).then_some(Shift { first, ratio })
    })
}

/// The moment, if there is one, at which residuals ln(truth/estimate) in the order of time changed.
pub fn change(residuals: &[f64]) -> Option<Change> {
    let count = residuals.len();
    let order = |left: f64, right: f64| match left.total_cmp(&right) {
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => 1.0,
    };
    // How the runs up to each one compare with those after it, summed as Pettitt does.
    let mut sum = 0.0;
    let mut largest = (0.0, 0);
    for index in 0..count {
        sum += residuals.iter().map(|other| order(residuals[index], *other)).sum::<f64>();
        let inside = index + 1 >= FEWEST && count - (index + 1) >= FEWEST;
        if inside && f64::abs(sum) > f64::abs(largest.0) {
            largest = (sum, index + 1);
        }
    }
    let (sum, first) = largest;
    let size = count as f64;
    let probability = (2.0 * (-6.0 * sum * sum / (size.powi(3) + size.powi(2))).exp()).min(1.0);
    if first == 0 || probability > LARGEST_PROBABILITY {
        return None;
    }
    let (before, since) = residuals.split_at(first);
    ratio_since(before, since).map(|ratio| Change { first, ratio, probability })
}

/// How many times longer runs take since a known moment than before it, by their residuals
/// ln(truth/estimate); `None` where they are too few or the difference is of no use to anybody.
pub fn ratio_since(before: &[f64], since: &[f64]) -> Option<f64> {
    if before.len() < FEWEST || since.len() < FEWEST {
        return None;
    }
    let ratio = (median(&mut since.to_vec())? - median(&mut before.to_vec())?).exp();
    (ratio.max(1.0 / ratio) >= SMALLEST_RATIO).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers around 0 with a standard deviation of about 1, from a fixed sequence.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
    }

    #[test]
    fn noise_is_no_drift() {
        let alarms = (0..200).filter(|&seed| {
            let runs: Vec<(f64, f64)> = noise(30, seed).into_iter().map(|z| (0.05 * z, 0.05)).collect();
            shift(&runs).is_some()
        });
        assert!(alarms.count() <= 2);
        let changes = (0..200).filter(|&seed| {
            change(&noise(30, seed).into_iter().map(|z| 0.1 * z).collect::<Vec<_>>()).is_some()
        });
        assert!(changes.count() <= 4);
    }

    #[test]
    fn a_slower_program_is_found_with_its_moment_and_size() {
        let mut runs: Vec<(f64, f64)> = noise(20, 7).into_iter().map(|z| (0.05 * z, 0.05)).collect();
        runs[12..].iter_mut().for_each(|run| run.0 += 2.0f64.ln());
        let found = shift(&runs).unwrap();
        assert!((11..=12).contains(&found.first), "{found:?}");
        assert!((found.ratio - 2.0).abs() < 0.2, "{found:?}");
        let residuals: Vec<f64> = runs.iter().map(|run| run.0).collect();
        let found = change(&residuals).unwrap();
        // The run before may by chance be the slowest of its kind.
        assert!((11..=12).contains(&found.first), "{found:?}");
        assert!((found.ratio - 2.0).abs() < 0.2 && found.probability < 0.01, "{found:?}");
        let faster: Vec<(f64, f64)> = runs.iter().map(|run| (-run.0, run.1)).collect();
        assert!((shift(&faster).unwrap().ratio - 0.5).abs() < 0.1);
    }

    #[test]
    fn one_wild_run_and_a_small_difference_are_none() {
        let mut runs = vec![(0.0, 0.05); 10];
        runs[9].0 = 3.0;
        assert_eq!(shift(&runs), None);
        assert_eq!(shift(&[(0.06, 0.03); 40]), None, "6 % is of no use to anybody");
        assert_eq!(shift(&[(0.5, 1.0); 40]), None, "well inside what was said");
        assert_eq!(shift(&[(0.7, 0.05); 2]), None, "two runs are too few");
    }

    #[test]
    fn runs_around_a_known_moment_are_compared_where_there_are_enough() {
        let found = ratio_since(&[0.0, 0.1, -0.1], &[0.7, 0.6, 0.8]).unwrap();
        assert!((found - 0.7f64.exp()).abs() < 1e-12);
        assert_eq!(ratio_since(&[0.0, 0.1, -0.1], &[0.7, 0.7]), None);
        assert_eq!(ratio_since(&[0.0, 0.1, -0.1], &[0.05, 0.0, 0.1]), None);
    }

    proptest! {
        #[test]
        fn any_numbers_are_answered(runs in prop::collection::vec((-100.0..100.0f64, 0.0..1e3f64), 0..40)) {
            let found = shift(&runs);
            prop_assert!(found.is_none_or(|found| found.first < runs.len() && found.ratio > 0.0));
            let residuals: Vec<f64> = runs.iter().map(|run| run.0).collect();
            prop_assert!(change(&residuals).is_none_or(|found| found.first < runs.len()));
        }
    }
}
