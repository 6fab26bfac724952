//! A sum of phases with round exponents (the performance model normal form of Extra-P, Calotoiu et al.,
//! SC 2013): T = c₀ + Σₖ cₖ · Π x^a with every c ≥ 0 and every a from a short list. Set-up, computation
//! and communication are each a simple power; which one rules changes with size, and a small phase that
//! grows steeply is what makes a large run long. One power law through small runs does not see it, and free
//! exponents do not find it; round ones do, if the program is of that kind.
//!
//! Phases are added one by one as long as the Bayesian information criterion falls. Coefficients are
//! least squares on relative errors; each combination of categories has its own where it has runs enough,
//! else categories multiply the whole.

use serde::{Deserialize, Serialize};

use super::non_negative::{MOST_COLUMNS, Squares};
use super::power_law::{Factor, Form, number};
use super::ridge::Problem;
use super::{Fitted, Regressor, Training};
use crate::statistics::robust_deviation;

/// What a phase may grow with: hardly a program does other than these.
const EXPONENTS: [f64; 7] = [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0];
/// The place of 0 among them.
const FLAT: usize = 1;
/// And of 1.
const LINEAR: usize = 3;
/// How many sums are followed while phases are added, and how many of these are refined.
const FOLLOWED: usize = 12;
const REFINED: usize = 4;
/// How many sums of each length are remembered, how many of all are fitted with care, and which are dropped
/// again, relative to the likeliest.
const MET: usize = 100;
const LIKELY: usize = 60;
const UNLIKELY: f64 = 0.01;
/// Most phases, with the constant.
const MOST_PHASES: usize = MOST_COLUMNS;
/// Up to so many numbers every combination of exponents is tried, of more only one change after the other.
const EVERY_COMBINATION: usize = 3;
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

/// Fits [`Phases`].
pub(crate) struct PhasesRegression;

/// A sum of phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Phases {
    /// How each column enters: numbers as logarithms, the others as they are.
    pub forms: Vec<Form>,
    /// What is subtracted from the logarithms, 0 for other columns.
    pub centres: Vec<f64>,
    /// Combinations of categories with coefficients of their own: what the columns that are no numbers are; one,
    /// empty, where there is one kind only.
    pub kinds: Vec<Vec<f64>>,
    /// The sums that explain the runs about equally well, the likeliest first.
    pub sums: Vec<PhaseSum>,
    /// By which the whole grows with columns that are no numbers, in logarithms; zeros where these have coefficients
    /// of their own.
    pub slopes: Vec<f64>,
}

/// One sum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseSum {
    /// How likely it is; all together 1.
    pub weight: f64,
    /// The exponents of each phase, one a column, 0 for what is no number.
    pub exponents: Vec<Vec<f64>>,
    /// For each kind the coefficients, one a phase, none negative.
    pub coefficients: Vec<Vec<f64>>,
}

impl Regressor for PhasesRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        Phases::fit(training).map(Fitted::Phases)
    }
}

impl Phases {
    /// Fits, or says why it cannot.
    pub(super) fn fit(training: &Training<'_>) -> Result<Phases, String> {
        let search = Search::of(training)?;
        let phases = search.phases(search.run());
        phases.check(search.forms.len())?;
        Ok(phases)
    }

    /// Each sum's weight and what it says.
    fn said(&self, row: &[f64]) -> Vec<(f64, f64)> {
        let place = |(column, &form): (usize, &Form)| Factor { column, form }.of(row) - self.centres[column];
        let places: Vec<f64> = self.forms.iter().enumerate().map(place).collect();
        let along = |numbers: &[f64]| numbers.iter().zip(&places).map(|(a, x)| a * x).sum::<f64>();
        let factor = along(&self.slopes).min(700.0).exp();
        let marks = if self.kinds.len() > 1 { marks(&self.forms, row) } else { Vec::new() };
        let kind = self.kinds.iter().position(|kind| *kind == marks);
        let said = |sum: &PhaseSum| {
            let powers: Vec<f64> = sum.exponents.iter().map(|phase| along(phase).min(700.0).exp()).collect();
            let of = |coefficients: &Vec<f64>| {
                coefficients.iter().zip(&powers).map(|(coefficient, power)| coefficient * power).sum::<f64>()
            };
            let value = match kind {
                Some(kind) => of(&sum.coefficients[kind]),
                // Never seen: in the middle of those that were.
                None => {
                    let total: f64 = sum.coefficients.iter().map(|kind| of(kind).max(1e-300).ln()).sum();
                    (total / self.kinds.len() as f64).exp()
                }
            };
            (sum.weight, value * factor)
        };
        self.sums.iter().map(said).collect()
    }

