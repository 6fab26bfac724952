//! Which run to make next: the one that takes away most of the doubt about the cases to be predicted,
//! for each second (or unit of money) it costs.
//!
//! Doubt is the variance of ln T under a belief held before anything is run: a power law with unknown
//! exponents that may depend on the other features, and a smooth departure from it. What a run would take away then follows from where it
//! lies alone, not from what it will measure, and is exact (Cohn, Neural Networks 1996; Seo et al.,
//! IJCNN 2000). How long runs take is the caller's to say: a model knows, once there are some.

use harp_core::Value;

use crate::prepare::{Encoder, number_of};
use crate::regress::Cholesky;

/// Standard deviations of the belief: of the level, of an exponent (for a standard deviation of the
/// feature's logarithm), of what another feature changes about an exponent (methods that scale
/// differently), and of the departure from the law.
const LEVEL: f64 = 3.0;
const SLOPE: f64 = 1.5;
const INTERACTION: f64 = 0.3;
const DEPARTURE: f64 = 0.3;
/// How far a departure reaches, in standard deviations of the features.
const REACH: f64 = 1.5;
/// Noise of one run, unless repetitions say more.
const NOISE: f64 = 0.05;

/// A case: one cell a column, `None` where missing.
pub type Place = Vec<Option<Value>>;

/// What one more run would do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// Index among the candidates.
    pub candidate: usize,
    /// The share of the doubt that is left which it takes away, 0 to 1.
    pub share: f64,
}

/// Doubt about some cases, given where runs were made.
pub struct Doubt {
    cases: Vec<Vec<f64>>,
    candidates: Vec<Vec<f64>>,
    runs: Vec<Vec<f64>>,
    noise: f64,
}

impl Doubt {
    /// Places of runs made, of runs that could be made, and of the cases to be predicted; all with the
    /// same columns. `noise` is the standard deviation of ln T between repetitions, if it is known.
    pub fn new(runs: &[Place], candidates: &[Place], cases: &[Place], noise: Option<f64>) -> Doubt {
        let all: Vec<&Place> = runs.iter().chain(candidates).chain(cases).collect();
        let mut places = coordinates(&all);
        let cases = places.split_off(runs.len() + candidates.len());
        let candidates = places.split_off(runs.len());
        let noise = noise.filter(|noise| noise.is_finite()).unwrap_or(0.0).max(NOISE);
        Doubt { cases, candidates, runs: places, noise }
    }

    /// The standard deviation of ln T the belief leaves, averaged over the cases.
    pub fn deviation(&self) -> f64 {
        let variance: f64 = self.left(&self.cases).iter().map(|(variance, _)| variance).sum();
        (variance / self.cases.len().max(1) as f64).max(0.0).sqrt()
    }

    /// What each candidate would take away, in the order they were given.
    pub fn gains(&self) -> Vec<Gain> {
        let cases = self.left(&self.cases);
        let total: f64 = cases.iter().map(|(variance, _)| variance).sum();
        let of_candidates = self.left(&self.candidates);
        let gain = |(index, (variance, solved)): (usize, &(f64, Vec<f64>))| {
            let taken: f64 = cases
                .iter()
                .zip(&self.cases)
                .map(|((_, of_case), place)| {
                    let known: f64 = of_case.iter().zip(solved).map(|(left, right)| left * right).sum();
                    (covariance(place, &self.candidates[index]) - known).powi(2)
                })
                .sum();
            let share = taken / (variance + self.noise.powi(2)) / total;
            Gain { candidate: index, share: if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } }
        };
        of_candidates.iter().enumerate().map(gain).collect()
    }

    /// The candidate that takes away most for what it costs; among equals the first. Candidates whose
    /// cost is not a positive number are passed over.
    pub fn best(&self, costs: &[f64]) -> Option<Gain> {
        let gains = self.gains().into_iter().filter_map(|gain| {
            let cost = costs.get(gain.candidate).copied().filter(|cost| *cost > 0.0 && cost.is_finite())?;
            (gain.share > 0.0).then_some((gain, gain.share / cost))
        });
        gains.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(gain, _)| gain)
    }

    /// For each place the variance the runs leave, and the solution L⁻¹·k that covariances follow from.
    fn left(&self, places: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
        let count = self.runs.len();
        let kernel = (0..count).map(|row| {
            let mut values: Vec<f64> =
                self.runs[..=row].iter().map(|other| covariance(&self.runs[row], other)).collect();
            values[row] += self.noise.powi(2);
            values.resize(count, 0.0);
            values
        });
        let Some(factor) = Cholesky::of(kernel.collect()) else {
            return places.iter().map(|place| (covariance(place, place), Vec::new())).collect();
        };
        places
            .iter()
            .map(|place| {
                let solved = factor.half_solve(self.runs.iter().map(|run| covariance(place, run)).collect());
                let known: f64 = solved.iter().map(|value| value * value).sum();
                ((covariance(place, place) - known).max(0.0), solved)
            })
            .collect()
    }
}

