//! The measured range of training rows: how far a case lies beyond it, and what may be believed
//! there.

use std::collections::BTreeMap;

use harp_core::Value;
use serde::{Deserialize, Serialize};

use super::encode::number_of;
use super::{ColumnRole, Reason, Reduction};
use crate::table::TARGETS;

/// Within the range a prediction may leave the measured targets by this factor.
const LEEWAY: f64 = 10.0;
/// Beyond it, by this power of every ratio beyond: hardly a program grows faster than x⁴.
const STEEPEST: f64 = 4.0;

/// Fewest runs whose ranges say something, and most combinations of categories that are told apart.
const FEWEST_RUNS: usize = 3;
const MOST_COMBINATIONS: usize = 64;

/// Ranges of the features that matter, and of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bounds {
    /// Smallest and largest number of each feature; `None` for categories and for features that
    /// only repeat others.
    pub numbers: Vec<Option<(f64, f64)>>,
    /// The same for each combination of categories that has enough runs: of a method run only small
    /// nothing is known at full scale, even if another was run there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<CategoryRanges>,
    /// Smallest target.
    pub smallest: f64,
    /// Largest target.
    pub largest: f64,
}

/// What was measured with one combination of categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CategoryRanges {
    /// The texts, in the features' order.
    pub levels: Vec<String>,
    pub numbers: Vec<Option<(f64, f64)>>,
}

/// How far outside the range a case is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Beyond {
    /// Sum of the logarithms of the ratios beyond the range.
    pub logarithm: f64,
    /// Distance in units of the measured spans (in logarithms); 0 is inside.
    pub spans: f64,
}

impl Beyond {
    /// How many times wider than inside the range doubt is there. A law fitted to runs spread evenly
    /// over a range is known √(1 + 4·spans²) times as badly that far outside it, noise included.
    pub(crate) fn stretch(spans: f64) -> f64 {
        (1.0 + 4.0 * spans.min(1e100).powi(2)).sqrt()
    }
}

impl Bounds {
    pub(crate) fn of(
        rows: &[Vec<Option<&Value>>],
        targets: &[f64],
        reduction: &Reduction,
        roles: &[ColumnRole],
    ) -> Bounds {
        let features = rows.first().map_or(0, Vec::len);
        let mut repeats = vec![false; features];
        for (column, reason) in &reduction.dropped {
            repeats[roles[*column].feature] |= *reason != Reason::Constant;
        }
        reduction.kept.iter().for_each(|&column| repeats[roles[column].feature] = false);
        let text = |feature: usize| {
            rows.iter().any(|row| row[feature].is_some_and(|value| value.as_number().is_none()))
        };
        let texts: Vec<bool> = (0..features).map(text).collect();
        let ranges = |members: &[&Vec<Option<&Value>>]| -> Vec<Option<(f64, f64)>> {
            (0..features)
                .map(|feature| {
                    if repeats[feature] || texts[feature] {
                        return None;
                    }
                    let cells = members.iter().filter_map(|row| row[feature]).filter_map(number_of);
                    let range = |(low, high): (f64, f64), number: f64| (low.min(number), high.max(number));
                    let (low, high) = cells.fold((f64::INFINITY, f64::NEG_INFINITY), range);
                    (low <= high).then_some((low, high))
                })
                .collect()
        };
        let mut combinations: BTreeMap<Vec<String>, Vec<&Vec<Option<&Value>>>> = BTreeMap::new();
        for row in rows {
            combinations.entry(levels_of(&texts, row)).or_default().push(row);
        }
        combinations.retain(|_, members| members.len() >= FEWEST_RUNS);
        let several = texts.contains(&true) && (2..=MOST_COMBINATIONS).contains(&combinations.len());
        let categories = combinations
            .into_iter()
            .filter(|_| several)
            .map(|(levels, members)| CategoryRanges { levels, numbers: ranges(&members) })
            .collect();
        let numbers = ranges(&rows.iter().collect::<Vec<_>>());
        let smallest = targets.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = targets.iter().copied().fold(0.0, f64::max);
        Bounds { numbers, categories, smallest, largest }
    }

