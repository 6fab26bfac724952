//! Which run to make next: the one that takes away most of the doubt about the cases to be predicted,
//! for each second (or unit of money) it costs.
//!
//! Doubt is the variance of ln T under a belief held before anything is run: a power law with unknown
//! exponents that may depend on the other features and drift as the features grow, and a smooth departure from
//! it. What a run would take away then follows from where it lies alone, not from what it will measure, and is
//! exact (Cohn, Neural Networks 1996; Seo et al., IJCNN 2000). How long runs take is the caller's to say: a model
//! knows, once there are some. So does the caller see whether an interval became narrower: where it did not, the
//! belief is in doubt itself.

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
/// How much an exponent may change over a standard deviation of the feature's logarithm: start-up times and
/// caches make programs grow otherwise when large than when small.
const DRIFT: f64 = 0.3;
/// Noise of one run, unless repetitions say more.
const NOISE: f64 = 0.05;
/// A run that takes away less of the doubt teaches next to nothing, if the belief is right.
const SMALLEST_SHARE: f64 = 0.001;

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

/// Why a candidate was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It takes away most for what it costs.
    MostForItsCost,
    /// It takes away most, whatever it costs.
    Most,
    /// Nothing would take away anything, says the belief; it lies farthest from all runs.
    Farthest,
}

/// Doubt about some cases, given where runs were made.
pub struct Doubt {
    cases: Vec<Vec<f64>>,
    candidates: Vec<Vec<f64>>,
    runs: Vec<Vec<f64>>,
    /// For each coordinate where it begins, if it is a number.
    starts: Vec<Option<f64>>,
    noise: f64,
}

impl Doubt {
    /// Places of runs made, of runs that could be made, and of the cases to be predicted; all with the
    /// same columns. `noise` is the standard deviation of ln T between repetitions, if it is known.
    pub fn new(runs: &[Place], candidates: &[Place], cases: &[Place], noise: Option<f64>) -> Doubt {
        let all: Vec<&Place> = runs.iter().chain(candidates).chain(cases).collect();
        let (mut places, is_number) = coordinates(&all);
        let smallest = |column: usize| places.iter().map(|place| place[column]).fold(f64::INFINITY, f64::min);
        let start = |(column, number): (usize, &bool)| number.then(|| smallest(column));
        let starts = is_number.iter().enumerate().map(start).collect();
        let cases = places.split_off(runs.len() + candidates.len());
        let candidates = places.split_off(runs.len());
        let noise = noise.filter(|noise| noise.is_finite()).unwrap_or(0.0).max(NOISE);
        Doubt { cases, candidates, runs: places, starts, noise }
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
                    (self.covariance(place, &self.candidates[index]) - known).powi(2)
                })
                .sum();
            let share = taken / (variance + self.noise.powi(2)) / total;
            Gain { candidate: index, share: if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } }
        };
        of_candidates.iter().enumerate().map(gain).collect()
    }

    /// The candidate that takes away most for what it costs; among equals the first. Candidates whose
    /// cost is not a positive number are passed over, and those that teach next to nothing: however cheap,
    /// many of them are no step.
    pub fn best(&self, costs: &[f64]) -> Option<Gain> {
        let telling = self.open(costs).filter(|(gain, _)| gain.share >= SMALLEST_SHARE);
        largest(telling.map(|(gain, cost)| (gain, gain.share / cost)))
    }

    /// The candidate to run while more must be known, and why. Where runs `stalled`, taught less than the
    /// belief says, the belief is in doubt itself: then it is the one that tells most, whatever it costs. It is
    /// `None` only where no candidate has a cost.
    pub fn choose(&self, costs: &[f64], stalled: bool) -> Option<(Gain, Why)> {
        let telling = self.open(costs).filter(|(gain, _)| gain.share >= SMALLEST_SHARE);
        let chosen = match stalled {
            true => largest(telling.map(|(gain, _)| (gain, gain.share))).map(|gain| (gain, Why::Most)),
            false => self.best(costs).map(|gain| (gain, Why::MostForItsCost)),
        };
        chosen.or_else(|| {
            let open = self.open(costs).map(|(gain, _)| (gain, self.distance(gain.candidate)));
            largest(open).map(|gain| (gain, Why::Farthest))
        })
    }

    /// What each candidate with a cost would take away, and its cost.
    fn open<'a>(&self, costs: &'a [f64]) -> impl Iterator<Item = (Gain, f64)> + use<'a> {
        self.gains().into_iter().filter_map(|gain| {
            let cost = costs.get(gain.candidate).copied().filter(|cost| *cost > 0.0 && cost.is_finite())?;
            Some((gain, cost))
        })
    }

    /// How far a candidate lies from the nearest run; taking the farthest covers everything with few
    /// (Gonzalez, Theoretical Computer Science 1985).
    fn distance(&self, candidate: usize) -> f64 {
        let place = &self.candidates[candidate];
        let squares = |run: &Vec<f64>| run.iter().zip(place).map(|(l, r)| (l - r).powi(2)).sum::<f64>();
        self.runs.iter().map(squares).fold(f64::INFINITY, f64::min)
    }

    /// For each place the variance the runs leave, and the solution L⁻¹·k that covariances follow from.
    fn left(&self, places: &[Vec<f64>]) -> Vec<(f64, Vec<f64>)> {
        let count = self.runs.len();
        let kernel = (0..count).map(|row| {
            let mut values: Vec<f64> =
                self.runs[..=row].iter().map(|other| self.covariance(&self.runs[row], other)).collect();
            values[row] += self.noise.powi(2);
            values.resize(count, 0.0);
            values
        });
        let Some(factor) = Cholesky::of(&kernel.collect::<Vec<_>>()) else {
            return places.iter().map(|place| (self.covariance(place, place), Vec::new())).collect();
        };
        places
            .iter()
            .map(|place| {
                let solved =
                    factor.half_solve(self.runs.iter().map(|run| self.covariance(place, run)).collect());
                let known: f64 = solved.iter().map(|value| value * value).sum();
                ((self.covariance(place, place) - known).max(0.0), solved)
            })
            .collect()
    }

    /// The belief's covariance of ln T between two places.
    fn covariance(&self, left: &[f64], right: &[f64]) -> f64 {
        let product: f64 = left.iter().zip(right).map(|(l, r)| l * r).sum();
        let squares: f64 = left.iter().zip(right).map(|(l, r)| (l * r).powi(2)).sum();
        // The sum over pairs of different features.
        let interaction = INTERACTION.powi(2) * 0.5 * (product.powi(2) - squares);
        let distance: f64 = left.iter().zip(right).map(|(l, r)| (l - r).powi(2)).sum();
        let departure = DEPARTURE.powi(2) * (-0.5 * distance / REACH.powi(2)).exp();
        let both = left.iter().zip(right).zip(&self.starts);
        let curved: f64 = both.filter_map(|((l, r), start)| Some(curve(l - (*start)?, r - (*start)?))).sum();
        LEVEL.powi(2) + SLOPE.powi(2) * product + interaction + departure + DRIFT.powi(2) * curved
    }
}

