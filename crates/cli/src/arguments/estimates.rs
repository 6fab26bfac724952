//! What `--estimates` may say.

use std::path::PathBuf;
use std::str::FromStr;

use harp_sim::{Estimates, ParseEstimatesError};

/// What `--estimates` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Estimates that come with harp.
    Named(Estimates),
    /// `model:FILE`: a harp model.
    Model(PathBuf),
    /// `file:FILE`: a table with the columns `job` and `seconds`.
    Table(PathBuf),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("model", file)) if !file.is_empty() => Ok(Wanted::Model(PathBuf::from(file))),
            Some(("file", file)) if !file.is_empty() => Ok(Wanted::Table(PathBuf::from(file))),
            _ => text.parse().map(Wanted::Named).map_err(|error: ParseEstimatesError| {
                format!("{error}, model:FILE (a harp model) or file:FILE (a table of job and seconds)")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_models_and_tables_are_told_apart() {
        assert_eq!("last2".parse(), Ok(Wanted::Named(Estimates::LastTwo)));
        assert_eq!("model:a/b.json".parse(), Ok(Wanted::Model("a/b.json".into())));
        assert_eq!("file:x:y.csv".parse(), Ok(Wanted::Table("x:y.csv".into())));
        for text in ["model:", "oracle", "files:a"] {
            assert!(text.parse::<Wanted>().unwrap_err().contains("model:FILE"), "{text}");
        }
    }
}
