//! The search for sums of phases: one phase after the other is added, several sums followed at a time, and the
//! extended Bayesian information criterion tells how likely each is. Coefficients are least squares on relative errors;
//! each combination of categories has its own where it has runs enough, else categories multiply the whole.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;

use super::non_negative::{MOST_COLUMNS, Squares};
use super::{PhaseSum, Phases, logarithm_of_count, marks, plain, power};
use crate::regress::Training;
use crate::regress::cholesky::dot;
use crate::regress::power_law::{Factor, Form};
use crate::regress::ridge::Problem;
use crate::statistics::{mean, robust_deviation};

/// What a phase may grow with: hardly a program does other than these.
const EXPONENTS: [f64; 7] = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0];
/// The place of 0 among them.
const FLAT: u8 = 1;
/// And of 1.
const LINEAR: u8 = 3;
/// How many sums are followed while phases are added, fewer where there are many numbers, and how many of these
/// are refined.
const FOLLOWED: usize = 12;
const FEWEST_FOLLOWED: usize = 3;
const FOLLOWED_NUMBERS: usize = 150;
const REFINED: usize = 4;
/// How many sums of each length are remembered, how many of all are fitted with care, and which are dropped
/// again, relative to the likeliest.
const MET: usize = 100;
const LIKELY: usize = 40;
const UNLIKELY: f64 = 0.01;
/// Most phases, with the constant.
const MOST_PHASES: usize = MOST_COLUMNS;
/// Up to so many numbers every combination of exponents is tried, of more only one change after the other.
const EVERY_COMBINATION: usize = 3;
/// Of more than so many numbers hardly any matters: the changes start where none does, not where all do.
const ALL_MAY_MATTER: usize = 50;
/// Passes of single changes.
const PASSES: usize = 3;
/// Fewest configurations, in all and for each combination of categories with coefficients of its own.
const FEWEST: usize = 6;
/// Most combinations of categories with coefficients of their own.
const MOST_KINDS: usize = 12;
/// Rounds in which rows far from the fit lose weight.
const ROUNDS: usize = 4;
/// Where a residual begins to lose weight, in robust deviations, and at least.
const TURN: f64 = 2.0;
const SMALLEST_TURN: f64 = 0.02;
/// Errors smaller than this (of logarithms) are not worth another phase.
const EXACT: f64 = 1e-3;
/// More rows than this are thinned.
const MOST_ROWS: usize = 2000;

/// Phases that are there already.
struct Beside<'a> {
    search: &'a Search,
    columns: Vec<Vec<f64>>,
    /// Of each kind.
    squares: Vec<Squares>,
}

impl<'a> Beside<'a> {
    fn of<'p>(search: &'a Search, phases: impl Iterator<Item = &'p Phase>) -> Beside<'a> {
        let columns: Vec<Vec<f64>> = phases.map(|phase| search.column(phase)).collect();
        let all: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let squares = search.squares(&all, &search.weights);
        Beside { search, columns, squares }
    }

    /// The weighted squares of relative errors at the best coefficients with one phase more.
    fn error(&self, column: &[f64]) -> f64 {
        let weighted: Vec<f64> =
            column.iter().zip(&self.search.weights).map(|(value, weight)| value * weight).collect();
        let of_kind = |(squares, rows): (&Squares, &Range<usize>)| {
            let weighted = &weighted[rows.clone()];
            let with = |column: &[f64]| dot(&column[rows.clone()], weighted);
            let products = self.columns.iter().map(|column| with(column));
            let wider = squares.with_last(weighted.iter().sum(), products, with(column));
            wider.least()
        };
        self.squares.iter().zip(&self.search.rows_of).map(of_kind).sum()
    }
}

/// Keeps the sums with the lowest errors, each once.
fn keep_best(sums: &mut Vec<(f64, Vec<Phase>)>, most: usize) {
    sums.iter_mut().for_each(|(_, phases)| phases[1..].sort());
    sums.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(&right.1)));
    let mut kept: BTreeSet<&Vec<Phase>> = BTreeSet::new();
    let first: Vec<bool> = sums.iter().map(|(_, phases)| kept.insert(phases)).collect();
    let mut first = first.into_iter();
    sums.retain(|_| first.next().unwrap_or(false));
    sums.truncate(most);
}

/// Places of exponents in [`EXPONENTS`], one a number.
type Phase = Vec<u8>;