/// The covariance of a curve whose slope walks at random from its start (Wahba, Journal of the Royal Statistical
/// Society B 1978): what lies beyond all runs is the less known the farther it lies, however many there are.
fn curve(left: f64, right: f64) -> f64 {
    let (near, far) = (left.min(right), left.max(right));
    near * near * (3.0 * far - near) / 6.0
}

/// The candidate with the largest figure; among equals the first.
fn largest(figures: impl Iterator<Item = (Gain, f64)>) -> Option<Gain> {
    figures.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(gain, _)| gain)
}

/// Cells as standardised coordinates: logarithms of numbers that are all positive, other numbers and
/// categories as the encoder gives them. With them, which coordinates are numbers.
pub(crate) fn coordinates(places: &[&Place]) -> (Vec<Vec<f64>>, Vec<bool>) {
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
    let is_number = roles.iter().map(|role| role.role == crate::prepare::Role::Number).collect();
    (rows, is_number)
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
    fn what_is_cheap_but_teaches_nothing_does_not_hide_what_teaches() {
        let runs: Vec<Place> =
            [100, 300, 1000, 3000].into_iter().flat_map(|n| vec![place(n, 4); 3]).collect();
        let candidates = [place(100, 4), place(8000, 4)];
        let doubt = Doubt::new(&runs, &candidates, &[place(16_000, 4)], None);
        let shares: Vec<f64> = doubt.gains().iter().map(|gain| gain.share).collect();
        let costs = [1e-6, 10.0];
        assert!(shares[0] < SMALLEST_SHARE && shares[0] / costs[0] > shares[1] / costs[1], "{shares:?}");
        assert_eq!(doubt.best(&costs).map(|gain| gain.candidate), Some(1));
    }

    #[test]
    fn while_anything_has_a_cost_something_is_chosen() {
        let runs = vec![place(1000, 4); 60];
        let candidates = [place(1000, 5), place(1000, 7), place(1000, 6)];
        let doubt = Doubt::new(&runs, &candidates, &[place(1000, 4)], None);
        let chosen =
            |costs: &[f64], stalled| doubt.choose(costs, stalled).map(|(gain, why)| (gain.candidate, why));
        assert_eq!(chosen(&[1.0; 3], false), Some((1, Why::Farthest)), "{:?}", doubt.gains());
        assert_eq!(chosen(&[1.0, f64::NAN, f64::NAN], true), Some((0, Why::Farthest)));
        assert_eq!(chosen(&[f64::NAN; 3], false), None);
    }

    #[test]
    fn where_runs_stalled_the_most_telling_counts_whatever_it_costs() {
        let runs = [place(100, 4), place(200, 4), place(400, 4), place(800, 4)];
        let candidates = [place(400, 4), place(8000, 4)];
        let doubt = Doubt::new(&runs, &candidates, &[place(16_000, 4)], None);
        let costs = [0.001, 100.0];
        let chosen = |stalled| doubt.choose(&costs, stalled).map(|(gain, why)| (gain.candidate, why));
        assert_eq!(chosen(false), Some((0, Why::MostForItsCost)));
        assert_eq!(chosen(true), Some((1, Why::Most)));
    }

    #[test]
    fn small_runs_never_settle_what_lies_far_beyond_them() {
        let runs: Vec<Place> =
            [100, 200, 400, 800].into_iter().flat_map(|n| vec![place(n, 4); 100]).collect();
        let left = |n: i64| Doubt::new(&runs, &[], &[place(n, 4)], None).deviation();
        assert!(left(12_800) > 2.0 * left(1600), "{} {}", left(12_800), left(1600));
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
