//! Cells to numbers. Numbers stay numbers; categories become indicators by sorted level, the first
//! level being the reference; missing cells take the median (or the average level) and, where
//! training had missing cells, set an indicator of their own.

use std::collections::BTreeMap;

use harp_core::Value;
use serde::{Deserialize, Serialize};

use crate::table::LARGEST_NUMBER;

/// How one feature is encoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Encoding {
    /// One column with the number.
    Number {
        /// What a missing cell becomes: the median of the training rows.
        fill: f64,
        /// Whether a column says that the cell was missing.
        indicator: bool,
    },
    /// One column a level but the first.
    Category {
        levels: Vec<String>,
        /// Share of each level in training; what an unseen level or a missing cell becomes, so that
        /// it is treated as the average category.
        shares: Vec<f64>,
        indicator: bool,
    },
    /// No training row has a value.
    Absent,
}

/// Encodings of all features, in the table's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Encoder {
    pub features: Vec<Encoding>,
}

/// Where an encoded column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnRole {
    /// Index of the feature.
    pub feature: usize,
    pub role: Role,
}

/// What an encoded column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The feature's number.
    Number,
    /// 1 if the feature has this level.
    Level(usize),
    /// 1 if the feature is missing.
    Missing,
}

impl Encoder {
    /// Learns levels, medians and which features may be missing.
    pub(crate) fn fit(features: usize, rows: &[Vec<Option<&Value>>]) -> Encoder {
        let encoding = |feature: usize| {
            let present: Vec<&Value> = rows.iter().filter_map(|row| row[feature]).collect();
            let indicator = present.len() < rows.len();
            if present.is_empty() {
                return Encoding::Absent;
            }
            let text = present.iter().any(|value| matches!(value, Value::Text(_)));
            let all_boolean = present.iter().all(|value| matches!(value, Value::Boolean(_)));
            if text || all_boolean {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                present.iter().for_each(|value| *counts.entry(value.to_string()).or_default() += 1);
                let shares = counts.values().map(|&count| count as f64 / present.len() as f64).collect();
                return Encoding::Category { levels: counts.into_keys().collect(), shares, indicator };
            }
            let mut numbers: Vec<f64> = present.iter().filter_map(|value| number_of(value)).collect();
            Encoding::Number { fill: crate::statistics::median(&mut numbers).unwrap_or(0.0), indicator }
        };
        Encoder { features: (0..features).map(encoding).collect() }
    }

    /// The encoded columns in order.
    pub(crate) fn columns(&self) -> Vec<ColumnRole> {
        let mut columns = Vec::new();
        for (feature, encoding) in self.features.iter().enumerate() {
            let mut push = |role| columns.push(ColumnRole { feature, role });
            match encoding {
                Encoding::Number { indicator, .. } => {
                    push(Role::Number);
                    indicator.then(|| push(Role::Missing));
                }
                Encoding::Category { levels, indicator, .. } => {
                    (1..levels.len()).for_each(|level| push(Role::Level(level)));
                    indicator.then(|| push(Role::Missing));
                }
                Encoding::Absent => {}
            }
        }
        columns
    }

    /// One row as numbers. A text where training had numbers counts as missing.
    pub(crate) fn encode(&self, cells: &[Option<&Value>]) -> Vec<f64> {
        let mut encoded = Vec::new();
        for (encoding, cell) in self.features.iter().zip(cells) {
            match encoding {
                Encoding::Number { fill, indicator } => {
                    let number = cell.and_then(number_of);
                    encoded.push(number.unwrap_or(*fill));
                    indicator.then(|| encoded.push(f64::from(u8::from(number.is_none()))));
                }
                Encoding::Category { levels, shares, indicator } => {
                    let name = cell.map(ToString::to_string);
                    let known = name.and_then(|name| levels.iter().position(|level| *level == name));
                    for (level, share) in shares.iter().enumerate().skip(1) {
                        encoded.push(match known {
                            Some(known) => f64::from(u8::from(known == level)),
                            None => *share,
                        });
                    }
                    indicator.then(|| encoded.push(f64::from(u8::from(cell.is_none()))));
                }
                Encoding::Absent => {}
            }
        }
        encoded
    }

    /// The name of a level; empty if there is none.
    pub(crate) fn level(&self, feature: usize, level: usize) -> &str {
        match self.features.get(feature) {
            Some(Encoding::Category { levels, .. }) => levels.get(level).map_or("", String::as_str),
            _ => "",
        }
    }

    /// Whether every number is finite and every category has a share; columns in all.
    pub(crate) fn check(&self) -> Result<usize, String> {
        for (feature, encoding) in self.features.iter().enumerate() {
            let sound = match encoding {
                Encoding::Number { fill, .. } => fill.is_finite(),
                Encoding::Category { levels, shares, .. } => {
                    !levels.is_empty()
                        && levels.len() == shares.len()
                        && shares.iter().all(|share| (0.0..=1.0).contains(share))
                }
                Encoding::Absent => true,
            };
            if !sound {
                return Err(format!("the encoding of feature {feature} is not sound"));
            }
        }
        Ok(self.columns().len())
    }
}

/// A value as a number within what can be computed with.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    let number = value.as_number().filter(|number| number.is_finite())?;
    Some(number.clamp(-LARGEST_NUMBER, LARGEST_NUMBER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_sorted_and_unseen_ones_are_the_average() {
        let values = [Value::from("b"), Value::from("a"), Value::from("b"), Value::from("c")];
        let rows: Vec<Vec<Option<&Value>>> = values.iter().map(|value| vec![Some(value)]).collect();
        let encoder = Encoder::fit(1, &rows);
        assert_eq!(encoder.encode(&rows[0]), [1.0, 0.0]);
        assert_eq!(encoder.encode(&rows[1]), [0.0, 0.0]);
        assert_eq!(encoder.encode(&[Some(&Value::from("new"))]), [0.5, 0.25]);
    }

    #[test]
    fn missing_numbers_take_the_median_and_say_so() {
        let values = [Some(Value::Integer(1)), None, Some(Value::Integer(3)), Some(Value::Real(10.0))];
        let rows: Vec<Vec<Option<&Value>>> = values.iter().map(|value| vec![value.as_ref()]).collect();
        let encoder = Encoder::fit(1, &rows);
        assert_eq!(encoder.encode(&[None]), [3.0, 1.0]);
        assert_eq!(encoder.encode(&rows[3]), [10.0, 0.0]);
    }
}