    /// What the likeliest sum says.
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        self.said(row).first().map_or(f64::NAN, |(_, value)| *value)
    }

    /// What the sums that explain the runs about as well say, from low to high: the weight of each and its value.
    pub(crate) fn opinions(&self, row: &[f64]) -> Vec<(f64, f64)> {
        let mut said = self.said(row);
        said.sort_by(|left, right| left.1.total_cmp(&right.1));
        said
    }

    pub(super) fn parameters(&self) -> usize {
        let Some(sum) = self.sums.first() else { return 0 };
        let exponents = sum.exponents.iter().flatten().filter(|&&exponent| exponent != 0.0).count();
        let coefficients: usize = sum.coefficients.iter().map(Vec::len).sum();
        exponents + coefficients + self.slopes.iter().filter(|&&slope| slope != 0.0).count()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        let marked = if self.kinds.len() == 1 { 0 } else { plain(&self.forms).count() };
        let sum = |sum: &PhaseSum| {
            let kind = |kind: &Vec<f64>| {
                kind.len() == sum.exponents.len()
                    && kind.iter().all(|&coefficient| coefficient >= 0.0 && coefficient.is_finite())
            };
            sum.weight >= 0.0
                && sum.weight.is_finite()
                && sum.exponents.iter().all(|phase| phase.len() == width && finite(phase))
                && sum.coefficients.len() == self.kinds.len()
                && sum.coefficients.iter().all(kind)
        };
        let form =
            |form: &Form| !matches!(form, Form::Logarithm { floor } if !(*floor > 0.0 && floor.is_finite()));
        let sound = self.forms.len() == width
            && self.centres.len() == width
            && self.slopes.len() == width
            && self.forms.iter().all(form)
            && finite(&self.centres)
            && finite(&self.slopes)
            && !self.kinds.is_empty()
            && self.kinds.iter().all(|marks| marks.len() == marked && finite(marks))
            && !self.sums.is_empty()
            && self.sums.iter().all(sum);
        if sound { Ok(()) } else { Err("a phase does not fit the features".to_owned()) }
    }

    /// `T ≈ 5.02 + 3.1e-09 · n^3 / threads`, for each kind if there are several.
    pub(crate) fn formula(&self, name: impl Fn(usize) -> String) -> String {
        let Some(likeliest) = self.sums.first() else { return String::new() };
        let kinds = self.kinds.iter().zip(&likeliest.coefficients).map(|(marks, coefficients)| {
            let which = plain(&self.forms).zip(marks).filter(|(_, mark)| **mark != 0.0);
            let which: Vec<String> = which
                .map(|(column, &mark)| match mark {
                    1.0 => name(column),
                    mark => format!("{}={mark}", name(column)),
                })
                .collect();
            let prefix = if which.is_empty() { String::new() } else { format!("{}: ", which.join(", ")) };
            format!("{prefix}T ≈ {}", self.sum(&likeliest.exponents, coefficients, &name))
        });
        let mut text = kinds.collect::<Vec<_>>().join("; ");
        for (column, &slope) in self.slopes.iter().enumerate().filter(|(_, slope)| slope.abs() >= 5e-3) {
            text.push_str(&format!(" · {}[{}]", number(slope.exp()), name(column)));
        }
        text
    }

    fn sum(&self, phases: &[Vec<f64>], coefficients: &[f64], name: &impl Fn(usize) -> String) -> String {
        let mut texts = Vec::new();
        for (phase, &coefficient) in phases.iter().zip(coefficients) {
            if coefficient == 0.0 {
                continue;
            }
            let centred: f64 =
                phase.iter().zip(&self.centres).map(|(exponent, centre)| exponent * centre).sum();
            let mut text = number(coefficient * (-centred).exp());
            for (column, &exponent) in phase.iter().enumerate().filter(|(_, exponent)| **exponent != 0.0) {
                let base = match self.forms[column] {
                    Form::LogarithmOfOnePlus => format!("(1 + {})", name(column)),
                    Form::Logarithm { .. } | Form::Plain => name(column),
                };
                text.push_str(if exponent < 0.0 { " / " } else { " · " });
                text.push_str(&match exponent.abs() {
                    1.0 => base,
                    power => format!("{base}^{power}"),
                });
            }
            texts.push(text);
        }
        let sum = texts.join(" + ");
        if self.slopes.iter().any(|slope| *slope != 0.0) && texts.len() > 1 {
            format!("({sum})")
        } else {
            sum
        }
    }
}

