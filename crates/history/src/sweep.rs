//! Sweeps measured elsewhere, as CSV: one run a row, one column the target, the others features.

use std::collections::BTreeSet;
use std::io::Read;

use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};

use crate::HistoryError;
use crate::ended::Ended;
use crate::table::Rows;

/// Cells that stand for nothing.
const MISSING: [&str; 6] = ["", "NA", "N/A", "NaN", "nan", "null"];

/// Which columns of a CSV file mean what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepColumns {
    /// The column that is to be predicted.
    pub target: String,
    /// The column with `sd`, `fs` or `test`. Without it every row is scaled down.
    pub split: Option<String>,
    /// The column that says which runs were killed at a limit, so that their target is a lower bound.
    /// Without it every run finished.
    pub killed: Option<String>,
    /// Columns that are not features, such as what was measured after the run.
    pub ignored: Vec<String>,
}

/// Parts of the names of columns that hold run times in seconds; other columns are bare numbers.
const TIMES: [&str; 7] = ["second", "time", "duration", "elapsed", "_sec", "secs", "makespan"];

/// What a CSV file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The rows that can be used.
    pub dataset: Dataset,
    /// Lines whose target is missing.
    pub without_target: Vec<u64>,
    /// Lines of runs that failed.
    pub failed: Vec<u64>,
    /// Columns that only name the rows, such as time stamps and numbers of jobs: texts, or large numbers close
    /// to each other, that differ in nearly every row. They are no features.
    pub names_of_rows: Vec<String>,
}

/// Fewest rows of which it can be told, and the share of different texts from which on a column names rows.
const FEWEST_ROWS: usize = 10;
const DIFFERENT: f64 = 0.9;
/// Numbers do if they are large, and close to each other: seconds since 1970, numbers of jobs.
const LARGE: f64 = 1e5;
const CLOSE: f64 = 0.05;