    /// The same range of targets, without ranges of features.
    pub(crate) fn without_ranges(&self) -> Bounds {
        Bounds { numbers: vec![None; self.numbers.len()], categories: Vec::new(), ..self.clone() }
    }

    /// How far a case lies beyond the range.
    pub(crate) fn beyond(&self, cells: &[Option<&Value>]) -> Beyond {
        let texts: Vec<bool> = match self.categories.first() {
            Some(_) => cells.iter().map(|cell| matches!(cell, Some(Value::Text(_)))).collect(),
            None => Vec::new(),
        };
        let levels = levels_of(&texts, cells);
        let own = self.categories.iter().find(|category| category.levels == levels);
        let all = beyond(&self.numbers, cells);
        match own {
            Some(category) => {
                let own = beyond(&category.numbers, cells);
                Beyond { logarithm: own.logarithm.max(all.logarithm), spans: own.spans.max(all.spans) }
            }
            None => all,
        }
    }

    /// For each feature whether a case lies below (-1) or above (1) its range.
    pub(crate) fn sides(&self, cells: &[Option<&Value>]) -> Vec<i8> {
        let side = |(range, cell): (&Option<(f64, f64)>, &Option<&Value>)| {
            let (Some((low, high)), Some(number)) = (*range, cell.and_then(number_of)) else { return 0 };
            i8::from(number > high) - i8::from(number < low)
        };
        self.numbers.iter().zip(cells).map(side).collect()
    }

    /// A prediction kept believable: positive, finite, at most ten times beyond the measured targets
    /// and the fourth power of every ratio beyond the measured features. What is not a number
    /// becomes the geometric middle of the measured targets.
    pub(crate) fn clip(&self, prediction: f64, beyond: Beyond) -> f64 {
        let room = LEEWAY * (STEEPEST * beyond.logarithm).min(200.0).exp();
        let (low, high) = (self.smallest / room, self.largest * room);
        if prediction.is_nan() {
            (self.smallest.ln() / 2.0 + self.largest.ln() / 2.0).exp()
        } else {
            prediction
        }
        .clamp(low.max(1e-300), high.min(1e300))
    }

    /// Whether the ranges are ranges.
    pub(crate) fn check(&self, features: usize) -> Result<(), String> {
        let range = |(low, high): (f64, f64)| low.is_finite() && high.is_finite() && low <= high;
        let sound = self.numbers.len() == features
            && self.numbers.iter().flatten().all(|&pair| range(pair))
            && self.categories.iter().all(|category| {
                category.numbers.len() == features
                    && category.numbers.iter().flatten().all(|&pair| range(pair))
            })
            && range((self.smallest, self.largest))
            && TARGETS.contains(&self.smallest)
            && TARGETS.contains(&self.largest);
        if sound { Ok(()) } else { Err("the measured ranges are not ranges".to_owned()) }
    }
}

/// The texts of a row's categories; a missing one is empty.
fn levels_of(texts: &[bool], cells: &[Option<&Value>]) -> Vec<String> {
    let texts = texts.iter().zip(cells).filter(|(text, _)| **text);
    texts.map(|(_, cell)| cell.map(ToString::to_string).unwrap_or_default()).collect()
}

/// How far a case lies beyond ranges.
fn beyond(numbers: &[Option<(f64, f64)>], cells: &[Option<&Value>]) -> Beyond {
    let (mut logarithm, mut squares) = (0.0, 0.0);
    for (range, cell) in numbers.iter().zip(cells) {
        let (Some((low, high)), Some(number)) = (*range, cell.and_then(number_of)) else { continue };
        let (excess, span) = if low > 0.0 && number > 0.0 {
            ((number / high).ln().max((low / number).ln()), (high / low).ln())
        } else {
            // Without a sign there is no ratio: count spans beyond instead.
            let span = if high > low { high - low } else { high.abs().max(1.0) };
            ((1.0 + (number - high).max(low - number).max(0.0) / span).ln(), 0.0)
        };
        if excess > 0.0 && excess.is_finite() {
            logarithm += excess;
            squares += (excess / span.max(std::f64::consts::LN_2)).powi(2);
        }
    }
    Beyond { logarithm, spans: f64::sqrt(squares) }
}
