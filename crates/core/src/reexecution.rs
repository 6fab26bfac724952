//! What happens to a job that is killed at its limit, and what that costs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Seconds;

/// How a killed job is run again: with a limit that grows, or at once with the largest there is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reexecution {
    /// The next limit is this times the last one; the study doubles.
    pub growth: f64,
    /// The limit of the second attempt, if it is not grown but the largest that may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
}

impl Default for Reexecution {
    fn default() -> Self {
        Reexecution { growth: 2.0, maximum: None }
    }
}

impl Reexecution {
    /// How a rule is written.
    pub const FORMS: &str = "double, grow=1.5 or max=48h";

    /// Limits asked for, one an attempt, until one holds the actual need.
    pub fn attempts(self, first: f64, actual: f64) -> Vec<f64> {
        self.limits(first, actual).collect()
    }

    fn limits(self, first: f64, actual: f64) -> impl Iterator<Item = f64> {
        // A request of nothing would never grow; a thousandth of the need is as good a start.
        let first = if first > 0.0 { first } else { actual / 1000.0 };
        std::iter::successors(Some(first), move |limit| (*limit < actual).then(|| self.after(*limit)))
    }

    /// The limit after one that was too small. What exceeds the maximum grows on from there.
    pub fn after(self, limit: f64) -> f64 {
        match self.maximum {
            Some(maximum) if limit < maximum => maximum,
            _ => limit * if self.growth > 1.01 { self.growth } else { 2.0 },
        }
    }

    /// All that was asked for, in units of the target.
    pub fn reserved(self, first: f64, actual: f64) -> f64 {
        self.limits(first, actual).sum()
    }

    /// All that was used: killed attempts whole, the last one only as long as it ran.
    pub fn used(self, first: f64, actual: f64) -> f64 {
        let killed: f64 = self.limits(first, actual).filter(|limit| *limit < actual).sum();
        killed + actual
    }

    /// How much more an under-prediction costs than an over-prediction of the same factor, on average
    /// over factors up to the growth g: reserved beyond the truth is r − 1 above it and
    /// r·(1 + g) − 1 below, for ln r uniform.
    pub fn price_of_being_killed(self) -> f64 {
        let growth = if self.growth > 1.01 { self.growth } else { 2.0 };
        let above = (growth - 1.0) / growth.ln() - 1.0;
        let below = (1.0 + growth) * (1.0 - growth.recip()) / growth.ln() - 1.0;
        below / above
    }
}

impl fmt::Display for Reexecution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.maximum {
            Some(maximum) => formatter.pad(&format!("max={maximum}s")),
            None if self.growth == 2.0 => formatter.pad("double"),
            None => formatter.pad(&format!("grow={}", self.growth)),
        }
    }
}

impl FromStr for Reexecution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "double" {
            return Ok(Reexecution::default());
        }
        if let Some(factor) = text.strip_prefix("grow=") {
            let growth = factor.parse().ok().filter(|growth| (1.05..=100.0).contains(growth));
            let growth = growth.ok_or_else(|| format!("`{text}`: the factor must be from 1.05 to 100"))?;
            return Ok(Reexecution { growth, maximum: None });
        }
        let unknown = || format!("`{text}` is not a way to run again; use {}", Reexecution::FORMS);
        let limit = text.strip_prefix("max=").ok_or_else(unknown)?;
        let limit: Seconds = limit.parse().map_err(|error| format!("`{text}`: {error}"))?;
        if limit.0 > 0.0 && limit.0.is_finite() {
            Ok(Reexecution { maximum: Some(limit.0), ..Reexecution::default() })
        } else {
            Err(format!("`{text}`: the limit must be positive"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_costs_what_the_study_says() {
        // HARP, PEARC'23: first request and true seconds, cumulative seconds of all attempts.
        let doubling = Reexecution::default();
        assert_eq!(doubling.used(180.0, 685.0), 1225.0);
        assert_eq!(doubling.used(95.0, 516.0), 1181.0);
        assert_eq!(doubling.used(103.0, 516.0), 1237.0);
        assert_eq!(doubling.used(700.0, 685.0), 685.0);
        assert_eq!(doubling.reserved(700.0, 685.0), 700.0);
        assert_eq!(doubling.reserved(400.0, 685.0), 1200.0);
        assert!(doubling.used(0.0, 10.0).is_finite());
    }

    #[test]
    fn other_rules_by_hand() {
        let gently: Reexecution = "grow=1.5".parse().unwrap();
        assert_eq!(gently.attempts(100.0, 200.0), [100.0, 150.0, 225.0]);
        let at_once: Reexecution = "max=10min".parse().unwrap();
        assert_eq!(at_once.attempts(100.0, 200.0), [100.0, 600.0]);
        assert_eq!(at_once.used(100.0, 200.0), 300.0);
        assert_eq!(at_once.attempts(100.0, 700.0), [100.0, 600.0, 1200.0]);
        assert_eq!(at_once.attempts(250.0, 200.0), [250.0]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["double", "grow=1.5", "max=3600s"] {
            assert_eq!(text.parse::<Reexecution>().unwrap().to_string(), text);
        }
        for text in ["", "grow", "grow=1", "grow=nan", "grow=inf", "max=", "max=0s", "max=-1h", "triple"] {
            assert!(text.parse::<Reexecution>().is_err(), "{text}");
        }
    }

    /// The same mean by summing over many factors.
    #[test]
    fn the_price_of_being_killed_is_the_mean_over_factors() {
        for growth in [1.5, 2.0, 3.0] {
            let rule = Reexecution { growth, maximum: None };
            let steps = 20_000;
            let (mut above, mut below) = (0.0, 0.0);
            for step in 0..steps {
                let factor = growth.powf((f64::from(step) + 0.5) / f64::from(steps));
                above += rule.reserved(factor, 1.0) - 1.0;
                below += rule.reserved(1.0 / factor, 1.0) - 1.0;
            }
            assert!((rule.price_of_being_killed() / (below / above) - 1.0).abs() < 1e-3, "{growth}");
        }
    }
}