/// The rows, and what was worked out beforehand.
pub(super) struct Search {
    pub(super) forms: Vec<Form>,
    /// Columns that enter once more as counts.
    counts: Vec<usize>,
    centres: Vec<f64>,
    /// Columns that are numbers; at or beyond the number of columns, counts.
    numbers: Vec<usize>,
    /// For each number and exponent the power of each row.
    powers: Vec<Vec<Vec<f64>>>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    /// For each row the index of its kind, each kind's rows, which stand together, and its marks.
    kind: Vec<usize>,
    rows_of: Vec<Range<usize>>,
    kinds: Vec<Vec<f64>>,
    slopes: Vec<f64>,
    configurations: f64,
}

/// Phases, coefficients of each kind, and what is left.
pub(super) struct Found {
    phases: Vec<Phase>,
    coefficients: Vec<Vec<f64>>,
    /// Mean square of the logarithms' errors.
    error: f64,
}

impl Found {
    /// The same sum without phases that take no time; the constant stays.
    fn without_idle(mut self) -> Found {
        for index in (1..self.phases.len()).rev() {
            if self.coefficients.iter().all(|kind| kind[index] == 0.0) {
                self.phases.remove(index);
                self.coefficients.iter_mut().for_each(|kind| {
                    kind.remove(index);
                });
            }
        }
        self
    }
}

