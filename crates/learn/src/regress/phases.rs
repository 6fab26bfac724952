//! A sum of phases with round exponents (the performance model normal form of Extra-P, Calotoiu et al.,
//! SC 2013): T = c₀ + Σₖ cₖ · Π x^a with every c ≥ 0 and every a from a short list. Set-up, computation
//! and communication are each a simple power; which one rules changes with size, and a small phase that
//! grows steeply is what makes a large run long. One power law through small runs does not see it, and free
//! exponents do not find it; round ones do, if the program is of that kind.
//!
//! A few runs seldom tell one sum from another: those that explain them about as well are kept too, and how far
//! they go apart beyond the measured range is how far an interval must reach there.

mod non_negative;
mod search;

use serde::{Deserialize, Serialize};

use super::power_law::{Factor, Form, number};
use super::{Fitted, Regressor, Training};
use search::Search;

/// Fits [`Phases`].
pub(crate) struct PhasesRegression;

/// A sum of phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Phases {
    /// How each column enters: numbers as logarithms, the others as they are.
    pub forms: Vec<Form>,
    /// Columns that may be 0 and enter once more as ln x: what is done x times takes no time where x is 0. In all
    /// lists they come after the columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<usize>,
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
    /// The exponents of each phase, one a column and a count, 0 for what is no number and never below 0 for a count.
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

    /// What the likeliest sum says.
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        self.sums.first().map_or(f64::NAN, |sum| self.at(row).value(sum))
    }

    /// What the sums that explain the runs about as well say, from low to high: the weight of each and its value.
    pub(crate) fn opinions(&self, row: &[f64]) -> Vec<(f64, f64)> {
        let at = self.at(row);
        let mut said: Vec<(f64, f64)> = self.sums.iter().map(|sum| (sum.weight, at.value(sum))).collect();
        said.sort_by(|left, right| left.1.total_cmp(&right.1));
        said
    }

    fn at(&self, row: &[f64]) -> At {
        let columns = self.forms.iter().enumerate().map(|(column, &form)| Factor { column, form }.of(row));
        let counts = self.counts.iter().map(|&column| logarithm_of_count(row, column));
        let values = columns.chain(counts).zip(&self.centres);
        let places: Vec<f64> = values.map(|(value, centre)| value - centre).collect();
        let marks = if self.kinds.len() > 1 { marks(&self.forms, row) } else { Vec::new() };
        let kind = self.kinds.iter().position(|kind| *kind == marks);
        At { factor: power(&self.slopes, &places), places, kind }
    }

    pub(super) fn parameters(&self) -> usize {
        let Some(sum) = self.sums.first() else { return 0 };
        let exponents = sum.exponents.iter().flatten().filter(|&&exponent| exponent != 0.0).count();
        let coefficients: usize = sum.coefficients.iter().map(Vec::len).sum();
        exponents + coefficients + self.slopes.iter().filter(|&&slope| slope != 0.0).count()
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        let whole = width + self.counts.len();
        let phase = |phase: &Vec<f64>| {
            phase.len() == whole && finite(phase) && phase[width..].iter().all(|&exponent| exponent >= 0.0)
        };
        let marked = if self.kinds.len() == 1 { 0 } else { plain(&self.forms).count() };
        let sum = |sum: &PhaseSum| {
            let kind = |kind: &Vec<f64>| {
                kind.len() == sum.exponents.len()
                    && kind.iter().all(|&coefficient| coefficient >= 0.0 && coefficient.is_finite())
            };
            sum.weight >= 0.0
                && sum.weight.is_finite()
                && sum.exponents.iter().all(phase)
                && sum.coefficients.len() == self.kinds.len()
                && sum.coefficients.iter().all(kind)
        };
        let sound = self.forms.len() == width
            && self.counts.iter().all(|&column| column < width)
            && self.centres.len() == whole
            && self.slopes.len() == whole
            && self.slopes[width..].iter().all(|&slope| slope == 0.0)
            && self.forms.iter().all(Form::is_sound)
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
                let base = match self.forms.get(column) {
                    Some(Form::LogarithmOfOnePlus) => format!("(1 + {})", name(column)),
                    Some(Form::Logarithm { .. } | Form::Plain) => name(column),
                    None => name(self.counts[column - self.forms.len()]),
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

/// A row as sums see it.
struct At {
    places: Vec<f64>,
    /// `None` of a combination of categories never seen.
    kind: Option<usize>,
    factor: f64,
}

impl At {
    fn value(&self, sum: &PhaseSum) -> f64 {
        let powers: Vec<f64> = sum.exponents.iter().map(|phase| power(phase, &self.places)).collect();
        let of = |coefficients: &Vec<f64>| {
            coefficients.iter().zip(&powers).map(|(coefficient, power)| coefficient * power).sum::<f64>()
        };
        let value = match self.kind {
            Some(kind) => of(&sum.coefficients[kind]),
            // In the middle of those that were seen.
            None => {
                let total: f64 = sum.coefficients.iter().map(|kind| of(kind).max(1e-300).ln()).sum();
                (total / sum.coefficients.len() as f64).exp()
            }
        };
        value * self.factor
    }
}

/// exp(Σ exponent · place).
fn power(exponents: &[f64], places: &[f64]) -> f64 {
    let factors = exponents.iter().zip(places).filter(|(exponent, _)| **exponent != 0.0);
    factors.map(|(exponent, place)| exponent * place).sum::<f64>().min(700.0).exp()
}

/// −∞ where there is none.
fn logarithm_of_count(row: &[f64], column: usize) -> f64 {
    row.get(column).copied().unwrap_or(0.0).max(0.0).ln()
}

/// The columns that are no numbers.
fn plain(forms: &[Form]) -> impl Iterator<Item = usize> + '_ {
    forms.iter().enumerate().filter(|(_, form)| matches!(form, Form::Plain)).map(|(column, _)| column)
}

/// What a row has in them.
fn marks(forms: &[Form], row: &[f64]) -> Vec<f64> {
    plain(forms).map(|column| row.get(column).copied().unwrap_or(0.0)).collect()
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
    fn what_is_done_no_times_takes_no_time() {
        let sizes = [100.0, 200.0, 300.0, 400.0, 600.0, 800.0];
        let inputs: Vec<Vec<f64>> =
            sizes.iter().flat_map(|&n| [0.0, 1.0, 2.0, 4.0].map(|dumps| vec![n, dumps])).collect();
        let law = |row: &[f64]| 0.5 + 1e-3 * row[0] + 4e-3 * row[0] * row[1];
        let found = fit(&inputs, law);
        let formula = found.formula(|column| ["n", "dumps"][column].into());
        assert!(formula.contains("· n · dumps"), "{formula}");
        for far in [[6400.0, 0.0], [6400.0, 16.0]] {
            let ratio = found.predict(&far) / law(&far);
            assert!((0.9..1.1).contains(&ratio), "{ratio} at {far:?} {formula}");
        }
        let mut hostile = found.clone();
        hostile.sums[0].exponents[0][2] = -1.0;
        assert!(found.check(2).is_ok() && hostile.check(2).is_err());
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