/// The columns that are no numbers.
fn plain(forms: &[Form]) -> impl Iterator<Item = usize> + '_ {
    forms.iter().enumerate().filter(|(_, form)| matches!(form, Form::Plain)).map(|(column, _)| column)
}

/// What a row has in them.
fn marks(forms: &[Form], row: &[f64]) -> Vec<f64> {
    plain(forms).map(|column| row.get(column).copied().unwrap_or(0.0)).collect()
}

/// One pass over the exponents of a phase; whether any is another now.
fn change(phase: &mut Phase, lowest: &mut f64, error_of: &mut impl FnMut(&Phase) -> f64) -> bool {
    let mut changed = false;
    for number in 0..phase.len() {
        for place in 0..EXPONENTS.len() {
            let before = phase[number];
            if place == before {
                continue;
            }
            phase[number] = place;
            let error = error_of(phase);
            if error < *lowest * (1.0 - 1e-9) - 1e-15 {
                *lowest = error;
                changed = true;
            } else {
                phase[number] = before;
            }
        }
    }
    changed
}

/// Keeps the sums with the lowest errors, each once.
fn keep_best(sums: &mut Vec<(f64, Vec<Phase>)>, most: usize) {
    sums.iter_mut().for_each(|(_, phases)| phases[1..].sort());
    sums.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(&right.1)));
    sums.dedup_by(|left, right| left.1 == right.1);
    sums.truncate(most);
}

/// Places of exponents in [`EXPONENTS`], one a number.
type Phase = Vec<usize>;

/// The rows, and what was worked out beforehand.
struct Search {
    forms: Vec<Form>,
    centres: Vec<f64>,
    /// Columns that are numbers.
    numbers: Vec<usize>,
    /// For each number and exponent the power of each row.
    powers: Vec<Vec<Vec<f64>>>,
    targets: Vec<f64>,
    weights: Vec<f64>,
    /// For each row the index of its kind, and each kind's marks.
    kind: Vec<usize>,
    kinds: Vec<Vec<f64>>,
    slopes: Vec<f64>,
    configurations: f64,
}

/// Phases, coefficients of each kind, and what is left.
struct Found {
    phases: Vec<Phase>,
    coefficients: Vec<Vec<f64>>,
    /// Mean square of the logarithms' errors.
    error: f64,
}