impl Search {
    pub(super) fn of(training: &Training<'_>) -> Result<Search, String> {
        if training.configurations < FEWEST {
            return Err(format!("{} configurations are too few for it", training.configurations));
        }
        let width = training.inputs.first().map_or(0, Vec::len);
        let forms: Vec<Form> = (0..width).map(|column| Form::of(training, column)).collect();
        let counts: Vec<usize> =
            (0..width).filter(|&column| matches!(forms[column], Form::LogarithmOfOnePlus)).collect();
        let columns = (0..width).filter(|&column| !matches!(forms[column], Form::Plain));
        let numbers: Vec<usize> = columns.chain(width..width + counts.len()).collect();
        if numbers.is_empty() {
            return Err("no number could be a size".to_owned());
        }
        let step = training.inputs.len().div_ceil(MOST_ROWS);
        let mut rows: Vec<usize> = (0..training.inputs.len()).step_by(step).collect();
        // Rows of a kind stand together.
        rows.sort_by(|&left, &right| {
            let [left, right] = [left, right].map(|row| marks(&forms, &training.inputs[row]));
            left.iter()
                .zip(&right)
                .map(|(l, r)| l.total_cmp(r))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        let inputs: Vec<&Vec<f64>> = rows.iter().map(|&row| &training.inputs[row]).collect();
        let mut centres = vec![0.0; width + counts.len()];
        let mut powers = Vec::new();
        for &number in &numbers {
            let logarithm = |row: &&Vec<f64>| match forms.get(number) {
                Some(&form) => Factor { column: number, form }.of(row),
                None => logarithm_of_count(row, counts[number - width]),
            };
            let logarithms: Vec<f64> = inputs.iter().map(logarithm).collect();
            let some: Vec<f64> = logarithms.iter().copied().filter(|value| value.is_finite()).collect();
            let centre = mean(some.iter().copied()).unwrap_or(0.0);
            centres[number] = centre;
            let column = |exponent: f64| -> Vec<f64> {
                logarithms.iter().map(|value| power(&[exponent], &[value - centre])).collect()
            };
            powers.push(EXPONENTS.map(column).to_vec());
        }
        let mut search = Search {
            centres,
            numbers,
            powers,
            targets: rows.iter().map(|&row| training.targets[row]).collect(),
            weights: rows.iter().map(|&row| training.weights[row]).collect(),
            kind: vec![0; rows.len()],
            rows_of: std::iter::once(0..rows.len()).collect(),
            kinds: vec![Vec::new()],
            slopes: vec![0.0; width + counts.len()],
            configurations: training.configurations as f64,
            forms,
            counts,
        };
        if !search.tell_kinds_apart(&inputs) {
            search.multiply(&inputs);
        }
        Ok(search)
    }

    /// Gives each combination of categories coefficients of its own, if all have runs enough.
    fn tell_kinds_apart(&mut self, inputs: &[&Vec<f64>]) -> bool {
        let mut kinds: Vec<(Vec<f64>, Vec<&Vec<f64>>)> = Vec::new();
        let mut kind_of = Vec::new();
        for row in inputs {
            let marks = marks(&self.forms, row);
            let kind = kinds.iter().position(|(known, _)| *known == marks);
            if kind.is_none() && kinds.len() == MOST_KINDS {
                return false;
            }
            let kind = kind.unwrap_or(kinds.len());
            if kind == kinds.len() {
                kinds.push((marks, Vec::new()));
            }
            // A few different ones are enough to know.
            if kinds[kind].1.len() < FEWEST && !kinds[kind].1.contains(row) {
                kinds[kind].1.push(row);
            }
            kind_of.push(kind);
        }
        if kinds.len() > 1 {
            if kinds.iter().any(|(_, rows)| rows.len() < FEWEST) {
                return false;
            }
            let mut first = 0;
            let counts = (0..kinds.len()).map(|kind| kind_of.iter().filter(|of| **of == kind).count());
            self.rows_of = counts
                .map(|count| {
                    first += count;
                    first - count..first
                })
                .collect();
            self.kind = kind_of;
            self.kinds = kinds.into_iter().map(|(marks, _)| marks).collect();
        }
        true
    }

    /// Takes what columns that are no numbers multiply out of the targets: as in one power law through all.
    fn multiply(&mut self, inputs: &[&Vec<f64>]) {
        let columns: Vec<usize> = (0..self.forms.len()).collect();
        let rows: Vec<Vec<f64>> = inputs
            .iter()
            .map(|row| {
                columns.iter().map(|&column| Factor { column, form: self.forms[column] }.of(row)).collect()
            })
            .collect();
        let logarithms: Vec<f64> = self.targets.iter().map(|target| target.ln()).collect();
        let problem = Problem {
            rows: &rows,
            targets: &logarithms,
            weights: &self.weights,
            hardness: &vec![1.0; columns.len()],
        };
        let score = |row: usize, said: f64| (said - logarithms[row]).powi(2);
        let Some(ridge) = problem.solve(&[1e-6, 1e-4, 1e-2, 1e-1], score) else { return };
        for column in plain(&self.forms) {
            self.slopes[column] = ridge.coefficients[column];
        }
        for (target, row) in self.targets.iter_mut().zip(&rows) {
            let slope: f64 = self.slopes.iter().zip(row).map(|(slope, value)| slope * value).sum();
            *target *= (-slope).clamp(-700.0, 700.0).exp();
        }
    }

    /// Sums of a constant and one phase after the other, likely ones first. Several are followed at a time: the
    /// phase that is best alone is seldom one of the best two.
    pub(super) fn run(&self) -> Vec<(f64, Found)> {
        let constant = vec![vec![FLAT; self.numbers.len()]];
        let first = Beside::of(self, [].iter()).error(&self.column(&constant[0]));
        let mut met = vec![(first, constant.clone())];
        let mut followed = vec![constant];
        let most = (FOLLOWED_NUMBERS / self.numbers.len()).clamp(FEWEST_FOLLOWED, FOLLOWED);
        while followed.first().is_some_and(|phases| phases.len() < MOST_PHASES) {
            let mut longer: Vec<(f64, Vec<Phase>)> =
                followed.iter().flat_map(|phases| self.extensions(phases)).collect();
            keep_best(&mut longer, MET);
            longer.iter_mut().take(REFINED.min(most)).for_each(|(error, phases)| self.refine(phases, error));
            keep_best(&mut longer, MET);
            followed = longer.iter().take(most).map(|(_, phases)| phases.clone()).collect();
            met.append(&mut longer);
        }
        let total: f64 = self.weights.iter().sum();
        let mut met: Vec<(f64, Vec<Phase>)> =
            met.into_iter().map(|(error, phases)| (self.criterion(&phases, error / total), phases)).collect();
        keep_best(&mut met, LIKELY);
        let mut found: Vec<(f64, Found)> = met
            .into_iter()
            .filter_map(|(_, phases)| self.settle(phases))
            .map(Found::without_idle)
            .map(|found| (self.criterion(&found.phases, found.error), found))
            .collect();
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut kept: BTreeSet<Vec<Phase>> = BTreeSet::new();
        found.retain(|(_, found)| kept.insert(found.phases.clone()));
        let lowest = found.first().map_or(0.0, |(criterion, _)| *criterion);
        found.iter_mut().for_each(|(criterion, _)| *criterion = (0.5 * (lowest - *criterion)).exp());
        found.retain(|(weight, _)| *weight > UNLIKELY);
        let sum: f64 = found.iter().map(|(weight, _)| weight).sum();
        found.iter_mut().for_each(|(weight, _)| *weight /= sum);
        found
    }

    /// The extended Bayesian information criterion (Chen and Chen, Biometrika 2008): a phase costs its
    /// coefficients, and the more the more others there are like it.
    fn criterion(&self, phases: &[Phase], error: f64) -> f64 {
        // The logarithm of how many phases have as many exponents that are not 0.
        let choices = |phase: &Phase| -> f64 {
            let width = phase.len();
            let steep = phase.iter().filter(|place| **place != FLAT).count();
            let which: f64 = (0..steep).map(|index| ((width - index) as f64 / (index + 1) as f64).ln()).sum();
            which + steep as f64 * ((EXPONENTS.len() - 1) as f64).ln()
        };
        let count = self.configurations;
        let costs = |phase: &Phase| self.kinds.len() as f64 * count.ln() + 2.0 * choices(phase);
        count * error.max(EXACT * EXACT).ln() + count.ln() + phases.iter().skip(1).map(costs).sum::<f64>()
    }

    /// The phases with one more, and the error of each: with every combination of exponents, or what is met on the
    /// way when one exponent after the other is changed.
    fn extensions(&self, phases: &[Phase]) -> Vec<(f64, Vec<Phase>)> {
        let beside = Beside::of(self, phases.iter());
        let width = self.numbers.len();
        let mut tried: Vec<(f64, Phase)> = Vec::new();
        let mut extend = |phase: &Phase, column: &[f64]| -> f64 {
            // Twice the same is the same sum.
            if phases.contains(phase) {
                return f64::INFINITY;
            }
            let error = beside.error(column);
            tried.push((error, phase.clone()));
            error
        };
        if width <= EVERY_COMBINATION {
            for index in 0..EXPONENTS.len().pow(width as u32) {
                let place =
                    |number: usize| (index / EXPONENTS.len().pow(number as u32) % EXPONENTS.len()) as u8;
                let phase: Phase = (0..width).map(place).collect();
                if phase.iter().enumerate().all(|(number, &place)| place >= self.lowest_place(number)) {
                    extend(&phase, &self.column(&phase));
                }
            }
        } else {
            let starts = if width <= ALL_MAY_MATTER { &[FLAT, LINEAR][..] } else { &[FLAT] };
            for &start in starts {
                let start = |number: usize| if self.is_count(number) { FLAT } else { start };
                let mut phase: Phase = (0..width).map(start).collect();
                let mut lowest = extend(&phase, &self.column(&phase));
                for _ in 0..PASSES {
                    if !self.change(&mut phase, &mut lowest, &mut extend) {
                        break;
                    }
                }
            }
        }
        tried.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(&right.1)));
        tried.truncate(MET);
        let longer = |phase: Phase| phases.iter().cloned().chain([phase]).collect();
        tried.into_iter().map(|(error, phase)| (error, longer(phase))).collect()
    }

