//! How large a run is meant to be.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The three sizes of an experiment: learn on `sd` and a little `fs`, be judged on `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Scaled down: small and cheap, many of them.
    Sd,
    /// Full scale: as large as the runs that matter, few of them.
    Fs,
    /// Cases to be predicted; never seen in training.
    Test,
}

impl Scale {
    /// All scales in the order they run.
    pub const ALL: [Scale; 3] = [Scale::Sd, Scale::Fs, Scale::Test];

    /// The short name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Sd => "sd",
            Scale::Fs => "fs",
            Scale::Test => "test",
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Scale::ALL
            .into_iter()
            .find(|scale| scale.name() == text)
            .ok_or_else(|| format!("`{text}` is not a scale; use sd, fs or test"))
    }
}
