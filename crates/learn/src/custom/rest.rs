//! What a formula leaves out: programs start and end, and machines do other things. The parts a program
//! reports seldom add up to what it took.

use std::collections::BTreeMap;

use harp_core::{Dataset, Scale, Target, Value, median};
use serde::{Deserialize, Serialize};

use super::Formula;
use crate::model::case_of;
use crate::regress::number;

/// With fewer configurations only the factor is told, with fewer than half of them nothing.
const FEWEST: usize = 6;
/// Relative errors below this count alike.
const SMALLEST_ERROR: f64 = 2e-3;
/// Rounds of weighing and fitting.
const ROUNDS: usize = 40;

/// The whole as a line over what the formula says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// What comes to it whatever the size.
    pub constant: f64,
    /// What it is multiplied by.
    pub factor: f64,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest { constant: 0.0, factor: 1.0 }
    }
}

impl Rest {
    /// From what was measured: the whole and its components, in tables of the same runs.
    pub(crate) fn fit(whole: &Dataset, formula: &Formula, components: &[Dataset]) -> Rest {
        let pairs = measured(whole, formula, components);
        let mut ratios: Vec<f64> = pairs.iter().map(|(said, taken)| taken / said).collect();
        let Some(factor) = median(&mut ratios).filter(|_| 2 * pairs.len() >= FEWEST) else {
            return Rest::default();
        };
        let only_factor = Rest { constant: 0.0, factor };
        if pairs.len() < FEWEST {
            return only_factor;
        }
        // Below 0 there is nothing: a program does not start before it is started.
        line(&pairs).filter(|found| found.constant > 0.0 && found.factor > 0.0).unwrap_or(only_factor)
    }

    /// The whole, from what the formula says.
    pub(crate) fn whole(&self, said: f64) -> f64 {
        self.constant + self.factor * said
    }

    /// The formula with what it leaves out.
    pub(crate) fn text(&self, formula: &Formula) -> String {
        let factor = format!("{:.3}", self.factor);
        let product = match factor.as_str() {
            "1.000" => formula.to_string(),
            _ => format!("{factor} · ({formula})"),
        };
        match self.constant {
            0.0 => format!("T ≈ {product}"),
            constant => format!("T ≈ {product} + {}", number(constant)),
        }
    }

    /// Whether a file's numbers can be used.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.constant.is_finite()
            && self.constant >= 0.0
            && self.factor.is_finite()
            && self.factor > 0.0
        {
            true => Ok(()),
            false => Err("what the formula leaves out is not sound".to_owned()),
        }
    }
}

/// A configuration and the mean of what its runs took, by a text that tells it from others.
type Means = BTreeMap<String, (BTreeMap<String, Value>, f64)>;

/// What the formula says with the components as they were measured, and the whole, by configuration.
fn measured(whole: &Dataset, formula: &Formula, components: &[Dataset]) -> Vec<(f64, f64)> {
    let mut parts: BTreeMap<&str, Means> = BTreeMap::new();
    for table in components {
        if let Target::Metric(name) = &table.target {
            parts.insert(name, means(table));
        }
    }
    let mut pairs = Vec::new();
    for (key, (case, taken)) in means(whole) {
        let number = |name: &str| match parts.get(name) {
            Some(found) => found.get(&key).map(|(_, value)| *value),
            None => case.get(name).and_then(Value::as_number),
        };
        let said = formula.value(&number).ok().filter(|said| said.is_finite() && *said > 0.0);
        pairs.extend(said.map(|said| (said, taken)));
    }
    pairs
}

fn means(table: &Dataset) -> Means {
    let mut found: BTreeMap<String, (BTreeMap<String, Value>, f64, f64)> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| row.scale != Scale::Test) {
        let Some(value) = row.observed.exact().filter(|value| *value > 0.0) else { continue };
        let case = case_of(&table.columns, row);
        let key = case.iter().map(|(name, value)| format!("{name}={value};")).collect();
        let sum = found.entry(key).or_insert((case, 0.0, 0.0));
        (sum.1, sum.2) = (sum.1 + value, sum.2 + 1.0);
    }
    found.into_iter().map(|(key, (case, sum, count))| (key, (case, sum / count))).collect()
}