    /// Changes one exponent of each phase after the other as long as that helps.
    fn refine(&self, phases: &mut [Phase], lowest: &mut f64) {
        for _ in 0..PASSES {
            let mut changed = false;
            for index in 1..phases.len() {
                let mut others = phases.to_vec();
                let mut phase = others.remove(index);
                let beside = Beside::of(self, others.iter());
                changed |= self.change(&mut phase, lowest, &mut |phase, column| {
                    if others.contains(phase) { f64::INFINITY } else { beside.error(column) }
                });
                phases[index] = phase;
            }
            if !changed {
                break;
            }
        }
    }

    /// One pass over the exponents of a phase; whether any is another now.
    fn change(
        &self,
        phase: &mut Phase,
        lowest: &mut f64,
        error_of: &mut impl FnMut(&Phase, &[f64]) -> f64,
    ) -> bool {
        let mut changed = false;
        let mut column = vec![0.0; self.targets.len()];
        for number in 0..phase.len() {
            let before = phase[number];
            let mut best = before;
            phase[number] = FLAT;
            let flat = self.column(phase);
            for place in (self.lowest_place(number)..EXPONENTS.len() as u8).filter(|&place| place != before) {
                phase[number] = place;
                let powers = flat.iter().zip(&self.powers[number][place as usize]);
                column.iter_mut().zip(powers).for_each(|(value, (flat, power))| *value = flat * power);
                let error = error_of(phase, &column);
                if error < *lowest * (1.0 - 1e-9) - 1e-15 {
                    (*lowest, best, changed) = (error, place, true);
                }
            }
            phase[number] = best;
        }
        changed
    }