/// The belief's covariance of ln T between two places.
fn covariance(left: &[f64], right: &[f64]) -> f64 {
    let product: f64 = left.iter().zip(right).map(|(l, r)| l * r).sum();
    let squares: f64 = left.iter().zip(right).map(|(l, r)| (l * r).powi(2)).sum();
    // The sum over pairs of different features.
    let interaction = INTERACTION.powi(2) * 0.5 * (product.powi(2) - squares);
    let distance: f64 = left.iter().zip(right).map(|(l, r)| (l - r).powi(2)).sum();
    let departure = DEPARTURE.powi(2) * (-0.5 * distance / REACH.powi(2)).exp();
    LEVEL.powi(2) + SLOPE.powi(2) * product + interaction + departure
}

/// Cells as standardised coordinates: logarithms of numbers that are all positive, other numbers and
/// categories as the encoder gives them.
pub(crate) fn coordinates(places: &[&Place]) -> Vec<Vec<f64>> {
    let width = places.iter().map(|place| place.len()).max().unwrap_or(0);
    let cells: Vec<Vec<Option<&Value>>> =
        places.iter().map(|place| (0..width).map(|cell| place.get(cell)?.as_ref()).collect()).collect();
    let encoder = Encoder::fit(width, &cells);
    let mut rows: Vec<Vec<f64>> = cells.iter().map(|cells| encoder.encode(cells)).collect();
    let roles = encoder.columns();
    for (column, role) in roles.iter().enumerate() {
        let numbers = cells.iter().filter_map(|row| row[role.feature].and_then(number_of));
        let positive = numbers.clone().all(|number| number > 0.0) && numbers.count() > 0;
        if positive && role.role == crate::prepare::Role::Number {
            rows.iter_mut().for_each(|row| row[column] = row[column].max(f64::MIN_POSITIVE).ln());
        }
        let count = rows.len().max(1) as f64;
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        let variance = rows.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / count;
        let deviation = if variance.sqrt() > 1e-9 * (1.0 + mean.abs()) { variance.sqrt() } else { 1.0 };
        rows.iter_mut().for_each(|row| row[column] = (row[column] - mean) / deviation);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(n: i64, threads: i64) -> Place {
        vec![Some(Value::Integer(n)), Some(Value::Integer(threads))]
    }

    #[test]
    fn with_nothing_known_the_case_itself_tells_most() {
        let candidates = [place(10, 1), place(100, 1), place(1000, 1)];
        let gains = Doubt::new(&[], &candidates, &[place(1000, 1)], None).gains();
        assert!(gains[2].share > gains[1].share && gains[1].share > gains[0].share, "{gains:?}");
        assert!(gains[2].share > 0.99);
    }

    #[test]
    fn what_was_run_teaches_little_again() {
        let candidates = [place(100, 1), place(1000, 1)];
        let case = [place(10_000, 1)];
        let fresh = Doubt::new(&[], &candidates, &case, None).gains();
        let again = Doubt::new(&[place(100, 1)], &candidates, &case, None).gains();
        assert!(again[0].share < 0.2 * fresh[0].share, "{fresh:?} {again:?}");
        assert!(again[1].share > again[0].share);
    }

    #[test]
    fn a_feature_the_cases_do_not_vary_is_left_alone() {
        let runs = [place(10, 1), place(100, 1)];
        let candidates = [place(1000, 1), place(1000, 8)];
        let gains = Doubt::new(&runs, &candidates, &[place(10_000, 1)], None).gains();
        assert!(gains[0].share > gains[1].share, "{gains:?}");
    }

    proptest! {
        /// Against the obvious way: doubt with the run made is what the gain says.
        #[test]
        fn gains_are_what_doubt_falls_by(
            places in prop::collection::vec((1i64..1000, 1i64..16), 3..9),
            split in 1usize..3,
        ) {
            let all: Vec<Place> = places.iter().map(|&(n, threads)| place(n, threads)).collect();
            let cases = &all[..split];
            let (runs, candidates) = all[split..].split_at((all.len() - split) / 2);
            let doubt = Doubt::new(runs, candidates, cases, None);
            for gain in doubt.gains() {
                // The same coordinates: the run made is still among the candidates.
                let mut more = Doubt::new(runs, candidates, cases, None);
                more.runs.push(more.candidates[gain.candidate].clone());
                let fall = 1.0 - (more.deviation() / doubt.deviation()).powi(2);
                prop_assert!((fall - gain.share).abs() < 1e-6, "{fall} {}", gain.share);
            }
        }

        #[test]
        fn any_cells_give_shares(cells in prop::collection::vec(prop::collection::vec(
            prop_oneof![
                Just(None),
                any::<i64>().prop_map(|number| Some(Value::Integer(number))),
                (-1e300..1e300f64).prop_map(|number| Some(Value::Real(number))),
                "[a-c]".prop_map(|text| Some(Value::Text(text))),
            ], 0..4), 0..8)) {
            let third = cells.len() / 3;
            let doubt = Doubt::new(&cells[..third], &cells[third..2 * third], &cells[2 * third..], None);
            prop_assert!(doubt.gains().iter().all(|gain| (0.0..=1.0).contains(&gain.share)));
        }
    }
}
