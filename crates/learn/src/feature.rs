//! The features of a model as people know them: what was measured, and what was left out and why.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One feature, in the order of the table it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// What was measured of it.
    pub measured: Measured,
    /// Whether some runs lacked it; a case may then lack it too.
    pub missing: bool,
    /// Why the model does not use it, if it does not.
    pub dropped: Option<Dropped>,
}

/// The values of a feature among the runs learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// Numbers from the smallest to the largest.
    Numbers {
        /// Smallest.
        smallest: f64,
        /// Largest.
        largest: f64,
    },
    /// Categories, sorted.
    Categories {
        /// Their names.
        levels: Vec<String>,
        /// How far the log target of an unknown level may lie from the middle of the known ones, as a
        /// standard deviation.
        spread: f64,
    },
    /// No run had a value.
    Nothing,
}

/// Why a feature is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// It has the same value in every run.
    Constant,
    /// It says the same as another feature.
    Duplicate {
        /// The other one.
        of: String,
    },
    /// It is a linear combination of other features.
    Collinear {
        /// The others.
        with: Vec<String>,
    },
    /// No run has a value for it.
    Empty,
}

impl fmt::Display for Dropped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Dropped::Constant => "the same in every run".to_owned(),
            Dropped::Duplicate { of } => format!("says the same as `{of}`"),
            Dropped::Collinear { with } => {
                let names: Vec<String> = with.iter().map(|name| format!("`{name}`")).collect();
                format!("follows from {}", names.join(", "))
            }
            Dropped::Empty => "no run has a value for it".to_owned(),
        };
        formatter.pad(&text)
    }
}