    fn is_count(&self, number: usize) -> bool {
        self.numbers[number] >= self.forms.len()
    }

    /// The place of the lowest exponent of a number: 0 times cannot be divided by.
    fn lowest_place(&self, number: usize) -> u8 {
        if self.is_count(number) { FLAT } else { 0 }
    }

    /// A phase's value of each row, divided by the row's target.
    fn column(&self, phase: &Phase) -> Vec<f64> {
        let mut column: Vec<f64> = self.targets.iter().map(|target| 1.0 / target).collect();
        for (number, &place) in phase.iter().enumerate().filter(|(_, place)| **place != FLAT) {
            column
                .iter_mut()
                .zip(&self.powers[number][place as usize])
                .for_each(|(value, power)| *value *= power);
        }
        column
    }

    fn squares(&self, columns: &[&[f64]], weights: &[f64]) -> Vec<Squares> {
        let mut squares = vec![Squares::new(columns.len()); self.kinds.len()];
        for (row, (&kind, &weight)) in self.kind.iter().zip(weights).enumerate() {
            squares[kind].add(columns.iter().map(|column| column[row]), weight);
        }
        squares
    }

    /// Coefficients of given phases, rows far from the fit counting less from round to round.
    fn settle(&self, phases: Vec<Phase>) -> Option<Found> {
        let columns: Vec<Vec<f64>> = phases.iter().map(|phase| self.column(phase)).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let mut weights = self.weights.clone();
        let mut best: Option<(Vec<Vec<f64>>, f64)> = None;
        for _ in 0..ROUNDS {
            let solved: Option<Vec<Vec<f64>>> = self
                .squares(&columns, &weights)
                .iter()
                .map(|squares| squares.solve().map(|(coefficients, _)| coefficients))
                .collect();
            let solved = solved?;
            // The prediction over the target.
            let ratio = |row: usize| -> f64 {
                columns.iter().zip(&solved[self.kind[row]]).map(|(column, c)| column[row] * c).sum()
            };
            let ratios: Vec<f64> = (0..self.targets.len()).map(ratio).collect();
            let residuals: Vec<f64> = ratios.iter().map(|ratio| ratio.max(1e-9).ln()).collect();
            let turn = (TURN * robust_deviation(&residuals)?).max(SMALLEST_TURN);
            // Huber's loss, so that rounds can be told apart by it.
            let loss = |residual: f64| {
                let size = residual.abs();
                if size <= turn { size * size } else { turn * (2.0 * size - turn) }
            };
            let total: f64 = self.weights.iter().sum();
            let sum: f64 = residuals.iter().zip(&self.weights).map(|(r, w)| w * loss(*r)).sum();
            let error = sum / total;
            if best.as_ref().is_none_or(|(_, lowest)| error < *lowest) {
                best = Some((solved, error));
            }
            // Divided by the prediction as well, over and under count alike.
            for (row, weight) in weights.iter_mut().enumerate() {
                let far = (turn / residuals[row].abs().max(1e-12)).min(1.0);
                *weight = self.weights[row] * far / ratios[row].max(1e-3);
            }
        }
        best.map(|(coefficients, error)| Found { phases, coefficients, error })
    }

    pub(super) fn phases(&self, found: Vec<(f64, Found)>) -> Phases {
        let whole = self.centres.len();
        let exponents = |phase: &Phase| {
            let mut exponents = vec![0.0; whole];
            phase
                .iter()
                .zip(&self.numbers)
                .for_each(|(&place, &column)| exponents[column] = EXPONENTS[place as usize]);
            exponents
        };
        let sum = |(weight, found): (f64, Found)| PhaseSum {
            weight,
            exponents: found.phases.iter().map(exponents).collect(),
            coefficients: found.coefficients,
        };
        Phases {
            forms: self.forms.clone(),
            counts: self.counts.clone(),
            centres: self.centres.clone(),
            kinds: self.kinds.clone(),
            sums: found.into_iter().map(sum).collect(),
            slopes: self.slopes.clone(),
        }
    }
}
