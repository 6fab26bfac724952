//! What a model is trained to avoid.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What errors cost while linear, neural and boosted models are trained.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Loss {
    /// Squared errors, the same on both sides.
    #[default]
    Symmetric,
    /// The quantile at a level (Koenker and Bassett, Econometrica 1978): errors below the truth cost
    /// the level, errors above it the rest of 1.
    Pinball {
        /// Between 0 and 1.
        level: f64,
    },
    /// Squared errors, where those below the truth count several times (asymmetric least squares:
    /// Newey and Powell, Econometrica 1987).
    Asymmetric {
        /// How many times; `None` is the price of being killed and run again.
        weight: Option<f64>,
    },
}

impl Loss {
    /// How a loss is written.
    pub const FORMS: &str = "symmetric, pinball=0.9, asymmetric or asymmetric=4";
}

impl From<Loss> for String {
    fn from(loss: Loss) -> String {
        loss.to_string()
    }
}

impl TryFrom<String> for Loss {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Symmetric => formatter.pad("symmetric"),
            Loss::Pinball { level } => formatter.pad(&format!("pinball={level}")),
            Loss::Asymmetric { weight: None } => formatter.pad("asymmetric"),
            Loss::Asymmetric { weight: Some(weight) } => formatter.pad(&format!("asymmetric={weight}")),
        }
    }
}

impl FromStr for Loss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |value: &str, range: std::ops::RangeInclusive<f64>| {
            let number = value.parse().ok().filter(|number| range.contains(number));
            number.ok_or_else(|| format!("`{text}`: must be from {} to {}", range.start(), range.end()))
        };
        match text.split_once('=') {
            None if text == "symmetric" => Ok(Loss::Symmetric),
            None if text == "asymmetric" => Ok(Loss::Asymmetric { weight: None }),
            Some(("pinball", level)) => Ok(Loss::Pinball { level: number(level, 0.01..=0.99)? }),
            Some(("asymmetric", weight)) => {
                Ok(Loss::Asymmetric { weight: Some(number(weight, 0.01..=1000.0)?) })
            }
            _ => Err(format!("`{text}` is not a loss; use {}", Loss::FORMS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["symmetric", "pinball=0.9", "asymmetric", "asymmetric=4"] {
            assert_eq!(text.parse::<Loss>().unwrap().to_string(), text);
        }
        for text in ["", "pinball", "pinball=1", "pinball=nan", "asymmetric=", "asymmetric=-1", "huber"] {
            assert!(text.parse::<Loss>().is_err(), "{text}");
        }
    }
}