impl Search {
    fn of(training: &Training<'_>) -> Result<Search, String> {
        if training.configurations < FEWEST {
            return Err(format!("{} configurations are too few for it", training.configurations));
        }
        let width = training.inputs.first().map_or(0, Vec::len);
        let forms: Vec<Form> = (0..width).map(|column| Form::of(training, column)).collect();
        let numbers: Vec<usize> =
            (0..width).filter(|&column| !matches!(forms[column], Form::Plain)).collect();
        if numbers.is_empty() {
            return Err("no number could be a size".to_owned());
        }
        let step = training.inputs.len().div_ceil(MOST_ROWS);
        let rows: Vec<usize> = (0..training.inputs.len()).step_by(step).collect();
        let inputs: Vec<&Vec<f64>> = rows.iter().map(|&row| &training.inputs[row]).collect();
        let mut centres = vec![0.0; width];
        let mut powers = Vec::new();
        for &column in &numbers {
            let factor = Factor { column, form: forms[column] };
            let logarithms: Vec<f64> = inputs.iter().map(|row| factor.of(row)).collect();
            let centre = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
            centres[column] = centre;
            let power =
                |exponent: f64| logarithms.iter().map(|value| (exponent * (value - centre)).exp()).collect();
            powers.push(EXPONENTS.map(power).to_vec());
        }
        let mut search = Search {
            centres,
            numbers,
            powers,
            targets: rows.iter().map(|&row| training.targets[row]).collect(),
            weights: rows.iter().map(|&row| training.weights[row]).collect(),
            kind: vec![0; rows.len()],
            kinds: vec![Vec::new()],
            slopes: vec![0.0; width],
            configurations: training.configurations as f64,
            forms,
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
    fn run(&self) -> Vec<(f64, Found)> {
        let constant = vec![vec![FLAT; self.numbers.len()]];
        let mut met = vec![(self.error(&[], &self.column(&constant[0])), constant.clone())];
        let mut followed = vec![constant];
        while followed.first().is_some_and(|phases| phases.len() < MOST_PHASES) {
            let mut longer: Vec<(f64, Vec<Phase>)> =
                followed.iter().flat_map(|phases| self.extensions(phases)).collect();
            keep_best(&mut longer, MET);
            longer.iter_mut().take(REFINED).for_each(|(error, phases)| self.refine(phases, error));
            keep_best(&mut longer, MET);
            followed = longer.iter().take(FOLLOWED).map(|(_, phases)| phases.clone()).collect();
            met.append(&mut longer);
        }
        let total: f64 = self.weights.iter().sum();
        let mut met: Vec<(f64, Vec<Phase>)> = met
            .into_iter()
            .map(|(error, phases)| (self.criterion(phases.len(), error / total), phases))
            .collect();
        keep_best(&mut met, LIKELY);
        let mut found: Vec<(f64, Found)> = met
            .into_iter()
            .filter_map(|(_, phases)| self.settle(phases))
            .map(|found| (self.criterion(found.phases.len(), found.error), found))
            .collect();
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        let lowest = found.first().map_or(0.0, |(criterion, _)| *criterion);
        found.iter_mut().for_each(|(criterion, _)| *criterion = (0.5 * (lowest - *criterion)).exp());
        found.retain(|(weight, _)| *weight > UNLIKELY);
        let sum: f64 = found.iter().map(|(weight, _)| weight).sum();
        found.iter_mut().for_each(|(weight, _)| *weight /= sum);
        found
    }

    /// The Bayesian information criterion; an exponent from a short list counts as half a number.
    fn criterion(&self, phases: usize, error: f64) -> f64 {
        let phases = (phases - 1) as f64;
        let numbers = 0.5 * (self.numbers.len() + self.kinds.len()) as f64;
        let count = self.configurations;
        count * error.max(EXACT * EXACT).ln() + (1.0 + phases * numbers) * count.ln()
    }

    /// The phases with one more, and the error of each: with every combination of exponents, or what is met on the
    /// way when one exponent after the other is changed.
    fn extensions(&self, phases: &[Phase]) -> Vec<(f64, Vec<Phase>)> {
        let others: Vec<Vec<f64>> = phases.iter().map(|phase| self.column(phase)).collect();
        let width = self.numbers.len();
        let longer = |phase: &Phase| phases.iter().cloned().chain([phase.clone()]).collect();
        let mut extensions: Vec<(f64, Vec<Phase>)> = Vec::new();
        let mut extend = |phase: &Phase| -> f64 {
            let error = self.error(&others, &self.column(phase));
            extensions.push((error, longer(phase)));
            error
        };
        if width <= EVERY_COMBINATION {
            for index in 0..EXPONENTS.len().pow(width as u32) {
                let place = |number: usize| index / EXPONENTS.len().pow(number as u32) % EXPONENTS.len();
                extend(&(0..width).map(place).collect());
            }
        } else {
            for start in [FLAT, LINEAR] {
                let mut phase = vec![start; width];
                let mut lowest = extend(&phase);
                for _ in 0..PASSES {
                    if !change(&mut phase, &mut lowest, &mut extend) {
                        break;
                    }
                }
            }
        }
        extensions
    }

    /// Changes one exponent of each phase after the other as long as that helps.
    fn refine(&self, phases: &mut [Phase], lowest: &mut f64) {
        for _ in 0..PASSES {
            let mut changed = false;
            for index in 1..phases.len() {
                let others: Vec<Vec<f64>> = (0..phases.len())
                    .filter(|&other| other != index)
                    .map(|other| self.column(&phases[other]))
                    .collect();
                changed |=
                    change(&mut phases[index], lowest, &mut |phase| self.error(&others, &self.column(phase)));
            }
            if !changed {
                break;
            }
        }
    }

    /// A phase's value of each row, divided by the row's target.
    fn column(&self, phase: &Phase) -> Vec<f64> {
        let mut column: Vec<f64> = self.targets.iter().map(|target| 1.0 / target).collect();
        for (number, &place) in phase.iter().enumerate().filter(|(_, place)| **place != FLAT) {
            column.iter_mut().zip(&self.powers[number][place]).for_each(|(value, power)| *value *= power);
        }
        column
    }

    /// The weighted squares of relative errors at the best coefficients.
    fn error(&self, others: &[Vec<f64>], column: &[f64]) -> f64 {
        let columns: Vec<&[f64]> = others.iter().map(Vec::as_slice).chain([column]).collect();
        let squares = self.squares(&columns, &self.weights);
        squares.iter().map(|squares| squares.solve().map_or(f64::INFINITY, |(_, error)| error)).sum()
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

    fn phases(&self, found: Vec<(f64, Found)>) -> Phases {
        let width = self.forms.len();
        let exponents = |phase: &Phase| {
            let mut exponents = vec![0.0; width];
            phase
                .iter()
                .zip(&self.numbers)
                .for_each(|(&place, &column)| exponents[column] = EXPONENTS[place]);
            exponents
        };
        let sum = |(weight, found): (f64, Found)| PhaseSum {
            weight,
            exponents: found.phases.iter().map(exponents).collect(),
            coefficients: found.coefficients,
        };
        Phases {
            forms: self.forms.clone(),
            centres: self.centres.clone(),
            kinds: self.kinds.clone(),
            sums: found.into_iter().map(sum).collect(),
            slopes: self.slopes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::{ColumnRole, Role};

    fn grid() -> Vec<Vec<f64>> {
        let sizes = [100.0, 200.0, 300.0, 400.0, 600.0, 800.0];
        sizes.iter().flat_map(|&n| [1.0, 2.0, 4.0].map(|cores| vec![n, cores])).collect()
    }

    fn fit(inputs: &[Vec<f64>], law: impl Fn(&[f64]) -> f64) -> Phases {
        let noise = |index: usize| 1.0 + 0.02 * ((index * 7 % 11) as f64 / 5.0 - 1.0);
        let targets: Vec<f64> =
            inputs.iter().enumerate().map(|(index, row)| law(row) * noise(index)).collect();
        let weights = vec![1.0; targets.len()];
        Phases::fit(&Training::plain(inputs, &targets, &weights)).unwrap()
    }

    #[test]
    fn a_steep_phase_hidden_in_small_runs_is_found() {
        // At n = 800 on one core both phases take the same.
        let law = |row: &[f64]| 0.001 * row[0] + 0.8 / 800f64.powi(3) * row[0].powi(3) / row[1];
        let found = fit(&grid(), law);
        let far = [6400.0, 8.0];
        let ratio = found.predict(&far) / law(&far);
        let formula = found.formula(|column| ["n", "cores"][column].into());
        assert!((0.9..1.1).contains(&ratio), "{ratio} {formula}");
        assert!(formula.contains("n^3 / cores"), "{formula}");
    }

    #[test]
    fn a_constant_start_up_is_no_exponent() {
        let law = |row: &[f64]| 5.0 + 1e-5 * row[0] * row[0] / row[1];
        let found = fit(&grid(), law);
        let far = [12_800.0, 1.0];
        let ratio = found.predict(&far) / law(&far);
        assert!((0.9..1.1).contains(&ratio), "{ratio} {}", found.formula(|column| column.to_string()));
    }

    #[test]
    fn categories_grow_each_in_their_own_way() {
        let mut inputs = Vec::new();
        for level in [0.0, 1.0] {
            inputs.extend([100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0].map(|n| vec![n, level]));
        }
        let law = |row: &[f64]| if row[1] == 1.0 { 1e-6 * row[0] * row[0] } else { 0.5 + 1e-3 * row[0] };
        let targets: Vec<f64> = inputs.iter().map(|row| law(row)).collect();
        let weights = vec![1.0; targets.len()];
        let roles =
            [ColumnRole { feature: 0, role: Role::Number }, ColumnRole { feature: 1, role: Role::Level(0) }];
        let training = Training { roles: &roles, ..Training::plain(&inputs, &targets, &weights) };
        let found = Phases::fit(&training).unwrap();
        for far in [[64_000.0, 0.0], [64_000.0, 1.0]] {
            let ratio = found.predict(&far) / law(&far);
            assert!((0.95..1.05).contains(&ratio), "{ratio} {found:?}");
        }
        let formula = found.formula(|column| ["n", "hashed"][column].into());
        assert_eq!(formula, "T ≈ 0.500 + 1.00e-3 · n; hashed: T ≈ 1.00e-6 · n^2");
    }
}
