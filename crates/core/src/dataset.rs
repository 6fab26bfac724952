//! Runs as a table a learner can use: features by column, one target, one row a run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Scale, Value};

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Seconds on the wall.
    Walltime,
    /// Bytes of the whole process tree at its peak.
    PeakMemory,
    /// Seconds of processor time.
    CpuTime,
    /// A figure the program reports.
    Metric(String),
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Target::Walltime => "walltime",
            Target::PeakMemory => "peak_memory",
            Target::CpuTime => "cpu_time",
            Target::Metric(name) => name,
        })
    }
}

impl FromStr for Target {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "walltime" => Target::Walltime,
            "peak_memory" => Target::PeakMemory,
            "cpu_time" => Target::CpuTime,
            name => Target::Metric(name.to_owned()),
        })
    }
}

/// A target's value in one row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed {
    /// Measured to the end.
    Exact(f64),
    /// Killed at a limit: the truth is at least this.
    AtLeast(f64),
}

impl Observed {
    /// The number, measured or bound.
    pub fn value(self) -> f64 {
        match self {
            Observed::Exact(value) | Observed::AtLeast(value) => value,
        }
    }

    /// The number if it was measured to the end.
    pub fn exact(self) -> Option<f64> {
        match self {
            Observed::Exact(value) => Some(value),
            Observed::AtLeast(_) => None,
        }
    }
}

/// A feature's name. Cells of a column are [`Value`]s or missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The parameter, resource or descriptor.
    pub name: String,
}

/// One run (or the rows of one configuration kept apart by repetition).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// One cell a column; `None` is missing.
    pub cells: Vec<Option<Value>>,
    /// The target.
    pub observed: Observed,
    /// Where the row belongs.
    pub scale: Scale,
    /// Rows with the same group are repetitions of one configuration: they are never split between
    /// training and validation.
    pub group: u64,
}

/// Features and one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// What the target is.
    pub target: Target,
    /// The features.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A table that does not hold together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DatasetError {
    /// A row has more or fewer cells than there are columns.
    #[error("row {row} has {cells} cells, but there are {columns} columns")]
    Ragged {
        /// Index from 0.
        row: usize,
        /// Cells found.
        cells: usize,
        /// Cells expected.
        columns: usize,
    },
    /// A target or a real cell is not finite.
    #[error("row {row} holds a number that is not finite")]
    NotFinite {
        /// Index from 0.
        row: usize,
    },
}

impl Dataset {
    /// Makes a table, checking that every row fits and every number is finite.
    pub fn new(target: Target, columns: Vec<Column>, rows: Vec<Row>) -> Result<Self, DatasetError> {
        for (index, row) in rows.iter().enumerate() {
            if row.cells.len() != columns.len() {
                return Err(DatasetError::Ragged {
                    row: index,
                    cells: row.cells.len(),
                    columns: columns.len(),
                });
            }
            let finite =
                |cell: &Option<Value>| cell.as_ref().and_then(Value::as_number).is_none_or(f64::is_finite);
            if !row.observed.value().is_finite() || !row.cells.iter().all(finite) {
                return Err(DatasetError::NotFinite { row: index });
            }
        }
        Ok(Dataset { target, columns, rows })
    }

    /// The rows of one scale.
    pub fn of_scale(&self, scale: Scale) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.scale == scale)
    }

    /// The same table with the last share of its rows as those to be judged, and all others to learn
    /// from, whatever they were: what a model built back then would have said of what came later.
    pub fn judging_latest(mut self, share: f64) -> Dataset {
        let first = self.rows.len() - (share.clamp(0.0, 1.0) * self.rows.len() as f64).round() as usize;
        for (index, row) in self.rows.iter_mut().enumerate() {
            row.scale = match row.scale {
                _ if index >= first => Scale::Test,
                Scale::Test => Scale::Fs,
                scale => scale,
            };
        }
        self
    }

    /// The same table with only the rows wanted.
    pub fn filtered(&self, wanted: impl Fn(&Row) -> bool) -> Dataset {
        Dataset {
            target: self.target.clone(),
            columns: self.columns.clone(),
            rows: self.rows.iter().filter(|row| wanted(row)).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_rows_are_judged_and_the_earlier_ones_teach() {
        let row = |scale| Row { cells: vec![], observed: Observed::Exact(1.0), scale, group: 0 };
        let rows = vec![row(Scale::Sd), row(Scale::Test), row(Scale::Sd), row(Scale::Fs)];
        let scales = |share| {
            let table = Dataset::new(Target::Walltime, vec![], rows.clone())
                .unwrap_or_else(|error| unreachable!("{error}"));
            table.judging_latest(share).rows.into_iter().map(|row| row.scale).collect::<Vec<_>>()
        };
        assert_eq!(scales(0.5), [Scale::Sd, Scale::Fs, Scale::Test, Scale::Test]);
        assert_eq!(scales(0.0), [Scale::Sd, Scale::Fs, Scale::Sd, Scale::Fs]);
        assert_eq!(scales(1.0), [Scale::Test; 4]);
    }
}
