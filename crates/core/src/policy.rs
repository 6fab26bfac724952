//! How a model is chosen among the candidates, and what is then asked of a scheduler.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the winner among the candidates is chosen, and what is asked of a scheduler. The estimate is
/// the median of the predictive distribution under every policy, and the request is never below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Policy {
    /// Lowest mean absolute error; the request is the winner's adjusted prediction.
    Mae,
    /// The study's walltime metric (HARP, PEARC'23): lowest share of under-predictions, ties by the
    /// lowest over-prediction; the request is the winner's adjusted prediction.
    Wtm,
    /// Lowest expected cost when a killed job is run again with more; the request is the quantile
    /// that costs least.
    Cost,
    /// The steadiest model; the request is the quantile that is exceeded with at most the given
    /// probability.
    Upp {
        /// The accepted probability of being killed, in thousandths, below one half.
        per_mille: u16,
    },
}

impl Default for Policy {
    /// One job in twenty may be killed: a risk people understand, and can lower.
    fn default() -> Self {
        Policy::Upp { per_mille: 50 }
    }
}

impl Policy {
    /// One of each kind.
    pub const ALL: [Policy; 4] = [Policy::Mae, Policy::Wtm, Policy::Cost, Policy::Upp { per_mille: 50 }];

    /// How a policy is written.
    pub const FORMS: &str = "mae, wtm, cost or upp=0.05";
}

impl From<Policy> for String {
    fn from(policy: Policy) -> String {
        policy.to_string()
    }
}

impl TryFrom<String> for Policy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Mae => formatter.pad("mae"),
            Policy::Wtm => formatter.pad("wtm"),
            Policy::Cost => formatter.pad("cost"),
            Policy::Upp { per_mille } => formatter.pad(&format!("upp={}", f64::from(*per_mille) / 1000.0)),
        }
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mae" => Ok(Policy::Mae),
            "wtm" => Ok(Policy::Wtm),
            "cost" => Ok(Policy::Cost),
            _ => {
                let unknown = || format!("`{text}` is not a policy; use {}", Policy::FORMS);
                let share = text.strip_prefix("upp=").ok_or_else(unknown)?;
                let share: Option<f64> = share.parse().ok().filter(|share| (0.001..0.5).contains(share));
                let share =
                    share.ok_or_else(|| format!("`{text}`: the share must be from 0.001 to below 0.5"))?;
                // Rounded down to thousandths, so that the risk is at most what was asked for.
                Ok(Policy::Upp { per_mille: (1000.0 * share + 1e-9).floor() as u16 })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for policy in
            Policy::ALL.into_iter().chain([Policy::Upp { per_mille: 1 }, Policy::Upp { per_mille: 499 }])
        {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        assert_eq!("upp=0.05".parse(), Ok(Policy::default()));
    }

    #[test]
    fn what_is_not_a_policy_is_refused() {
        for text in ["", "upp", "upp=", "upp=0", "upp=0.5", "upp=nan", "upp=-1", "UPP=0.1", "best"] {
            assert!(text.parse::<Policy>().is_err(), "{text}");
        }
    }
}