/// Whether a column only names the rows.
fn names_rows(rows: &[Row], column: usize) -> bool {
    let cells: Vec<&Value> = rows.iter().filter_map(|row| row.cells[column].as_ref()).collect();
    let texts: BTreeSet<&str> = cells
        .iter()
        .filter_map(|cell| match cell {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.as_number()).collect();
    let different: BTreeSet<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    let smallest = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let close = smallest >= LARGE && largest - smallest < CLOSE * largest;
    let most = DIFFERENT * cells.len() as f64;
    let as_text = texts.len() as f64 > most;
    let as_number = numbers.len() == cells.len() && close && different.len() as f64 > most;
    cells.len() >= FEWEST_ROWS && (as_text || as_number)
}

/// Reads a sweep. The target's name tells what it is: memory, processor time, time on the wall, a bare number.
pub fn read_sweep(file: &str, source: impl Read, columns: &SweepColumns) -> Result<Sweep, HistoryError> {
    let mut rows = Rows::open(file, source)?;
    let names: Vec<String> = rows.header.iter().map(str::to_owned).collect();
    let place = |name: &str| {
        names.iter().position(|column| column == name).ok_or_else(|| {
            rows.wrong(1, format!("there is no column `{name}`; the columns are {}", names.join(", ")))
        })
    };
    let target = place(&columns.target)?;
    let split = columns.split.as_deref().map(place).transpose()?;
    let ignored = columns.ignored.iter().map(|name| place(name)).collect::<Result<Vec<usize>, _>>()?;
    let killed = columns.killed.as_deref().map(place).transpose()?;
    if ignored.contains(&target) {
        let reason = format!("`{}` is what is to be predicted and cannot be ignored", columns.target);
        return Err(rows.wrong(1, reason));
    }
    rows.decimals.unread = ignored.clone();
    let is_feature = |column: &usize| {
        let others = [Some(target), split, killed];
        !others.contains(&Some(*column)) && !ignored.contains(column)
    };
    let features: Vec<usize> = (0..names.len()).filter(is_feature).collect();
    let kind = kind_of(&names[target]);
    let (mut table, mut without_target, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((line, record)) = rows.next()? {
        let cell = |column: usize| record.get(column).filter(|cell| !MISSING.contains(cell));
        let ended = match killed.map(|column| record.get(column).unwrap_or_default()) {
            None => Ended::Finished,
            Some(text) => Ended::read(text, &kind).ok_or_else(|| {
                let column = columns.killed.as_deref().unwrap_or_default();
                rows.wrong(line, format!("`{column}` is `{text}`; use {}", Ended::FORMS))
            })?,
        };
        if ended == Ended::Failed {
            failed.push(line);
            continue;
        }
        let Some(text) = cell(target) else {
            without_target.push(line);
            continue;
        };
        let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else {
            return Err(rows.wrong(line, format!("`{}` is `{text}`, which is not a number", columns.target)));
        };
        let scale = match split {
            None => Scale::Sd,
            Some(column) => {
                let text = record.get(column).unwrap_or_default();
                text.to_ascii_lowercase()
                    .parse()
                    .map_err(|_| rows.wrong(line, format!("`{text}` is not a scale; use sd, fs or test")))?
            }
        };
        let infinite = |text: &str| text.parse::<f64>().is_ok_and(|value| value.is_infinite());
        if let Some(&column) = features.iter().find(|&&column| cell(column).is_some_and(infinite)) {
            let text = cell(column).unwrap_or_default();
            return Err(
                rows.wrong(line, format!("`{}` is `{text}`, which is no finite number", names[column]))
            );
        }
        table.push(Row {
            cells: features.iter().map(|&column| cell(column).map(Value::from_text)).collect(),
            observed: if ended == Ended::Killed { Observed::AtLeast(value) } else { Observed::Exact(value) },
            scale,
            // Equal rows are found by their cells; nothing else says which belong together.
            group: line,
        });
    }
    let mut columns: Vec<Column> =
        features.iter().map(|&column| Column { name: names[column].clone() }).collect();
    let mut names_of_rows = Vec::new();
    for column in (0..columns.len()).rev().filter(|&column| names_rows(&table, column)).collect::<Vec<_>>() {
        names_of_rows.insert(0, columns.remove(column).name);
        table.iter_mut().for_each(|row| drop(row.cells.remove(column)));
    }
    let dataset = Dataset::new(kind, columns, table).map_err(|error| rows.wrong(1, error.to_string()))?;
    Ok(Sweep { dataset, without_target, failed, names_of_rows })
}

/// What a target's name tells: `peak_memory`, `memory` and `bytes` are memory, `cpu_time` is processor time,
/// what sounds like a time is time on the wall, and everything else a bare number.
fn kind_of(name: &str) -> Target {
    match name {
        "peak_memory" | "memory" | "bytes" | "mem_bytes" | "memory_bytes" | "peak_memory_bytes" => {
            Target::PeakMemory
        }
        "cpu_time" | "cpu_seconds" => Target::CpuTime,
        _ if TIMES.iter().any(|time| name.to_ascii_lowercase().contains(time)) => Target::Walltime,
        _ => Target::Metric(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(split: Option<&str>, ignored: &[&str]) -> SweepColumns {
        SweepColumns {
            target: "seconds".into(),
            split: split.map(Into::into),
            killed: None,
            ignored: ignored.iter().map(|name| (*name).into()).collect(),
        }
    }

    #[test]
    fn a_sweep_is_read_with_scales_and_missing_cells() {
        let text = "n,seconds,split,epoch\n10,1.5,sd,0.1\nNA,2,fs,0.2\n30,,sd,\n40,4,test,0.4\n";
        let read = read_sweep("s.csv", text.as_bytes(), &columns(Some("split"), &["epoch"])).unwrap();
        let sweep = read.dataset;
        assert_eq!(sweep.columns, [Column { name: "n".into() }]);
        assert_eq!(sweep.rows.iter().map(|row| row.scale).collect::<Vec<_>>(), Scale::ALL);
        assert_eq!(sweep.rows[1].cells, [None]);
        assert_eq!(sweep.rows[2].observed, Observed::Exact(4.0));
        assert_eq!(read.without_target, [4]);
    }

    #[test]
    fn killed_runs_are_lower_bounds_and_failed_ones_none() {
        let read = |text: &str| {
            let columns = SweepColumns { killed: Some("end".into()), ..columns(None, &[]) };
            read_sweep("s.csv", text.as_bytes(), &columns)
        };
        let sweep = read("n,seconds,end\n1,2,completed\n2,3,timed_out\n3,1,failed\n4,5,\n").unwrap();
        let observed: Vec<Observed> = sweep.dataset.rows.iter().map(|row| row.observed).collect();
        assert_eq!(observed, [Observed::Exact(2.0), Observed::AtLeast(3.0), Observed::Exact(5.0)]);
        assert_eq!((sweep.dataset.columns.len(), sweep.failed), (1, vec![4]));
        let refused = read("n,seconds,end\n1,2,maybe\n").unwrap_err().to_string();
        assert!(refused.starts_with("s.csv:2: `end` is `maybe`; use true, yes"), "{refused}");
    }

    #[test]
    fn columns_that_only_name_the_rows_are_no_features() {
        let mut text = "n,started,since_1970,kind,seconds\n".to_owned();
        for row in 0..12 {
            let kind = ["a", "b", "c"][row % 3];
            let since = 1_790_000_000 + 86_400 * row;
            text.push_str(&format!("{row},2026-11-{:02}T10:00:00,{since},{kind},{}\n", row + 1, row + 1));
        }
        let sweep = read_sweep("s.csv", text.as_bytes(), &columns(None, &[])).unwrap();
        assert_eq!(sweep.names_of_rows, ["started", "since_1970"]);
        let names: Vec<&str> = sweep.dataset.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["n", "kind"]);
        assert_eq!(sweep.dataset.rows[4].cells, [Some(Value::Integer(4)), Some(Value::from("b"))]);
    }

    #[test]
    fn mistakes_name_the_line_and_the_fix() {
        let message = |text: &str, split| {
            read_sweep("s.csv", text.as_bytes(), &columns(split, &[])).unwrap_err().to_string()
        };
        assert!(message("n,time\n1,2\n", None).contains("s.csv:1: there is no column `seconds`"));
        assert!(message("n,seconds\n1,fast\n", None).starts_with("s.csv:2: `seconds` is `fast`"));
        for text in ["inf", "-Infinity", "1e999"] {
            let said = message(&format!("n,seconds\n1,2\n{text},2\n"), None);
            assert_eq!(said, format!("s.csv:3: `n` is `{text}`, which is no finite number"));
        }
        assert!(message("n,seconds,s\n1,2,sd\n1,2,train\n", Some("s")).starts_with("s.csv:3: `train`"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = read_sweep("x.csv", bytes.as_slice(), &columns(None, &[]));
        }

        #[test]
        fn any_table_is_read_or_refused(text in "n,seconds\n([0-9a-z.,\"\n-]{0,40})") {
            let _ = read_sweep("x.csv", text.as_bytes(), &columns(None, &[]));
        }
    }
}