/// The line with the least sum of relative errors, which some runs that were disturbed do not move
/// (least absolute deviations, by weighing each run by its error again and again).
fn line(pairs: &[(f64, f64)]) -> Option<Rest> {
    let mut found = Rest { constant: 0.0, factor: 1.0 };
    for round in 0..ROUNDS {
        let [mut count, mut small, mut square, mut sum, mut mixed] = [0.0; 5];
        for (said, taken) in pairs {
            let error = (taken - found.whole(*said)).abs() / said;
            let weight = if round == 0 { 1.0 } else { 1.0 / error.max(SMALLEST_ERROR) };
            // In parts of what is said: taken/said = factor + constant/said.
            let (inverse, ratio) = (1.0 / said, taken / said);
            count += weight;
            small += weight * inverse;
            square += weight * inverse * inverse;
            sum += weight * ratio;
            mixed += weight * ratio * inverse;
        }
        let determinant = count * square - small * small;
        if determinant <= 1e-9 * count * square {
            return None;
        }
        let constant = (count * mixed - small * sum) / determinant;
        found = Rest { constant, factor: (sum - constant * small) / count };
    }
    (found.constant.is_finite() && found.factor.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harp_core::{Column, Observed, Row};

    /// Tables of the whole and of one part over `size`, ten runs, made by a rule.
    fn tables(whole: impl Fn(f64) -> f64, runs: usize) -> (Dataset, Vec<Dataset>) {
        let table = |target: Target, value: &dyn Fn(f64) -> f64| {
            let row = |index: usize| Row {
                cells: vec![Some(Value::Integer(index as i64 + 1))],
                observed: Observed::Exact(value(index as f64 + 1.0)),
                scale: Scale::Sd,
                group: index as u64,
            };
            let columns = vec![Column { name: "size".to_owned() }];
            Dataset::new(target, columns, (0..runs).map(row).collect()).unwrap()
        };
        let part = table(Target::Metric("part".to_owned()), &|size| 0.5 * size);
        (table(Target::Walltime, &whole), vec![part])
    }

    #[test]
    fn what_the_parts_leave_out_is_found_and_disturbed_runs_do_not_move_it() {
        let formula = Formula::parse("2 * part").unwrap();
        // The program needs 0.3 s to start and 4 % more than its parts say; two runs were disturbed.
        let disturbed = |size: f64| if size == 4.0 || size == 9.0 { 1.5 } else { 1.0 };
        let (whole, parts) = tables(|size| (0.3 + 1.04 * size) * disturbed(size), 10);
        let found = Rest::fit(&whole, &formula, &parts);
        assert!((found.constant - 0.3).abs() < 0.01, "{found:?}");
        assert!((found.factor - 1.04).abs() < 0.005, "{found:?}");
        let rule = Rest { constant: 0.3, factor: 1.04 };
        assert_eq!(rule.text(&formula), "T ≈ 1.040 · (2 * part) + 0.300");
    }

    #[test]
    fn few_runs_tell_a_factor_and_fewer_nothing() {
        let formula = Formula::parse("2 * part").unwrap();
        let (whole, parts) = tables(|size| 1.1 * size, 4);
        let found = Rest::fit(&whole, &formula, &parts);
        assert_eq!(found.constant, 0.0);
        assert!((found.factor - 1.1).abs() < 1e-9, "{found:?}");
        let (whole, parts) = tables(|size| 1.1 * size, 2);
        assert_eq!(Rest::fit(&whole, &formula, &parts), Rest::default());
        assert_eq!(Rest::default().text(&formula), "T ≈ 2 * part");
    }

    /// A constant below nothing is not believed.
    #[test]
    fn parts_that_overlap_give_a_factor_below_one() {
        let formula = Formula::parse("2 * part").unwrap();
        let (whole, parts) = tables(|size| (0.8 * size - 0.1).max(0.05), 10);
        let found = Rest::fit(&whole, &formula, &parts);
        assert_eq!(found.constant, 0.0);
        assert!((0.7..0.8).contains(&found.factor), "{found:?}");
    }
}
